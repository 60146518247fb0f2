"""Grids: which cells a sweep has. A cell is found by its number, so that ten million of them take no memory."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from stanchion import _native
from stanchion._api import LIMIT, listed, seeds_of, whole

Cell = tuple[int, str, str, str, int, list[str], int]
"""A cell's number, machine, workload, lock, vCPUs, fields replaced, seed."""

KEYS = ("machine", "workload", "lock", "vcpus", "set", "seeds", "time", "warm_up", "limit")


@dataclass(frozen=True)
class Scene:
    """A machine with a workload and fields replaced, and the locks and counts that are simulated there."""

    machine: str
    workload: str
    set: list[str]
    locks: list[str]
    counts: list[int]


class Grid:
    """All cells of a sweep, in their order: by scene, count of vCPUs, lock and seed."""

    def __init__(self, axes: Mapping[str, Any], where: str = "grid", text: str = "") -> None:
        """Checks everything; ``where`` and ``text`` are the file that ``axes`` come from, for errors."""
        try:
            self._read(axes)
        except ValueError as error:
            message = str(error)
            field = re.search(r"--set ([^=]+)=", message)
            line = _line_of(text, field[1] if field else message.split(":")[0].split(" ")[0])
            raise ValueError(f"{where}{line}: {message.replace('--set ', 'set ')}") from None

    @classmethod
    def of(cls, grid: Grid | Mapping[str, Any] | str | Path) -> Grid:
        """The grid of a dict, or of a TOML file."""
        if isinstance(grid, Grid):
            return grid
        if isinstance(grid, Mapping):
            return cls(grid)
        try:
            import tomllib
        except ModuleNotFoundError:  # before Python 3.11
            import tomli as tomllib  # type: ignore[no-redef, import-not-found, unused-ignore]
        try:
            text = Path(grid).read_text(encoding="utf-8")
            return cls(tomllib.loads(text), str(grid), text)
        except OSError as error:
            raise ValueError(f"{grid}: cannot be read: {error.strerror}") from None
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{grid}: {error}") from None

    def _read(self, axes: Mapping[str, Any]) -> None:
        for key in axes:
            if key not in KEYS:
                near = ", ".join(get_close_matches(key, KEYS, cutoff=0)[:3])
                raise ValueError(f"{key}: no such axis; nearest: {near}")
        machines = _words(axes.get("machine", "small-vm"))
        workloads = _words(axes.get("workload", "medium"))
        self.seeds = seeds_of(axes.get("seeds", 1))
        self.time = str(axes.get("time", "200ms"))
        self.warm_up = str(axes.get("warm_up", "20ms"))
        self.limit = whole("limit", axes.get("limit", LIMIT))
        lock = listed(axes.get("lock", "all"))
        vcpus = listed(axes["vcpus"]) if "vcpus" in axes else None
        texts = {name: _native.read_file(name) for name in (*machines, *workloads)}
        self.files = [(name, text) for name, text in texts.items() if text is not None]
        # Of no cell: times are read, and refused if they are none.
        _native.run_cells([], self.time, self.warm_up, self.limit, [])
        self.scenes: list[Scene] = []
        self._ends: list[int] = []
        size = 0
        for machine, workload in itertools.product(machines, workloads):
            for values in _combinations(axes.get("set", {})):
                locks, counts = _native.resolve(machine, workload, lock, vcpus, values, self.files)
                self.scenes.append(Scene(machine, workload, values, locks, counts))
                size += len(locks) * len(counts) * len(self.seeds)
                self._ends.append(size)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def cell(self, number: int) -> Cell:
        """The cell with this number."""
        at = bisect_right(self._ends, number)
        scene = self.scenes[at]
        rest = number - (self._ends[at - 1] if at else 0)
        rest, seed = divmod(rest, len(self.seeds))
        count, lock = divmod(rest, len(scene.locks))
        return (
            number,
            scene.machine,
            scene.workload,
            scene.locks[lock],
            scene.counts[count],
            scene.set,
            self.seeds[seed],
        )

    def identity(self) -> dict[str, Any]:
        """What the results depend on. Two grids of one identity have the same cells and results."""
        scenes = [[s.machine, s.workload, s.set, s.locks, s.counts] for s in self.scenes]
        whole = [scenes, self.seeds, self.time, self.warm_up, self.limit, sorted(self.files)]
        digest = hashlib.sha256(json.dumps(whole).encode()).hexdigest()
        return {"stanchion": _native.__version__, "cells": len(self), "sha256": digest}


def _words(names: Any) -> list[str]:
    words = [word.strip() for word in listed(names).split(",")]
    return list(dict.fromkeys(word for word in words if word))


def _combinations(axes: Mapping[str, Any]) -> list[list[str]]:
    """Each combination of the values of fields, as ``KEY=VALUE``."""
    if not isinstance(axes, Mapping):
        raise ValueError("set: is no table of fields with their values")
    flat = dict(_flat(axes))
    lists = [value if isinstance(value, (list, tuple)) else [value] for value in flat.values()]
    return [
        [f"{key}={value}" for key, value in zip(flat, values, strict=True)] for values in itertools.product(*lists)
    ]


def _flat(axes: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """``host.quota`` of TOML is a table in a table."""
    pairs: list[tuple[str, Any]] = []
    for key, value in axes.items():
        pairs += _flat(value, f"{before}{key}.") if isinstance(value, Mapping) else [(before + key, value)]
    return pairs


def _line_of(text: str, key: str) -> str:
    """``:LINE`` of the line that begins with a key; nothing, if none does."""
    lines = (number for number, line in enumerate(text.splitlines(), 1) if line.lstrip(" \t\"'").startswith(key))
    return next((f":{number}" for number in lines), "")
