"""Functions `make_table` and `make_tables`: tables of microdata, with sensitive cells by rules."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.masking.attributes import known_values
from linkrisk.datasets.masking.release import version
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.names import Labels, with_columns
from linkrisk.datasets.microdata.numeric import check_known, check_no_duplicates
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.datasets.microdata.writing import contents, for_the_house, write_all
from linkrisk.datasets.options.option import keywords
from linkrisk.datasets.tables.code_trees import Codes, Hierarchies, codes_of_column, renamed
from linkrisk.datasets.tables.explanatory_variables import (
    Incomplete,
    complete_records,
    with_code,
    with_date_levels,
)
from linkrisk.datasets.tables.linking import keys_of, link, with_beside
from linkrisk.datasets.tables.public_bounds import check_weights, with_bounds, with_integer_levels
from linkrisk.datasets.tables.reading import read_manual_statuses
from linkrisk.datasets.tables.stored_table import (
    FIXED,
    SAFE,
    SENSITIVE,
    StoredTable,
    names_of_codes,
    stored_table,
)
from linkrisk.datasets.tables.tabulating import Roles, Tabulated, tabulate
from linkrisk.formulations.tables.contributions import Contributions
from linkrisk.formulations.tables.primary_rules import (
    PrimaryRule,
    RequestRule,
    Sensitive,
    least_of,
    sensitive,
)
from linkrisk.solver.inputs.source import read_source
from linkrisk.solver.options.table_making import MakeOptions, MakeSeveralOptions, Making
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.result import Result
from linkrisk.solver.tables.operations.rules import primary_rule, with_manual_statuses, with_written_levels

_MOST_VARIABLES = 6


@dataclass(frozen=True, eq=False, kw_only=True)
class Made(Result):
    """Common base of one table of microdata, and of several as one."""

    kind: ClassVar[str] = "tabulation"

    cells: pd.DataFrame = field(repr=False)
    relations: pd.DataFrame = field(repr=False)
    renamed: dict[str, str] = field(default_factory=dict, repr=False)
    coded: dict[str, int] = field(default_factory=dict, repr=False)
    left_out: dict[str, int] = field(default_factory=dict, repr=False)
    missing_code: str = field(default="", repr=False)

    @property
    @abstractmethod
    def contributors(self) -> pd.DataFrame:
        """Internal: a line for each respondent of each cell: `cell`, `contributor`, `amount`."""

    @property
    def sensitive(self) -> int:
        """Number of sensitive cells."""
        return int((self.cells["status"] == SENSITIVE).sum())

    def sizes(self) -> dict[str, int]:
        """Return the number of cells and relations."""
        return {"cells": len(self.cells), "relations": int(self.relations["relation"].max()) + 1}

    def of_records(self) -> dict[str, Any]:
        """Return renamed columns of codes, and numbers of records without a code or a response."""
        names = ("renamed", "coded", "left_out", "missing_code")
        return {name: getattr(self, name) for name in names}

    def content(self) -> dict[str, Any]:
        """Return the JSON, without the cells."""
        return {"linkrisk": version(), **self.sizes(), "sensitive": self.sensitive, **self.of_records()}

    def write(self, cells: str | Path, relations: str | Path, contributors: str | Path | None = None) -> None:
        """Write the files that `suppress_table` reads, all or none.

        Raises
        ------
        DataError
            If one cannot be written.
        """
        files = {**contents(StoredFile(self.cells), cells), **contents(StoredFile(self.relations), relations)}
        if contributors is not None:
            files |= contents(StoredFile(self.contributors), contributors)
        with for_the_house():
            write_all(files)


@dataclass(frozen=True, eq=False, kw_only=True)
class MadeTable(Made):
    """Table of microdata.

    Attributes
    ----------
    cells : DataFrame
        A line for each cell: its codes, `value`, `respondents`, `status`, `lower_protection`,
        `upper_protection`.
    relations : DataFrame
        A line for each term: `relation`, `cell`, `coefficient`.
    tabulated : Tabulated
        What the cells were made of.
    rules : tuple of str
        By which cells are sensitive. Not to be published.
    counts : bool
        Whether the values are counts, which attackers know to be whole numbers.
    renamed : dict of str to str
        Variables whose column of codes has another name, such as `status_code` for `status`.
    coded, left_out : dict of str to int
        By column, how many records without a code got one, and how many are not in the table because they
        have no code or no response; one that lacks several is counted with each.
    missing_code : str
        The code of records that had none.
    labels : Labels
        Labels of columns and codes in the file of the microdata.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> table = linkrisk.make_table(firms, ["region", "size"], response="sales", rules=["p=10"])
    >>> len(table.cells), table.rules
    (9, ('p=10',))
    """

    tabulated: Tabulated = field(repr=False)
    rules: tuple[str, ...] = field(default=(), repr=False)
    counts: bool = field(default=False, repr=False)
    labels: Labels = field(default_factory=dict, repr=False)

    @property
    def by(self) -> list[str]:
        """Columns of codes of its variables."""
        return [tree.variable for tree in self.tabulated.trees]

    def stored(self) -> StoredTable:
        """Return it as a table that `suppress_table` takes."""
        trees = self.tabulated.trees
        table = stored_table(self.cells, self.relations, "the table", by=self.by, trees=trees)
        return replace(table, rules=self.rules, counts=self.counts, labels=self.labels)

    @property
    def contributors(self) -> pd.DataFrame:
        """Internal: a line for each respondent of each cell: `cell`, `contributor`, `amount`."""
        return self.tabulated.contributions()

    def __repr__(self) -> str:
        return f"MadeTable({len(self.cells)} cells, {self.sensitive} sensitive)"


@dataclass(frozen=True, eq=False, kw_only=True)
class MadeTables(Made):
    """Several tables of microdata as one.

    Attributes
    ----------
    cells, relations : DataFrame
        Of all of them, each once; a variable that its table does not have stands at its total.
    tables : tuple of MadeTable
        One by one.
    linked : StoredTable
        The cells of all of them with all relations.
    renamed, coded, left_out, missing_code
        See `MadeTable`.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> made = linkrisk.make_tables(firms, [["region"], ["size"]], response="sales", rules=["p=10"])
    >>> len(made.cells)
    5
    """

    tables: tuple[MadeTable, ...]
    linked: StoredTable = field(repr=False)

    def stored(self) -> StoredTable:
        """Return it as a table that `suppress_table` takes."""
        return self.linked

    @property
    def contributors(self) -> pd.DataFrame:
        """Internal: a line for each respondent of each cell: `cell`, `contributor`, `amount`."""
        number = {codes: at for at, codes in enumerate(self.linked.codes.itertuples(index=False, name=None))}
        parts = []
        for table in self.tables:
            place = [number[codes] for codes in keys_of(table.stored(), self.linked.by, {})]
            each = table.contributors
            parts.append(each.assign(cell=[place[cell] for cell in each["cell"]]))
        whole = pd.concat(parts).drop_duplicates(["cell", "contributor"])
        return whole.sort_values("cell", kind="stable").reset_index(drop=True)

    def __repr__(self) -> str:
        return f"MadeTables({len(self.tables)} tables, {len(self.linked)} cells, {self.sensitive} sensitive)"


@taking(MakeOptions)
def make_table(asked: MakeOptions) -> MadeTable:
    """Make a table of microdata and mark its sensitive cells.

    Parameters
    ----------
    {options}

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
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> table = linkrisk.make_table(firms, ["region", "size"], response="sales", rules=["p=10"])
    >>> table.cells[table.cells["status"] == "u"][["region", "size", "value"]]
      region size  value
    4      N    a     95
    5      N    b     50
    7      S    a     90
    8      S    b    130
    """
    by, weight, missing = asked.by, asked.weight, asked.missing
    if not 1 <= len(by) <= _MOST_VARIABLES:
        raise UsageError(f"a table has one to {_MOST_VARIABLES} explanatory variables, not {len(by)}")
    known = [rule if isinstance(rule, PrimaryRule) else primary_rule(rule) for rule in asked.rules]
    check_no_duplicates(list(by), "the explanatory variables")
    named = [one.name for one in fields(Roles) if one.name != "cost"]
    roles = Roles(**{name: getattr(asked, name) for name in named}, cost=asked.cost_column)
    _check_roles(roles, known)
    if asked.publish_respondents:
        _check_published(roles, asked.empty)
    names = [one for one in (asked.holding, asked.respondent) if one is not None]
    source, declared = read_source(asked.data, (), None, [*by, *names]), schema_of(asked.schema)
    check_known([*by, *roles.columns], list(source.known.columns), source.name, what="column")
    known_cells = known_values(source.known, source.known.columns, declared)
    lacking = missing if isinstance(missing, Incomplete) else Incomplete.parse(missing)
    amounts = [
        one for one in dict.fromkeys((asked.response, asked.shadow, asked.cost_column)) if one is not None
    ]
    frame, coded = with_date_levels(known_cells, asked.hierarchies or {}, source.name, declared)
    given = complete_records(frame, by, amounts, lacking, source.name)
    trees = _trees(given.frame[given.kept], by, coded)
    made = tabulate(
        given.frame,
        [with_code(tree, lacking.code) if tree.variable in given.coded else tree for tree in trees],
        roles,
        max((rule.width for rule in known), default=1),
        weighting=asked.weights_in_rules,
        negative=asked.negative,
        source=source.name,
        kept=given.kept,
    )
    if weight is not None and asked.response is None and known:
        check_weights(f"{source.name}, column {weight!r}", given.frame[weight])
    columns = names_of_codes(by)
    made = replace(made, trees=tuple(renamed(tree, columns[tree.variable]) for tree in made.trees))
    found = sensitive(tuple(known), _contributions(made, roles))
    cells = _cells(made, found, asked.protection, asked.empty)
    if asked.manual is not None:
        statuses = read_manual_statuses(asked.manual, made.codes())
        cells = with_manual_statuses(cells, statuses, asked.manual_range, str(asked.manual))
    cells = with_written_levels(cells)
    if (made.absolute > np.abs(made.total)).any():  # sums are not publicly known to be nonnegative
        cells = with_bounds(cells, (cells["status"] == SENSITIVE).to_numpy(), float(made.absolute.max()))
    counts = asked.response is None and bool((made.total == np.round(made.total)).all())
    least = least_of(known)
    if asked.publish_respondents:
        cells = with_beside(cells, least)
    if counts:
        cells = with_integer_levels(cells, least, suppressible=asked.empty == "suppressible")
    other = {name: column for name, column in columns.items() if name != column}
    words = tuple(str(rule) for rule in asked.rules)
    labels = {columns[name]: found for name, found in source.labels(by, declared).items()}
    return MadeTable(
        cells=cells,
        relations=made.terms(),
        tabulated=made,
        rules=words,
        counts=counts,
        renamed=other,
        coded=given.coded,
        left_out=given.left_out,
        labels=labels,
        missing_code=lacking.code,
    )


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
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> made = linkrisk.make_tables(firms, [["region"], ["size"]], response="sales", rules=["p=10"])
    >>> [len(table.cells) for table in made.tables]
    [3, 3]
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
    linked = replace(link([table.stored() for table in tables]), labels=labels)
    return MadeTables(
        cells=linked.cells,
        relations=linked.relations,
        tables=tuple(tables),
        linked=linked,
        renamed={name: column for table in tables for name, column in table.renamed.items()},
        coded={name: count for table in tables for name, count in table.coded.items()},
        left_out=tables[0].left_out,
        missing_code=tables[0].missing_code,
    )


def _check_roles(roles: Roles, rules: Sequence[PrimaryRule]) -> None:
    asks = any(isinstance(rule, RequestRule) for rule in rules)
    if asks and roles.request is None:
        raise UsageError("the request rule needs the column of who asked for protection; name it by request")
    if roles.request is not None and not asks:
        raise UsageError("request, who asked for protection, is looked at by the request rule only; add it")
    if roles.shadow is not None and roles.response is None:
        raise UsageError("a shadow is looked at instead of a response; name the response, too")


def _check_published(roles: Roles, empty: str) -> None:
    """Refuse respondent counts that are not those of a table of sums."""
    if roles.response is None:
        raise UsageError(
            "numbers of respondents are published beside sums; name a response, or leave them out"
        )
    if roles.holding is not None:
        raise UsageError(
            "holdings do not add up, as one counts once in a total and in each of its parts: publish no "
            "numbers of respondents, or leave the holdings out"
        )
    if empty != "published":
        raise UsageError(
            "numbers of respondents show which cells are empty: leave them out, or publish empty cells"
        )


def _contributions(made: Tabulated, roles: Roles) -> Contributions:
    seen = made.seen
    apart = roles.shadow is not None
    return Contributions(
        seen.total,
        seen.largest,
        seen.units,
        seen.first,
        made.asked,
        made.total if apart else None,
    )


def _cells(made: Tabulated, found: Sensitive, protection: str, empty: str) -> pd.DataFrame:
    whole = bool((made.total == np.round(made.total)).all())
    nobody = made.respondents == 0
    gone = FIXED if empty == "published" else SAFE
    sliding = protection == "sliding"
    columns: dict[str, npt.NDArray[np.float64]] = {
        "lower_protection": found.lower if protection == "both" else np.zeros(found.lower.size),
        "upper_protection": np.zeros(found.upper.size) if sliding else found.upper,
    }
    if sliding:
        columns["sliding_protection"] = found.lower + found.upper
    if made.cost is not None:
        columns["cost"] = made.cost
    value = made.total.astype(np.int64) if whole else made.total
    status = np.where(found.unsafe, SENSITIVE, np.where(nobody, gone, SAFE))
    more = {"value": value, "respondents": made.respondents, "status": status, **columns}
    return with_columns(made.codes(), more)


def _trees(frame: pd.DataFrame, by: Sequence[str], files: Mapping[str, Hierarchies]) -> list[Codes]:
    for name in files:
        if name not in by:
            raise UsageError(f"hierarchies: {name!r} is no explanatory variable; these are {', '.join(by)}")
    return [codes_of_column(frame[name], files) for name in by]
