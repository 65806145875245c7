"""`link`: every linker on a file pair, judged like the attacks that `fit` learns."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datasets.categories import read_schema
from datasets.linkage_frames import LinkageFrames, linkage_frames
from datasets.numeric import check_no_twins
from datasets.schema import Schema
from datasets.table_pair import Table, TablePair, load_table, make_table_pair
from formulations.pair import Direction, Ties
from solver.errors import UsageError
from solver.fitting import library_versions, records_table
from solver.learned_links import learned_keys, learned_options, learned_parameters
from solver.linkage.curves import Claim, all_scores, most_probable_claim, precision_recall
from solver.linkage.judging import judge
from solver.linkage.linker import LearnedLinker, LinkageTask, Linker, Truth
from solver.linkage.matching import MATCHINGS, matched, score_matrix
from solver.linkage.registry import LINKERS
from solver.linkage.result import LinkResult, OneToOne
from solver.problem import choice

IndexArray = NDArray[np.intp]


@dataclass(frozen=True)
class LinkOptions:
    """What to link with what.

    Attributes
    ----------
    direction : str
        ``original-to-masked`` or ``masked-to-original``.
    attributes : sequence of str, optional
        Attributes that both files have; all common columns when absent.
    original_attributes, masked_attributes : sequence of str, optional
        Attributes of either file, for linkers that need none in common; all other columns when absent.
    id_column : str, optional
        Column that says who is who; row by row when absent.
    nominal, ordinal : sequence of str
        Attributes that are not numeric.
    schema : path or mapping, optional
        Scale and categories of attributes.
    training : path or frame, optional
        Other records with all attributes, for linkers that learn from them.
    ties : str
        ``strict`` or ``share``.
    one_to_one : str, optional
        ``hungarian`` or ``greedy``.
    threshold : float, optional
        One-to-one links need at least this score.
    seed : int
        Of every random choice.
    """

    direction: str = Direction.ORIGINAL_TO_MASKED
    attributes: Sequence[str] | None = None
    original_attributes: Sequence[str] | None = None
    masked_attributes: Sequence[str] | None = None
    id_column: str | None = None
    nominal: Sequence[str] = ()
    ordinal: Sequence[str] = ()
    schema: str | Path | Mapping[str, Any] | None = None
    training: Any = None
    ties: str = Ties.STRICT
    one_to_one: str | None = None
    threshold: float | None = None
    seed: int = 0


def link(
    original: Any,
    masked: Any,
    *,
    method: str | Linker,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> LinkResult:
    """Link the records of two files, and count how many links are right.

    Parameters
    ----------
    original, masked : path, pandas.DataFrame or polars.DataFrame
        The two files.
    method : str or Linker
        One of `LINKERS`, or a linker with settings of its own.
    settings : mapping, optional
        Settings of the linker, when it is given by name.
    **options
        Fields of `LinkOptions`.

    Returns
    -------
    LinkResult

    Raises
    ------
    UsageError, DataError
        If the request or the files cannot be used.

    Examples
    --------
    >>> from solver import link
    >>> link("a.csv", "b.csv", method="prl", one_to_one="hungarian").linked  # doctest: +SKIP
    312
    """
    linker = method if isinstance(method, Linker) else make_linker(method, settings or {})
    return _run(original, masked, linker, LinkOptions(**options), None)


def relink(original: Any, masked: Any, learned: Mapping[str, Any], **options: Any) -> LinkResult:
    """Apply what `link` learned before, in the JSON that it wrote, to a file pair; options as for `link`."""
    method = str(learned.get("method"))
    if method not in LINKERS:
        raise UsageError(f"unknown method '{method}': choose one of {', '.join(LINKERS)}")
    linker, parameters = LINKERS[method](), learned_parameters(learned)
    return _run(original, masked, linker, LinkOptions(**{**learned_options(learned), **options}), parameters)


def make_linker(name: str, settings: Mapping[str, Any]) -> Linker:
    """A linker from its name and its settings; UsageError when there is no such linker or setting."""
    if name not in LINKERS:
        raise UsageError(f"unknown method '{name}': choose one of {', '.join(LINKERS)}")
    known = {item.name: item for item in fields(LINKERS[name])}  # type: ignore[arg-type]
    for setting in settings:
        if setting not in known:
            shown = [_flag(item.name) for item in known.values() if "option" in item.metadata]
            takes = ", ".join(shown) or "no settings"
            raise UsageError(f"{name} takes no {_flag(setting)}; it takes {takes}")
    return LINKERS[name](**settings)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _run(
    original: Any, masked: Any, linker: Linker, options: LinkOptions, parameters: Mapping[str, Any] | None
) -> LinkResult:
    """Link by a linker that learns, or by one with parameters that were learned before."""
    began = time.perf_counter()
    direction = choice(Direction, options.direction, "direction")
    ties = choice(Ties, options.ties, "tie rule")
    _check(options, linker)
    if original is None or masked is None:
        raise UsageError("linkers have no embedded files: give both --original and --masked")
    pair = make_table_pair(original, masked, id_column=options.id_column)
    frames = _frames(pair, linker, options, linker.keys if parameters is None else learned_keys(parameters))
    task, labels, partner = _task(pair, frames, direction, options.seed)
    found = linker.learn(task) if parameters is None else linker.restored(parameters, task)
    group = _twin_group(task) if ties is Ties.SHARE else None
    truth = Truth.of(partner, len(task.candidates), group)
    evaluation = judge(found, truth)
    curve = precision_recall(-evaluation.distance, all_scores(found, truth))
    one_to_one = None if options.one_to_one is None else _one_to_one(found, truth, options)
    claim = most_probable_claim(found, truth)
    details = {
        "name": pair.name,
        "direction": direction.value,
        **_attributes(linker, frames),
        "schema": frames.schema.to_dict(),
        "candidates": truth.candidates,
        "ties": ties.value,
        "bijection": task.bijection,
        "expected_links": evaluation.linked_weight,
        "most_probable_claim": None if claim is None else _claimed(claim, labels),
        "notes": list(found.notes),
        "seed": options.seed,
        "seconds": round(time.perf_counter() - began, 3),
        "versions": library_versions(),
    }
    return LinkResult(
        method=linker.name,
        linked=evaluation.count,
        records=truth.partner.size,
        parameters=found.parameters,
        one_to_one=one_to_one,
        curve=curve,
        table=records_table([labels[0][row] for row in truth.query_rows], evaluation),
        details=details,
    )


def _check(options: LinkOptions, linker: Linker) -> None:
    """Refuse options out of range, and those that would not be looked at."""
    if options.one_to_one is not None and options.one_to_one not in MATCHINGS:
        raise UsageError(f"unknown matching '{options.one_to_one}': choose one of {', '.join(MATCHINGS)}")
    if options.threshold is not None and options.one_to_one is None:
        raise UsageError("--threshold is about one-to-one links: give --one-to-one too, or leave it out")
    if not 0 <= options.seed < 2**31:
        raise UsageError(f"the seed must be between 0 and {2**31 - 1}, not {options.seed}")
    if options.training is not None and not linker.learns_from_training:
        raise UsageError(f"{linker.name} learns from the two files alone: leave --training out")


def _frames(pair: TablePair, linker: Linker, options: LinkOptions, keys: Sequence[str]) -> LinkageFrames:
    """The columns to compare, and those that are needed besides."""
    original, masked = _chosen(pair, linker, options)
    given = options.schema
    schema = read_schema(given) if isinstance(given, str | Path) else given
    if isinstance(schema, Mapping):
        schema = Schema.from_dict(schema)
    training = None if options.training is None else load_table(options.training, "training")
    return linkage_frames(
        pair,
        original,
        masked,
        keys=keys,
        nominal=options.nominal,
        ordinal=options.ordinal,
        schema=schema,
        training=training,
    )


def _chosen(pair: TablePair, linker: Linker, options: LinkOptions) -> tuple[Sequence[str], Sequence[str]]:
    """The attributes of either file."""
    own = (options.original_attributes, options.masked_attributes)
    columns = [_columns(table, options.id_column) for table in (pair.original, pair.masked)]
    if not linker.common_attributes:
        if options.attributes is not None:
            raise UsageError(
                f"{linker.name} compares files without attributes in common: name those of each file with "
                "--original-attributes and --masked-attributes"
            )
        sides = [columns[at] if names is None else list(names) for at, names in enumerate(own)]
    elif own != (None, None):
        raise UsageError(
            f"{linker.name} compares attributes that both files have: name them with --attributes"
        )
    else:
        common = [name for name in columns[0] if name in columns[1]]
        sides = [common if options.attributes is None else list(options.attributes)] * 2
    for names, table in zip(sides, (pair.original, pair.masked), strict=True):
        check_no_twins(names, "the attributes")
        if not names:
            what = (
                "no attribute in common with the other file" if linker.common_attributes else "no attribute"
            )
            raise UsageError(f"{table.source} has {what}: nothing can be compared")
        if options.id_column in names:
            raise UsageError(f"'{options.id_column}' is both the id column and an attribute: take it out")
    return sides[0], sides[1]


def _columns(table: Table, id_column: str | None) -> list[str]:
    return [name for name in table.columns if name != id_column]


def _task(
    pair: TablePair, frames: LinkageFrames, direction: Direction, seed: int
) -> tuple[LinkageTask, tuple[Sequence[str], Sequence[str]], IndexArray]:
    """What the linker may see, the labels of queries and candidates, and the partner of each query."""
    sides = [
        (frames.original, frames.original_attributes, pair.original_labels, pair.original.source),
        (frames.masked, frames.masked_attributes, pair.masked_labels, pair.masked.source),
    ]
    partner = pair.partner
    if direction is Direction.MASKED_TO_ORIGINAL:
        sides.reverse()
        known = np.flatnonzero(pair.partner >= 0)
        partner = np.full(len(frames.masked), -1, dtype=np.intp)
        partner[pair.partner[known]] = known
    (queries, candidates), attributes, labels, sources = zip(*sides, strict=True)
    task = LinkageTask(
        queries=queries,
        candidates=candidates,
        query_attributes=attributes[0],
        candidate_attributes=attributes[1],
        schema=frames.schema,
        sources=sources,
        bijection=len(queries) == len(candidates) and bool((partner >= 0).all()),
        training=frames.training,
        seed=seed,
        masked_queries=direction is Direction.MASKED_TO_ORIGINAL,
    )
    return task, labels, partner


def _twin_group(task: LinkageTask) -> IndexArray:
    """Equal labels for candidates that are equal on every attribute."""
    grouped = task.candidates.groupby(list(task.candidate_attributes), dropna=False, sort=False)
    return np.asarray(grouped.ngroup(), dtype=np.intp)


def _attributes(linker: Linker, frames: LinkageFrames) -> dict[str, list[str]]:
    if linker.common_attributes:
        return {"attributes": list(frames.original_attributes)}
    return {
        "original_attributes": list(frames.original_attributes),
        "masked_attributes": list(frames.masked_attributes),
    }


def _one_to_one(linker: LearnedLinker, truth: Truth, options: LinkOptions) -> OneToOne:
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
