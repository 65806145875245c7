"""What `describe` and `datasets` say in short."""

from __future__ import annotations

from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.microdata.roles import ROLE_WORDS, Role
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.documents.document import Document, Items
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.wording import size_line, table
from linkrisk.solver.schemas.keys import Json

_LARGEST_WHOLE = 1e15


def description(result: Json) -> Document:
    """Of the JSON of `describe`: the columns, and what speaks for special roles."""
    records, columns = result["records"], result["columns"]
    rows = [
        [
            *(shown_name(one["name"]), one["role"], one["scale"], one["different"]),
            (one["empty"] + one["coded_missing"]) / max(records, 1) or None,
            _values(one),
        ]
        for one in columns
    ]
    titles = (
        *(Column("column", "column", long=True), Column("role", "role"), Column("scale", "scale")),
        *(Column("different", "different", Of.COUNT), Column("missing", "missing", Of.SHARE)),
        Column("values", "values", long=True),
    )
    reasons = tuple(
        f"{shown_name(one['name'])} is {ROLE_WORDS[Role(one['role'])]}: it {one['why_role']}"
        for one in columns
        if one["role"] not in (None, Role.KEY)
    )
    return short(
        [Table(titles, rows)],
        [Items("", reasons)] if reasons else [],
        asked=[size_line(result["file"], records, len(columns), "column")],
        notes=result["notes"],
    )


def _values(column: Json) -> str | None:
    """The range of numbers, or the most frequent categories; None where values are not shown."""
    if column["lowest"] is not None:
        return f"{_number(column['lowest'])} to {_number(column['highest'])}"
    named = [f"{one['label'] or one['code']} {one['records']}" for one in column["frequent"]]
    return ", ".join([*named, *(["..."] if column["different"] > len(named) else [])]) if named else None


def _number(value: float) -> str:
    whole = float(value).is_integer() and abs(value) < _LARGEST_WHOLE
    return f"{value:.0f}" if whole else f"{value:.6g}"


def data_sets(result: Json) -> Document:
    """Of the JSON of `datasets list`: their sizes, and where they come from."""
    columns = [("name", "name", Of.TEXT), ("rows", "records", Of.COUNT), ("columns", "columns", Of.COUNT)]
    rows = [[one["name"], one["rows"], len(one["columns"]), one["comes_from"]] for one in result["datasets"]]
    return short([table("", [*columns, ("comes_from", "comes from", Of.TEXT)], rows)])


def data_set(result: Json) -> Document:
    """Of the JSON of `datasets show`: all that is known of one of them."""
    columns, file = result["columns"], result["local_file"]
    return short(
        [
            pairs(
                ("name", result["name"]),
                ("title", result["title"]),
                ("records", str(result["rows"])),
                ("columns", f"{len(columns)}: {', '.join(columns)}"),
                ("origin", result["origin"]),
                ("licence", result["licence"]),
                ("address", result["address"] or "none: it comes with scikit-learn"),
                ("local file", f"{file} in the folder LINKRISK_DATA" if file else "none needed"),
                ("comes from", result["comes_from"]),
            )
        ]
    )
