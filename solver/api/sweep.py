"""`sweep`: many maskings of one file, each with certified worst case, held-out risk, information loss."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.pairs.by_schema import text_columns
from linkrisk.datasets.pairs.categorical import listed_categories
from linkrisk.errors import called
from linkrisk.solver.api.keywords import checked_keywords
from linkrisk.solver.api.limits import check_limit, engine_options
from linkrisk.solver.api.live import watched
from linkrisk.solver.api.mask import methods_of
from linkrisk.solver.api.masking_source import read_source
from linkrisk.solver.api.risk import asked_measures, check_tolerated
from linkrisk.solver.api.sweep_course import Course
from linkrisk.solver.api.sweep_run import SweepJob, SweepTask
from linkrisk.solver.inputs.problem import check_problem_options, schema_of
from linkrisk.solver.measures.registry import MEASURES as MEASURES_BY_NAME
from linkrisk.solver.measures.verdict import TOLERATED
from linkrisk.solver.options.names import (
    DifferencesName,
    DirectionName,
    MissingName,
    StandardisationName,
    TiesName,
)
from linkrisk.solver.options.pair import ALL, ProblemOptions
from linkrisk.solver.options.types import SchemaLike, TableLike
from linkrisk.solver.risk_utility.maskings import Masking, maskings_of
from linkrisk.solver.risk_utility.results import HELD_OUT, LOSS, LOSSES, WORST_CASE, SweepResult, usual_loss
from linkrisk.solver.risk_utility.runs import Status
from linkrisk.solver.risk_utility.store import Store
from linkrisk.solver.run.clock import AUTOMATIC, Clock, Limits
from linkrisk.solver.run.crew import crew_choice
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.worst_case.families import check_k_additive, several

SIMPLE = "simple-attacks"
"""The measure of attacks without a search, which a verdict must not be below."""

SECONDS_EACH = 60.0
"""Of a masking where nothing is said."""

MEASURES = (WORST_CASE, SIMPLE, HELD_OUT, LOSS)
"""Those that are taken where nothing is said."""


@checked_keywords
def sweep(
    original: TableLike,
    maskings: Sequence[str | Sequence[str] | Masking],
    *,
    folder: str | Path | None = None,
    measures: str | Sequence[str] = MEASURES,
    loss: str | None = None,
    tolerated: float = TOLERATED,
    aggregator: str | Sequence[str] = ALL,
    attributes: Sequence[str] | None = None,
    id_column: str | None = None,
    drop_constant: bool = False,
    nominal: Sequence[str] = (),
    ordinal: Sequence[str] = (),
    schema: SchemaLike | None = None,
    direction: DirectionName = "original-to-masked",
    ties: TiesName | None = None,
    standardisation: StandardisationName = "own",
    differences: DifferencesName | None = None,
    missing: MissingName = "expected",
    k_additive: int | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    seed: int = 0,
    time_limit: float | str | None = AUTOMATIC,
    work_limit: float | None = None,
    cancel: Cancel | None = None,
    on_progress: Reporter | None = None,
    command: str | None = None,
) -> SweepResult:
    """Mask a file in many ways, and measure each release as `risk` does.

    Parameters
    ----------
    original : path, name, frame (pandas, polars, pyarrow) or ndarray of shape (n, a)
        The original table, as `mask` takes it.
    maskings : sequence of str, of sequences of str, or of Masking
        As `mask` takes them, with ranges: ``"microaggregation k=2..20"``, ``"noise percent=5..50:5"``;
        several methods in order with `` + `` between them or as a sequence.
    folder : str or Path, optional
        Where finished runs are kept: a sweep that was stopped goes on there, and nothing is measured twice.
    measures : str or sequence of str
        As `risk` takes them; the worst case is always among them.
    loss : str, optional
        The information loss that the Pareto front goes by (`linkrisk.solver.risk_utility.results.LOSSES`).
        When absent, IL1s over all attributes, or pMSE where that is known of more maskings.
    tolerated, aggregator, attributes, id_column, drop_constant, nominal, ordinal
        See `risk`.
    schema : path, mapping or Schema, optional
        What the columns are; methods without a schema of their own go by it as well.
    direction, standardisation, differences, missing, k_additive
        See `fit`.
    ties
        See `risk`.
    scheduler : str, optional
        Address of a Dask scheduler whose workers measure one masking each.
    workers : int, optional
        So many processes of this machine, one thread each; as many as there are processors when absent. With
        1, this process does all.
    seed : int
        Of all measures; masking draws from one that follows from this and the text of the masking.
    time_limit, work_limit
        Of each masking, as `risk` takes them; 60 seconds when absent, or none with a work limit.
    cancel : Cancel, optional
        A token to stop the sweep with, as Ctrl-C does: what is finished is the result.
    on_progress : callable, optional
        Told whenever a run ends: its masking and interval, and how many have ended.
    command : str, optional
        The command line to note.

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
    columns = schema_of(schema)
    options = ProblemOptions(
        direction=direction,
        attributes=attributes,
        id_column=id_column,
        row_by_row=id_column is None,
        drop_constant=drop_constant,
        ties=ties,
        standardisation=standardisation,
        differences=differences,
        nominal=nominal,
        ordinal=ordinal,
        schema=columns,
        missing=missing,
        k_additive=k_additive,
    )
    families = several(aggregator) or (str(aggregator),)
    check_k_additive(families, options)
    check_problem_options(options)
    check_tolerated(tolerated)
    asked = _measures(measures, loss)
    engine_options(seed=seed, threads=None, backend=None, margin=None, big_c=None)
    seconds = SECONDS_EACH if work_limit is None else None
    limits = Limits(
        seconds if time_limit == AUTOMATIC else check_limit(time_limit, "time limit"),
        work=check_limit(work_limit, "work limit", "units"),
    )
    choice = crew_choice(scheduler, workers)
    tasks = _tasks(maskings, columns, seed)
    text = (*listed_categories(nominal, ordinal, columns), *text_columns(columns))
    source = read_source(original, [each for task in tasks for each in task.methods], id_column, text)
    job = SweepJob(source, options, families, asked, limits, seed, float(tolerated))
    with watched(on_progress) as told:
        course = Course(job, tasks, Store(folder), Clock(None, cancel=cancel), told or (lambda _: None))
        course.run(choice)
    _check_any(course)
    runs = course.in_order
    details = {
        "name": source.name,
        "records": len(source.stored.frame),
        "columns": len(source.stored.frame.columns),
        "maskings": len(tasks),
        "kept_before": course.kept,
        "folder": None if folder is None else str(folder),
        **job.describe(),
        "workers": course.workers,
        "scheduler": scheduler,
        "seconds": round(time.perf_counter() - began - course.compiling, 3),
        "command": command,
        "notes": course.notes,
        "versions": library_versions(),
    }
    return SweepResult(runs, course.unfinished, loss or usual_loss(runs), details)


def _measures(measures: str | Sequence[str], loss: str | None) -> tuple[str, ...]:
    """The measures that are asked for, with the worst case; UsageError where a loss cannot be had."""
    names = {measure.name for measure in asked_measures(measures)} | {WORST_CASE}
    if loss is not None and loss not in LOSSES:
        raise UsageError(f"unknown loss {loss!r}: choose from {', '.join(LOSSES)}")
    if loss is not None and LOSS not in names:
        raise UsageError(
            f"a loss needs the measure {LOSS}: add it to {called('measures')}", option="measures"
        )
    return tuple(name for name in MEASURES_BY_NAME if name in names)


def _tasks(
    maskings: Sequence[str | Sequence[str] | Masking], schema: Schema | None, seed: int
) -> list[SweepTask]:
    """All maskings with their methods; DataError or UsageError where one cannot be read."""
    if isinstance(maskings, str):
        maskings = [maskings]
    found: dict[str, Masking] = {}
    for each in maskings:
        for masking in [each] if isinstance(each, Masking) else maskings_of([each], schema=schema):
            found.setdefault(masking.text, masking)
    if not found:
        raise UsageError(
            f"there is no masking to sweep; give {called('maskings')}, such as 'microaggregation k=2..20'",
            option="maskings",
        )
    declared = {} if schema is None else {"schema": schema}
    return [
        SweepTask(at, masking, tuple(methods_of(masking.methods, declared)), masking.seed(seed))
        for at, masking in enumerate(found.values())
    ]


def _check_any(course: Course) -> None:
    """Refuse a sweep none of whose maskings can be measured, as what is wrong is likely the same for all."""
    runs = course.in_order
    if not runs or course.unfinished or any(run.status is not Status.REFUSED for run in runs):
        return
    many = "the masking cannot" if len(runs) == 1 else f"none of the {len(runs)} maskings can"
    raise UsageError(f"{many} be measured; {runs[0].masking}: {runs[0].reason}")
