"""`suppress`: take values of key variables out of a table so that no unsafe combination is left whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from linkrisk.datasets.masking.record import version
from linkrisk.datasets.masking.releasing import Release, release_of
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.formulations.suppression.counting import MissingMeaning
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.compiling.ahead import MASKING, compile_once
from linkrisk.solver.inputs.limits import check_limit
from linkrisk.solver.options.operations.suppress import SuppressOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.suppression.given_answer import GivenAnswer
from linkrisk.solver.suppression.hierarchy_levels import HierarchyLevels
from linkrisk.solver.suppression.operations.key_variables import (
    KeyVariables,
    asked_tables,
    hierarchy_names,
    level_names,
    meaning_of,
)
from linkrisk.solver.suppression.operations.result import SuppressionResult
from linkrisk.solver.suppression.operations.run import Search, result_of
from linkrisk.solver.suppression.problem import (
    JOINT,
    ONE,
    PRIORITY,
    Problem,
    TablesAsked,
    check_ghosts,
    check_heads,
    check_kind,
    costs,
    households,
    named_mask,
)


@taking(SuppressOptions)
def suppress(asked: SuppressOptions) -> SuppressionResult:
    """Take out the values of least cost that leave no unsafe combination of key variables whole.

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
    >>> from linkrisk import suppress
    >>> suppress("people.csv", keys=["town", "sex", "trade"], k=3).write("safe.csv")  # doctest: +SKIP
    """
    problem, ghosts, cost = asked.problem, asked.ghosts or {}, _cost(asked)
    tables = asked_tables(asked)
    meaning = meaning_of(asked.missing, tables)
    check_kind(problem, tables, meaning, household=asked.household, weight=asked.weight)
    solver = get_backend(asked.backend)
    if asked.time_limit is not None:
        check_limit(asked.time_limit, "time limit")
    found = _key_variables(asked, meaning)
    source, known, names, table = found.source, found.known, found.names, found.table(asked.weight)
    check_ghosts(ghosts, names, known)
    shared = named_mask(asked.household_keys, names, "household keys")
    if bool(asked.household) != bool(shared):
        raise UsageError("households need both: the column of their numbers, and their key variables")
    if asked.head is not None:
        check_heads(known, asked.household, asked.head)
    task = Problem(
        kind=problem,
        table=table,
        tables=tables.tables(names),
        meaning=meaning,
        cost=costs(cost, table, asked.priorities or {}),
        untouched=named_mask(asked.untouched, names, "untouched"),
        household=None if asked.household is None else households(known, asked.household, table, shared),
        shared=shared,
        k=tables.k or 0,
        dimension=0 if tables.dimension is None or tables.dimension >= len(names) else tables.dimension,
    )
    levels_of = _levels(asked, found)
    compile_once(MASKING, asked.on_progress)
    given = None if asked.answer is None else GivenAnswer.read(asked.answer)
    clock = Clock(asked.time_limit, cancel=asked.cancel)
    with interruptible(clock):
        search = Search(task, solver, asked.seed, clock, asked.on_progress, levels_of, ghosts, given)
        search.run()
    released = _release(found, asked.drop, ghosts)
    details = {
        **_about(asked, found, tables, meaning, cost),
        "labels": source.labels(names, found.schema),
        "dropped": list(released.dropped),
        "identifiers": [
            name
            for name in _identifiers(source.schema(found.schema))
            if name not in (*names, *released.dropped)
        ],
        **level_names(() if levels_of is None else filter(None, levels_of.hierarchies)),
    }
    return result_of(source, known, search, released, details)


def _cost(asked: SuppressOptions) -> str:
    """What a value costs, where nothing is said by whether there are priorities."""
    return asked.cost or (PRIORITY if asked.priorities else ONE)


def _key_variables(asked: SuppressOptions, meaning: MissingMeaning) -> KeyVariables:
    """The table with its key variables."""
    options = (asked.levels or (), asked.priorities or (), asked.ghosts or (), *asked.tables)
    named = [
        *chain(asked.untouched, asked.household_keys, *options),
        *hierarchy_names(asked.hierarchies),
    ]
    others = (asked.household, asked.weight)
    return KeyVariables.read(asked.data, asked.keys, asked.schema, others, meaning, named)


def _levels(asked: SuppressOptions, found: KeyVariables) -> HierarchyLevels | None:
    """The levels to which key variables may be recoded, where that is a part of the problem.

    Raises
    ------
    UsageError
        If it is none, and there are hierarchies; or they contradict other options.
    """
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
    open_ones = [one for one in chosen if one.attribute not in asked.untouched]
    return HierarchyLevels.of(found.known, found.names, open_ones, found.source.name, found.plain)


def _about(
    asked: SuppressOptions, found: KeyVariables, tables: TablesAsked, meaning: MissingMeaning, cost: str
) -> dict[str, Any]:
    """What the JSON says of the request."""
    names = found.names
    return {
        "linkrisk": version(),
        "name": found.source.name,
        "sha256": found.source.sha256,
        "problem": asked.problem,
        "keys": list(names),
        "constant": list(found.constant),
        "k": tables.k,
        "dimension": tables.dimension,
        "risk": tables.risk,
        "missing": str(meaning),
        "missing_means": meaning.words,
        "cost_of": cost,
        "untouched": sorted(set(asked.untouched), key=names.index),
        "ghosts": {name: list(others) for name, others in (asked.ghosts or {}).items()},
        "household": asked.household,
        "head": asked.head,
        "household_keys": sorted(set(asked.household_keys), key=names.index),
        "weight": asked.weight,
        "backend": asked.backend,
        "seed": asked.seed,
        "time_limit": asked.time_limit,
    }


def _release(found: KeyVariables, drop: Sequence[str] | None, ghosts: Mapping[str, Sequence[str]]) -> Release:
    """Which columns are left out, key variables and their ghosts never."""
    return release_of(
        found.source.plain,
        dict.fromkeys([*found.names, *chain(*ghosts.values())], "suppression"),
        identifiers=_identifiers(found.schema or Schema(())),
        household=None,
        drop=drop,
        renumber=(),
        shuffle=None,
        source=found.source.name,
    )


def _identifiers(schema: Schema) -> tuple[str, ...]:
    return tuple(schema.select(role=Role.IDENTIFIER))
