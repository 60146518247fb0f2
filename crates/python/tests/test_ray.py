"""A real Ray cluster on this computer: the same results, also when a worker is killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
import stanchion

ray = pytest.importorskip("ray")

GRID: dict[str, Any] = {"lock": ["stanchion", "ticket"], "vcpus": [2, 4], "seeds": 10, "time": "2ms"}


def test_ray_gives_the_same_results_though_a_worker_dies(tmp_path: Path) -> None:
    from stanchion.executors import Ray

    here = stanchion.load_results(stanchion.sweep(GRID, out=tmp_path / "here", workers=2, progress=False))
    flag = str(tmp_path / "flag")

    def die(fn: Any, flag: str, *args: Any) -> Any:
        """Runs a batch, but the first worker to come by kills itself. Here, it goes to workers as a value."""
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return fn(*args)
        os.kill(os.getpid(), signal.SIGKILL)

    class Deadly(Ray):
        def submit(self, fn: Any, /, *args: Any) -> Any:
            return super().submit(die, fn, flag, *args)

    try:
        out = stanchion.sweep(GRID, Deadly(), out=tmp_path / "ray", progress=False)
        assert Path(flag).exists()
        assert stanchion.load_results(out).equals(here)
    finally:
        ray.shutdown()
