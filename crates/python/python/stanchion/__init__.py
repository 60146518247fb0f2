"""Stanchion's simulated machines for Python.

Locks run, unchanged, on simulated machines: caches, sockets, hypervisors, CPU quotas. A seed gives one result,
on every computer.

>>> import stanchion
>>> table = stanchion.simulate(machine="small-vm", workload="short", lock="stanchion,ticket", vcpus=[2, 4])
>>> table["units_per_s"]  # doctest: +SKIP

Tables are columns. ``pandas.DataFrame.from_arrow(table)``, ``polars.DataFrame(table)`` and
``pyarrow.table(table)`` take them as they are, and ``table.to_dict()`` makes lists of them.

Wrong arguments and wrong files raise :class:`ValueError` with one line: the argument, or file, line and field,
and what would be right.
"""

from __future__ import annotations

from stanchion._advise import Advice, advise
from stanchion._api import reproduce, simulate
from stanchion._native import Table, __version__, locks, machines, workloads
from stanchion._results import load_results
from stanchion._sweep.run import Unfinished, sweep

__all__ = [
    "Advice",
    "Table",
    "Unfinished",
    "__version__",
    "advise",
    "load_results",
    "locks",
    "machines",
    "reproduce",
    "simulate",
    "sweep",
    "workloads",
]
