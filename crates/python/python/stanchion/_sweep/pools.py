"""Where batches run: processes of this computer, any executor, Dask, Ray. All of them look like :class:`Pool`."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, Protocol

from stanchion._api import whole

RECONNECT = 300.0
"""So many seconds a scheduler may be away."""


class Executor(Protocol):
    """What a sweep asks of an executor."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Future[Any]:
        """Starts ``fn(*args)``, and returns what will be its result."""


class Pool:
    """An executor with what a sweep has to know of it."""

    def __init__(self, executor: Executor, workers: int) -> None:
        self.executor = executor
        self.workers = workers

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Future[Any]:
        """Starts ``fn(*args)``."""
        return self.executor.submit(fn, *args)

    def is_loss(self, error: BaseException) -> bool:
        """Whether an error says that a worker is gone, and nothing about what it did."""
        return isinstance(error, (BrokenExecutor, CancelledError))

    def is_cut_off(self) -> bool:
        """Whether futures may never have a result, because nobody is there who would say so."""
        return False

    def revive(self, error: BaseException | None) -> bool:
        """Makes it usable after a loss, if it is not. Then whatever else was on its way is lost, too: true."""
        if isinstance(error, BrokenExecutor):
            raise error
        return False

    def close(self) -> None:
        """Ends what was started for the sweep."""


def _leave_to_parent() -> None:
    """Ctrl-C goes to every process of a terminal; the one that sweeps ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Processes(Pool):
    """Processes of this computer. When one dies, all are replaced: Python's pool gives up then."""

    def __init__(self, workers: int | None) -> None:
        self._count = workers or len(os.sched_getaffinity(0))
        super().__init__(self._new(), self._count)

    def _new(self) -> ProcessPoolExecutor:
        # The threads that pools and pyarrow have do not survive a plain fork.
        context = get_context("forkserver")
        # Workers are forked with it, and do not import it one by one.
        context.set_forkserver_preload(["__main__", "stanchion._sweep.batch"])
        return ProcessPoolExecutor(self._count, mp_context=context, initializer=_leave_to_parent)

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Future[Any]:
        try:
            return super().submit(fn, *args)
        except BrokenExecutor as error:
            lost: Future[Any] = Future()
            lost.set_exception(error)
            return lost

    def revive(self, error: BaseException | None) -> bool:
        self.close()
        self.executor = self._new()
        return True

    def close(self) -> None:
        assert isinstance(self.executor, ProcessPoolExecutor)
        processes = list((self.executor._processes or {}).values())
        self.executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:  # which would finish what they have, and Python waits for them at its end
            process.kill()


def _is_the_executors(error: BaseException) -> bool:
    """Whether Dask's executor itself has failed, not the worker: a future that has its result and is lost while the
    executor reads it, with the scheduler, is taken for one that has failed."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    of_executor = trace is not None and trace.tb_frame.f_code.co_name == "_cascade_future"
    return of_executor and isinstance(error, (TypeError, ValueError))


class Dask(Pool):
    """The workers of a Dask cluster. Dask itself gives a dead worker's batches to others."""

    def __init__(self, client: Any, *, owned: bool = False) -> None:
        self._client, self._owned = client, owned
        self._address = client.scheduler.address
        super().__init__(client.get_executor(pure=False), max(1, sum(client.nthreads().values())))

    def is_loss(self, error: BaseException) -> bool:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm import CommClosedError

        lost = (KilledWorker, FutureCancelledError, CommClosedError)
        return super().is_loss(error) or isinstance(error, lost) or _is_the_executors(error)

    def is_cut_off(self) -> bool:
        return bool(self._client.status != "running")

    def revive(self, error: BaseException | None) -> bool:
        """Waits for the scheduler to come back, and for a worker."""
        if not self.is_cut_off():
            return False
        from distributed import Client

        self.close()
        until = time.monotonic() + RECONNECT
        while True:
            try:
                client = Client(self._address, timeout=5)
                break
            except OSError as away:
                if time.monotonic() > until:
                    message = f"{self._address}: no scheduler there for {RECONNECT:.0f} seconds"
                    raise ConnectionError(message) from away
        client.wait_for_workers(1, timeout=RECONNECT)
        self.__init__(client, owned=True)  # type: ignore[misc]
        return True

    def close(self) -> None:
        if self._owned:
            self._client.close(timeout=5)


class Ray(Pool):
    """Tasks of a Ray cluster. The sweep starts lost ones again, as Ray would go on for ever if a cell kills workers."""

    def __init__(self, address: str | None = None) -> None:
        import ray

        if not ray.is_initialized():
            ray.init(address=address, log_to_driver=False, include_dashboard=False)
        self._ray = ray
        self._remote: dict[Callable[..., Any], Any] = {}
        super().__init__(self, max(1, int(ray.cluster_resources().get("CPU", 1))))

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Future[Any]:
        remote = self._remote.setdefault(fn, self._ray.remote(max_retries=0)(fn))
        future: Future[Any] = remote.remote(*args).future()
        return future

    def is_loss(self, error: BaseException) -> bool:
        errors = self._ray.exceptions
        lost = (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError, errors.ObjectLostError)
        return super().is_loss(error) or isinstance(error, lost)


def pool_of(executor: Any, workers: int | None) -> Pool:
    """The pool that an executor, a Dask client or nothing stands for."""
    if workers:
        whole("workers", workers, 1)
    if executor is None:
        return Processes(workers)
    if isinstance(executor, Pool):
        return executor
    if hasattr(executor, "get_executor"):  # a distributed.Client, which need not be installed
        return Dask(executor)
    if not hasattr(executor, "submit"):
        raise TypeError(f"executor: {type(executor).__name__} has no submit()")
    known = getattr(executor, "_max_workers", None)
    return Pool(executor, workers or known or len(os.sched_getaffinity(0)))
