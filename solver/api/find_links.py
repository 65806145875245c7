"""`find_links`: links between two files of which nobody knows which record is which."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.pairs.unaligned import UNKNOWN
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.api.chosen_linker import Run, check_workers, chosen_linker
from linkrisk.solver.api.keywords import checked_keywords
from linkrisk.solver.api.passes import linked_passes
from linkrisk.solver.compiling.ahead import LINKAGE, compile_once
from linkrisk.solver.inputs.link_tasks import (
    FindOptions,
    check_options,
    compared_frames,
    given_schema,
    linkage_task,
    read_pair,
)
from linkrisk.solver.inputs.problem import choice
from linkrisk.solver.linkage.helpers import Helpers
from linkrisk.solver.linkage.linker import Linker
from linkrisk.solver.linkage.probabilistic.passes.learned import LearnedPasses
from linkrisk.solver.linkage.probabilistic.passes.losses import shared_columns
from linkrisk.solver.linkage.probabilistic.passes.reporting import LinkedPasses
from linkrisk.solver.linkage.result import FoundLinks
from linkrisk.solver.options.names import DirectionName, MatchingName
from linkrisk.solver.options.types import SchemaLike, TableLike
from linkrisk.solver.run.crew import crew_choice, hired
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.limits import cancellable
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.run.versions import library_versions


@checked_keywords
def find_links(
    original: TableLike,
    masked: TableLike,
    *,
    method: str | Linker = "prl",
    settings: Mapping[str, Any] | None = None,
    attributes: Sequence[str] | None = None,
    original_id: str | None = None,
    masked_id: str | None = None,
    nominal: Sequence[str] = (),
    ordinal: Sequence[str] = (),
    schema: SchemaLike | None = None,
    direction: DirectionName = "original-to-masked",
    one_to_one: MatchingName | None = None,
    decisions: TableLike | None = None,
    seed: int = 0,
    scheduler: str | None = None,
    workers: int | None = None,
    cancel: Cancel | None = None,
    on_progress: Reporter | None = None,
) -> FoundLinks:
    """Link two files without known true links; what is wrong and what is missed is estimated.

    Parameters
    ----------
    original, masked : path, frame (pandas, polars, pyarrow) or ndarray of shape (n, a)
        The two files, of any lengths.
    method : str or Linker
        ``prl`` with the setting `passes`.
    settings : mapping, optional
        Settings of the linker, when it is given by name; text is read as on the command line.
    attributes : sequence of str, optional
        Attributes that both files have; all common columns when absent.
    original_id, masked_id : str, optional
        Columns that name the records of either file; row numbers from 1 when absent.
    nominal, ordinal : sequence of str
        Attributes that are not numeric.
    schema : path, mapping or Schema, optional
        What the columns are (docs/schema.md).
    direction : str
        ``original-to-masked`` or ``masked-to-original``.
    one_to_one : str, optional
        Link records one to one: ``hungarian`` or ``greedy``.
    decisions : path or frame, optional
        What people have decided on pairs, as `FoundLinks.clerical` lists them.
    seed : int
        Seed of every random choice.
    scheduler, workers : str, int, optional
        Who compares records besides this process, as for `link`; the answers are the same.
    cancel : Cancel, optional
        A token to cancel the call with, from another thread.
    on_progress : callable, optional
        Called when code has to be compiled first, and by workers with how many tasks are done.

    Returns
    -------
    FoundLinks

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError
        If the request or the files cannot be used.
    CancelledError
        If `cancel` has been used.

    Examples
    --------
    >>> from linkrisk import find_links
    >>> find_links("a.csv", "b.csv", settings={"passes": ["surname,town"]}).links  # doctest: +SKIP
    """
    options = FindOptions(
        direction=direction,
        attributes=attributes,
        nominal=nominal,
        ordinal=ordinal,
        schema=schema,
        one_to_one=one_to_one,
        decisions=decisions,
        seed=seed,
        original_id=original_id,
        masked_id=masked_id,
    )
    linker, asked_for = chosen_linker(method, settings), crew_choice(scheduler, workers)
    check_workers(linker, asked_for)

    def do() -> FoundLinks:
        with hired(asked_for) as crew:
            return _run(original, masked, linker, options, Run(crew, on_progress, cancel))

    return cancellable(do, cancel)


def _run(original: Any, masked: Any, linker: Linker, options: FindOptions, run: Run) -> FoundLinks:
    began = time.perf_counter()
    direction = choice(Direction, options.direction, "direction")
    check_options(options, linker)
    schema = given_schema(options)
    pair = read_pair(original, masked, linker, options, schema)
    frames, _ = compared_frames(pair, linker, options, schema, linker.keys)
    task, labels, _ = linkage_task(pair, frames, direction, options.seed)
    task = replace(task, helpers=Helpers(run.crew, run.report, run.cancel))
    spent = time.perf_counter() - began
    compile_once(LINKAGE, run.report)
    run.crew.prepare(compile_once, LINKAGE)
    began = time.perf_counter() - spent
    learned = linker.learn(task)
    if not isinstance(learned, LearnedPasses):
        raise UsageError(f"{linker.name} does not list links; give prl with passes")
    passes = linked_passes(learned, task, None, labels, options)
    details = {
        "name": pair.name,
        "direction": direction.value,
        "attributes": list(frames.original_attributes),
        "schema": frames.described.to_dict(),
        "queries": len(task.queries),
        "candidates": len(task.candidates),
        "alignment": UNKNOWN,
        "notes": [*pair.notes, *frames.notes, *learned.notes, *_not_estimated(learned, passes)],
        "seed": options.seed,
        **run.crew.describe(),
        "seconds": round(time.perf_counter() - began, 3),
        "versions": library_versions(),
    }
    return FoundLinks(linker.name, learned.parameters, options.one_to_one, passes, details)


def _not_estimated(learned: LearnedPasses, passes: LinkedPasses) -> list[str]:
    """Why it is not said how many links are missed."""
    if passes.estimated_missed is not None:
        return []
    shared = shared_columns(learned.files.joined.passes)
    why = "too few pairs are found by more than one pass, or there are too many keys"
    if shared:
        why = f"every pass needs {shown_names(shared)}; add one that does not"
    return [f"the share of links that are missed cannot be estimated: {why}"]
