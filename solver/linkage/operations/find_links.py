"""`find_links`: links between two files of which nobody knows which record is which."""

from __future__ import annotations

import time
from dataclasses import replace

from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.options.option import recorded_of
from linkrisk.datasets.pairs.unaligned import UNKNOWN
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.compiling.ahead import LINKAGE, compile_once
from linkrisk.solver.inputs.link_tasks import (
    check_options,
    compared_frames,
    given_schema,
    linkage_task,
    read_pair,
)
from linkrisk.solver.linkage.helpers import Helpers
from linkrisk.solver.linkage.linker import Linker
from linkrisk.solver.linkage.operations.chosen_linker import Run, check_workers, chosen_linker
from linkrisk.solver.linkage.operations.passes import linked_passes
from linkrisk.solver.linkage.probabilistic.passes.learned import LearnedPasses
from linkrisk.solver.linkage.probabilistic.passes.losses import shared_columns
from linkrisk.solver.linkage.probabilistic.passes.reporting import LinkedPasses
from linkrisk.solver.linkage.result import FoundLinks
from linkrisk.solver.options.operations.link import FindOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.crew import crew_choice, hired
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.limits import cancellable
from linkrisk.solver.run.versions import library_versions


@taking(FindOptions)
def find_links(asked: FindOptions) -> FoundLinks:
    """Link two files without known true links; what is wrong and what is missed is estimated.

    Parameters
    ----------
    {options}

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
    >>> find_links("a.csv", "b.csv", parameters={"passes": ["surname,town"]}).links  # doctest: +SKIP
    """
    linker = chosen_linker(asked.method, asked.parameters)
    asked_for = crew_choice(asked.scheduler, asked.workers)
    check_workers(linker, asked_for)

    def do() -> FoundLinks:
        with hired(asked_for) as crew:
            return _run(asked, linker, Run(crew, asked.on_progress, asked.cancel, recorded_of(asked)))

    return cancellable(do, asked.cancel)


def _run(options: FindOptions, linker: Linker, run: Run) -> FoundLinks:
    began = time.perf_counter()
    check_options(options, linker)
    direction = Direction(options.direction)
    schema = given_schema(options)
    pair = read_pair(options.original, options.masked, linker, options, schema)
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
        **run.settings,
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
