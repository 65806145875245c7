"""`compare`: the exact engine, and the same model on every backend, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import combinations, product
from typing import Any, ClassVar

import pandas as pd

from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.options.option import part, recorded_of
from linkrisk.solver.backends.registry import available_backends, get_backend
from linkrisk.solver.compiling.ahead import compile_once
from linkrisk.solver.documents.wording import contradictions
from linkrisk.solver.inputs.limits import check_limit, engine_options
from linkrisk.solver.inputs.mask_records import recorded
from linkrisk.solver.inputs.problem import make_problem
from linkrisk.solver.linkage.helpers import Helpers
from linkrisk.solver.options.operations.compare import CompareOptions
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.answers import answered, no_answer
from linkrisk.solver.run.clock import Limits
from linkrisk.solver.run.crew import crew_choice, hired
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.result import Result
from linkrisk.solver.run.results import plain
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.worst_case.contest import EXACT, BackendRow, Contest

_BY_WEIGHT = "linked and at most are sums of the sampling weights in column {}"

CLOSE = 1e-6
"""What weights may differ by without a contradiction."""

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
    """

    kind: ClassVar[str] = "comparison"

    rows: tuple[BackendRow, ...]
    disagreements: tuple[str, ...]
    details: dict[str, Any]

    @property
    def no_answer(self) -> str | None:
        """Why there is no answer, where none of them came back with any; None where one did."""
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
        said = [f"  {one}" for one in contradictions(self.content())]
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
    """
    settings, _ = engine_options(
        seed=asked.seed,
        threads=asked.threads,
        backend=None,
        margin=asked.margin,
        big_c=asked.big_c,
        steering=asked.steering,
    )
    check_limit(asked.time_limit, "time limit")
    chosen = list(asked.backends) if asked.backends is not None else [EXACT, *available_backends()]
    _check_names(chosen)
    limits, tell = Limits(asked.time_limit, cancel=asked.cancel), asked.on_progress or (lambda _: None)
    with hired(crew_choice(asked.scheduler, asked.workers)) as crew:
        problem = make_problem(asked.original, asked.masked, recorded(part(ProblemOptions, asked)))
        compile_once(problem.aggregator.name, tell)
        crew.prepare(compile_once, problem.aggregator.name)
        contest = Contest(problem, settings, limits, asked.start)
        if crew.choice.asked:
            rows = contest.rows_by(Helpers(crew, tell), chosen)
        else:
            rows = list(contest.rows(chosen, tell))
    said = disagreements(rows)
    unit, weight = problem.survey.unit, problem.survey.weight_column
    by_weight = [] if weight is None else [_BY_WEIGHT.format(shown_name(weight))]
    details = {
        **problem.describe(),
        "notes": [*problem.files.notes, *by_weight],
        "records": problem.pair.blocks,
        "attack": plain(contest.attack * unit),
        "margin": settings.margin,
        "big_c": settings.big_c,
        **recorded_of(asked),
        "seed": settings.seed,
        "threads": settings.threads,
        **crew.describe(),
        "versions": library_versions(),
    }
    return ComparisonResult(tuple(_in_population(row, unit) for row in rows), tuple(said), details)


def _in_population(row: BackendRow, unit: float) -> BackendRow:
    """A row whose linked weights are in the units of the sampling weights."""
    found = {name: getattr(row, name) for name in _WEIGHTS}
    changed: dict[str, Any] = {name: None if each is None else each * unit for name, each in found.items()}
    return replace(row, **changed)


def _check_names(names: Sequence[str]) -> None:
    """Refuse a backend that comes again, or whose optimiser is not installed."""
    for at, name in enumerate(names):
        if name in names[:at]:
            raise UsageError(f"the backend {name!r} is given twice; give it once")
        if name != EXACT:
            get_backend(name)


def disagreements(rows: Sequence[BackendRow]) -> list[str]:
    """Contradictions: claims that the recount does not find, proofs that differ, solutions above a bound.

    A backend's bound speaks about the links that keep the model's margin, the exact engine's about all of
    them. So the exact optimum may be larger than a backend's, and never smaller; and a solution is held
    against a backend's bound with what keeps the margin, against the exact bound with all that it links.
    """
    said = [
        f"{row.name} claims {row.claimed:g} links, but its parameters have {row.linked:g}"
        for row in rows
        # Of any margin: what sits on the margin may miss it by a rounding, which is no false claim.
        if row.claimed is not None
        and row.linked is not None
        and row.linked < row.claimed - CLOSE * max(1.0, row.claimed)
    ]
    proven = [row for row in rows if row.status == "optimal" and row.linked_upper_bound is not None]
    for first, second in combinations(proven, 2):
        low, high = first.linked_upper_bound or 0.0, second.linked_upper_bound or 0.0
        if abs(low - high) > CLOSE and not _exact_counts_more(first, second):
            said.append(
                f"{first.name} and {second.name} both claim a proof, but of different optima: "
                f"{low:g} and {high:g}"
            )
    for row, other in product(rows, rows):
        counted, bound = _counted(row, other), other.linked_upper_bound
        if counted is not None and bound is not None and counted > bound + CLOSE:
            said.append(f"{row.name} links {counted:g}, more than the bound {bound:g} of {other.name}")
    return said


def _exact_counts_more(first: BackendRow, second: BackendRow) -> bool:
    """Whether one is exact and the other is not, and the exact optimum is the larger one."""
    if (first.engine == EXACT) == (second.engine == EXACT):
        return False
    exact, other = (first, second) if first.engine == EXACT else (second, first)
    return (exact.linked_upper_bound or 0.0) > (other.linked_upper_bound or 0.0)


def _counted(row: BackendRow, other: BackendRow) -> float | None:
    """What of a solution the bound of another row speaks about."""
    return row.linked if other.engine == EXACT else row.linked_with_margin
