"""Executors for :func:`stanchion.sweep` beside those of ``concurrent.futures`` and ``distributed``."""

from stanchion._sweep.pools import Executor, Ray

__all__ = ["Executor", "Ray"]
