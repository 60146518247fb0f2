"""A real Ray cluster on this computer: the same results, also when a worker is killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dying
import pytest
import stanchion
from stanchion.executors import Ray

ray = pytest.importorskip("ray")

GRID: dict[str, Any] = {"lock": ["stanchion", "ticket"], "vcpus": [2, 4], "seeds": 10, "time": "2ms"}


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """What kills workers goes to them as a value: they cannot import it."""
    ray.cloudpickle.register_pickle_by_value(dying)
    yield
    ray.shutdown()


def test_ray_gives_the_same_results_though_a_worker_dies(tmp_path: Path) -> None:
    here = stanchion.load_results(stanchion.sweep(GRID, out=tmp_path / "here", workers=2, progress=False))
    flag = str(tmp_path / "flag")

    class Deadly(Ray):
        def submit(self, fn: Any, /, *args: Any) -> Any:
            return super().submit(dying.die, fn, flag, *args)

    out = stanchion.sweep(GRID, Deadly(), out=tmp_path / "ray", progress=False)
    assert Path(flag).exists()
    assert stanchion.load_results(out).equals(here)


def test_a_cell_that_kills_its_workers_is_left_out_and_told(tmp_path: Path) -> None:
    class Deadly(Ray):
        def submit(self, fn: Any, /, *args: Any) -> Any:
            return super().submit(dying.die_of, 3, fn, *args)

    with pytest.raises(stanchion.Unfinished, match="1 cells killed their workers, the first of them .3, "):
        stanchion.sweep(GRID, Deadly(), out=tmp_path, progress=False)
    cells = stanchion.load_results(tmp_path).column("cell").to_pylist()
    assert cells == [number for number in range(40) if number != 3]


def test_what_ray_loses_is_a_loss() -> None:
    lost = Ray().is_loss
    errors = ray.exceptions
    assert lost(errors.OutOfMemoryError("a worker was killed")) and lost(errors.ObjectLostError("id", None, ""))
    assert not lost(errors.RaySystemError("it is broken"))
