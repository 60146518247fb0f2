"""Results that are in files already: those of sweeps, and those of the command ``stanchion``."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

    import pyarrow as pa


def load_results(path: str | os.PathLike[str]) -> pa.Table:
    """The results in a file or in a directory of a sweep, as a ``pyarrow.Table``.

    A directory that :func:`sweep` wrote gives its cells in their order, those of a sweep that goes on too. A
    ``.csv`` or ``.json`` that a command wrote (``stanchion sim``, ``reproduce``, ``bench``) gives a row for each
    cell; what a cell of JSON has within another is named with dots: ``figures.latency.p50_ns``.

    What is wrong with a file is told in one line, with its name and the line or the field.
    """
    import pyarrow as pa

    place = Path(path)
    if place.is_dir():
        from stanchion._sweep.store import read_parts

        return read_parts(place)
    readers = {".csv": _csv, ".json": _json, ".parquet": _parquet}
    reader = readers.get(place.suffix)
    if reader is None:
        raise ValueError(f"{place}: is no directory, and ends in none of {', '.join(readers)}")
    rows = reader(place)
    return rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows)


def _parquet(place: Path) -> pa.Table:
    import pyarrow.parquet as pq

    return pq.read_table(place)


def _text(place: Path) -> str:
    try:
        return place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{place}: cannot be read: {error}") from None


def _csv(place: Path) -> list[dict[str, Any]]:
    numbered = [(number, line) for number, line in enumerate(_text(place).splitlines(), 1) if line[:1] != "#"]
    reader = csv.reader(line for _, line in numbered)
    head = next(reader, None)
    if head is None:
        raise ValueError(f"{place}: has no line with the names of columns")
    rows: list[list[str]] = []
    for row in reader:
        if len(row) != len(head):
            line = numbered[reader.line_num - 1][0]
            raise ValueError(f"{place}:{line}: has {len(row)} fields, and the head has {len(head)}")
        rows.append(row)
    columns = {name: _typed([row[at] for row in rows]) for at, name in enumerate(head)}
    return [{name: columns[name][at] for name in head} for at in range(len(rows))]


def _typed(texts: list[str]) -> list[Any]:
    """Numbers, if all texts that are not empty are numbers; the same for yes and no."""
    for kind in (int, float, {"true": True, "false": False}.__getitem__):
        try:
            return [None if text == "" else kind(text) for text in texts]
        except (ValueError, KeyError):
            continue
    return [text or None for text in texts]


def _json(place: Path) -> list[dict[str, Any]]:
    try:
        whole = json.loads(_text(place))
    except json.JSONDecodeError as error:
        raise ValueError(f"{place}:{error.lineno}: {error.msg}") from None
    cells = whole.get("cells") if isinstance(whole, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise ValueError(f"{place}: field 'cells' is no list of cells")
    return [_flat(cell) for cell in cells]


def _flat(cell: dict[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in cell.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{before}{name}."))
        else:
            flat[before + name] = value
    return flat
