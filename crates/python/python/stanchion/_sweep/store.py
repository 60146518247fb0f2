"""Where the results of a sweep are: a directory of Parquet files, each of which is whole or not there."""

from __future__ import annotations

import fcntl
import json
import os
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from stanchion._sweep.grid import Grid

PART = "part-*.parquet"
SECONDS = 5.0
"""Results wait no longer than this before they are in a file."""
ROWS = 50_000
"""Nor are there more of them in one."""

_locks: weakref.WeakSet[TextIO] = weakref.WeakSet()
# Workers that are forked would hold them, also when the sweep is killed.
os.register_at_fork(after_in_child=lambda: [lock.close() for lock in _locks])


class Store:
    """The results of a grid. A result that is there already is not taken again."""

    def __init__(self, directory: Path, grid: Grid) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self._lock = open(directory / ".lock", "w")  # noqa: SIM115 - held until the sweep ends
        _locks.add(self._lock)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise ValueError(f"{directory}: another sweep writes there") from None
        try:
            _same_grid(directory, grid.identity())
            for rest in directory.glob("*.tmp"):
                rest.unlink()
            self.done = bytearray(len(grid))
            self.parts = 0
            for path in sorted(directory.glob(PART)):
                self.parts = int(path.stem.split("-")[1])
                for number in _part(path, ["cell"]).column("cell").to_pylist():
                    if self.done[number]:
                        raise ValueError(f"{path}: cell {number} is there twice")
                    self.done[number] = 1
        except BaseException:
            self._lock.close()
            raise
        self.count = sum(self.done)
        self._waiting: list[pa.Table] = []
        self._since = time.monotonic()

    def add(self, table: pa.Table) -> None:
        """Takes the rows of cells that have no result yet."""
        new = [not self.done[number] for number in table.column("cell").to_pylist()]
        table = table.filter(pa.array(new))
        for number in table.column("cell").to_pylist():
            self.done[number] = 1
        self.count += len(table)
        self._waiting.append(table)
        if time.monotonic() - self._since > SECONDS or sum(map(len, self._waiting)) >= ROWS:
            self.flush()

    def flush(self) -> None:
        """Writes what waits, as a file that appears when it is whole."""
        rows = pa.concat_tables(self._waiting) if self._waiting else None
        self._waiting, self._since = [], time.monotonic()
        if not rows:
            return
        self.parts += 1
        path = self.directory / f"part-{self.parts:06}.parquet"
        temporary = path.with_suffix(".tmp")
        with open(temporary, "wb") as file:
            pq.write_table(rows, file, compression="zstd")
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)

    def close(self) -> None:
        """Writes what waits, and lets others write."""
        try:
            self.flush()
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)  # closing is not enough if another process has it, too
            self._lock.close()


def _same_grid(directory: Path, identity: dict[str, Any]) -> None:
    path = directory / "grid.json"
    if not path.exists():
        if next(directory.glob(PART), None):
            raise ValueError(f"{directory}: has results, but no grid.json that says of what")
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(identity) + "\n", encoding="utf-8")
        temporary.rename(path)
        return
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    for field, value in identity.items():
        if there.get(field) != value:
            raise ValueError(f"{path}: field '{field}': the results there are of another grid; name another directory")


def _part(path: Path, columns: list[str] | None = None) -> pa.Table:
    try:
        return pq.read_table(path, columns=columns)
    except pa.ArrowException as error:
        raise ValueError(f"{path}: {error}") from None


def read_parts(directory: Path) -> pa.Table:
    """All results in a directory, in the order of their cells."""
    parts = [_part(path) for path in sorted(directory.glob(PART))]
    if not parts:
        raise ValueError(f"{directory}: has no results of a sweep")
    table = pa.concat_tables(parts)
    return table.take(pc.sort_indices(table, sort_keys=[("cell", "ascending")])).combine_chunks()
