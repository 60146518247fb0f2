"""How far a sweep is, on standard error."""

from __future__ import annotations

import sys
import time

LINE_SECONDS = 5.0
"""Lines in a log come no more often."""


class Progress:
    """A line that changes on a terminal, and now and then a new one elsewhere."""

    def __init__(self, total: int, done: int) -> None:
        self._total, self._before = total, done
        self._start = self._last = time.monotonic()
        self._terminal = sys.stderr.isatty()
        if done:
            print(f"stanchion: {done} of {total} cells are there already", file=sys.stderr)

    def tell(self, done: int) -> None:
        """So many cells have a result."""
        now = time.monotonic()
        if now - self._last < (0.2 if self._terminal else LINE_SECONDS) and done < self._total:
            return
        self._last = now
        text = line(done, self._total, done - self._before, now - self._start)
        print(f"\r\x1b[K{text}" if self._terminal else text, end="" if self._terminal else "\n", file=sys.stderr)
        if self._terminal and done == self._total:
            print(file=sys.stderr)


def line(done: int, total: int, new: int, seconds: float) -> str:
    """What is done and how long the rest takes, if it goes on as since the start."""
    rate = new / seconds if seconds > 0 else 0.0
    left = f", about {spoken((total - done) / rate)} left" if rate and done < total else ""
    return f"{done} of {total} cells, {100 * done // max(total, 1)} %, {rate:.1f} a second{left}"


def spoken(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
