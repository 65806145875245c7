"""`link`: every linker on a file pair, judged like the attacks that `fit` learns."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkrisk.datasets.microdata.names import labels_of, shown_labels
from linkrisk.datasets.microdata.schema import Scale
from linkrisk.datasets.options.option import recorded_of
from linkrisk.datasets.pairs.linkage_frames import LinkageFrames
from linkrisk.datasets.pairs.remarks import remarks
from linkrisk.datasets.pairs.survey_design import survey_design
from linkrisk.datasets.pairs.table_pair import TablePair
from linkrisk.errors import called
from linkrisk.formulations.linkage.pair import Direction, Ties
from linkrisk.solver.compiling.ahead import LINKAGE, compile_once
from linkrisk.solver.inputs.link_tasks import (
    check_options,
    compared_frames,
    given_schema,
    linkage_task,
    read_pair,
    twin_group,
)
from linkrisk.solver.inputs.mask_records import with_records
from linkrisk.solver.inputs.survey import BlockSurvey
from linkrisk.solver.linkage.claims import Claim
from linkrisk.solver.linkage.distance_based import DistanceBased, without_files
from linkrisk.solver.linkage.helpers import Helpers
from linkrisk.solver.linkage.judged_links import judged_links
from linkrisk.solver.linkage.linker import LearnedLinker, Linker, Truth
from linkrisk.solver.linkage.matching import matched, score_matrix
from linkrisk.solver.linkage.operations.chosen_linker import Run, check_workers, chosen_linker, make_linker
from linkrisk.solver.linkage.operations.passes import check_not_passes, linked_passes, one_to_one_of
from linkrisk.solver.linkage.probabilistic.passes.keys import parse_pass
from linkrisk.solver.linkage.probabilistic.passes.learned import LearnedPasses
from linkrisk.solver.linkage.result import LinkResult, OneToOne
from linkrisk.solver.options.linking import LinkageOptions
from linkrisk.solver.options.operations.link import LinkOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.crew import crew_choice, hired
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.limits import cancellable
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.schemas.reading import learned_options
from linkrisk.solver.worst_case.answers import records_table


@taking(LinkOptions)
def link(asked: LinkOptions) -> LinkResult:
    """Link the records of two files, and count how many links are right.

    Parameters
    ----------
    {options}

    Returns
    -------
    LinkResult

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError
        If the request or the files cannot be used.
    CancelledError
        If `cancel` has been used: there is no result before the end.

    Examples
    --------
    >>> from linkrisk import link
    >>> link("a.csv", "b.csv", method="prl", one_to_one="hungarian").linked  # doctest: +SKIP
    312
    """
    linker = chosen_linker(asked.method, asked.parameters)
    asked_for = crew_choice(asked.scheduler, asked.workers)
    check_workers(linker, asked_for)

    def do() -> LinkResult:
        with hired(asked_for) as crew:
            run = Run(crew, asked.on_progress, asked.cancel, recorded_of(asked))
            return _run(asked.original, asked.masked, linker, asked, None, run)

    return cancellable(do, asked.cancel)


def relink(
    original: Any,
    masked: Any,
    learned: Mapping[str, Any],
    run: Run,
    **options: Any,
) -> LinkResult:
    """Apply what `link` learned before, in the JSON that it wrote, to a file pair; options as for `link`."""
    linker = make_linker(str(learned.get("method")), {})
    check_workers(linker, run.crew.choice)
    chosen = LinkageOptions(**{**learned_options(learned), **options})
    return _run(original, masked, linker, chosen, learned["parameters"], run)


def _run(
    original: Any,
    masked: Any,
    linker: Linker,
    options: LinkageOptions,
    parameters: Mapping[str, Any] | None,
    run: Run,
) -> LinkResult:
    """Link by a linker that learns, or by one with parameters that were learned before."""
    began = time.perf_counter()
    check_options(options, linker)
    direction, ties = Direction(options.direction), Ties(options.ties or Ties.STRICT)
    if original is None or masked is None:
        raise UsageError(
            f"linkers have no embedded files: give both {called('original')} and {called('masked')}"
        )
    schema = given_schema(options)
    pair = read_pair(original, masked, linker, options, schema)
    keys = linker.keys if parameters is None else _keys(parameters)
    known = _masking(linker, parameters, options)
    frames, masking = compared_frames(pair, linker, options, schema, keys, known)
    if known and parameters is not None:
        parameters = {**parameters, "masking": masking}
    elif isinstance(linker, DistanceBased):
        linker = replace(linker, masking=masking)
    task, labels, partner = linkage_task(pair, frames, direction, options.seed)
    task = replace(task, helpers=Helpers(run.crew, run.report, run.cancel))
    design = survey_design(pair.original, pair.masked, pair.partner, schema)
    spent = time.perf_counter() - began
    compile_once(LINKAGE, run.report)
    run.crew.prepare(compile_once, LINKAGE)
    began = time.perf_counter() - spent
    found = linker.learn(task) if parameters is None else linker.restored(parameters, task)
    group = twin_group(task) if ties is Ties.SHARE else None
    truth = Truth.of(partner, len(task.candidates), group)
    survey = BlockSurvey.of(design, direction, truth.query_rows, truth.partner)
    judged = judged_links(found, truth, task.helpers, curve=options.curve)
    evaluation, claim = judged.evaluation, judged.claim
    passes, one_to_one = None, None
    if isinstance(found, LearnedPasses):
        passes = linked_passes(found, task, truth, labels, options)
    else:
        check_not_passes(options)
    if options.one_to_one is not None:
        matching = options.one_to_one
        one_to_one = one_to_one_of(passes, matching, truth) if passes else _one_to_one(found, truth, options)
    table = records_table([labels[0][row] for row in truth.query_rows], evaluation)
    details = {
        "name": pair.name,
        "direction": direction.value,
        **_attributes(linker, frames),
        "schema": frames.described.to_dict(),
        "candidates": truth.candidates,
        "ties": ties.value,
        "bijection": task.bijection,
        "expected_links": evaluation.linked_weight,
        "among_three": table.within(3, tied=True),
        "partner_tied": table.tied,
        **survey.describe(),
        **survey.links(evaluation.linked, truth.weight),
        **survey.strata(evaluation.linked),
        **shown_labels(
            labels_of(survey.shown, [pair.original.notes, pair.masked.notes], schema), survey.shown
        ),
        "most_probable_claim": None if claim is None else _claimed(claim, labels),
        "alignment": pair.alignment,
        "notes": [*_remarks(pair, linker, frames), *frames.notes, *design.notes, *found.notes],
        "seed": options.seed,
        **run.crew.describe(),
        **run.settings,
        "seconds": round(time.perf_counter() - began, 3),
        "versions": library_versions(),
    }
    return LinkResult(
        method=linker.name,
        linked=evaluation.count,
        records=truth.partner.size,
        parameters={**found.parameters, **({"masking": list(known)} if known else {})},
        one_to_one=one_to_one,
        curve=judged.curve,
        table=table,
        details=details,
        passes=passes,
    )


def _keys(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Columns of both files that a linker needs besides the attributes to compare, from what it learned."""
    passes = map(parse_pass, parameters.get("passes", ()))
    of_passes = dict.fromkeys(column for one in passes for column in one.columns)
    return (*parameters.get("blocking", ()), *of_passes)


def _masking(
    linker: Linker, parameters: Mapping[str, Any] | None, options: LinkageOptions
) -> tuple[str, ...]:
    """How categories were masked, as far as a linker or what it learned says so."""
    if not isinstance(linker, DistanceBased):
        return ()
    if parameters is not None:
        listed = parameters.get("masking")
        return without_files(listed) if isinstance(listed, list | tuple) else ()
    return tuple(str(text) for text in with_records(linker.masking, options, numbers=False))


def _remarks(pair: TablePair, linker: Linker, frames: LinkageFrames) -> tuple[str, ...]:
    """What should be known about the files, as far as they have attributes in common."""
    if not linker.common_attributes:
        return pair.notes
    names = frames.original_attributes
    return remarks(pair, names, [name for name in names if frames.schema[name].scale is not Scale.NUMERIC])


def _attributes(linker: Linker, frames: LinkageFrames) -> dict[str, list[str]]:
    if linker.common_attributes:
        return {"attributes": list(frames.original_attributes)}
    return {
        "original_attributes": list(frames.original_attributes),
        "masked_attributes": list(frames.masked_attributes),
    }


def _one_to_one(linker: LearnedLinker, truth: Truth, options: LinkageOptions) -> OneToOne:
    matrix = score_matrix(linker, truth.queries, truth.candidates)
    if options.threshold is not None:
        matrix[matrix < options.threshold] = -np.inf
    chosen = matched(matrix, str(options.one_to_one), options.seed)
    return OneToOne(
        matching=str(options.one_to_one),
        threshold=options.threshold,
        claimed=int((chosen >= 0).sum()),
        correct=int((chosen[truth.query_rows] == truth.partner).sum()),
        matches=truth.partner.size,
    )


def _claimed(claim: Claim, labels: tuple[Sequence[str], Sequence[str]]) -> dict[str, Any]:
    return {
        "query": labels[0][claim.query],
        "candidate": labels[1][claim.candidate],
        "score": claim.score,
        "probability": claim.probability,
        "correct": claim.correct,
    }
