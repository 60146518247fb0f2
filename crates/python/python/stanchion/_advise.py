"""What ``stanchion advise`` says of a recording. The installed command makes it: who has a recording has that."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stanchion._api import Counts, Names, Settings, listed, settings
from stanchion._results import _flat


@dataclass(frozen=True)
class Advice:
    """Which lock to take, and the figures behind it."""

    text: str
    """What the command prints: the answer first, the detail below."""
    lock: str | None
    """The lock to take; ``None`` if every run failed."""
    helps: bool
    """Whether it gains anything over the lock of today."""
    cells: list[dict[str, Any]]
    """A row for each machine, number of threads and lock: ``pandas.DataFrame(advice.cells)``."""
    report: dict[str, Any]
    """All that ``--json`` has."""


def advise(
    trace: str | os.PathLike[str],
    machine: Names | None = None,
    *,
    lock: Names = "stanchion",
    cpus: int | None = None,
    cpu_limit: float | None = None,
    alone: bool = False,
    threads: Counts | None = None,
    overcommit: Counts | None = None,
    set: Settings = (),
    seeds: int = 5,
    seed: int = 1,
    command: str | os.PathLike[str] = "stanchion",
) -> Advice:
    """Predict how a recorded program runs on other machines, and with which lock.

    trace: a recording of ``stanchion run --record``.
    machine: names of :func:`machines`, or paths of files of your own; this machine, if nothing is said.
    lock: locks to compare with the C library's, or ``"all"``.
    cpus: so many CPUs on each machine. cpu_limit: a container's limit, in CPUs.
    alone: other processes that were busy meanwhile, such as clients, will run on other CPUs.
    threads: threads that work; as recorded, if nothing is said. overcommit: the same, for each CPU.
    set: fields of the machine to replace. seeds, seed: how many runs of each case, and the first seed.
    command: the ``stanchion`` command, which is not in the wheel.

    Ctrl-C ends it. What the command refuses is a :class:`ValueError` with its line.
    """
    found = shutil.which(command)
    if found is None:
        raise ValueError(f"command: no '{os.fspath(command)}' to run; it is not in the wheel, but in the package stanchion")
    options = {
        "--machine": None if machine is None else listed(machine),
        "--lock": listed(lock),
        "--cpus": cpus,
        "--cpu-limit": cpu_limit,
        "--threads": None if threads is None else listed(threads),
        "--overcommit": None if overcommit is None else listed(overcommit),
        "--seeds": seeds,
        "--seed": seed,
    }
    given = [f"{name}={value}" for name, value in options.items() if value is not None]
    given += [f"--set={value}" for value in settings(set)] + ["--alone"] * alone
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "advice.json"
        run = subprocess.run(
            [found, "advise", "--quiet", *given, f"--json={file}", Path(trace).absolute()],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode == 2:
            raise ValueError(run.stderr.strip().removeprefix("stanchion: "))
        if not file.exists() or not file.stat().st_size:
            raise RuntimeError(f"stanchion advise ended with {run.returncode}: {run.stderr.strip()}")
        report = json.loads(file.read_text(encoding="utf-8"))
    advice = report["advice"] or {"lock": None, "outlook": "none"}
    return Advice(run.stdout, advice["lock"], advice["outlook"] == "helps", [_flat(cell) for cell in report["cells"]], report)
