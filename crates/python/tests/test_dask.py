"""A real Dask cluster of processes: a worker is killed, the scheduler is restarted, and no result differs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import stanchion
from stanchion._sweep.pools import Dask

distributed = pytest.importorskip("distributed")

GRID: dict[str, Any] = {
    "machine": "small-vm",
    "workload": ["short", "medium"],
    "lock": ["stanchion", "ticket"],
    "vcpus": [2, 4, 8],
    "seeds": 10,
    "time": "10ms",
    "warm_up": "1ms",
}


class Cluster:
    """A scheduler and workers, each a process, which are started again when they end."""

    def __init__(self, workers: int) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self._ending = threading.Event()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._commands = {"scheduler": ["scheduler", "--port", self.address.rsplit(":", 1)[1], "--no-dashboard"]}
        for number in range(workers):
            self._commands[f"worker-{number}"] = ["worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        for name in self._commands:
            self._start(name)
        self._keeper = threading.Thread(target=self._keep)
        self._keeper.start()

    def _start(self, name: str) -> None:
        command = [sys.executable, "-m", "dask", *self._commands[name]]
        self.processes[name] = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def _keep(self) -> None:
        while not self._ending.wait(0.1):
            for name, process in list(self.processes.items()):
                if process.poll() is not None:
                    self._start(name)

    def kill(self, name: str) -> None:
        """Kills a process; another takes its place."""
        self.processes[name].send_signal(signal.SIGKILL)

    def close(self) -> None:
        """Ends all processes."""
        self._ending.set()
        self._keeper.join()
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    cluster = Cluster(3)
    yield cluster
    cluster.close()


def test_a_killed_worker_and_a_restarted_scheduler_change_nothing(tmp_path: Path, cluster: Cluster) -> None:
    with ThreadPoolExecutor(2) as executor:
        undisturbed = stanchion.load_results(stanchion.sweep(GRID, executor, out=tmp_path / "alone", progress=False))
    client = distributed.Client(cluster.address, timeout=60)
    client.wait_for_workers(3, timeout=60)
    left = ["scheduler", "worker-0"]
    killed: list[int] = []

    def disturb(done: int, total: int) -> None:
        if left and done >= total * (3 - len(left)) // 4:
            killed.append(done)
            cluster.kill(left.pop())

    out = stanchion.sweep(GRID, client, out=tmp_path / "cluster", progress=disturb)
    client.close(timeout=1)
    assert len(killed) == 2 and killed[-1] < len(undisturbed), "both, before the end"
    assert stanchion.load_results(out).equals(undisturbed)


def test_the_command_sends_a_grid_to_a_cluster(tmp_path: Path, cluster: Cluster) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text('lock = ["stanchion", "ticket"]\nvcpus = 2\nseeds = 3\ntime = "1ms"\n')
    command = [sys.executable, "-m", "stanchion", "sweep", str(grid), "--out", str(tmp_path / "out")]
    deadline = time.monotonic() + 60
    while subprocess.run([*command, "--dask", cluster.address], check=False).returncode != 0:
        assert time.monotonic() < deadline, "the cluster never came up"
    assert len(stanchion.load_results(tmp_path / "out")) == 6


def test_a_future_that_is_lost_while_its_result_is_read_is_a_loss() -> None:
    from distributed.cfexecutor import _cascade_future

    class Lost:
        status = "lost"

        def __init__(self, result: tuple[object, ...]) -> None:
            self.result = result

        async def _result(self, raiseit: bool) -> tuple[object, ...]:
            return self.result

    def lands(result: tuple[object, ...]) -> bool:
        async def cascade() -> None:
            await _cascade_future(Lost(result), future)

        future: Future[object] = Future()
        asyncio.run(cascade())
        error = future.exception(timeout=60)
        assert error is not None
        return Dask.is_loss(Dask.__new__(Dask), error)

    assert lands((0.5, ["a row"])), "seconds and rows, as a batch returns them"
    try:
        int("no number")
    except ValueError as error:
        assert not lands((ValueError, error, error.__traceback__)), "what a worker raises is told"
