"""Simulations, with arguments as Python has them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from stanchion import _native
from stanchion._native import Table

Names: TypeAlias = "str | Iterable[str]"
Counts: TypeAlias = "int | str | Iterable[int | str]"
Settings: TypeAlias = "Mapping[str, object] | Iterable[str]"
Seeds: TypeAlias = "int | Iterable[int]"

LIMIT = 1_000_000_000
"""Events after which a run is cut short and marked."""


def listed(names: Names | Counts) -> str:
    """One text of names or counts, separated by commas."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        return str(names)
    return ",".join(str(name) for name in names)


def whole(name: str, value: Any, least: int = 0) -> int:
    """A whole number that the simulator can take."""
    try:
        number = int(value)
        if number == value and least <= number < 2**64:
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{name}: {value!r} is no number from {least} to {2**64 - 1}")


def settings(values: Settings) -> list[str]:
    """Fields to replace, each as ``KEY=VALUE``."""
    if isinstance(values, str):
        raise ValueError(f"set: '{values}' is one text: write a dict, or a list of texts")
    if isinstance(values, Mapping):
        return [f"{key}={value}" for key, value in values.items()]
    return list(values)


def seeds_of(seeds: Seeds) -> list[int]:
    """The seeds 1 to N of a number, or those that are listed."""
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        seeds = range(1, whole("seeds", seeds) + 1)
    listed_seeds = [whole("seeds", seed) for seed in seeds]
    if not listed_seeds:
        raise ValueError("seeds: none; write a number of them, or a list")
    if len(set(listed_seeds)) < len(listed_seeds):
        raise ValueError("seeds: one of them is there twice")
    return listed_seeds


def simulate(
    machine: Names = "small-vm",
    workload: Names = "medium",
    lock: Names = "all",
    vcpus: Counts | None = None,
    *,
    overcommit: Counts | None = None,
    set: Settings = (),
    seeds: Seeds = 5,
    time: str = "200ms",
    warm_up: str = "20ms",
    limit: int = LIMIT,
    jobs: int | None = None,
) -> Table:
    """Simulate every lock on every machine with every workload and every count of vCPUs; one cell a row.

    machine, workload: names of :func:`machines` and :func:`workloads`, or paths of files of your own.
    lock: names of :func:`locks`, with settings if need be (``"stanchion:turns=0"``), or ``"all"``.
    vcpus: how many vCPUs or threads; ``"2x"`` is twice the machine's CPUs. A few, if nothing is said.
    overcommit: more counts, as multiples of the machine's CPUs.
    set: fields to replace, by their path: ``{"host.fair-share.slice": "3ms", "workload.think": "2us"}``.
    seeds: how many, or which. Means over them have 95 % confidence intervals.
    time, warm_up: virtual time that is measured, and that passes before.
    limit: events after which a run is cut short; the column ``state`` says so.
    jobs: runs at the same time; as many as this process has CPUs, if nothing is said.

    The columns are those of ``stanchion sim --csv``. Other Python threads run meanwhile, and Ctrl-C ends it.
    """
    return _native.simulate(
        listed(machine),
        listed(workload),
        listed(lock),
        None if vcpus is None else listed(vcpus),
        None if overcommit is None else listed(overcommit),
        settings(set),
        seeds_of(seeds),
        time,
        warm_up,
        whole("limit", limit),
        whole("jobs", jobs or len(os.sched_getaffinity(0)), 1),
    )


def reproduce(table: Names = (), cell: Names = (), *, seeds: int = 3, quick: bool = False) -> Table:
    """Simulate published tables, and say how far each cell is off; one cell a row.

    table: names of tables; all of them, if nothing is said.
    cell: some cells only: ``"LOCK"``, ``"@ROW"`` or ``"LOCK@ROW"``, as in ``"qspin@72"``.
    seeds: runs of each cell. quick: one seed, and a quarter of the virtual time.

    The columns are those of ``stanchion reproduce --csv``.
    """
    split = [[names] if isinstance(names, str) else list(names) for names in (table, cell)]
    return _native.reproduce(*split, seeds=whole("seeds", seeds), quick=quick)
