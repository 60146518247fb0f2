"""What a worker does: some cells, one after the other."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stanchion import _native

if TYPE_CHECKING:
    import pyarrow as pa

    from stanchion._sweep.grid import Cell, Grid


@dataclass(frozen=True)
class Batch:
    """Some cells of a grid, with everything that they need."""

    cells: list[Cell]
    time: str
    warm_up: str
    limit: int
    files: list[tuple[str, str]]
    version: str

    @classmethod
    def of(cls, grid: Grid, numbers: list[int]) -> Batch:
        """The batch of the cells with these numbers."""
        cells = [grid.cell(number) for number in numbers]
        named = {cell[1] for cell in cells} | {cell[2] for cell in cells}
        files = [file for file in grid.files if file[0] in named]
        return cls(cells, grid.time, grid.warm_up, grid.limit, files, _native.__version__)


def run_batch(batch: Batch) -> tuple[float, pa.Table]:
    """The seconds that the cells took, and their rows."""
    import pyarrow as pa

    if batch.version != _native.__version__:
        message = f"this worker has stanchion {_native.__version__}, and the sweep is by {batch.version}"
        raise RuntimeError(message)
    start = time.perf_counter()
    rows = _native.run_cells(batch.cells, batch.time, batch.warm_up, batch.limit, batch.files)
    return time.perf_counter() - start, pa.table(rows)
