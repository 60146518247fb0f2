"""The notebooks in ``examples`` run from the first cell to the last."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    done = NotebookClient(notebook, timeout=300).execute()
    last = [cell for cell in done.cells if cell.cell_type == "code"][-1]
    assert "stanchion" in last.outputs[-1]["data"]["text/plain"]
