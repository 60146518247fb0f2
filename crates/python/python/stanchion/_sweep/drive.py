"""Keeps workers busy with batches until each cell has a result."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from itertools import islice
from typing import Any

from stanchion._sweep.batch import Batch, run_batch
from stanchion._sweep.grid import Grid
from stanchion._sweep.pools import Pool
from stanchion._sweep.store import Store

SECONDS = 0.5
"""A batch is to take about so long: a scheduler has few of them to place, and little is lost with one."""
PLACED = 100
"""Batches that a scheduler places in a second without trouble. With more workers, batches take longer."""
MOST = 10_000
"""Cells in a batch."""
TRIES = 2
"""A cell that was lost so often with others runs alone, to see whether it is to blame."""
VAIN = 2 * (TRIES + 2)
"""So many pools that are lost before there is any result are no accident."""


class Drive:
    """One sweep on its way."""

    def __init__(self, grid: Grid, store: Store, pool: Pool, tell: Callable[[int], None]) -> None:
        self._grid, self._store, self._pool, self._tell = grid, store, pool, tell
        self._new: Iterator[int] = (number for number in range(len(grid)) if not store.done[number])
        self._again: deque[list[int]] = deque()
        self._suspects: deque[int] = deque()
        self._alone: int | None = None
        self._lost: dict[int, int] = {}
        self._flying: dict[Future[Any], list[int]] = {}
        self._landed: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._seconds: float | None = None
        self._vain = 0
        self.guilty: list[int] = []

    def run(self) -> None:
        """Runs every cell that has no result. ``guilty`` has those that killed their worker each time."""
        while self._fill():
            try:
                future = self._landed.get(timeout=1.0)
            except queue.Empty:
                if self._pool.is_cut_off():
                    self._revive(None)
                continue
            numbers = self._flying.pop(future, None)
            if numbers is not None:
                self._land(future, numbers)
        assert self._store.count + len(self.guilty) == len(self._grid), "a cell was lost"

    def stop(self) -> None:
        """Takes back what has not begun."""
        for future in self._flying:
            future.cancel()

    def _fill(self) -> bool:
        """Starts batches until all workers have one and the next; whether any is on its way."""
        while len(self._flying) < 2 * self._pool.workers:
            numbers = self._again.popleft() if self._again else self._next()
            if not numbers:
                break
            self._start(numbers)
        if not self._flying and self._suspects:
            self._alone = self._suspects.popleft()
            self._start([self._alone])
        return bool(self._flying)

    def _next(self) -> list[int]:
        """Cells of the next batch. At the end batches become smaller, so that workers end together."""
        size = 1
        if self._seconds is not None:
            left = len(self._grid) - self._store.count
            fair = left // (4 * self._pool.workers) + 1
            seconds = max(SECONDS, self._pool.workers / PLACED)
            size = max(1, min(int(seconds / max(self._seconds, 1e-6)), fair, MOST))
        return list(islice(self._new, size))

    def _start(self, numbers: list[int]) -> None:
        future = self._pool.submit(run_batch, Batch.of(self._grid, numbers))
        self._flying[future] = numbers
        future.add_done_callback(self._landed.put)

    def _land(self, future: Future[Any], numbers: list[int]) -> None:
        error = None if future.cancelled() else future.exception()
        if future.cancelled() or (error is not None and self._pool.is_loss(error)):
            if future.cancelled() or self._pool.is_cut_off():
                self._alone = None  # no worker died of it
            self._lose(numbers)
            self._revive(error)
            return
        if error is not None:
            raise error
        seconds, rows = future.result()
        each = seconds / len(numbers)
        self._seconds = each if self._seconds is None else 0.7 * self._seconds + 0.3 * each
        self._store.add(rows)
        self._tell(self._store.count)

    def _revive(self, error: BaseException | None) -> None:
        """After a loss. What lands later of a pool that is gone finds no cells any more."""
        if not self._pool.revive(error):
            return
        self._vain += 1
        if self._seconds is None and self._vain > VAIN:
            message = "workers die before they return anything; has the script 'if __name__ == \"__main__\":'?"
            raise RuntimeError(message) from error
        self._alone = None  # if it still flies, no worker died of it
        lost, self._flying = list(self._flying.values()), {}
        for numbers in lost:
            self._lose(numbers)

    def _lose(self, numbers: list[int]) -> None:
        """Halves go on apart, so that a cell that kills its worker is soon alone."""
        for number in numbers:
            self._lost[number] = self._lost.get(number, 0) + 1
        if len(numbers) > 1:
            half = len(numbers) // 2
            self._again.extend([numbers[:half], numbers[half:]])
        elif numbers[0] == self._alone:
            self.guilty.append(numbers[0])
        elif self._lost[numbers[0]] > TRIES:
            self._suspects.append(numbers[0])
        else:
            self._again.append(numbers)
