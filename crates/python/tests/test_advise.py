"""Advice from a recording, by the command that ``STANCHION_COMMAND`` names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import stanchion

COMMAND = Path(os.environ.get("STANCHION_COMMAND", "stanchion"))
PROGRAM = """
import threading
lock = threading.Lock()
def work():
    for _ in range(2000):
        with lock:
            sum(range(50))
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("recording") / "trace.stn"
    library = COMMAND.with_name("libstanchion_preload.so")
    command = [str(COMMAND), "run", "--library", str(library), "--record", str(file), "--", sys.executable, "-c", PROGRAM]
    subprocess.run(command, check=True, capture_output=True)
    return file


def test_advice_has_the_answer_and_a_row_for_each_case(trace: Path) -> None:
    advice = stanchion.advise(trace, "small-vm", lock=["stanchion", "cna"], threads=[2, 4], seeds=2, command=COMMAND)
    assert advice.lock in ("libc", "stanchion", "cna")
    assert advice.text and advice.report["recording"]["acquisitions"] > 0
    assert {row["lock"] for row in advice.cells} == {"libc", "stanchion", "cna"}
    assert {row["workers"] for row in advice.cells} == {2, 4}
    again = stanchion.advise(trace, "small-vm", lock=["stanchion", "cna"], threads=[2, 4], seeds=2, command=COMMAND)
    assert again.cells == advice.cells, "a seed is a result"
    alone = stanchion.advise(trace, "small-vm", threads=2, seeds=1, alone=True, command=COMMAND)
    assert alone.cells and "--alone" in alone.report["provenance"]["arguments"]


def test_what_the_command_refuses_is_one_line(trace: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nearest") as error:
        stanchion.advise(trace, "smal-vm", command=COMMAND)
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match=r"missing\.stn"):
        stanchion.advise(tmp_path / "missing.stn", "small-vm", command=COMMAND)
    with pytest.raises(ValueError, match="not in the wheel"):
        stanchion.advise(trace, "small-vm", command=tmp_path / "nothing")
