"""`suppress`: take values of key variables out of a table so that no unsafe combination is left whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from linkrisk.datasets.masking.record import version
from linkrisk.datasets.masking.releasing import Release, release_of
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.solver.api.key_variables import (
    KeyVariables,
    asked_tables,
    hierarchy_names,
    level_names,
    meaning_of,
)
from linkrisk.solver.api.keywords import checked_keywords
from linkrisk.solver.api.limits import check_limit
from linkrisk.solver.api.suppression_result import SuppressionResult
from linkrisk.solver.api.suppression_run import Search, result_of
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.compiling.ahead import MASKING, compile_once
from linkrisk.solver.options.types import SchemaLike, TableLike
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel, interruptible
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.suppression.given_answer import GivenAnswer
from linkrisk.solver.suppression.hierarchy_levels import HierarchyLevels
from linkrisk.solver.suppression.problem import (
    COVER,
    JOINT,
    ONE,
    Problem,
    Tables,
    Threshold,
    check_ghosts,
    check_heads,
    check_kind,
    costs,
    households,
    named_mask,
)

DEFAULT_TIME_LIMIT = 60.0


@checked_keywords
def suppress(
    data: TableLike,
    *,
    problem: str = COVER,
    keys: Sequence[str] | None = None,
    k: int | None = None,
    levels: Mapping[str, int] | None = None,
    dimension: int | None = None,
    tables: Tables = (),
    threshold: Threshold = 1.0,
    risk: float | None = None,
    missing: str | None = None,
    cost: str = ONE,
    priorities: Mapping[str, float] | None = None,
    untouched: Sequence[str] = (),
    ghosts: Mapping[str, Sequence[str]] | None = None,
    household: str | None = None,
    head: str | None = None,
    household_keys: Sequence[str] = (),
    weight: str | None = None,
    hierarchies: Sequence[Hierarchy | str] = (),
    schema: SchemaLike | None = None,
    drop: Sequence[str] | None = None,
    answer: str | Path | None = None,
    backend: str = "highs",
    seed: int = 0,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    cancel: Cancel | None = None,
    on_progress: Reporter | None = None,
) -> SuppressionResult:
    """Take out the values of least cost that leave no unsafe combination of key variables whole.

    A combination of values is unsafe when it occurs in the input, but no more often than a threshold. In the
    problem ``cover`` every minimal unsafe combination of every record loses a value, and nothing is counted
    again (as mu-ARGUS does it); `SuppressionResult.after` says what counting the output again would find. In
    the problem ``recount`` the output is counted again: every record has k like it there. The problem
    ``joint`` reaches the same by levels of recoding, one for each key variable, together with suppression.

    Parameters
    ----------
    data : path, name, frame (pandas, polars, pyarrow) or ndarray of shape (n, a)
        The table, a file of any format, or the name of a public data set.
    problem : str
        ``cover``, ``recount`` or ``joint``.
    keys : sequence of str, optional
        The key variables; those of the schema, or all columns that are no ids or weights, when absent, but
        what is the same for all records only where another option names it.
    k : int, optional
        Fewer than k records with the same values of all keys are unsafe; 3 where nothing else is said. With
        `dimension`, of all sets of so many keys or fewer.
    levels : mapping of str to int, optional
        Levels of identification, 1 the most identifying: a table has a variable of level 1, another of level
        1 or 2, and so on. Variables that are not named identify nobody.
    dimension : int, optional
        All tables of so many keys or fewer.
    tables : sequence of sequence of str, or mapping of tuples of str to float
        Tables by their key variables; a mapping has a threshold for each.
    threshold : float or mapping of int to float
        Of `levels`, `dimension` and `tables`: combinations that occur no more often are unsafe. At least 1;
        one for all, or by the number of variables.
    risk : float, optional
        Combinations of all keys with more individual risk (Benedetti and Franconi, by the sampling weights)
        are unsafe; without weights the file is the population, and the risk 1/f.
    missing : str, optional
        What a missing value of the input means: ``own-category``, ``matches-anything``, ``alpha=A`` in
        between, or ``safe``: no combination with it is unsafe. ``own-category`` with `k`, else ``safe``.
        Codes that are declared missing are values as any other, as readers of the file tell them apart; where
        missing values are ``safe``, they are missing. ``code=C`` writes the code C for what is taken out, and
        counts it as that.
    cost : str
        Of a value: ``one`` each, the ``entropy`` of its variable, or by ``priority``.
    priorities : mapping of str to float, optional
        Costs of values by key variable, 1 for all others; with the cost ``priority``.
    untouched : sequence of str
        Key variables that keep all values: none is taken out, nor recoded.
    ghosts : mapping of str to sequence of str, optional
        Columns that are no key variables and lose their value wherever a key variable loses one, because
        they tell it: the province beside the town.
    household : str, optional
        Column of household numbers.
    head : str, optional
        Who is the head of a household, as ``"relation=1"``: exactly one member of each, else it is refused.
    household_keys : sequence of str
        Key variables of the household, which are taken from all of its members or from none.
    weight : str, optional
        Column of sampling weights: combinations are then counted in the population.
    hierarchies : sequence of Hierarchy or str
        Of key variables, for ``joint``; those of the schema when absent. A value that stands for l of L
        leaves costs (l - 1) / (L - 1) of one that is taken out. As text ``"age=ages.csv"``, or of dates
        ``"born=month"``: months, quarters and years.
    schema : path, mapping or Schema, optional
        Roles and missing codes of the columns.
    drop : sequence of str, optional
        Columns to leave out; by default the direct identifiers of the schema. An empty one keeps all.
    answer : path, optional
        File of an answer that was found before (`SuppressionResult.answer`): it is taken, and counted again,
        instead of a search.
    backend : str
        What solves the programs of ``recount`` and ``joint``.
    seed : int
        Of the choice of neighbourhoods in which these look for better answers.
    time_limit : float, optional
        Seconds, after which what is not solved keeps a good answer and a bound; None for no limit.
    cancel : Cancel, optional
        A token that ends the search like the time limit.
    on_progress : callable, optional
        Called with every progress report.

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
    asked = asked_tables(k, levels, dimension, tables, threshold, risk)
    meaning = meaning_of(missing, asked)
    check_kind(problem, asked, meaning, household=household, weight=weight)
    solver = get_backend(backend)
    if time_limit is not None:
        check_limit(time_limit, "time limit")
    as_keys = (untouched, household_keys, levels or (), priorities or (), ghosts or (), *tables)
    named = [*chain(*as_keys), *hierarchy_names(hierarchies)]
    found = KeyVariables.read(data, keys, schema, (household, weight), meaning, named)
    source, known, names, table = found.source, found.known, found.names, found.table(weight)
    check_ghosts(ghosts or {}, names, known)
    shared = named_mask(household_keys, names, "household keys")
    if bool(household) != bool(shared):
        raise UsageError("households need both: the column of their numbers, and their key variables")
    if head is not None:
        check_heads(known, household, head)
    task = Problem(
        kind=problem,
        table=table,
        tables=asked.tables(names),
        meaning=meaning,
        cost=costs(cost, table, priorities or {}),
        untouched=named_mask(untouched, names, "untouched"),
        household=None if household is None else households(known, household, table, shared),
        shared=shared,
        k=asked.k or 0,
        dimension=0 if asked.dimension is None or asked.dimension >= len(names) else asked.dimension,
    )
    levels_of = None
    if problem == JOINT and ghosts:
        raise UsageError(
            "ghosts tell more than a recoded variable: the problem 'joint' knows none, leave them out"
        )
    if problem == JOINT:
        chosen = found.hierarchies(hierarchies)
        kept = [one.attribute for one in chosen if hierarchies and one.attribute in untouched]
        if kept:
            raise UsageError(
                f"hierarchies: {kept[0]!r} is untouched, and keeps all values: leave one of them out"
            )
        open_ones = [one for one in chosen if one.attribute not in untouched]
        levels_of = HierarchyLevels.of(known, names, open_ones, source.name, found.plain)
    elif hierarchies:
        raise UsageError(f"hierarchies are for the problem {JOINT!r}, not {problem!r}: leave one of them out")
    compile_once(MASKING, on_progress)
    given = None if answer is None else GivenAnswer.read(answer)
    clock = Clock(time_limit, cancel=cancel)
    with interruptible(clock):
        search = Search(task, solver, seed, clock, on_progress, levels_of, ghosts or {}, given)
        search.run()
    released = _release(found, drop, ghosts or {})
    details = {
        "linkrisk": version(),
        "name": source.name,
        "sha256": source.sha256,
        "problem": problem,
        "keys": list(names),
        "constant": list(found.constant),
        "k": asked.k,
        "dimension": asked.dimension,
        "risk": asked.risk,
        "missing": str(meaning),
        "missing_means": meaning.words,
        "cost_of": cost,
        "untouched": sorted(set(untouched), key=names.index),
        "ghosts": {name: list(others) for name, others in (ghosts or {}).items()},
        "household": household,
        "head": head,
        "household_keys": sorted(set(household_keys), key=names.index),
        "weight": weight,
        "backend": backend,
        "seed": seed,
        "time_limit": time_limit,
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
