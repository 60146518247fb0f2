"""Sweeps: from a grid to a directory of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stanchion._sweep.grid import Grid

if TYPE_CHECKING:
    import os


class Unfinished(RuntimeError):
    """Some cells have no result: each killed its worker whenever it was run. The others are in the files."""


def sweep(
    grid: Mapping[str, Any] | str | os.PathLike[str],
    executor: Any = None,
    *,
    out: str | os.PathLike[str],
    workers: int | None = None,
    progress: bool | Callable[[int, int], None] = True,
) -> Path:
    """Simulate each cell of a grid once, and return the directory with the results.

    grid: a dict, or the path of a TOML file, with lists for ``machine``, ``workload``, ``lock``, ``vcpus`` and
        ``seeds`` (or their number), and ``set``: a table of fields with their values. A cell is one combination
        of all of them. ``time``, ``warm_up`` and ``limit`` are as in :func:`simulate`.
    executor: where cells run. Nothing: in processes of this computer. Else what has ``submit()`` and returns
        ``concurrent.futures.Future``, a ``distributed.Client``, or ``stanchion.executors.Ray()``.
    out: a directory. Results are added to it every few seconds, as Parquet files. If it has results of this
        grid, the sweep goes on where it was; results of another grid are refused.
    workers: how many, for processes of this computer, or for an executor that does not say.
    progress: lines on standard error with the time left; or a function of the cells done and all cells.

    A worker may die at any time: its cells run elsewhere, and no cell is counted twice. The same grid gives
    the same results with every executor. A cell that kills its worker again and again is left out, and
    :class:`Unfinished` says so at the end. :func:`load_results` reads the directory. Needs ``stanchion[sweep]``.
    """
    from stanchion._sweep.drive import Drive
    from stanchion._sweep.pools import pool_of
    from stanchion._sweep.progress import Progress
    from stanchion._sweep.store import Store

    cells = Grid.of(grid if isinstance(grid, Mapping) else str(grid))
    store = Store(Path(out), cells)
    try:
        total = len(cells)
        tell = _no_progress
        if callable(progress):
            told = progress

            def tell(done: int) -> None:
                told(done, total)
        elif progress:
            tell = Progress(total, store.count).tell
        if store.count < total:
            pool = pool_of(executor, workers)
            drive = Drive(cells, store, pool, tell)
            try:
                drive.run()
            finally:
                drive.stop()
                pool.close()
            if drive.guilty:
                first = cells.cell(drive.guilty[0])
                raise Unfinished(f"{len(drive.guilty)} cells killed their workers, the first of them {first}")
    finally:
        store.close()
    return store.directory


def _no_progress(done: int) -> None:
    """Says nothing."""
