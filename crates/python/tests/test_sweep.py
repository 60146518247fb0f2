"""Sweeps: the same results whatever happens to workers, each cell once."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import stanchion
from dying import die, die_of
from stanchion.__main__ import main
from stanchion._sweep.grid import Grid
from stanchion._sweep.pools import Pool, Processes
from stanchion._sweep.progress import line
from stanchion._sweep.store import Store

GRID: dict[str, Any] = {
    "machine": "small-vm",
    "workload": ["short", "medium"],
    "lock": ["stanchion", "ticket"],
    "vcpus": [2, 4],
    "seeds": 5,
    "time": "1ms",
    "warm_up": "100us",
    "set": {"workload.critical": ["60ns", "90ns"]},
}
CELLS = 2 * 2 * 2 * 5 * 2


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The results by threads of this process, one cell after the other."""
    out = tmp_path_factory.mktemp("undisturbed")
    with ThreadPoolExecutor(1) as executor:
        table = stanchion.load_results(stanchion.sweep(GRID, executor, out=out, progress=False))
    assert table.column("cell").to_pylist() == list(range(CELLS))
    assert set(table.column("state").to_pylist()) == {"measured"}
    assert len(set(table.column("hashes").to_pylist())) > CELLS // 2, "results in other places would be noticed"
    return table


def test_processes_give_the_same_results(tmp_path: Path, undisturbed: Any) -> None:
    out = stanchion.sweep(GRID, out=tmp_path / "out", workers=2, progress=False)
    assert stanchion.load_results(out).equals(undisturbed)


def test_cells_are_what_simulate_says(undisturbed: Any) -> None:
    cell = undisturbed.to_pylist()[7]
    names = ("machine", "workload", "lock", "vcpus")
    set_ = dict([cell["set"].split("=")])
    alone = stanchion.simulate(
        *(cell[name] for name in names), set=set_, seeds=[cell["seed"]], time="1ms", warm_up="100us"
    ).to_dict()
    assert alone == {name: [cell[name]] for name in alone}


class Stopping:
    """An executor whose user loses patience after some batches."""

    def __init__(self, batches: int) -> None:
        self.left = batches

    def submit(self, fn: Any, /, *args: Any) -> Future[Any]:
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        future: Future[Any] = Future()
        future.set_result(fn(*args))
        return future


def test_an_interrupted_sweep_goes_on_where_it_was(tmp_path: Path, undisturbed: Any) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):  # two batches of one cell and one of a quarter at most, however fast
        stanchion.sweep(GRID, Stopping(3), out=out, workers=1, progress=False)
    before = len(stanchion.load_results(out))
    assert 0 < before < CELLS
    told: list[int] = []
    stanchion.sweep(GRID, Stopping(-1), out=out, workers=1, progress=lambda done, _: told.append(done))
    assert told[0] > before and told[-1] == CELLS
    assert stanchion.load_results(out).equals(undisturbed)
    stanchion.sweep(GRID, Stopping(0), out=out, workers=1)  # nothing is left to be run


def test_a_worker_that_dies_costs_no_cell(
    tmp_path: Path, undisturbed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit, flag = Processes.submit, str(tmp_path / "flag")
    monkeypatch.setattr(Processes, "submit", lambda self, fn, *args: submit(self, die, fn, flag, *args))
    out = stanchion.sweep(GRID, out=tmp_path / "out", workers=2, progress=False)
    assert Path(flag).exists()
    assert stanchion.load_results(out).equals(undisturbed)


def test_a_cell_that_kills_its_workers_is_left_out_and_told(
    tmp_path: Path, undisturbed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = Processes.submit
    monkeypatch.setattr(Processes, "submit", lambda self, fn, *args: submit(self, die_of, 17, fn, *args))
    with pytest.raises(stanchion.Unfinished, match="1 cells killed their workers, the first of them .17, "):
        stanchion.sweep(GRID, out=tmp_path / "out", workers=2, progress=False)
    rest = [number for number in range(CELLS) if number != 17]
    assert stanchion.load_results(tmp_path / "out").equals(undisturbed.take(rest).combine_chunks())


class Leaving(Pool):
    """A cluster that loses its first four batches, as a scheduler that goes away does; no worker dies."""

    def __init__(self, how: str) -> None:
        super().__init__(Stopping(-1), 1)
        self.how, self.left, self.away = how, 4, False

    def submit(self, fn: Any, /, *args: Any) -> Future[Any]:
        if not self.left:
            return super().submit(fn, *args)
        self.left -= 1
        future: Future[Any] = Future()
        if self.left or self.how == "cancelled":
            future.cancel()
            return future
        self.away = True
        if self.how == "failed":
            future.set_exception(CancelledError())
        return future

    def is_cut_off(self) -> bool:
        return self.away

    def revive(self, error: BaseException | None) -> bool:
        back, self.away = self.away, False
        return back


@pytest.mark.parametrize("how", ["cancelled", "failed", "silent"])
def test_a_cell_is_not_to_blame_for_a_lost_scheduler(tmp_path: Path, how: str) -> None:
    pool = Leaving(how)
    out = stanchion.sweep({"lock": "byte", "vcpus": 2, "time": "1ms"}, pool, out=tmp_path, progress=False)
    assert pool.left == 0 and len(stanchion.load_results(out)) == 1


def test_a_sweep_has_one_worker_at_least(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="workers: -1 is no number from 1"):
        stanchion.sweep(GRID, Stopping(0), out=tmp_path, workers=-1)


def test_processes_end_though_their_batches_do_not() -> None:
    pool = Processes(1)
    future = pool.submit(time.sleep, 60)
    while not future.running():
        time.sleep(0.01)
    pool.close()
    assert isinstance(future.exception(), BrokenExecutor)


def test_results_that_come_twice_count_once(tmp_path: Path, undisturbed: Any) -> None:
    store = Store(tmp_path / "out", Grid.of(GRID))
    store.add(undisturbed.slice(3, 10))
    store.flush()
    store.add(undisturbed)
    assert store.count == CELLS
    store.close()
    assert stanchion.load_results(tmp_path / "out").equals(undisturbed)


def test_a_directory_has_one_grid_and_one_writer(tmp_path: Path) -> None:
    store = Store(tmp_path, Grid.of(GRID))
    with pytest.raises(ValueError, match="another sweep writes there"):
        Store(tmp_path, Grid.of(GRID))
    store.close()
    with pytest.raises(ValueError, match="field 'cells': the results there are of another grid"):
        Store(tmp_path, Grid.of({**GRID, "seeds": 6}))


def test_a_directory_is_free_when_its_writer_is_gone(tmp_path: Path) -> None:
    grid = Grid.of(GRID)
    store = Store(tmp_path, grid)
    inherited = os.dup(store._lock.fileno())
    store.close()
    store = Store(tmp_path, grid)
    os.close(inherited)
    with ProcessPoolExecutor(1, get_context("fork")) as executor:
        executor.submit(os.getpid).result()
        store._lock.close()  # as the kernel does for a process that is killed
        Store(tmp_path, grid).close()


def test_a_full_disk_does_not_keep_the_directory(
    tmp_path: Path, undisturbed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any, **kwargs: Any) -> None:
        raise OSError("no space left on device")

    store = Store(tmp_path, Grid.of(GRID))
    store.add(undisturbed)
    with monkeypatch.context() as disk, pytest.raises(OSError, match="no space left"):
        disk.setattr(pq, "write_table", full)
        store.close()
    store = Store(tmp_path, Grid.of(GRID))
    assert store.count == 0
    store.close()


def test_cells_are_found_by_their_numbers() -> None:
    grid = Grid.of({**GRID, "seeds": 1_000_000})
    assert len(grid) == 16_000_000
    assert grid.cell(15_999_999)[-1] == 1_000_000
    cells = [Grid.of(GRID).cell(number) for number in range(CELLS)]
    assert len({(*cell[1:5], *cell[5], cell[6]) for cell in cells}) == CELLS


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('machine = "small-vm"\nlocks = "byte"\n', "grid.toml:2: locks: no such axis; nearest: lock"),
        ('lock = "byte"\nvcpus = [2, 0]\n', "grid.toml:2: vcpus: '0' vCPUs cannot be run"),
        ('lock = "byte"\n[set]\n"host.slise" = ["1ms"]\n', "grid.toml:3: "),
        ('seeds = 2\nlimit = "much"\n', "grid.toml:2: limit: 'much' is no number"),
        ("seeds = 2\nlimit = -1\n", "grid.toml:2: limit: -1 is no number from 0 to 18446744073709551615"),
        ("limit = 1.5\n", "grid.toml:1: limit: 1.5 is no number"),
        ("limit = inf\n", "grid.toml:1: limit: inf is no number"),
        ('lock = "byte"\nseeds = [1, -1]\n', "grid.toml:2: seeds: -1 is no number from 0"),
        ('seeds = "5"\n', "grid.toml:1: seeds: '5' is no number"),
        ("seeds = 1.5\n", "grid.toml:1: seeds: 1.5 is no number"),
        ("vcpus = 1.5\n", "grid.toml:1: vcpus: "),
        ("lock = [\n", "grid.toml: "),
    ],
)
def test_a_wrong_grid_is_refused_before_anything_runs(
    tmp_path: Path, text: str, wrong: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "grid.toml"
    path.write_text(text)
    with pytest.raises(ValueError) as error:
        stanchion.sweep(path, Stopping(0), out=tmp_path / "out")
    assert wrong in str(error.value) and "\n" not in str(error.value)
    monkeypatch.setattr(sys, "argv", ["stanchion", "sweep", str(path), "--out", str(tmp_path / "out")])
    assert (main(), capsys.readouterr().err) == (2, f"stanchion: {error.value}\n")
    assert not (tmp_path / "out").exists()


def test_a_machine_of_ones_own_goes_with_its_text(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "machines/small-vm.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(text)
    grid = Grid.of({"machine": str(path), "lock": "byte", "vcpus": 2, "time": "1ms"})
    path.unlink()
    out = tmp_path / "out"
    store = Store(out, grid)
    store.close()
    from stanchion._sweep.batch import Batch, run_batch

    assert run_batch(Batch.of(grid, [0]))[1].column("machine").to_pylist() == ["small-vm"]


def test_progress_says_what_is_left() -> None:
    assert line(250, 1000, 50, 10.0) == "250 of 1000 cells, 25 %, 5.0 a second, about 2 min left"
    assert line(1000, 1000, 50, 10.0) == "1000 of 1000 cells, 100 %, 5.0 a second"
