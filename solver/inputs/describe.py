"""`describe`: what is in a file, and a first guess of its schema."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from linkrisk.datasets.microdata.column_descriptions import ColumnDescription, described_columns
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.schema_files import write_schema
from linkrisk.datasets.microdata.tables import Table, load_table
from linkrisk.solver.options.operations.describe import DescribeOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.result import Result


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

    def write(self, output: str | Path) -> None:
        """Write the schema as .toml, with what speaks for each guess, or as .json."""
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
    >>> from linkrisk import describe
    >>> describe("survey.csv").write("survey.toml")  # doctest: +SKIP
    """
    return description_of(load_table(asked.data, "data"))


def description_of(table: Table) -> Description:
    """Describe a table that has been read."""
    return Description(
        table.source, len(table.frame), described_columns(table.frame, table.notes), table.remarks
    )
