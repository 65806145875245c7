"""Function `unsafe`: counts unsafe combinations of key variables, also after trial recodings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import LongArray
from linkrisk.datasets.masking.registry import masking_method
from linkrisk.datasets.masking.release import version
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.values import spelled
from linkrisk.formulations.suppression.key_table import MISSING, KeyTable, MissingMeaning
from linkrisk.formulations.suppression.unsafe_combinations import (
    CheckedTables,
    MinimalUnsafe,
    minimal_unsafe,
    unsafe_in,
    unsafe_per_variable,
)
from linkrisk.solver.options.suppression import UnsafeOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.result import Result
from linkrisk.solver.suppression.operations.key_variables import (
    KeyVariables,
    hierarchy_names,
    level_names,
    meaning_of,
    tables_of,
    with_usual_k,
)
from linkrisk.solver.suppression.operations.result import TableSummary
from linkrisk.solver.suppression.problem import key_codes

NO_VALUE = "missing"


@dataclass(frozen=True)
class UnsafeCount:
    """Unsafe combinations of a table.

    Attributes
    ----------
    combinations : int
        Different unsafe ones of all checked tables.
    minimal : int
        Minimal unsafe combinations of records.
    records : int
        That have one.
    by_variable : mapping of str to int
        Minimal unsafe combinations of records that each key variable is in.
    by_category : mapping of str to mapping of str to int
        The same by category, those without any left out; a missing value is called ``missing``, or
        ``(missing)`` beside a category of that name.
    """

    combinations: int
    minimal: int
    records: int
    by_variable: Mapping[str, int] = field(repr=False)
    by_category: Mapping[str, Mapping[str, int]] = field(repr=False)


@dataclass(frozen=True)
class LevelCount:
    """Effect of recoding one key variable to a level of its hierarchy, all else unchanged.

    Attributes
    ----------
    variable : str
    level : int
    categories : int
        That are left.
    lost : float
        Of what the variable said, from 0 to 1: a value that stands for l of L leaves has lost
        (l - 1) / (L - 1).
    minimal, records : int
        As in `UnsafeCount`.
    """

    variable: str
    level: int
    categories: int
    lost: float
    minimal: int
    records: int


@dataclass(frozen=True, eq=False)
class UnsafeResult(Result):
    """Unsafe combinations of a table.

    Attributes
    ----------
    before : UnsafeCount
        Of the table as it is.
    after : UnsafeCount or None
        Of the table with the trial recodings.
    recoded : tuple of str
        What these are, a line each.
    checked : tuple of TableSummary
        The tables, as the input has them.
    levels : tuple of LevelCount
        Each level of each hierarchy by itself.
    details : dict
        Everything else of the JSON.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> people = pd.DataFrame({"town": list("AAABBBCC"), "trade": list("xxyxyyxz")})
    >>> linkrisk.unsafe(people, keys=["town", "trade"], k=2).before.records
    4
    """

    kind: ClassVar[str] = "unsafe"

    before: UnsafeCount
    after: UnsafeCount | None
    recoded: tuple[str, ...]
    checked: tuple[TableSummary, ...] = field(repr=False)
    levels: tuple[LevelCount, ...] = field(repr=False)
    details: dict[str, Any] = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """A row for each category: variable, category, minimal unsafe combinations before and after."""
        counts = {"before": self.before, **({} if self.after is None else {"after": self.after})}
        columns = {
            when: pd.Series(
                {
                    (name, category): many
                    for name, by in count.by_category.items()
                    for category, many in by.items()
                },
                dtype="int64",
            )
            for when, count in counts.items()
        }
        found = pd.DataFrame(columns).fillna(0).astype("int64")
        found.index = pd.MultiIndex.from_tuples(list(found.index), names=["variable", "category"])
        return found.reset_index()

    def content(self) -> dict[str, Any]:
        """The JSON of `unsafe --json` as a dictionary."""
        return {
            "before": asdict(self.before),
            "after": None if self.after is None else asdict(self.after),
            "recoded": list(self.recoded),
            "levels": [asdict(one) for one in self.levels],
            "tables": [{**vars(one), "variables": list(one.variables)} for one in self.checked],
            **self.details,
        }


@taking(UnsafeOptions)
def unsafe(asked: UnsafeOptions) -> UnsafeResult:
    """Count the unsafe combinations of key variables: by table, variable, category and level of recoding.

    Parameters
    ----------
    {options}

    Returns
    -------
    UnsafeResult

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request or the table cannot be used, or a method leaves something to chance.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> people = pd.DataFrame({"town": list("AAABBBCC"), "trade": list("xxyxyyxz")})
    >>> linkrisk.unsafe(people, keys=["town", "trade"], k=2).before
    UnsafeCount(combinations=4, minimal=4, records=4)
    """
    asked = with_usual_k(asked)
    meaning = meaning_of(asked)
    methods = [masking_method(one) if isinstance(one, str) else one for one in asked.recode]
    for method in methods:
        if method.chance:
            raise UsageError(f"recode: {method.name!r} leaves something to chance; try recodings only")
    named = [*chain(asked.levels or (), *asked.tables), *hierarchy_names(asked.hierarchies)]
    found = KeyVariables.read(asked.data, asked.keys, asked.schema, (asked.weight,), meaning, named)
    table = found.table(asked.weight)
    trial = _Trial(table, tables_of(asked, found.names), meaning)
    recoded, chosen = found.known, found.hierarchies(asked.hierarchies)
    for method in methods:
        recoded = method.apply(recoded, source=found.source.name)
    return UnsafeResult(
        before=trial.count(found.known),
        after=trial.count(recoded) if methods else None,
        recoded=tuple(method.describe(found.known) for method in methods),
        checked=TableSummary.of_each(table, trial.tables, meaning),
        levels=tuple(_by_level(trial, found, chosen)),
        details={
            "linkrisk": version(),
            "name": found.source.name,
            "records": table.records,
            "keys": list(found.names),
            "constant": list(found.constant),
            "k": asked.k,
            "risk": asked.risk,
            "missing": str(meaning),
            "missing_means": meaning.words,
            "weight": asked.weight,
            "labels": found.source.labels(found.names, found.schema),
            **level_names(chosen),
        },
    )


@dataclass(frozen=True, eq=False)
class _Trial:
    """Key variables and checked tables, to count trial recodings."""

    table: KeyTable
    tables: CheckedTables
    meaning: MissingMeaning

    def totals(self, table: KeyTable, minimal: MinimalUnsafe) -> tuple[int, int]:
        """Minimal unsafe combinations of records, and records that have one."""
        count = table.types.count
        return int((np.diff(minimal.start) * count).sum()), int(count[minimal.unsafe].sum())

    def minimal(self, table: KeyTable) -> MinimalUnsafe:
        """Minimal unsafe combinations of recoded key variables."""
        return minimal_unsafe(table.types, self.tables, self.meaning)

    def count(self, known: pd.DataFrame) -> UnsafeCount:
        """Count the unsafe combinations of a table."""
        names = self.table.names
        table = KeyTable(names, key_codes(known, names), self.table.weights)
        minimal = self.minimal(table)
        by_variable, by_code = unsafe_per_variable(table, minimal)
        total, records = self.totals(table, minimal)
        return UnsafeCount(
            combinations=sum(
                unsafe_in(table.types, mask, threshold, self.meaning).combinations
                for mask, threshold in self.tables.thresholds.items()
            ),
            minimal=total,
            records=records,
            by_variable=dict(zip(names, by_variable.tolist(), strict=True)),
            by_category={
                name: _by_label(pd.factorize(known[name])[1], by_code[at]) for at, name in enumerate(names)
            },
        )


def _by_label(values: Iterable[object], counts: LongArray) -> dict[str, int]:
    """Counts above 0 by category, the most first; the last of `counts` is of missing values."""
    labels = list(map(spelled, values))
    missing = NO_VALUE
    while missing in labels:  # there is a category of this name
        missing = f"({missing})"
    pairs = zip([*labels, missing], counts.tolist(), strict=True)
    return {label: many for label, many in sorted(pairs, key=lambda one: -one[1]) if many}


def _by_level(trial: _Trial, found: KeyVariables, hierarchies: Sequence[Hierarchy]) -> Iterator[LevelCount]:
    """Count every level of every hierarchy by itself."""
    if not hierarchies:
        return
    columns = found.levels(hierarchies)
    for at, (name, hierarchy) in enumerate(zip(found.names, columns.hierarchies, strict=True)):
        if hierarchy is None:
            continue
        for level, column in enumerate(columns.columns[at]):
            codes = trial.table.codes.copy()
            codes[:, at] = pd.factorize(column)[0]
            table = KeyTable(trial.table.names, codes, trial.table.weights)
            leaves = Counter(hierarchy.levels[level])
            there = column[codes[:, at] != MISSING].astype(str)
            lost = (
                (there.map(dict(leaves)).fillna(1.0) - 1.0).mean() / max(leaves.total() - 1, 1)
                if level
                else 0.0
            )
            minimal, records = trial.totals(table, trial.minimal(table))
            yield LevelCount(name, level, int(column.nunique()), float(np.nan_to_num(lost)), minimal, records)
