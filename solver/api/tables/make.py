"""`make_table`: a table from microdata, with the cells that are sensitive by some rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.numeric import check_known, check_no_duplicates
from linkrisk.datasets.microdata.writing import contents, write_all
from linkrisk.datasets.tables.cells_and_relations import FIXED, SAFE, SENSITIVE, StoredTable, stored_table
from linkrisk.datasets.tables.code_trees import Codes, CodeTree, codes_of
from linkrisk.datasets.tables.relations_of_codes import HierarchyFiles
from linkrisk.datasets.tables.tabulating import tabulate
from linkrisk.formulations.tables.primary_rules import (
    Contributions,
    DominanceRule,
    FrequencyRule,
    PPercentRule,
    PrimaryRule,
    sensitive,
)
from linkrisk.solver.api.choices import TableLike
from linkrisk.solver.api.keywords import checked_keywords
from linkrisk.solver.api.masking_source import read_source
from linkrisk.solver.run.errors import UsageError

_MOST_VARIABLES = 6


@dataclass(frozen=True, eq=False)
class MadeTable:
    """A table of microdata.

    Attributes
    ----------
    cells : DataFrame
        A line for each cell: its codes, `value`, `respondents`, `status`, `lower_protection`,
        `upper_protection`.
    relations : DataFrame
        A line for each term: `relation`, `cell`, `coefficient`.
    """

    cells: pd.DataFrame = field(repr=False)
    relations: pd.DataFrame = field(repr=False)

    @property
    def sensitive(self) -> int:
        """How many cells are."""
        return int((self.cells["status"] == SENSITIVE).sum())

    def stored(self) -> StoredTable:
        """It as a table that `protect_table` takes."""
        return stored_table(self.cells, self.relations, "the table")

    def write(self, cells: str | Path, relations: str | Path) -> None:
        """Write the two files that `protect_table` reads, both or none.

        Raises
        ------
        DataError
            If one cannot be written.
        """
        write_all(
            {**contents(StoredFile(self.cells), cells), **contents(StoredFile(self.relations), relations)}
        )

    def __repr__(self) -> str:
        return f"MadeTable({len(self.cells)} cells, {self.sensitive} sensitive)"


@checked_keywords
def make_table(
    data: TableLike,
    by: Sequence[str],
    *,
    response: str | None = None,
    rules: Sequence[str | PrimaryRule] = (),
    hierarchies: Mapping[str, HierarchyFiles] | None = None,
    holding: str | None = None,
) -> MadeTable:
    """Make a table of microdata, and say which cells are sensitive.

    Parameters
    ----------
    data : path, name, frame (pandas, polars, pyarrow) or ndarray
        The microdata, a record for each respondent.
    by : sequence of str
        Explanatory variables, one to six.
    response : str, optional
        What is summed; records are counted where absent.
    rules : sequence of str or PrimaryRule
        ``"p=10"`` or ``"p=10,q=50,m=2"``: the p % rule with prior knowledge q and a coalition of m;
        ``"nk=2,75"``: dominance; ``"frequency=3"`` or ``"frequency=3,20"``: fewer than 3 respondents, with a
        level of 20 % of the value. A cell is sensitive by any of them.
    hierarchies : mapping of str to path or paths, optional
        Of explanatory variables: files with the columns `code` and `parent`, trees of ARGUS (``.hrc``), or
        tables with a column for each level; several for a variable that is grouped in several ways.
    holding : str, optional
        Column of holdings, whose respondents count as one.

    Returns
    -------
    MadeTable
        Cells without respondents have the status ``z``.

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request or the data cannot be used.

    Examples
    --------
    >>> from linkrisk import make_table
    >>> made = make_table("firms.csv", ["region"], response="turnover", rules=["p=10"])  # doctest: +SKIP
    >>> made.write("cells.csv", "relations.csv")  # doctest: +SKIP
    """
    if not 1 <= len(by) <= _MOST_VARIABLES:
        raise UsageError(f"a table has one to {_MOST_VARIABLES} explanatory variables, not {len(by)}")
    known = [rule if isinstance(rule, PrimaryRule) else primary_rule(rule) for rule in rules]
    check_no_duplicates(list(by))
    source = read_source(data, (), None, list(by))
    frame = source.known
    wanted = [*by, *(name for name in (response, holding) if name is not None)]
    check_known(wanted, list(frame.columns), source.name, what="column")
    trees = _trees(frame, by, hierarchies or {})
    width = max((rule.width for rule in known), default=1)
    made = tabulate(frame, trees, response, width, holding=holding, source=source.name)
    unsafe, level = sensitive(tuple(known), Contributions(made.total, made.largest, made.respondents))
    whole = bool((made.total == np.round(made.total)).all())
    cells = made.codes().assign(
        value=made.total.astype(np.int64) if whole else made.total,
        respondents=made.respondents,
        status=np.where(unsafe, SENSITIVE, np.where(made.respondents == 0, FIXED, SAFE)),
        lower_protection=level,
        upper_protection=level,
    )
    return MadeTable(cells, made.terms())


def _trees(frame: pd.DataFrame, by: Sequence[str], files: Mapping[str, HierarchyFiles]) -> list[Codes]:
    for name in files:
        if name not in by:
            raise UsageError(f"hierarchies: {name!r} is no explanatory variable; these are {', '.join(by)}")
    return [
        codes_of(name, files[name])
        if name in files
        else CodeTree.flat(name, (spelled(code) for code in frame[name].dropna().unique()))
        for name in by
    ]


def primary_rule(text: str) -> PrimaryRule:
    """Read ``p=10,q=50,m=2``, ``nk=2,75`` or ``frequency=3,20``.

    Raises
    ------
    UsageError
        If it is none of these.
    FormulationError
        If a number is not in its range.
    """
    name, _, rest = text.replace(" ", "").partition("=")
    try:
        if name == "p":
            given = dict(one.split("=") for one in f"p={rest}".split(","))
            return PPercentRule(**_numbers(given, {"p": "percent", "q": "prior", "m": "intruders"}))
        numbers = [float(one) for one in rest.split(",")]
        if name == "nk" and len(numbers) == 2:
            return DominanceRule(int(numbers[0]), numbers[1])
        if name == "frequency" and len(numbers) in (1, 2):
            return FrequencyRule(int(numbers[0]), *numbers[1:])
    except (ValueError, KeyError):
        pass
    raise UsageError(f"{text!r} is no rule; write p=10 (or p=10,q=50,m=2), nk=2,75 or frequency=3 (or 3,20)")


def _numbers(given: Mapping[str, str], names: Mapping[str, str]) -> dict[str, Any]:
    return {names[key]: int(value) if key == "m" else float(value) for key, value in given.items()}
