"""Tables, errors, and what there is."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import stanchion

SHORT: dict[str, Any] = {"workload": "short", "lock": ["stanchion", "ticket"], "vcpus": [2, 4], "time": "2ms"}


def test_lists_have_a_row_for_each_shipped_file_and_lock() -> None:
    root = Path(__file__).parents[3]
    assert sorted(map(str, stanchion.machines()["name"])) == sorted(p.stem for p in (root / "machines").glob("*.toml"))
    assert sorted(map(str, stanchion.workloads()["name"])) == sorted(p.stem for p in (root / "workloads").glob("*.toml"))
    assert stanchion.locks()["name"][0] == "stanchion"
    assert {"mutex", "reader-writer lock"} == set(stanchion.locks()["kind"])


def test_a_seed_is_a_result_however_many_jobs_there_are() -> None:
    one = stanchion.simulate(**SHORT, seeds=2, jobs=1).to_dict()
    assert one == stanchion.simulate(**SHORT, seeds=2, jobs=2).to_dict()
    assert one["lock"] == ["stanchion", "ticket"] * 2
    assert one["hashes"] != stanchion.simulate(**SHORT, seeds=[2, 3]).to_dict()["hashes"]


def test_arrow_pandas_and_polars_take_tables() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = stanchion.simulate(**SHORT, seeds=1)
    arrow = pa.table(table)
    assert arrow.to_pydict() == table.to_dict()
    assert arrow.schema == pa.schema(table)
    assert list(pandas.DataFrame.from_arrow(table)["units_per_s"]) == table["units_per_s"]
    assert polars.DataFrame(table)["lock"].to_list() == table["lock"]
    assert table["score_ci95"] == [None] * 4, "one seed has no interval"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"machine": "smal-vm"}, "machine smal-vm: unknown machine 'smal-vm': nearest are small-vm"),
        ({"lock": "tiket"}, "lock: unknown lock 'tiket': nearest are ticket"),
        ({"vcpus": 0}, "vcpus: '0' vCPUs cannot be run"),
        ({"set": {"host.slise": 1}}, "host.slise"),
        ({"set": "host.slice=1ms"}, "is one text"),
        ({"time": "5 parsecs"}, "time: '5 parsecs' is not a time"),
        ({"seeds": []}, "seeds: none"),
        ({"seeds": [-1]}, "seeds: -1 is no number from 0 to 18446744073709551615"),
        ({"seeds": "5"}, "seeds: '5' is no number"),
        ({"seeds": 1.5}, "seeds: 1.5 is no number"),
        ({"limit": 2**64}, "limit: 18446744073709551616 is no number"),
        ({"jobs": -1}, "jobs: -1 is no number from 1"),
        ({"lock": "qrw"}, "it takes mutexes, and qrw is a reader-writer lock"),
    ],
)
def test_errors_are_one_line_that_names_the_argument(change: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError) as error:
        stanchion.simulate(**{**SHORT, **change})
    assert text in str(error.value) and "\n" not in str(error.value)


def test_an_error_in_a_file_names_file_line_and_field(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "machines/small-vm.toml").read_text()
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("sockets"))
    lines[at] = "sockets = 0"
    path = tmp_path / "mine.toml"
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError) as error:
        stanchion.simulate(**{**SHORT, "machine": str(path)})
    assert f"{path}:{at + 1}: topology.sockets" in str(error.value)


def test_other_threads_run_while_it_simulates() -> None:
    """Holding the interpreter, the thread below would not count before the simulation has returned."""
    counted, done = 0, threading.Event()

    def simulate() -> None:
        stanchion.simulate(machine="small-vm", workload="short", lock="stanchion", vcpus=4, seeds=4, time="20ms")
        done.set()

    worker = threading.Thread(target=simulate)
    worker.start()
    while not done.is_set():
        counted += 1
    worker.join()
    assert counted > 1000


def test_a_published_table_is_compared_cell_by_cell() -> None:
    table = stanchion.reproduce("locktorture", ["qspin@1", "qspin@2"], quick=True).to_dict()
    assert (table["lock"], table["row"], table["state"]) == (["qspin"] * 2, ["1", "2"], ["compared"] * 2)
    for simulated, published, error in zip(
        table["simulated"], table["published"], table["relative_error"], strict=True
    ):
        assert simulated / published - 1 == pytest.approx(error)  # type: ignore[operator]
    with pytest.raises(ValueError, match="unknown published table 'lcktorture': nearest are locktorture"):
        stanchion.reproduce("lcktorture")
    with pytest.raises(ValueError, match="seeds: -1 is no number from 0"):
        stanchion.reproduce("locktorture", seeds=-1)


def test_results_in_files_are_read_and_what_is_wrong_is_told(tmp_path: Path) -> None:
    path = tmp_path / "sim.csv"
    path.write_text("# stanchion sim\nlock,vcpus,score\nticket,2,1.5\nbyte,4,\n")
    rows = [{"lock": "ticket", "vcpus": 2, "score": 1.5}, {"lock": "byte", "vcpus": 4, "score": None}]
    assert stanchion.load_results(path).to_pylist() == rows
    path.write_text("# stanchion sim\nlock,vcpus\nticket\n")
    with pytest.raises(ValueError, match=r"sim.csv:3: has 1 fields, and the head has 2"):
        stanchion.load_results(path)
    json = tmp_path / "sim.json"
    json.write_text('{"cells": [{"lock": "byte", "figures": {"score": {"mean": 2.0}}}]}')
    assert stanchion.load_results(json).to_pylist() == [{"lock": "byte", "figures.score.mean": 2.0}]
    json.write_text('{"cells":\n [,]}')
    with pytest.raises(ValueError, match="sim.json:2: "):
        stanchion.load_results(json)
