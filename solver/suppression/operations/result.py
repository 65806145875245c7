"""Result of `suppress`: the table without suppressed values, and the bound that proves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from linkrisk.datasets.masking.base import random_generator
from linkrisk.datasets.microdata.codebooks import codebook_files
from linkrisk.datasets.microdata.formats.registry import with_suffix_of, writable_format
from linkrisk.datasets.microdata.missing import is_declared_missing
from linkrisk.datasets.microdata.names import level_in_words, shown_names, with_columns
from linkrisk.datasets.microdata.recoding_files import codes_become
from linkrisk.datasets.microdata.released_files import carried, labels_of_recoded, renumbered, shuffled
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.formulations.suppression.key_table import KeyTable, MissingMeaning
from linkrisk.formulations.suppression.unsafe_combinations import CheckedTables, unsafe_in
from linkrisk.solver.inputs.source import Source, check_targets, is_input
from linkrisk.solver.run.clock import Limit, Status
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.number_format import count
from linkrisk.solver.run.result import Reported
from linkrisk.solver.suppression.answer import GivenAnswer
from linkrisk.solver.suppression.audit import BeforeAndAfter
from linkrisk.solver.suppression.risk import suppression_risk


@dataclass(frozen=True)
class TableSummary:
    """Unsafe combinations of a checked table in the input.

    Attributes
    ----------
    variables : tuple of str
    threshold : float
    combinations : int
        Different unsafe ones.
    records : int
        That have one.
    """

    variables: tuple[str, ...]
    threshold: float
    combinations: int
    records: int

    @classmethod
    def of_each(
        cls, table: KeyTable, tables: CheckedTables, meaning: MissingMeaning
    ) -> tuple[TableSummary, ...]:
        """Summarise each checked table."""
        found = []
        for mask, threshold in tables.thresholds.items():
            check = unsafe_in(table.types, mask, threshold, meaning)
            records = int(table.types.count[check.unsafe].sum())
            found.append(cls(table.named(mask), threshold, check.combinations, records))
        return tuple(found)


@dataclass(frozen=True, eq=False)
class SuppressionResult(Reported):
    """Table with values suppressed at the least cost.

    Attributes
    ----------
    table : DataFrame
        All columns of the input in its order, n rows.
    cells : int
        Values that were taken out.
    cost, bound : float
        What they cost, and what no other suppression that does the same costs less than.
    status : Status
        ``optimal`` when the two are equal.
    limit : Limit or None
        What ended the search.
    checked : tuple of TableSummary
        The tables, as the input has them.
    minimal : int
        Minimal unsafe combinations of records in the input.
    unsafe : int
        Records with an unsafe combination in the input.
    suppressed : mapping of str to int
        Values taken by key variable.
    recounted : int or None
        Records with an unsafe combination of the input that lost no value, by the audit: 0. None where
        there was too much to compare.
    after : mapping of str to int
        Records with an unsafe combination when the output is counted again, by what a missing value means.
    levels : mapping of str to int
        Levels of recoding by key variable, of the joint problem.
    answer : GivenAnswer
        What was taken from which record; `suppress` takes it again instead of a search.
    compared : BeforeAndAfter
        The key variables before and after.
    details : dict
        Everything else of the JSON.
    source : Source
        The input.
    schema : Schema or None
        What was declared of its columns.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> people = pd.DataFrame({"town": list("AAABBBCC"), "trade": list("xxyxyyxz")})
    >>> safe = linkrisk.suppress(people, keys=["town", "trade"], k=2)
    >>> safe.cost, safe.bound, safe.unsafe
    (4.0, 4.0, 4)
    """

    kind: ClassVar[str] = "suppression"

    table: pd.DataFrame = field(repr=False)
    cells: int
    cost: float
    bound: float
    status: Status
    limit: Limit | None
    checked: tuple[TableSummary, ...] = field(repr=False)
    minimal: int
    unsafe: int
    suppressed: Mapping[str, int] = field(repr=False)
    recounted: int | None
    after: Mapping[str, int] = field(repr=False)
    levels: Mapping[str, int] = field(repr=False)
    answer: GivenAnswer = field(repr=False)
    compared: BeforeAndAfter = field(repr=False)
    details: dict[str, Any] = field(repr=False)
    source: Source = field(repr=False)
    schema: Schema | None = field(repr=False, default=None)

    @property
    def proven(self) -> bool:
        """Whether no other suppression that does the same costs less."""
        return self.status is Status.OPTIMAL

    @property
    def answer_given(self) -> bool:
        """Whether nothing was searched, because the answer was given."""
        return self.limit is None and not self.proven

    @property
    def unsafe_combinations(self) -> int:
        """Unsafe combinations of all checked tables; one that several records have counts once."""
        return sum(one.combinations for one in self.checked)

    @property
    def in_words(self) -> list[str]:
        """What was done, a line each: the suppression, then the recoding of each variable."""
        words = "proven" if self.proven else "as given" if self.answer_given else f"at least {self.bound:g}"
        keys = shown_names(self.details["keys"])
        said = f"suppression ({self.details['problem']}) of {keys}: {count(self.cells)} values, {words}"
        named = self.details.get("level_names", {})
        levels = self.levels.items()
        return [
            said,
            *(f"{name} at {level_in_words(level, named.get(name, ()))}" for name, level in levels if level),
        ]

    @cached_property
    def before_and_after(self) -> dict[str, Any]:
        """JSON of key variables and risk before and after; counted at first use."""
        risk = suppression_risk(self.compared, MissingMeaning.parse(self.details["missing"]))
        return {"variables": self.compared.variables(), **risk}

    def to_frame(self) -> pd.DataFrame:
        """The table."""
        return self.table

    def content(self) -> dict[str, Any]:
        """The JSON of `suppress --json` as a dictionary."""
        head = {
            "records": len(self.table),
            "cells": self.cells,
            "cost": self.cost,
            "bound": self.bound,
            "status": self.status.value,
            "answer_given": self.answer_given,
            "limit": None if self.limit is None else self.limit.value,
            "unsafe_records": self.unsafe,
            "unsafe_combinations": self.unsafe_combinations,
            "minimal_unsafe_combinations": self.minimal,
            "suppressed": dict(self.suppressed),
            "levels": dict(self.levels),
            "recounted": self.recounted,
            "after": dict(self.after),
            "tables": [{**vars(one), "variables": list(one.variables)} for one in self.checked],
        }
        return {**head, **self.details, "before_and_after": self.before_and_after}

    def report(self, output: str | Path, external: bool = False) -> None:
        """Write what was done, with risk and frequencies before and after, as one HTML page.

        Parameters
        ----------
        output : str or Path
        external : bool
            Whether readers outside may have it. Such a page leaves out what would lead an intruder to
            records or undo what was taken out: the riskiest combinations; risk and frequencies of the input,
            as beside those of the output they say which categories lost values; categories with fewer than
            10 records; costs, priorities, seed and search, with which suppression can be run again; name
            and digest of the input, and the columns of households, weights and ghosts. Numbers of values
            are rounded. It keeps the names of key variables and methods, the levels of recoding, and the k
            that the output has.

        Raises
        ------
        UsageError, DataError
            If it would overwrite the input, or cannot be written.
        """
        if is_input(self.source.name, output):
            raise UsageError(f"the report {output} is the input file; give it another name")
        super().report(output, external)

    def write(
        self,
        output: str | Path,
        *,
        shuffle: bool = False,
        renumber: Sequence[str] = (),
        seed: int | None = None,
        codebook: str | Path | None = None,
        methods: Sequence[str] = (),
    ) -> None:
        """Write the table in the format that the suffix says, whole or not at all.

        Parameters
        ----------
        output : str or Path
        shuffle : bool
            Whether to write the records in random order, whole households together.
        renumber : sequence of str
            Columns whose values become 1, 2, 3, ... in the order in which they are written, such as ids and
            household numbers; equal values stay equal.
        seed : int, optional
            Of the order; secret and new by default, as the order can be undone with it.
        codebook : str or Path, optional
            A codebook of it, as DDI (``.xml``): columns, labels, statistics of what is released.
        methods : sequence of str
            What the codebook says was done, such as `in_words`, which tells an intruder, too; nothing by
            default.

        Raises
        ------
        UsageError, DataError
            If it would overwrite the input, a column cannot be numbered, or it cannot be written.
        """
        output = with_suffix_of(str(output), self.source.name)
        check_targets(self.source.name, output, None)
        keys = [name for name in renumber if name in self.suppressed]
        if keys:
            raise UsageError(f"renumber: {keys[0]!r} is a key variable, whose values are to be kept")
        touched = [name for name, many in self.suppressed.items() if many]
        touched += [ghost for name in touched for ghost in self.details["ghosts"].get(name, ())]
        recoded = [name for name, level in self.levels.items() if level]
        groups = self._group_labels(recoded)
        stored = carried(self.source.stored, self.table, dict.fromkeys([*touched, *recoded]), groups)
        others = [name for name in self.table.columns if name not in recoded]
        written = self.source.as_written(stored, others, output)
        # Values missing before, perhaps as a word such as NA, look like suppressed ones.
        gone = {name: self._gone(name, written.frame[name]) for name in touched}
        written = replace(written, frame=with_columns(written.frame, gone))
        frame = written.frame
        if shuffle:
            frame = shuffled(frame, random_generator(seed), self.details["household"])
        if renumber:
            frame = renumbered(frame, renumber)
            stored = replace(stored, frame=renumbered(stored.frame, renumber))
        files = writable_format(output).write(replace(written, frame=frame), Path(output))
        if codebook is not None:
            files |= codebook_files(codebook, stored, output, self.schema, methods)
        write_all(files)

    def _group_labels(self, recoded: Sequence[str]) -> dict[str, dict[str, str]]:
        """Labels of the groups of recoded variables, made of those of their codes."""
        codes = {name: self.details.get("labels", {}).get(name, {}).get("codes", {}) for name in recoded}
        found = codes_become(self.source.known, self.table, recoded)
        return {name: labels_of_recoded(found.get(name, {}), codes[name], {}) for name in recoded}

    def _gone(self, name: str, written: pd.Series) -> pd.Series:
        """A written column without suppressed values, or with the code that stands for them."""
        column, code = self.table[name], MissingMeaning.parse(self.details["missing"]).code
        written = written.mask(column.isna())
        if code is None:
            return written
        text = not pd.api.types.is_numeric_dtype(written.dtype)
        coded = pd.Series(is_declared_missing(column, (code,)), written.index)
        return written.astype("object").mask(coded, code) if text else written.mask(coded, column)

    def __repr__(self) -> str:
        state = "proven" if self.proven else f"at least {self.bound:g}, {self.status.value}"
        return f"SuppressionResult({self.source.name}: {self.cells} values, cost {self.cost:g}, {state})"
