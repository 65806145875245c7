"""Function `suppress`: removes values of key variables until no unsafe combination is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.local_suppression import without_values
from linkrisk.datasets.masking.release import Release, release_of, version
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.recoding_files import codes_become
from linkrisk.datasets.microdata.released_files import occurring_only
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.formulations.suppression.key_table import (
    MATCHES_ANYTHING,
    OWN_CATEGORY,
    KeyTable,
    MissingMeaning,
    members,
)
from linkrisk.formulations.suppression.unsafe_combinations import MinimalUnsafe, minimal_unsafe, unsafe_in
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.compiling.parts import MASKING, compile_once
from linkrisk.solver.options.suppression import SuppressOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.clock import Clock, Limit, Status
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.suppression.answer import Answer, GivenAnswer, Priced, Recoded, SearchTask
from linkrisk.solver.suppression.audit import (
    BeforeAndAfter,
    all_parts,
    information_lost,
    records_left_unsafe,
    too_few_alike,
)
from linkrisk.solver.suppression.cover import anonymise_some_keys, cover
from linkrisk.solver.suppression.joint import joint
from linkrisk.solver.suppression.operations.key_variables import (
    GAP,
    HierarchyLevels,
    KeyVariables,
    hierarchy_names,
    level_names,
    meaning_of,
    tables_of,
    with_usual_k,
)
from linkrisk.solver.suppression.operations.result import SuppressionResult, TableSummary
from linkrisk.solver.suppression.problem import (
    COVER,
    JOINT,
    ONE,
    PRIORITY,
    RECOUNT,
    SCALE,
    Problem,
    check_ghosts,
    check_heads,
    costs,
    households,
    key_codes,
    named_mask,
)
from linkrisk.solver.suppression.recount import anonymise, match_anything

AGAIN = (OWN_CATEGORY, MATCHES_ANYTHING)
"""Meanings of a missing value by which the output is counted again."""


@taking(SuppressOptions)
def suppress(asked: SuppressOptions) -> SuppressionResult:
    """Suppress the values of least cost that leave no unsafe combination of key variables.

    A combination of values is unsafe when it occurs in the input, but no more often than a threshold. In the
    problem ``cover`` every minimal unsafe combination of every record loses a value, and nothing is counted
    again (as mu-ARGUS does it); `SuppressionResult.after` says what counting the output again would find. In
    the problem ``recount`` the output is counted again: every record has k like it there. The problem
    ``joint`` reaches the same by levels of recoding, one for each key variable, together with suppression.

    Parameters
    ----------
    {options}

    Returns
    -------
    SuppressionResult

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request or the table cannot be used.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> people = pd.DataFrame({"town": list("AAABBBCC"), "trade": list("xxyxyyxz")})
    >>> safe = linkrisk.suppress(people, keys=["town", "trade"], k=2)
    >>> safe.cells, safe.proven
    (4, True)
    >>> safe.table.isna().sum().to_dict()
    {'town': 3, 'trade': 1}
    """
    request = _Request.read(with_usual_k(asked))
    compile_once(MASKING, asked.on_progress)
    given = None if asked.answer is None else GivenAnswer.read(asked.answer)
    clock = Clock(asked.time_limit, cancel=asked.cancel)
    with interruptible(clock):
        made = _made(request, clock, given)
    return made.result()


@dataclass(frozen=True, eq=False)
class _Request:
    """A request with its table, as a problem."""

    asked: SuppressOptions
    found: KeyVariables
    problem: Problem
    levels: HierarchyLevels | None  # of the joint problem

    @classmethod
    def read(cls, asked: SuppressOptions) -> _Request:
        meaning = meaning_of(asked)
        _check_problem(asked, meaning)
        get_backend(asked.backend)
        options = (asked.levels or (), asked.priorities or (), asked.ghosts or (), *asked.tables)
        named = [
            *chain(asked.untouched, asked.household_keys, *options),
            *hierarchy_names(asked.hierarchies),
        ]
        others = (asked.household, asked.weight)
        found = KeyVariables.read(asked.data, asked.keys, asked.schema, others, meaning, named)
        known, names, table = found.known, found.names, found.table(asked.weight)
        check_ghosts(asked.ghosts or {}, names, known)
        shared = named_mask(asked.household_keys, names, "household keys")
        if bool(asked.household) != bool(shared):
            raise UsageError("households need both: the column of their numbers, and their key variables")
        if asked.head is not None:
            check_heads(known, asked.household, asked.head)
        problem = Problem(
            kind=asked.problem,
            table=table,
            tables=tables_of(asked, names),
            meaning=meaning,
            cost=costs(_cost_of(asked), table, asked.priorities or {}),
            untouched=named_mask(asked.untouched, names, "untouched"),
            household=None if asked.household is None else households(known, asked.household, table, shared),
            shared=shared,
            k=asked.k or 0,
            dimension=0 if asked.dimension is None or asked.dimension >= len(names) else asked.dimension,
        )
        return cls(asked, found, problem, _levels(asked, found))

    @property
    def ghosts(self) -> Mapping[str, Sequence[str]]:
        """Columns that lose a value wherever a key variable does."""
        return self.asked.ghosts or {}


def _cost_of(asked: SuppressOptions) -> str:
    return asked.cost or (PRIORITY if asked.priorities else ONE)


def _check_problem(asked: SuppressOptions, meaning: MissingMeaning) -> None:
    """Raise a UsageError if the problem does not know what is asked for."""
    if asked.problem == COVER:
        return
    about = f"the problem {asked.problem!r}"
    if asked.k is None:
        raise UsageError(f"{about} is to have k records alike: say k, not levels or tables")
    if asked.problem == JOINT and asked.dimension is not None:
        raise UsageError(f"{about} is about all key variables: leave the dimension out")
    meanings = AGAIN if asked.problem == RECOUNT else (OWN_CATEGORY,)
    if str(meaning) not in meanings and meaning.code is None:
        raise UsageError(f"{about} counts a missing value as {' or '.join(meanings)}, not as {meaning}")
    for what, column in (("households", asked.household), ("weights", asked.weight)):
        if column is not None:
            raise UsageError(f"{about} knows no {what}: leave {column!r} out")


def _levels(asked: SuppressOptions, found: KeyVariables) -> HierarchyLevels | None:
    """Levels of recoding, if the problem chooses some; a UsageError if they contradict other options."""
    if asked.problem != JOINT:
        if asked.hierarchies:
            raise UsageError(
                f"hierarchies are for the problem {JOINT!r}, not {asked.problem!r}: leave one of them out"
            )
        return None
    if asked.ghosts:
        raise UsageError(
            "ghosts tell more than a recoded variable: the problem 'joint' knows none, leave them out"
        )
    chosen = found.hierarchies(asked.hierarchies)
    kept = [one.attribute for one in chosen if asked.hierarchies and one.attribute in asked.untouched]
    if kept:
        raise UsageError(
            f"hierarchies: {kept[0]!r} is untouched, and keeps all values: leave one of them out"
        )
    return found.levels([one for one in chosen if one.attribute not in asked.untouched])


def _made(request: _Request, clock: Clock, given: GivenAnswer | None) -> _Suppression:
    """Solve the problem, or take the given answer."""
    problem, asked = request.problem, request.asked
    minimal = minimal_unsafe(problem.table.types, problem.tables, problem.meaning)
    task = SearchTask(problem, clock, get_backend(asked.backend), asked.on_progress, asked.seed)
    recodings = None if request.levels is None else request.levels.recodings(problem.table, problem.cost)
    answer: Answer
    if given is not None:
        answer = given.answer(problem, recodings)
    elif recodings is not None:
        answer = joint(task, recodings)
    elif problem.kind == COVER:
        answer = cover(task, minimal)
    elif problem.dimension:
        answer = anonymise_some_keys(task)
    else:
        answer = match_anything(task) if problem.meaning.alpha > 0.0 else anonymise(task)
    return _Suppression(request, clock, minimal, answer, given is not None)


@dataclass(frozen=True, eq=False)
class _Suppression:
    """Answer to a request, and the table that it makes."""

    request: _Request
    clock: Clock
    minimal: MinimalUnsafe
    answer: Answer
    given: bool

    @cached_property
    def cells(self) -> BoolArray:
        """The suppressed cells (n, q)."""
        return self.answer.cells(len(self.request.found.names))

    @cached_property
    def recoded(self) -> dict[str, tuple[int, pd.Series, Sequence[str] | None]]:
        """Level, column and groups of leaves of each key variable; empty but for the joint problem."""
        levels = self.request.levels
        if levels is None or not isinstance(self.answer, Recoded):
            return {}
        chosen = self.answer.levels
        parts = zip(chosen, levels.at(chosen), levels.leaves(chosen), strict=True)
        return dict(zip(self.request.found.names, parts, strict=True))

    def result(self) -> SuppressionResult:
        """Audit the answer and describe it."""
        request, answer, clock = self.request, self.answer, self.clock
        problem, found, names = request.problem, request.found, request.found.names
        output, table = self._output(found.known), self._written()
        checked = TableSummary.of_each(problem.table, problem.tables, problem.meaning)
        unsafe = self._left_unsafe(table, checked)
        if unsafe and self.given:
            raise DataError(
                f"the given answer leaves {unsafe} records unsafe: it is of another table or request"
            )
        if unsafe:
            raise AssertionError(f"{unsafe} records are not safe when counted again")
        self._check_loss(output)
        levels = {name: level for name, (level, _, _) in self.recoded.items()}
        types, optimal = problem.table.types, answer.cost == answer.bound
        stopped = (Status.INTERRUPTED, Limit.USER) if clock.stopped else (Status.FEASIBLE, Limit.TIME)
        release, identifiers = self._release()
        details = {
            **self._about(),
            "labels": found.source.labels(names, found.schema),
            "dropped": list(release.dropped),
            "identifiers": identifiers,
            **level_names(() if request.levels is None else filter(None, request.levels.hierarchies)),
            "recodings": self._recodings(),
            **self._proof(),
            "seconds": round(clock.seconds, 3),
        }
        return SuppressionResult(
            table=release.of(table),
            cells=int(self.cells.sum()),
            cost=answer.cost / SCALE,
            bound=answer.bound / SCALE,
            status=Status.OPTIMAL if optimal else stopped[0],
            limit=None if optimal or self.given else stopped[1],
            checked=checked,
            minimal=int((np.diff(self.minimal.start) * types.count).sum()),
            unsafe=int(types.count[self.minimal.unsafe].sum()),
            suppressed=dict(zip(names, self.cells.sum(axis=0).tolist(), strict=True)),
            recounted=unsafe,
            after=self._after(table),
            levels=levels,
            answer=GivenAnswer.of(names, self.cells, levels),
            compared=self._compared(output, levels),
            details=details,
            source=found.source,
            schema=found.schema,
        )

    def _output(self, table: pd.DataFrame, *, written: bool = False) -> pd.DataFrame:
        """A table with recoded and without suppressed values, or with what is written in their place."""
        found = table.copy()
        for name, (level, column, _) in self.recoded.items():
            if level:
                found[name] = column.mask(column == GAP) if written else column
        code = self.request.problem.meaning.code if written else None
        for at, name in enumerate(self.request.found.names):
            for one in (name, *self.request.ghosts.get(name, ())):
                found[one] = _suppressed(found[one], self.cells[:, at], code)
        return found

    def _written(self) -> pd.DataFrame:
        """The table as it is written: values that are left, and no safe gap, have the codes of the file."""
        source = self.request.found.source
        names = [*self.request.found.names, *chain(*self.request.ghosts.values())]
        if self.request.problem.meaning.safe:
            return source.with_codes(self._output(source.known), names)
        made, stored = self._output(source.plain, written=True), source.stored.frame
        others = {name: stored[name] for name in stored if name not in names}
        return occurring_only(with_columns(made, others), names)

    def _left_unsafe(self, output: pd.DataFrame, checked: Sequence[TableSummary]) -> int | None:
        """Audit: records that are not safe, by code that shares nothing with the search."""
        problem, found = self.request.problem, self.request.found
        meaning = problem.meaning
        if problem.kind != COVER:
            return too_few_alike(
                output,
                found.names,
                problem.k,
                matches_anything=meaning.alpha > 0.0,
                dimension=problem.dimension or None,
            )
        return records_left_unsafe(
            found.known,
            pd.DataFrame(self.cells, columns=list(found.names)),
            all_parts(((one.variables, one.threshold) for one in checked), problem.tables.by_dimension),
            alpha=meaning.alpha,
            safe=meaning.safe,
            weight=problem.table.weights,
        )

    def _check_loss(self, output: pd.DataFrame) -> None:
        """Audit: the loss by recoding and suppression together."""
        if not self.recoded:
            return
        known, names = self.request.found.known, self.request.found.names
        leaves = {name: leaves for name, (_, _, leaves) in self.recoded.items()}
        cost = dict(zip(names, (self.request.problem.cost / SCALE).tolist(), strict=True))
        lost, claimed = information_lost(known, output, leaves, cost), self.answer.cost / SCALE
        if abs(lost - claimed) > len(known) * len(names) / SCALE:  # each rounded to a millionth
            raise AssertionError(f"the loss is {lost:g} when counted again, not {claimed:g}")

    def _after(self, output: pd.DataFrame) -> dict[str, int]:
        """Records with an unsafe combination of the output, by the meaning of a missing value."""
        problem = self.request.problem
        names = problem.table.names
        types = KeyTable(names, key_codes(output, names), problem.table.weights).types
        found = {}
        for meaning in AGAIN:
            unsafe = np.zeros(len(types), dtype=np.bool_)
            for mask, threshold in problem.tables.thresholds.items():
                unsafe |= unsafe_in(types, mask, threshold, MissingMeaning.parse(meaning)).unsafe
            found[meaning] = int(types.count[unsafe].sum())
        return found

    def _compared(self, output: pd.DataFrame, levels: Mapping[str, int]) -> BeforeAndAfter:
        """The key variables in checked tables; the others identify no record."""
        problem, checked = self.request.problem, 0
        for mask in problem.tables.thresholds:
            checked |= mask
        places = list(members(checked))
        names = [problem.table.names[at] for at in places]
        return BeforeAndAfter(
            before=self.request.found.known[names],
            after=output[names],
            taken=self.cells[:, places],
            cost={name: float(problem.cost[at] / SCALE) for name, at in zip(names, places, strict=True)},
            untouched=frozenset(problem.table.named(problem.untouched)),
            levels=levels,
            weights=problem.table.weights,
            household=problem.household,
        )

    def _recodings(self) -> dict[str, dict[str, str]]:
        """Groups of the codes of each recoded key variable."""
        columns = {name: column for name, (level, column, _) in self.recoded.items() if level}
        known = self.request.found.known
        return codes_become(known, with_columns(known, columns), list(columns)) if self.recoded else {}

    def _release(self) -> tuple[Release, list[str]]:
        """The release, which keeps key variables and their ghosts, and the direct identifiers left in it."""
        found, schema = self.request.found, self.request.found.schema or Schema(())
        released = release_of(
            found.source.plain,
            dict.fromkeys([*found.names, *chain(*self.request.ghosts.values())], "suppression"),
            identifiers=schema.select(role=Role.IDENTIFIER),
            household=None,
            drop=self.request.asked.drop,
            renumber=(),
            shuffle=None,
            source=found.source.name,
        )
        identifiers = found.source.schema(found.schema).select(role=Role.IDENTIFIER)
        return released, [name for name in identifiers if name not in (*found.names, *released.dropped)]

    def _about(self) -> dict[str, Any]:
        """JSON of the request."""
        asked, found, meaning = self.request.asked, self.request.found, self.request.problem.meaning
        return {
            "linkrisk": version(),
            "name": found.source.name,
            "sha256": found.source.sha256,
            "problem": asked.problem,
            "keys": list(found.names),
            "constant": list(found.constant),
            "k": asked.k,
            "dimension": asked.dimension,
            "risk": asked.risk,
            "missing": str(meaning),
            "missing_means": meaning.words,
            "cost_of": _cost_of(asked),
            "untouched": sorted(set(asked.untouched), key=found.names.index),
            "ghosts": {name: list(others) for name, others in self.request.ghosts.items()},
            "household": asked.household,
            "head": asked.head,
            "household_keys": sorted(set(asked.household_keys), key=found.names.index),
            "weight": asked.weight,
            "backend": asked.backend,
            "seed": asked.seed,
            "time_limit": asked.time_limit,
        }

    def _proof(self) -> dict[str, Any]:
        """JSON of the proof of the bound."""
        answer = self.answer
        found: dict[str, Any] = {"proof": answer.proof}
        if isinstance(answer, Priced):
            found["bound_by_prices"] = answer.by_prices / SCALE
        if isinstance(answer, Recoded):
            found["cost_of_recoding"] = answer.by_recoding / SCALE
            found["cost_per_record"] = answer.cost / SCALE / len(answer.taken)
            found["lattice"] = {"points": answer.points, "open": answer.open_points}
        return found


def _suppressed(column: pd.Series, where: BoolArray, code: str | None) -> pd.Series:
    """A column without values in some places, or with a code there; a DataError if it cannot have one."""
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
    integer = pd.api.types.is_integer_dtype(column.dtype) and number.is_integer()
    return column.mask(pd.Series(where, column.index), int(number) if integer else number)
