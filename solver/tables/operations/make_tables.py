"""`make_tables`: several tables of the same microdata, linked in the cells that they share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from linkrisk.datasets.options.option import keywords
from linkrisk.datasets.tables.code_trees import TOTAL
from linkrisk.datasets.tables.explanatory_variables import Incomplete
from linkrisk.datasets.tables.linking import link
from linkrisk.datasets.tables.stored_table import SENSITIVE, StoredTable
from linkrisk.solver.options.operations.tables.make import MakeSeveralOptions, Making
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.result import Result
from linkrisk.solver.tables.operations.make import MadeTable, made_content, make_table, write_made


@dataclass(frozen=True, eq=False)
class MadeTables(Result):
    """Several tables of microdata as one.

    Attributes
    ----------
    tables : tuple of MadeTable
        One by one.
    linked : StoredTable
        The cells of all of them, each once, with all relations.
    """

    kind: ClassVar[str] = "tabulation"

    tables: tuple[MadeTable, ...]
    linked: StoredTable = field(repr=False)

    @property
    def cells(self) -> pd.DataFrame:
        """A line for each cell; a variable that its table does not have stands at its total."""
        return self.linked.cells

    @property
    def relations(self) -> pd.DataFrame:
        """A line for each term: `relation`, `cell`, `coefficient`."""
        return self.linked.relations

    @property
    def renamed(self) -> dict[str, str]:
        """Variables whose column of codes has another name, such as `status_code` for `status`."""
        return {name: column for table in self.tables for name, column in table.renamed.items()}

    @property
    def coded(self) -> dict[str, int]:
        """By column, how many records without a code got one."""
        return {name: count for table in self.tables for name, count in table.coded.items()}

    @property
    def left_out(self) -> dict[str, int]:
        """By column, how many records are in no table because they have nothing there."""
        return self.tables[0].left_out

    @property
    def sensitive(self) -> int:
        """How many cells are."""
        return int((self.linked.status == SENSITIVE).sum())

    @property
    def missing_code(self) -> str:
        """The code of records that had none."""
        return self.tables[0].missing_code

    def content(self) -> dict[str, Any]:
        """What was made, without its cells."""
        return made_content(self)

    def stored(self) -> StoredTable:
        """It as a table that `suppress_table` takes."""
        return self.linked

    @property
    def contributors(self) -> pd.DataFrame:
        """A line for each respondent of each cell: `cell`, `contributor`, `amount`. Not to be published."""
        number = {codes: at for at, codes in enumerate(self.linked.codes.itertuples(index=False, name=None))}
        parts = []
        for table in self.tables:
            stored, each = table.stored(), table.contributors
            columns = [
                stored.codes[name].tolist() if name in stored.by else [TOTAL] * len(stored)
                for name in self.linked.by
            ]
            place = [number[codes] for codes in zip(*columns, strict=True)]
            parts.append(each.assign(cell=[place[cell] for cell in each["cell"]]))
        whole = pd.concat(parts).drop_duplicates(["cell", "contributor"])
        return whole.sort_values("cell", kind="stable").reset_index(drop=True)

    def write(self, cells: str | Path, relations: str | Path, contributors: str | Path | None = None) -> None:
        """Write the files that `suppress_table` reads, all or none.

        Raises
        ------
        DataError
            If one cannot be written.
        """
        write_made(self, cells, relations, contributors)

    def __repr__(self) -> str:
        return f"MadeTables({len(self.tables)} tables, {len(self.linked)} cells, {self.sensitive} sensitive)"


@taking(MakeSeveralOptions)
def make_tables(asked: MakeSeveralOptions) -> MadeTables:
    """Make several tables of the same microdata, to be protected at once.

    Each table takes the hierarchies of its own variables.

    Parameters
    ----------
    {options}

    Returns
    -------
    MadeTables

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request or the data cannot be used.

    Examples
    --------
    >>> from linkrisk import make_tables, suppress_table
    >>> tables = make_tables(
    ...     "firms.csv", [["region", "size"], ["branch", "size"]], response="turnover", rules=["p=10"]
    ... )  # doctest: +SKIP
    >>> suppress_table(tables).write("safe.csv")  # doctest: +SKIP
    """
    by, hierarchies = asked.by, asked.hierarchies or {}
    if not by or any(isinstance(one, str) for one in by):
        raise UsageError("make_tables needs the variables of each table: [['region', 'size'], ['branch']]")
    seen = {name for one in by for name in one}
    unknown = next((name for name in hierarchies if name not in seen), None)
    if unknown is not None:
        raise UsageError(
            f"hierarchies: {unknown!r} is no explanatory variable; these are {', '.join(sorted(seen))}"
        )
    missing = asked.missing if isinstance(asked.missing, Incomplete) else Incomplete.parse(asked.missing)
    how = keywords(Making, asked, missing=replace(missing, beside=tuple(sorted(seen))))
    tables = []
    for one in by:
        how["hierarchies"] = {name: files for name, files in hierarchies.items() if name in one}
        tables.append(make_table(asked.data, list(one), **how))
    labels = {name: found for table in tables for name, found in table.labels.items()}
    return MadeTables(tuple(tables), replace(link([table.stored() for table in tables]), labels=labels))
