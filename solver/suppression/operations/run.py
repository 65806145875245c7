"""How `suppress` goes about its problem, counts again, and says what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.local_suppression import without_values
from linkrisk.datasets.masking.releasing import Release
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.recoding_files import codes_become
from linkrisk.datasets.microdata.released_files import occurring_only
from linkrisk.formulations.suppression.counting import MATCHES_ANYTHING, OWN_CATEGORY, MissingMeaning
from linkrisk.formulations.suppression.key_table import KeyTable, members
from linkrisk.formulations.suppression.minimal_unsafe import MinimalUnsafe, minimal_unsafe, unsafe_in
from linkrisk.solver.backends.base import Backend
from linkrisk.solver.inputs.source import Source
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.run.status import Limit, Status
from linkrisk.solver.suppression.anonymity.joint import Recoded, joint
from linkrisk.solver.suppression.anonymity.matches_anything import match_anything
from linkrisk.solver.suppression.anonymity.own_category import Priced, anonymise
from linkrisk.solver.suppression.anonymity.some_keys import anonymise_some_keys
from linkrisk.solver.suppression.answer import SCALE, Answer
from linkrisk.solver.suppression.before_and_after import BeforeAndAfter
from linkrisk.solver.suppression.cover import cover
from linkrisk.solver.suppression.given_answer import GivenAnswer
from linkrisk.solver.suppression.hierarchy_levels import HierarchyLevels
from linkrisk.solver.suppression.independent_count import (
    all_parts,
    information_lost,
    too_few_alike,
    whole_unsafe,
)
from linkrisk.solver.suppression.operations.key_variables import GAP
from linkrisk.solver.suppression.operations.result import SuppressionResult, TableSummary
from linkrisk.solver.suppression.problem import COVER, RECOUNT, Problem, key_codes

AGAIN = (OWN_CATEGORY, MATCHES_ANYTHING)
"""What a missing value may mean to whoever counts the output again."""


@dataclass
class Search:
    """The problem, its combinations and its answer.

    Attributes
    ----------
    problem : Problem
    backend : Backend
        What solves programs, where there are any.
    seed : int
    clock : Clock
    report : callable or None
    levels : HierarchyLevels or None
        Of the joint problem.
    ghosts : mapping of str to sequence of str
        Other columns that lose a value wherever a key variable does.
    given : GivenAnswer or None
        What is taken instead of a search.
    """

    problem: Problem
    backend: Backend
    seed: int
    clock: Clock
    report: Reporter | None
    levels: HierarchyLevels | None = None
    ghosts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    given: GivenAnswer | None = None

    def run(self) -> None:
        """Count, and choose."""
        problem = self.problem
        found = minimal_unsafe(problem.table.types, problem.tables, problem.meaning)
        assert found is not None  # nothing ends it
        self.minimal: MinimalUnsafe = found
        self.answer: Answer = self._answer()

    def _answer(self) -> Answer:
        recodings = None
        if self.levels is not None:
            recodings = self.levels.recodings(self.problem.table, self.problem.cost)
        if self.given is not None:
            return self.given.answer(self.problem, recodings)
        if recodings is not None:
            return joint(self.problem, recodings, self.backend, self.clock, self.report, self.seed)
        if self.problem.kind == RECOUNT:
            if self.problem.dimension:
                return anonymise_some_keys(self.problem, self.clock, self.report)
            solve = match_anything if self.problem.meaning.alpha > 0.0 else anonymise
            return solve(self.problem, self.backend, self.clock, self.report, self.seed)
        return cover(self.problem, self.minimal, self.clock, self.report)

    @property
    def cells(self) -> NDArray[np.bool_]:
        """What is taken, shape (n, q)."""
        return self.answer.cells(len(self.problem.table.names))

    def checked(self) -> tuple[TableSummary, ...]:
        """The tables, as the input has them."""
        table, meaning = self.problem.table, self.problem.meaning
        found = []
        for mask, threshold in self.problem.tables.thresholds.items():
            check = unsafe_in(table.types, mask, threshold, meaning)
            records = int(table.types.count[check.unsafe].sum())
            found.append(TableSummary(table.named(mask), threshold, check.combinations, records))
        return tuple(found)

    def after(self, output: pd.DataFrame) -> dict[str, int]:
        """Records with an unsafe combination when the output is counted again."""
        table = self.problem.table
        types = KeyTable(table.names, key_codes(output, table.names), table.weights).types
        found = {}
        for meaning in AGAIN:
            unsafe = np.zeros(len(types), dtype=np.bool_)
            for mask, threshold in self.problem.tables.thresholds.items():
                unsafe |= unsafe_in(types, mask, threshold, MissingMeaning.parse(meaning)).unsafe
            found[meaning] = int(types.count[unsafe].sum())
        return found

    def output(self, table: pd.DataFrame, *, written: bool = False) -> pd.DataFrame:
        """A table with what is recoded and without what is taken, or as that is written in its place."""
        found, names = table.copy(), self.problem.table.names
        if isinstance(self.answer, Recoded) and self.levels is not None:
            for name, level, column in zip(
                names, self.answer.levels, self.levels.at(self.answer.levels), strict=True
            ):
                found[name] = (
                    column.mask(column == GAP) if level and written else column if level else found[name]
                )
        code = self.problem.meaning.code if written else None
        for at, name in enumerate(names):
            for one in (name, *self.ghosts.get(name, ())):
                found[one] = _taken(found[one], self.cells[:, at], code)
        return found


def result_of(
    source: Source, known: pd.DataFrame, search: Search, release: Release, details: dict[str, Any]
) -> SuppressionResult:
    """The table without the values, and all that is said of it.

    Raises
    ------
    AssertionError
        If the independent count finds a record that is not safe.
    DataError
        If so, and the answer was given.
    """
    problem, answer, cells = search.problem, search.answer, search.cells
    names, clock = problem.table.names, search.clock
    output, checked = search.output(known), search.checked()
    table = _written(source, search)
    unsafe = _recounted(problem, known, table, cells, checked)
    if unsafe and search.given is not None:
        raise DataError(f"the given answer leaves {unsafe} records unsafe: it is of another table or request")
    if unsafe:
        raise AssertionError(f"{unsafe} records are not safe when counted again")
    types, levels = problem.table.types, _levels(search, known, output)
    optimal = answer.cost == answer.bound
    ended = None if optimal or search.given else Limit.USER if clock.stopped else Limit.TIME
    return SuppressionResult(
        table=release.of(table),
        cells=int(cells.sum()),
        cost=answer.cost / SCALE,
        bound=answer.bound / SCALE,
        status=Status.OPTIMAL if optimal else Status.INTERRUPTED if clock.stopped else Status.FEASIBLE,
        limit=ended,
        checked=checked,
        minimal=int((np.diff(search.minimal.start) * types.count).sum()),
        unsafe=int(types.count[search.minimal.unsafe].sum()),
        suppressed=dict(zip(names, cells.sum(axis=0).tolist(), strict=True)),
        recounted=unsafe,
        after=search.after(table),
        levels=levels,
        answer=GivenAnswer.of(names, cells, _chosen_levels(search)),
        compared=_compared(problem, known, output, cells, levels),
        details={
            **details,
            "recodings": _recodings(search, known),
            **_proof(answer, len(known)),
            "seconds": round(clock.seconds, 3),
        },
        source=source,
    )


def _written(source: Source, search: Search) -> pd.DataFrame:
    """The table as it is written: what is not taken, and no safe gap, has the codes that the file has."""
    names = [*search.problem.table.names, *chain(*search.ghosts.values())]
    if search.problem.meaning.safe:
        return source.with_codes(search.output(source.known), names)
    made, stored = search.output(source.plain, written=True), source.stored.frame
    return occurring_only(
        with_columns(made, {name: stored[name] for name in stored if name not in names}), names
    )


def _taken(column: pd.Series, where: NDArray[np.bool_], code: str | None) -> pd.Series:
    """The column without values in some places, or with a code there; DataError where it cannot have one."""
    if code is None or not where.any():
        return without_values(column, where)
    if not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        return column.astype("object").mask(pd.Series(where, column.index), code)
    try:
        number = float(code)
    except ValueError:
        raise DataError(
            f"column {column.name!r} has numbers, and no place for the code {code!r}: give one"
        ) from None
    whole = pd.api.types.is_integer_dtype(column.dtype) and number.is_integer()
    return column.mask(pd.Series(where, column.index), int(number) if whole else number)


def _compared(
    problem: Problem,
    known: pd.DataFrame,
    output: pd.DataFrame,
    cells: NDArray[np.bool_],
    levels: Mapping[str, int],
) -> BeforeAndAfter:
    """The key variables that are in a checked table: all others identify nobody."""
    checked = 0
    for mask in problem.tables.thresholds:
        checked |= mask
    places = list(members(checked))
    names = [problem.table.names[at] for at in places]
    return BeforeAndAfter(
        before=known[names],
        after=output[names],
        taken=cells[:, places],
        cost={name: float(problem.cost[at] / SCALE) for name, at in zip(names, places, strict=True)},
        untouched=frozenset(problem.table.named(problem.untouched)),
        levels=levels,
        weights=problem.table.weights,
        household=problem.household,
    )


def _recounted(
    problem: Problem,
    known: pd.DataFrame,
    output: pd.DataFrame,
    cells: NDArray[np.bool_],
    checked: tuple[TableSummary, ...],
) -> int | None:
    """Records that are not safe, by code that shares nothing with the search."""
    names, meaning = problem.table.names, problem.meaning
    if problem.kind != COVER:
        anything, dimension = meaning.alpha > 0.0, problem.dimension or None
        return too_few_alike(output, names, problem.k, matches_anything=anything, dimension=dimension)
    return whole_unsafe(
        known,
        cells,
        names,
        all_parts(((one.variables, one.threshold) for one in checked), problem.tables.by_dimension),
        alpha=meaning.alpha,
        safe=meaning.safe,
        weight=problem.table.weights,
    )


def _chosen_levels(search: Search) -> dict[str, int]:
    answer = search.answer
    if not isinstance(answer, Recoded):
        return {}
    return dict(zip(search.problem.table.names, answer.levels, strict=True))


def _recodings(search: Search, known: pd.DataFrame) -> dict[str, dict[str, str]]:
    """What became of the codes of each key variable that was recoded."""
    answer, names = search.answer, search.problem.table.names
    if not isinstance(answer, Recoded) or search.levels is None:
        return {}
    columns = dict(zip(names, search.levels.at(answer.levels), strict=True))
    recoded = [name for name, level in zip(names, answer.levels, strict=True) if level]
    return codes_become(known, with_columns(known, columns), recoded)


def _levels(search: Search, known: pd.DataFrame, output: pd.DataFrame) -> dict[str, int]:
    """Levels by key variable, once what they and suppression have lost is counted independently."""
    if not isinstance(search.answer, Recoded) or search.levels is None:
        return {}
    names, cost = search.problem.table.names, search.problem.cost / SCALE
    leaves = dict(zip(names, search.levels.leaves(search.answer.levels), strict=True))
    lost = information_lost(known, output, leaves, dict(zip(names, cost.tolist(), strict=True)))
    if (
        abs(lost - search.answer.cost / SCALE) > len(known) * len(names) / SCALE
    ):  # each rounded to a millionth
        raise AssertionError(f"the loss is {lost:g} when counted again, not {search.answer.cost / SCALE:g}")
    return _chosen_levels(search)


def _proof(answer: Answer, records: int) -> dict[str, Any]:
    """What more is known of the bound."""
    found: dict[str, Any] = {"proof": answer.proof}
    if isinstance(answer, Priced):
        found["bound_by_prices"] = answer.by_prices / SCALE
    if isinstance(answer, Recoded):
        found["cost_of_recoding"] = answer.by_recoding / SCALE
        found["cost_per_record"] = answer.cost / SCALE / records
        found["lattice"] = {"points": answer.points, "open": answer.open_points}
    return found
