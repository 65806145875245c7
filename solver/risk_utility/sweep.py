"""`sweep`: many maskings of one file, each with certified worst case, held-out risk, information loss."""

from __future__ import annotations

import time
from collections.abc import Sequence

from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.datasets.options.option import options_of, recorded_of
from linkrisk.datasets.pairs.attributes import text_columns
from linkrisk.datasets.pairs.categorical import listed_categories
from linkrisk.errors import called
from linkrisk.solver.inputs.limits import check_limit, engine_options
from linkrisk.solver.inputs.reading import check_problem_options
from linkrisk.solver.inputs.source import read_source
from linkrisk.solver.masking.mask import methods_of
from linkrisk.solver.measures.registry import MEASURES as MEASURES_BY_NAME
from linkrisk.solver.measures.risk import asked_measures, check_tolerated
from linkrisk.solver.options.measuring import SECONDS_EACH, SweepOptions
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.risk_utility.course import Course, Store
from linkrisk.solver.risk_utility.maskings import Masking, maskings_of
from linkrisk.solver.risk_utility.results import SweepResult, usual_loss
from linkrisk.solver.risk_utility.runs import LOSS, WORST_CASE, Status, SweepJob, SweepTask
from linkrisk.solver.run.clock import AUTOMATIC, Clock, Limits
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.pool import pool_choice
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.worst_case.families import check_k_additive, several
from linkrisk.solver.worst_case.operations.live import watched


@taking(SweepOptions)
def sweep(asked: SweepOptions) -> SweepResult:
    """Mask a file in many ways, and measure each release as `risk` does.

    Parameters
    ----------
    {options}

    Returns
    -------
    SweepResult

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request or the file cannot be used, or no masking can be measured.
    """
    began = time.perf_counter()
    if asked.original is None:
        raise UsageError(f"which file? give {called('original')}", option="original")
    columns = schema_of(asked.schema)
    options = _options(asked, columns)
    families = several(asked.aggregator) or (str(asked.aggregator),)
    check_k_additive(families, options)
    check_problem_options(options)
    check_tolerated(asked.tolerated)
    measures = _measures(asked.measures, asked.loss)
    engine_options(seed=asked.seed, threads=None, backend=None, margin=None, big_c=None)
    choice = pool_choice(asked.scheduler, asked.workers)
    limits = _limits(asked)
    tasks = _tasks(asked.methods, columns, asked.seed)
    text = (*listed_categories(asked.nominal, asked.ordinal, columns), *text_columns(columns))
    source = read_source(asked.original, [each for task in tasks for each in task.methods], asked.id, text)
    job = SweepJob(source, options, families, measures, limits, asked.seed, float(asked.tolerated))
    with watched(asked.on_progress) as told:
        clock, store = Clock(None, cancel=asked.cancel), Store(asked.folder)
        course = Course(job, tasks, store, clock, told or (lambda _: None))
        course.run(choice)
    _check_any(course)
    runs = course.in_order
    details = {
        "name": source.name,
        "records": len(source.stored.frame),
        "columns": len(source.stored.frame.columns),
        "maskings": len(tasks),
        "kept_before": course.kept,
        "folder": None if asked.folder is None else str(asked.folder),
        **job.describe(),
        "workers": course.workers,
        "scheduler": asked.scheduler,
        **recorded_of(asked),
        "seconds": round(time.perf_counter() - began - course.compiling, 3),
        "command": asked.command,
        "notes": course.notes,
        "versions": library_versions(),
    }
    return SweepResult(runs, course.unfinished, asked.loss or usual_loss(runs), details)


def _options(asked: SweepOptions, columns: Schema | None) -> ProblemOptions:
    """Options of the problem in each release."""
    known = {name: getattr(asked, name) for name in options_of(ProblemOptions) if hasattr(asked, name)}
    del known["aggregator"]
    return ProblemOptions(**known | {"row_by_row": asked.id is None, "schema": columns})


def _limits(asked: SweepOptions) -> Limits:
    """Limits of each masking."""
    seconds = SECONDS_EACH if asked.work_limit is None else None
    return Limits(
        seconds if asked.time_limit == AUTOMATIC else check_limit(asked.time_limit, "time limit"),
        work=check_limit(asked.work_limit, "work limit", "units"),
    )


def _measures(measures: str | Sequence[str], loss: str | None) -> tuple[str, ...]:
    """Names of the measures, with the worst case; a UsageError if the loss is not among them."""
    names = {measure.name for measure in asked_measures(measures)} | {WORST_CASE}
    if loss is not None and LOSS not in names:
        raise UsageError(
            f"a loss needs the measure {LOSS}: add it to {called('measures')}", option="measures"
        )
    return tuple(name for name in MEASURES_BY_NAME if name in names)


def _tasks(
    maskings: Sequence[str | Sequence[str] | Masking], schema: Schema | None, seed: int
) -> list[SweepTask]:
    """All maskings with their methods."""
    if isinstance(maskings, str):
        maskings = [maskings]
    found: dict[str, Masking] = {}
    for each in maskings:
        for masking in [each] if isinstance(each, Masking) else maskings_of([each], schema=schema):
            found.setdefault(masking.text, masking)
    if not found:
        raise UsageError(
            f"there is no masking to sweep; give {called('methods')}, such as 'microaggregation k=2..20'",
            option="methods",
        )
    declared = {} if schema is None else {"schema": schema}
    return [
        SweepTask(at, masking, tuple(methods_of(masking.methods, declared)), masking.seed(seed))
        for at, masking in enumerate(found.values())
    ]


def _check_any(course: Course) -> None:
    """Refuse a sweep without any measurable masking, as the fault is likely the same for all."""
    runs = course.in_order
    if not runs or course.unfinished or any(run.status is not Status.REFUSED for run in runs):
        return
    many = "the masking cannot" if len(runs) == 1 else f"none of the {len(runs)} maskings can"
    raise UsageError(f"{many} be measured; {runs[0].masking}: {runs[0].reason}")
