"""link and find_links: run a linker on two files, and evaluate it where the true links are known."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.datasets.microdata.names import labels_of, shown_labels, shown_names
from linkrisk.datasets.microdata.schema import Scale
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.datasets.options.option import recorded_of
from linkrisk.datasets.pairs.alignment import UNKNOWN, TablePair
from linkrisk.datasets.pairs.linkage_frames import LinkageFrames
from linkrisk.datasets.pairs.remarks import remarks
from linkrisk.datasets.pairs.survey_design import survey_design
from linkrisk.errors import called
from linkrisk.formulations.linkage.pair import Direction, Ties
from linkrisk.solver.compiling.parts import LINKAGE, compile_once
from linkrisk.solver.inputs.link_tasks import (
    DECISION,
    SIDES,
    Asked,
    check_options,
    compared_frames,
    linkage_task,
    read_decisions,
    read_pair,
    twin_group,
)
from linkrisk.solver.inputs.problem import BlockSurvey
from linkrisk.solver.inputs.recorded_masking import with_records
from linkrisk.solver.linkage.distance_based import DistanceBased, without_files
from linkrisk.solver.linkage.judging import judged_links
from linkrisk.solver.linkage.linker import Helpers, LearnedLinker, LinkageTask, Linker, Truth
from linkrisk.solver.linkage.matching import matched, score_matrix
from linkrisk.solver.linkage.precision_recall import Claim
from linkrisk.solver.linkage.probabilistic.blocking import parse_pass
from linkrisk.solver.linkage.probabilistic.decisions import Decisions, decide, expected_losses, shared_columns
from linkrisk.solver.linkage.probabilistic.passes import LearnedPasses
from linkrisk.solver.linkage.registry import Run, check_workers, chosen_linker, make_linker
from linkrisk.solver.linkage.representatives import RepresentativeLinker
from linkrisk.solver.linkage.result import FoundLinks, LinkedPasses, LinkResult, OneToOne, report_passes
from linkrisk.solver.options.linking import FindOptions, LinkageOptions, LinkOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.limits import cancellable
from linkrisk.solver.run.pool import open_pool, pool_choice
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.schemas.reading import learned_options
from linkrisk.solver.worst_case.answers import records_table


def linked_passes(
    learned: LearnedPasses,
    task: LinkageTask,
    truth: Truth | None,
    labels: tuple[Sequence[str], Sequence[str]],
    options: Asked,
) -> LinkedPasses:
    """Decide on the pairs of passes, and report; with estimates where the true links are unknown."""
    if options.threshold is not None:
        raise UsageError(
            f"passes link from the upper end of {called('clerical_band')}, or as the error rates say: leave "
            f"{called('threshold')} out",
            option="threshold",
        )
    reviewed = None
    if options.decisions is not None:
        reviewed = read_decisions(options.decisions, labels, reverse=task.masked_queries)
    found = decide(learned, options.one_to_one, reviewed, options.seed)
    links, clerical = (
        _listed(learned, found, which, labels, reverse=task.masked_queries)
        for which in (found.linked, found.clerical)
    )
    losses = expected_losses(learned, task, found) if truth is None else None
    return LinkedPasses(
        reports=report_passes(learned, found, truth, losses),
        decided=0 if reviewed is None else reviewed.link.size,
        matches=None if truth is None else truth.partner.size,
        estimated_missed=None if losses is None else losses.missed,
        links=links.drop(columns=["query", "candidate"]),
        clerical=_for_review(clerical, task),
    )


def one_to_one_of(passes: LinkedPasses, matching: str, truth: Truth) -> OneToOne:
    """Report the links as those of a matching, from the threshold of the passes on."""
    return OneToOne(matching, None, len(passes.links), passes.right or 0, truth.partner.size)


def check_not_passes(options: Asked) -> None:
    """Refuse options that apply to passes only."""
    if options.decisions is not None:
        raise UsageError(
            f"{called('decisions')} is about pairs of passes: give {called('method', 'prl')} with "
            f"{called('passes')}, or leave it out",
            option="decisions",
        )


def _listed(
    learned: LearnedPasses,
    found: Decisions,
    which: NDArray[np.bool_],
    labels: tuple[Sequence[str], Sequence[str]],
    *,
    reverse: bool,
) -> pd.DataFrame:
    """Tabulate some pairs, the likeliest first."""
    pairs = learned.scored_pairs
    rows = np.flatnonzero(which)
    rows = rows[np.argsort(-pairs.score[rows], kind="stable")]
    query, candidate = pairs.query[rows], pairs.candidate[rows]
    named = [np.array(labels[0], dtype=object)[query], np.array(labels[1], dtype=object)[candidate]]
    return pd.DataFrame(
        {
            "pass": learned.files.compared.pairs.first_pass[rows].astype(np.int64) + 1,
            **dict(zip(reversed(SIDES) if reverse else SIDES, named, strict=True)),
            "weight": pairs.score[rows],
            "probability": found.probability[rows],
            "query": query,
            "candidate": candidate,
        }
    )[["pass", *SIDES, "weight", "probability", "query", "candidate"]]


def _for_review(listed: pd.DataFrame, task: LinkageTask) -> pd.DataFrame:
    """Tabulate pairs for clerical review: compared values side by side, and an empty decision."""
    values = [
        task.queries.iloc[listed["query"]].reset_index(drop=True),
        task.candidates.iloc[listed["candidate"]].reset_index(drop=True),
    ]
    sides = reversed(SIDES) if task.masked_queries else SIDES
    by_side = dict(zip(sides, values, strict=True))
    shown = listed.drop(columns=["query", "candidate"])
    for name in task.query_attributes:
        for side in SIDES:
            shown[f"{name}_{side}"] = by_side[side][name]
    shown[DECISION] = None
    return shown


@taking(FindOptions)
def find_links(asked: FindOptions) -> FoundLinks:
    """Link two files without known true links; wrong and missed links are estimated.

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
    >>> import linkrisk
    >>> import pandas as pd
    >>> people = pd.DataFrame({"town": list("AAABBBCC"), "trade": list("xxyxyyxz")})
    >>> passes = {"passes": ("trade",)}
    >>> found = linkrisk.find_links(people, people[::-1], nominal=["town"], parameters=passes)
    >>> len(found.links), found.matching
    (0, None)
    """
    linker = chosen_linker(asked.method, asked.parameters)
    asked_for = pool_choice(asked.scheduler, asked.workers)
    check_workers(linker, asked_for)

    def do() -> FoundLinks:
        with open_pool(asked_for) as pool:
            return _find(asked, linker, Run(pool, asked.on_progress, asked.cancel, recorded_of(asked)))

    return cancellable(do, asked.cancel)


def _find(options: FindOptions, linker: Linker, run: Run) -> FoundLinks:
    began = time.perf_counter()
    check_options(options, linker)
    direction = Direction(options.direction)
    schema = schema_of(options.schema)
    pair = read_pair(options.original, options.masked, linker, options, schema)
    frames, _ = compared_frames(pair, linker, options, schema, linker.keys)
    task, labels, _ = linkage_task(pair, frames, direction, options.seed)
    task = replace(task, helpers=Helpers(run.pool, run.report, run.cancel))
    spent = time.perf_counter() - began
    compile_once(LINKAGE, run.report)
    run.pool.prepare(compile_once, LINKAGE)
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
        **run.pool.describe(),
        **run.settings,
        "seconds": round(time.perf_counter() - began, 3),
        "versions": library_versions(),
    }
    return FoundLinks(linker.name, learned.parameters, options.one_to_one, passes, details)


def _not_estimated(learned: LearnedPasses, passes: LinkedPasses) -> list[str]:
    """Note why missed links are not estimated."""
    if passes.estimated_missed is not None:
        return []
    shared = shared_columns(learned.files.joined.passes)
    why = "too few pairs are found by more than one pass, or there are too many keys"
    if shared:
        why = f"every pass needs {shown_names(shared)}; add one that does not"
    return [f"the share of links that are missed cannot be estimated: {why}"]


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
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> linkrisk.link(iris, masked, method="zscore").linked
    8
    """
    linker = chosen_linker(asked.method, asked.parameters)
    asked_for = pool_choice(asked.scheduler, asked.workers)
    check_workers(linker, asked_for)

    def do() -> LinkResult:
        with open_pool(asked_for) as pool:
            run = Run(pool, asked.on_progress, asked.cancel, recorded_of(asked))
            return _run(asked.original, asked.masked, linker, asked, None, run)

    return cancellable(do, asked.cancel)


def relink(
    original: Any,
    masked: Any,
    learned: Mapping[str, Any],
    run: Run,
    **options: Any,
) -> LinkResult:
    """Apply parameters of an earlier `link`, from its JSON, to a file pair; options as for `link`."""
    linker = make_linker(str(learned.get("method")), {})
    check_workers(linker, run.pool.choice)
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
    """Run a linker that learns, or one with learned parameters."""
    began = time.perf_counter()
    check_options(options, linker)
    direction, ties = Direction(options.direction), Ties(options.ties or Ties.STRICT)
    if original is None or masked is None:
        raise UsageError(
            f"linkers have no embedded files: give both {called('original')} and {called('masked')}"
        )
    schema = schema_of(options.schema)
    pair = read_pair(original, masked, linker, options, schema)
    keys = linker.keys if parameters is None else _keys(parameters)
    known = _masking(linker, parameters, options)
    frames, masking = compared_frames(pair, linker, options, schema, keys, known)
    if known and parameters is not None:
        parameters = {**parameters, "masking": masking}
    elif isinstance(linker, DistanceBased):
        linker = replace(linker, masking=masking)
    task, labels, partner = linkage_task(pair, frames, direction, options.seed)
    task = replace(task, helpers=Helpers(run.pool, run.report, run.cancel))
    design = survey_design(pair.original, pair.masked, pair.partner, schema)
    spent = time.perf_counter() - began
    compile_once(LINKAGE, run.report)
    run.pool.prepare(compile_once, LINKAGE)
    began = time.perf_counter() - spent
    found = linker.learn(task) if parameters is None else linker.restored(parameters, task)
    group = twin_group(task) if ties is Ties.SHARE else None
    truth = Truth.of(partner, len(task.candidates), group)
    survey = BlockSurvey.of(design, direction, truth.query_rows, truth.partner)
    judged = judged_links(found, truth, task.helpers, curve=options.curve)
    evaluation, claim = judged.evaluation, judged.claim
    passes, one_to_one = None, None
    if isinstance(found, LearnedPasses) and not isinstance(linker, RepresentativeLinker):
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
        **run.pool.describe(),
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
    """List the key columns of both files that learned parameters need."""
    passes = map(parse_pass, parameters.get("passes", ()))
    of_passes = dict.fromkeys(column for one in passes for column in one.columns)
    return (*parameters.get("blocking", ()), *of_passes)


def _masking(
    linker: Linker, parameters: Mapping[str, Any] | None, options: LinkageOptions
) -> tuple[str, ...]:
    """List the masking of categories in a linker's settings or learned parameters."""
    if not isinstance(linker, DistanceBased):
        return ()
    if parameters is not None:
        listed = parameters.get("masking")
        return without_files(listed) if isinstance(listed, list | tuple) else ()
    return tuple(str(text) for text in with_records(linker.masking, options, numbers=False))


def _remarks(pair: TablePair, linker: Linker, frames: LinkageFrames) -> tuple[str, ...]:
    """Note properties of the files that matter to linkers with common attributes."""
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
