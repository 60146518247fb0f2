"""What a sweep costs: efficiency of two workers, overhead a cell, and tasks a second of a Dask scheduler.

``python3 sweep.py`` on an idle computer with two CPUs or more; prints what it measured.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import stanchion

GRID: dict[str, Any] = {"workload": "short", "lock": ["stanchion", "ticket"], "vcpus": [2, 4], "seeds": 250}
ROUNDS = 3


def seconds_of(workers: int, virtual: str) -> float:
    """The time of a sweep of 1000 cells, the start of its workers included."""
    with tempfile.TemporaryDirectory() as out:
        start = time.perf_counter()
        stanchion.sweep({**GRID, "time": virtual}, out=Path(out) / "out", workers=workers, progress=False)
        return time.perf_counter() - start


def alone(virtual: str) -> float:
    """The time of the same cells in one loop of this process, without a sweep."""
    from stanchion._sweep.batch import Batch, run_batch
    from stanchion._sweep.grid import Grid

    grid = Grid.of({**GRID, "time": virtual})
    return run_batch(Batch.of(grid, list(range(len(grid)))))[0]


def tasks_a_second(tasks: int) -> float:
    """What a scheduler of Dask places, when tasks do nothing."""
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        executor = client.get_executor(pure=False)
        start = time.perf_counter()
        for future in [executor.submit(int, number) for number in range(tasks)]:
            future.result()
        return tasks / (time.perf_counter() - start)


def main() -> None:
    """Measures, best of some rounds."""
    for virtual in ("5ms", "40ms"):
        loop = min(alone(virtual) for _ in range(ROUNDS))
        one = min(seconds_of(1, virtual) for _ in range(ROUNDS))
        two = min(seconds_of(2, virtual) for _ in range(ROUNDS))
        print(
            f"{virtual}: loop {loop:.2f} s, 1 worker {one:.2f} s, 2 workers {two:.2f} s, "
            f"efficiency {one / two / 2:.2f}, overhead a cell {one - loop:.2f} ms"
        )
    print(f"Dask: {tasks_a_second(5000):.0f} tasks a second")


if __name__ == "__main__":
    main()
