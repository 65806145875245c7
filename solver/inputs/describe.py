"""`describe`: summarise a file and guess its schema."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from linkrisk.datasets.microdata.column_descriptions import ColumnDescription, described_columns
from linkrisk.datasets.microdata.ddi import SUFFIX, ddi_losses
from linkrisk.datasets.microdata.names import shown_name, shown_names
from linkrisk.datasets.microdata.roles import ROLE_WORDS, Role
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.schema_files import schema_of, write_schema
from linkrisk.datasets.microdata.tables import Table, load_table
from linkrisk.datasets.pairs.categorical import listed_categories
from linkrisk.solver.charts.chart import Column, Of
from linkrisk.solver.charts.chart import Table as ShownTable
from linkrisk.solver.documents.document import Document, Items
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.wording import size_line, table
from linkrisk.solver.options.data import DescribeOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.result import Result
from linkrisk.solver.schemas.keys import Json


@dataclass(frozen=True)
class Description(Result):
    """What is in a table.

    Attributes
    ----------
    source : str
        What the table is called.
    records : int
    columns : tuple of ColumnDescription
        In the order of the table.
    notes : tuple of str
        What was detected when its file was read, a line each.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> about = linkrisk.describe(iris)
    >>> about.records, len(about.columns)
    (15, 4)
    """

    kind: ClassVar[str] = "description"

    source: str
    records: int
    columns: tuple[ColumnDescription, ...]
    notes: tuple[str, ...] = ()

    @property
    def schema(self) -> Schema:
        """The first guess, to be corrected."""
        return Schema(tuple(column.attribute for column in self.columns))

    def content(self) -> dict[str, Any]:
        """The JSON of `describe --json`."""
        return {
            "file": self.source,
            "records": self.records,
            "columns": [column.to_dict() for column in self.columns],
            "notes": list(self.notes),
            "schema": self.schema.to_dict(),
        }

    def losses(self, output: str | Path) -> tuple[str, ...]:
        """What of the schema a file of this name does not hold, a sentence each."""
        return ddi_losses(self.schema) if Path(output).suffix.lower() == SUFFIX else ()

    def write(self, output: str | Path) -> None:
        """Write the schema as .toml, with what speaks for each guess, as .json, or as DDI (.xml)."""
        write_schema(self.schema, output, {one.attribute.name: one.comment for one in self.columns})


@taking(DescribeOptions)
def describe(asked: DescribeOptions) -> Description:
    """Say what the columns of a table seem to be; values that may identify a record are not shown.

    Parameters
    ----------
    {options}

    Returns
    -------
    Description

    Raises
    ------
    TypeError
        If there is no such keyword.
    DataError
        If the table cannot be read.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> linkrisk.describe(iris).columns[0].guess.attribute.scale
    <Scale.NUMERIC: 'numeric'>
    """
    declared = schema_of(asked.schema)
    codes = list(listed_categories((), (), declared))
    return description_of(load_table(asked.data, "data", codes), declared)


def description_of(table: Table, declared: Schema | None = None) -> Description:
    """Describe a table already read, of which something may be declared."""
    absent = [name for name in (() if declared is None else declared.names) if name not in table.frame]
    lacking = [f"the schema has {shown_names(absent, most=3)}, which the file has not"] if absent else []
    columns = described_columns(table.frame, table.notes, declared)
    return Description(table.source, len(table.frame), columns, (*table.remarks, *lacking))


_LARGEST_WHOLE = 1e15


def description(result: Json) -> Document:
    """Summarise the JSON of `describe`: the columns, and the evidence for special roles."""
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
        [ShownTable(titles, rows)],
        [Items("", reasons)] if reasons else [],
        asked=[size_line(result["file"], records, len(columns), "column")],
        notes=result["notes"],
    )


def _values(column: Json) -> str | None:
    """Format the range of numbers, or the most frequent categories; None where values are not shown."""
    if column["lowest"] is not None:
        return f"{_number(column['lowest'])} to {_number(column['highest'])}"
    named = [f"{one['label'] or one['code']} {one['records']}" for one in column["frequent"]]
    return ", ".join([*named, *(["..."] if column["different"] > len(named) else [])]) if named else None


def _number(value: float) -> str:
    whole = float(value).is_integer() and abs(value) < _LARGEST_WHOLE
    return f"{value:.0f}" if whole else f"{value:.6g}"


def data_sets(result: Json) -> Document:
    """Summarise the JSON of `datasets list`: sizes and origins."""
    columns = [("name", "name", Of.TEXT), ("rows", "records", Of.COUNT), ("columns", "columns", Of.COUNT)]
    rows = [[one["name"], one["rows"], len(one["columns"]), one["comes_from"]] for one in result["datasets"]]
    return short([table("", [*columns, ("comes_from", "comes from", Of.TEXT)], rows)])


def data_set(result: Json) -> Document:
    """Summarise the JSON of `datasets show`."""
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
                ("address", result["address"] or "none: it comes with linkrisk"),
                ("local file", f"{file} in the folder LINKRISK_DATA" if file else "none needed"),
                ("comes from", result["comes_from"]),
            )
        ]
    )
