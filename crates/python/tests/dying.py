"""What kills workers. It stands alone: a worker that takes the place of a killed one has only this to import."""

from __future__ import annotations

import os
import signal
from typing import Any


def die(fn: Any, flag: str, *args: Any) -> Any:
    """Runs a batch, but the first process to come by kills itself."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return fn(*args)
    os.kill(os.getpid(), signal.SIGKILL)


def die_of(number: int, fn: Any, batch: Any) -> Any:
    """Runs a batch, but one cell always kills its process."""
    if any(cell[0] == number for cell in batch.cells):
        os.kill(os.getpid(), signal.SIGKILL)
    return fn(batch)
