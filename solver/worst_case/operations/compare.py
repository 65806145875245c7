"""`compare`: solve by the exact engine and one model on every backend, and recount."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar

import pandas as pd

from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.options.option import part, recorded_of
from linkrisk.solver.backends.registry import answered, available_backends, get_backend, no_answer
from linkrisk.solver.documents.wording import conflicts
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.inputs.limits import engine_options
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.inputs.recorded_masking import recorded
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.options.worst_case import CompareOptions
from linkrisk.solver.run.clock import Limits
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.pool import pool_choice
from linkrisk.solver.run.result import Result, plain
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.worst_case.contest import EXACT, BackendRow, Contest, disagreements
from linkrisk.solver.worst_case.request import FitRequest

_BY_WEIGHT = "linked and at most are sums of the sampling weights in column {}"

_WEIGHTS = ("claimed", "linked", "linked_with_margin", "linked_upper_bound", "gap")
"""Fields of a row that are linked weights."""


@dataclass(frozen=True)
class ComparisonResult(Result):
    """The exact engine and every backend on the same problem.

    Attributes
    ----------
    rows : tuple of BackendRow
        One for each backend, and one for the exact engine.
    disagreements : tuple of str
        Claims that contradict each other or the recount, in words. Empty when all is well.
    details : dict
        What was solved, as in `fit`.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> linkrisk.compare(iris, masked, backends=["exact", "highs"]).disagreements
    ()
    """

    kind: ClassVar[str] = "comparison"

    rows: tuple[BackendRow, ...]
    disagreements: tuple[str, ...]
    details: dict[str, Any]

    @property
    def no_answer(self) -> str | None:
        """Give the reason why no competitor returned an answer; None where one did."""
        found = [answered(row.status, row.linked, row.linked_upper_bound) for row in self.rows]
        return no_answer(self.rows, found)

    def content(self) -> dict[str, Any]:
        """The JSON of `compare --json` as a dictionary."""
        rows = [{key: plain(value) for key, value in asdict(row).items()} for row in self.rows]
        lacking = {} if self.no_answer is None else {"no_answer": self.no_answer}
        return {**self.details, "backends": rows, "disagreements": list(self.disagreements), **lacking}

    def to_frame(self) -> pd.DataFrame:
        """One line per row."""
        rows = [{key: plain(value) for key, value in asdict(row).items()} for row in self.rows]
        return pd.DataFrame(rows, columns=[field.name for field in fields(BackendRow)], dtype=object)

    def __repr__(self) -> str:
        lines = [
            f"  {row.name}: {row.status}, linked {plain(row.linked)}, at most {plain(row.linked_upper_bound)}"
            for row in self.rows
        ]
        said = [f"  {one}" for one in conflicts(self.content())]
        head = f"ComparisonResult({self.details['aggregator']}, {self.details['direction']}"
        return "\n".join([head, *lines, *said]) + ")"


@taking(CompareOptions)
def compare(asked: CompareOptions) -> ComparisonResult:
    """Run the exact engine and solve one model on several backends, each in a process of its own; recount.

    Parameters
    ----------
    {options}

    Returns
    -------
    ComparisonResult

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request or the files cannot be used.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> found = linkrisk.compare(iris, masked, backends=["exact", "highs"])
    >>> [(row.name, row.linked) for row in found.rows]
    [('exact', 14.0), ('highs', 14.0)]
    >>> found.disagreements
    ()
    """
    request = _request(asked)
    names = list(asked.backends) if asked.backends is not None else [EXACT, *available_backends()]
    _check_names(names)
    with request.with_pool() as ready:
        problem = make_problem(asked.original, asked.masked, recorded(part(ProblemOptions, asked)))
        ready.compile(problem.aggregator.name)
        contest = Contest(problem, ready, start=asked.start)
        rows = contest.rows(names, ready)
    said = disagreements(rows)
    unit, weight = problem.survey.unit, problem.survey.weight_column
    by_weight = [] if weight is None else [_BY_WEIGHT.format(shown_name(weight))]
    details = {
        **problem.describe(),
        "notes": [*problem.files.notes, *by_weight],
        "records": problem.pair.blocks,
        "attack": plain(contest.attack * unit),
        "margin": request.options.margin,
        "big_c": request.options.big_c,
        **request.settings,
        "seed": request.options.seed,
        "threads": request.options.threads,
        **ready.pool.describe(),
        "versions": library_versions(),
    }
    return ComparisonResult(tuple(_in_population(row, unit) for row in rows), tuple(said), details)


def _request(asked: CompareOptions) -> FitRequest:
    """Check the request before anything is read."""
    options, _ = engine_options(
        seed=asked.seed,
        threads=asked.threads,
        margin=asked.margin,
        big_c=asked.big_c,
        steering=asked.steering,
    )
    return FitRequest(
        ExactEngine(),
        options,
        Limits(asked.time_limit, cancel=asked.cancel),
        report=asked.on_progress,
        workers=pool_choice(asked.scheduler, asked.workers),
        settings=recorded_of(asked),
    )


def _in_population(row: BackendRow, unit: float) -> BackendRow:
    """Convert the linked weights of a row to units of the sampling weights."""
    found = {name: getattr(row, name) for name in _WEIGHTS}
    changed: dict[str, Any] = {name: None if each is None else each * unit for name, each in found.items()}
    return replace(row, **changed)


def _check_names(names: Sequence[str]) -> None:
    """Refuse backends listed twice, or without their optimiser."""
    for at, name in enumerate(names):
        if name in names[:at]:
            raise UsageError(f"the backend {name!r} is given twice; give it once")
        if name != EXACT:
            get_backend(name)
