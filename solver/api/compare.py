"""`compare`: the exact engine, and the same model on every backend, side by side."""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import combinations, product
from typing import Any

from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.pairs.categorical import Masking
from linkrisk.solver.api.answers import answered, no_answer
from linkrisk.solver.api.choices import (
    DifferencesName,
    DirectionName,
    MissingName,
    SchemaLike,
    StandardisationName,
    TableLike,
    TiesName,
)
from linkrisk.solver.api.keywords import checked_keywords
from linkrisk.solver.api.limits import check_limit, engine_options
from linkrisk.solver.backends.registry import available_backends, backend_names, get_backend
from linkrisk.solver.compiling.ahead import compile_once
from linkrisk.solver.engines.steering import Steering
from linkrisk.solver.inputs.mask_records import recorded
from linkrisk.solver.inputs.problem import ProblemOptions, make_problem
from linkrisk.solver.linkage.helpers import Helpers
from linkrisk.solver.run.clock import Limits
from linkrisk.solver.run.crew import crew_choice, hired
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.run.results import dump_json, plain
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.worst_case.contest import EXACT, BackendRow, Contest

DEFAULT_TIME_LIMIT = 60.0

_BY_WEIGHT = "linked and at most are sums of the sampling weights in column {}"

CLOSE = 1e-6
"""What weights may differ by without a contradiction."""

_WEIGHTS = ("claimed", "linked", "linked_with_margin", "linked_upper_bound", "gap")
"""Fields of a row that are linked weights."""


@dataclass(frozen=True)
class ComparisonResult:
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

    rows: tuple[BackendRow, ...]
    disagreements: tuple[str, ...]
    details: dict[str, Any]

    @property
    def no_answer(self) -> str | None:
        """Why there is no answer, where none of them came back with any; None where one did."""
        found = [answered(row.status, row.linked, row.linked_upper_bound) for row in self.rows]
        return no_answer(self.rows, found)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `compare --json` as a dictionary."""
        rows = [{key: plain(value) for key, value in asdict(row).items()} for row in self.rows]
        return {**self.details, "backends": rows, "disagreements": list(self.disagreements)}

    def to_json(self) -> str:
        """The JSON of `compare --json`."""
        return dump_json(self.to_dict())

    def to_csv(self) -> str:
        """One line per row."""
        out = io.StringIO()
        writer = csv.DictWriter(out, [field.name for field in fields(BackendRow)], lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: plain(value) for key, value in asdict(row).items()} for row in self.rows)
        return out.getvalue()

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from linkrisk.solver.charts.linkage_cards import comparison_card

        return comparison_card(self.to_dict())

    def __repr__(self) -> str:
        lines = [
            f"  {row.name}: {row.status}, linked {plain(row.linked)}, at most {plain(row.linked_upper_bound)}"
            for row in self.rows
        ]
        said = [f"  DISAGREEMENT: {sentence}" for sentence in self.disagreements]
        said += [] if self.no_answer is None else [f"  NO ANSWER: {self.no_answer}"]
        head = f"ComparisonResult({self.details['aggregator']}, {self.details['direction']}"
        return "\n".join([head, *lines, *said]) + ")"


@checked_keywords
def compare(
    original: TableLike | None = None,
    masked: TableLike | None = None,
    *,
    aggregator: str = "weighted-mean",
    attributes: Sequence[str] | None = None,
    id_column: str | None = None,
    row_by_row: bool = False,
    drop_constant: bool = False,
    nominal: Sequence[str] = (),
    ordinal: Sequence[str] = (),
    schema: SchemaLike | None = None,
    masking: Masking = (),
    direction: DirectionName = "original-to-masked",
    ties: TiesName = "strict",
    standardisation: StandardisationName = "own",
    differences: DifferencesName | None = None,
    missing: MissingName = "expected",
    k_additive: int | None = None,
    backends: Sequence[str] | None = None,
    threads: int | None = None,
    margin: float | None = None,
    big_c: float | None = None,
    seed: int = 0,
    steering: Steering | None = None,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    start: bool = True,
    scheduler: str | None = None,
    workers: int | None = None,
    cancel: Cancel | None = None,
    on_progress: Reporter | None = None,
) -> ComparisonResult:
    """Run the exact engine and solve one model on several backends, each in a process of its own; recount.

    Parameters
    ----------
    original, masked : path, frame (pandas, polars, pyarrow) or ndarray of shape (n, a), optional
        The file pair; the embedded default pair when both are absent.
    aggregator, attributes, id_column, row_by_row, drop_constant, nominal, ordinal, schema, masking
        See `fit`; one aggregator only.
    direction, ties, standardisation, differences, missing, k_additive
        See `fit`.
    backends : sequence of str, optional
        Which backends, and ``exact`` for the exact engine; when absent, ``exact`` and all backends that
        are installed.
    threads, margin, big_c : int, float, float, optional
        Of the model and the optimisers that solve it; see `fit`.
    seed : int
        Seed of every random choice.
    steering : Steering, optional
        See `fit`.
    time_limit : float or None
        Seconds for each of them.
    start : bool
        Give the heuristic attack as a start point to the exact engine and to the backends that take one.
    scheduler : str, optional
        Address of a Dask scheduler whose workers run them side by side, each with `threads` threads.
    workers : int, optional
        So many processes of this machine that do the same.
    cancel : Cancel, optional
        A token to end the comparison with, as Ctrl-C does: what has come back by then is compared.
    on_progress : callable, optional
        Told of each before it runs (`Progress.about`), and before all where code is compiled first; by
        workers, how many tasks are done.

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
        seed=seed, threads=threads, backend=None, margin=margin, big_c=big_c, steering=steering
    )
    check_limit(time_limit, "time limit")
    chosen = list(backends) if backends is not None else [EXACT, *available_backends()]
    _check_names(chosen)
    options = ProblemOptions(
        aggregator=aggregator,
        direction=direction,
        attributes=attributes,
        id_column=id_column,
        row_by_row=row_by_row,
        drop_constant=drop_constant,
        ties=ties,
        standardisation=standardisation,
        differences=differences,
        k_additive=k_additive,
        nominal=nominal,
        ordinal=ordinal,
        schema=schema,
        masking=masking,
        missing=missing,
    )
    limits, tell = Limits(time_limit, cancel=cancel), on_progress or (lambda _: None)
    with hired(crew_choice(scheduler, workers)) as crew:
        problem = make_problem(original, masked, recorded(options))
        compile_once(problem.aggregator.name, tell)
        crew.prepare(compile_once, problem.aggregator.name)
        contest = Contest(problem, settings, limits, start)
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
        "time_limit": time_limit,
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
    """Refuse what is neither a backend nor the exact engine, or comes again; a near miss names the engine."""
    for at, name in enumerate(names):
        if name in names[:at]:
            raise UsageError(f"the backend {name!r} is given twice; give it once")
        if name == EXACT:
            continue
        close = difflib.get_close_matches(name, [EXACT, *backend_names()], n=1, cutoff=0.5)
        if name not in backend_names() and close == [EXACT]:
            raise UsageError(f"unknown backend {name!r}: did you mean {EXACT!r}?")
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
