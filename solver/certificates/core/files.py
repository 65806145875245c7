"""Reading two microdata files in CSV: numbers with a point, dates as 2026-11-27.

Other formats of files, and records in other orders than by a column or by place, are read by whoever calls
`check.check_fit` with the values.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path

from .claims import MalformedError
from .problem import Problem
from .records import Files

EMPTY = ("", "NA", "NaN")
"""Cells without a value."""


def read_columns(path: str | Path) -> dict[str, list[str]]:
    """The columns of a CSV file, as texts."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
        csv.field_size_limit(1 << 24)
    except (OSError, UnicodeDecodeError) as error:
        raise MalformedError(f"{path} cannot be read: {error}") from None
    mark = max(",;\t", key=(lines or [""])[0].count)
    rows = [[cell.strip() for cell in row] or [""] for row in csv.reader(lines, delimiter=mark)]
    if len(rows) < 2 or any(len(row) != len(rows[0]) for row in rows):
        raise MalformedError(f"{path} has no rows, or rows of different lengths")
    if len(set(rows[0])) < len(rows[0]):
        raise MalformedError(f"{path} has two columns of one name")
    return {name: list(cells) for name, *cells in zip(*rows, strict=True)}


def read_files(
    original: str | Path, masked: str | Path, problem: Problem, id_column: str | None, missing: Iterable[str]
) -> Files:
    """Two files; records belong together by a column of ids, or row by row where there is none."""
    tables = [read_columns(original), read_columns(masked)]
    empty = {*EMPTY, *missing}
    values = [[_values(table, name, problem, empty) for name in problem.attributes] for table in tables]
    others = {name: (False, cells) for name, cells in tables[1].items()}
    others |= {name: (True, cells) for name, cells in tables[0].items()}
    return Files(values[0], values[1], _partners(tables, id_column), others)


def _partners(tables: list[dict[str, list[str]]], id_column: str | None) -> list[int]:
    sizes = [len(next(iter(table.values()))) for table in tables]
    if id_column is None:
        _need(sizes[0] == sizes[1], "the files have different numbers of rows: name a column of ids")
        return list(range(sizes[0]))
    _need(all(id_column in table for table in tables), f"there is no column {id_column!r} in both files")
    ids = [table[id_column] for table in tables]
    _need(all(len(set(one)) == len(one) for one in ids), f"{id_column!r} has an id twice")
    places = {one: at for at, one in enumerate(ids[1])}
    found = [places.get(one, -1) for one in ids[0]]
    _need(max(found) >= 0, f"no id of {id_column!r} is in both files")
    return found


def _need(holds: bool, message: str) -> None:
    if not holds:
        raise MalformedError(message)


def _values(table: dict[str, list[str]], name: str, problem: Problem, empty: set[str]) -> list[float]:
    """An attribute as `records.Values`: categories by their positions, dates by days since 1970."""
    _need(name in table, f"there is no column {name!r} in both files")
    read: Callable[[str], float] = float
    unknown = math.nan
    if name in problem.categories:
        places = {one: float(at) for at, one in enumerate(problem.categories[name])}
        read, unknown = places.__getitem__, float(len(places))
    elif problem.scales.get(name) == "date":
        read = _days
    found = []
    for row, cell in enumerate(table[name], start=1):
        try:
            found.append(unknown if cell in empty else read(cell))
            if math.isinf(found[-1]) or (math.isnan(found[-1]) and cell not in empty) or "_" in cell:
                raise ValueError
        except (KeyError, ValueError):
            raise MalformedError(f"{name}, row {row}: {cell!r} is no value of this attribute") from None
    return found


def _days(cell: str) -> float:
    return float((date.fromisoformat(cell) - date(1970, 1, 1)).days)
