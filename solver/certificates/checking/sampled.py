"""A fit on samples: the draw, the bound of every sample, and the limit for the whole file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from linkrisk.errors import called
from linkrisk.solver.certificates.checking.bounds import ProvenPart
from linkrisk.solver.certificates.checking.drawing import Drawn
from linkrisk.solver.certificates.checking.fields import Fields
from linkrisk.solver.certificates.checking.objective import ROUNDED, objective_keys
from linkrisk.solver.certificates.checking.records import Records
from linkrisk.solver.certificates.checking.setting import Setting
from linkrisk.solver.certificates.checking.units import most_blocks
from linkrisk.solver.certificates.core.claims import demand
from linkrisk.solver.certificates.core.samples import Stage, ruled_out


@dataclass(frozen=True)
class Limit:
    """What samples say of the whole file.

    Attributes
    ----------
    confidence : Fraction
    seed : int
        Of the draw.
    strata : str or None
        The column by whose values it was made.
    samples, records : int
        Those that the limit rests on.
    linked, bound : int
        Of these records, linked by the parameters of the fit, and by any at most.
    count : int
        No parameters link more records of the whole file.
    weight : Fraction
        Nor a larger weight.
    """

    confidence: Fraction
    seed: int
    strata: str | None
    samples: int
    records: int
    linked: int
    bound: int
    count: int
    weight: Fraction


Prove = Callable[[Fields, Sequence[int], Fields], ProvenPart]
"""Checks a proof about some blocks: the proof, the blocks, and the bound that is claimed."""


def check_parts(
    fields: Fields, drawn: Drawn, records: Records, prove: Prove
) -> tuple[list[ProvenPart], ProvenPart]:
    """Check the bound of every sample; one without a proof counts in full.

    Returns
    -------
    list of ProvenPart
        Of each sample.
    ProvenPart
        What is certain of all records: those outside of the samples count in full.
    """
    told = fields.listed("samples")
    demand(
        len(told) == len(drawn.samples),
        f"{fields.where}, samples: there are {len(told)}, and {len(drawn.samples)} by the plan",
    )
    parts = []
    for at, (item, blocks) in enumerate(zip(told, drawn.samples, strict=True)):
        if item is None:
            parts.append(ProvenPart(records.weights.total(blocks), frozenset(), 0, 0, proved=False))
            continue
        part = Fields(item, f"{fields.where}, samples[{at}]")
        parts.append(prove(part.inner("proof"), blocks, part.inner("bound")))
    inside = {block for sample in drawn.samples for block in sample}
    outside = records.weights.total(block for block in range(records.blocks) if block not in inside)
    certain = ProvenPart(
        outside + sum((part.weight for part in parts), Fraction(0)),
        frozenset().union(*(part.lost for part in parts)),
        sum(part.cores for part in parts),
        sum(part.leaves for part in parts),
    )
    return parts, certain


def check_limit(
    claim: Fields,
    setting: Setting,
    records: Records,
    drawn: Drawn,
    parts: Sequence[ProvenPart],
    linked: Sequence[bool],
    certain: Fraction,
) -> Limit:
    """Check everything that a fit says of its samples and of the limit.

    Parameters
    ----------
    claim : Fields
        The fit.
    setting : Setting
    records : Records
    drawn : Drawn
    parts : sequence of ProvenPart
        Of each sample.
    linked : sequence of bool
        Which blocks the parameters link.
    certain : Fraction
        A weight that no parameters exceed, whatever was drawn.
    """
    sampling = claim.inner("sampling")
    _check_counted(sampling.inner("counted"), records)
    alpha = sum((stage.alpha for stage in drawn.stages), Fraction(0))
    confidence = Fraction(str(claim.real("confidence")))
    demand(
        0 < confidence <= 1 - alpha,
        f"{claim.where}, confidence: {float(confidence):g}, but the stages leave {float(1 - alpha):g}",
    )
    told = sampling.listed("stages")
    for at, (item, stage) in enumerate(zip(told, drawn.stages, strict=True)):
        _check_stage(Fields(item, f"{sampling.where}, stages[{at}]"), stage, parts, records)
    weight, count = _claimed(claim, setting, records)
    reached, many = records.weights.total(np.flatnonzero(linked).tolist()), sum(linked)
    demand(
        many <= count and reached <= weight * (1 + ROUNDED),
        f"{claim.where}: a limit of {count} records, and the parameters of the fit link {many}",
    )
    demand(
        weight >= certain * (1 - ROUNDED)
        or any(_holds(weight, stage, parts, records) for stage in drawn.stages),
        f"{claim.where}: the limit {float(weight):.10g} does not follow from the samples",
    )
    most = most_blocks(records, min(weight * (1 + ROUNDED), records.weights.total()), ())
    demand(
        count >= most,
        f"{claim.where}, linked_confidence_limit: {count} is claimed, {most} records may be linked",
    )
    sample = sampling.inner("sample")
    deciding, bound = _check_sample(sample, drawn, parts, records, linked)
    draw = sampling.inner("draw")
    return Limit(
        confidence=confidence,
        seed=draw.whole("seed"),
        strata=None if draw.get("strata") is None else draw.text("strata"),
        samples=deciding.samples,
        records=len(deciding.blocks),
        linked=sum(linked[block] for block in deciding.blocks),
        bound=bound,
        count=count,
        weight=weight,
    )


def _check_counted(counted: Fields, records: Records) -> None:
    """A fit with a certificate has counted its attack on all records."""
    many = counted.whole("records")
    demand(
        many == records.blocks and counted.value("all") is True and len(counted.keys()) == 2,
        f"{counted.where}: the fit has counted its attack on {many} records, which proves nothing of all "
        f"{records.blocks}; fit again with a longer {called('time_limit')}",
    )


def _claimed(claim: Fields, setting: Setting, records: Records) -> tuple[Fraction, int]:
    """The limit of the weight, and that of the number of records."""
    count = claim.whole("linked_confidence_limit")
    demand(
        0 <= count <= records.blocks,
        f"{claim.where}, linked_confidence_limit: {count} of {records.blocks} records",
    )
    keys = objective_keys(setting)
    if keys is None:
        return Fraction(count), count
    return _at_most(claim, f"{keys[0]}_confidence_limit", records.weights.total(), records), count


def _check_stage(told: Fields, stage: Stage, parts: Sequence[ProvenPart], records: Records) -> None:
    """Check the numbers of a stage."""
    demand(
        told.whole("records") == len(stage.blocks), f"{told.where}, records: {len(stage.blocks)} were drawn"
    )
    searched, known = told.whole("searched"), sum(part.proved for part in parts[: stage.samples])
    demand(
        known <= searched <= stage.samples,
        f"{told.where}, searched: {searched} of {stage.samples} samples, of which {known} have a proof",
    )
    proved = _bound(stage, parts)
    bound = _at_most(told, "bound", records.weights.total(stage.blocks), records)
    demand(
        bound * (1 + ROUNDED) >= proved,
        f"{told.where}, bound: {float(bound):.10g} is claimed, {float(proved):.10g} is proved",
    )
    limit = _at_most(told, "limit", records.weights.total(), records)
    demand(
        limit * (1 + ROUNDED) >= records.weights.total() or _holds(limit, stage, parts, records),
        f"{told.where}, limit: {float(limit):.10g} does not follow from its bound",
    )


def _at_most(told: Fields, key: str, total: Fraction, records: Records) -> Fraction:
    """A weight that is claimed: not above that of all it is about, and whole where records count alike."""
    claimed = Fraction(told.real(key))
    demand(
        claimed <= total * (1 + ROUNDED),
        f"{told.where}, {key}: {float(claimed):.10g} is claimed, all records together count "
        f"{float(total):.10g}",
    )
    demand(
        records.weights.heaviest != (Fraction(1), True) or abs(claimed - round(claimed)) <= ROUNDED * claimed,
        f"{told.where}, {key}: {float(claimed):.10g} is no number of records",
    )
    return claimed


def _holds(limit: Fraction, stage: Stage, parts: Sequence[ProvenPart], records: Records) -> bool:
    """Whether a stage rules out that more than a limit is linked in the whole file."""
    heaviest, counts = records.weights.heaviest
    found = _bound(stage, parts) / heaviest
    having = int(limit / heaviest) + 1 if counts else int(limit * (1 + ROUNDED) / heaviest)
    return ruled_out(records.blocks, stage, found, having, counts)


def _bound(stage: Stage, parts: Sequence[ProvenPart]) -> Fraction:
    """The weight that no parameters exceed in the samples of a stage together."""
    return sum((part.weight for part in parts[: stage.samples]), Fraction(0))


def _check_sample(
    told: Fields, drawn: Drawn, parts: Sequence[ProvenPart], records: Records, linked: Sequence[bool]
) -> tuple[Stage, int]:
    """Check what is said of the samples of the stage that decides."""
    many = told.whole("samples")
    stage = next((stage for stage in drawn.stages if stage.samples == many), None)
    demand(stage is not None, f"{told.where}, samples: no stage has {many}")
    assert stage is not None
    demand(
        told.whole("records") == len(stage.blocks), f"{told.where}, records: {len(stage.blocks)} were drawn"
    )
    inside = [block for block in stage.blocks if linked[block]]
    demand(
        told.whole("linked") == len(inside),
        f"{told.where}, linked: {told.whole('linked')}, but the parameters link {len(inside)}",
    )
    proved = _bound(stage, parts)
    most = records.weights.most_within(stage.blocks, proved)
    bound = told.whole("linked_upper_bound")
    demand(
        most <= bound <= len(stage.blocks),
        f"{told.where}, linked_upper_bound: {bound} is claimed, {most} is proved",
    )
    if told.get("weight_linked") is not None:
        here = records.weights.total(inside)
        demand(
            abs(Fraction(told.real("weight_linked")) - here) <= ROUNDED * here,
            f"{told.where}, weight_linked: the parameters give {float(here):.10g}",
        )
        weight = _at_most(told, "weight_upper_bound", records.weights.total(stage.blocks), records)
        demand(
            weight * (1 + ROUNDED) >= proved,
            f"{told.where}, weight_upper_bound: {float(proved):.10g} is proved",
        )
    return stage, bound


def is_sampled(fields: Mapping[str, Any]) -> bool:
    """Whether a fit or a certificate is about samples."""
    return any(fields.get(key) is not None for key in ("confidence", "sampling", "samples"))
