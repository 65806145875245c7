"""Recomputes the numbers that a fit shows besides its claims, so that all printed numbers are checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from linkrisk.errors import called
from linkrisk.solver.certificates.checking.counting import SettledBlock
from linkrisk.solver.certificates.checking.linkage import FastLinkage
from linkrisk.solver.certificates.core.check import Check, objective_keys
from linkrisk.solver.certificates.core.claims import Claim
from linkrisk.solver.certificates.core.families import (
    MOST_ATTRIBUTES,
    Family,
    Measure,
    QuadraticForm,
    TwoAdditive,
    WeightedMean,
    subset_sums,
)
from linkrisk.solver.certificates.core.records import Records
from linkrisk.solver.certificates.core.samples import ROUNDED, Limit, Stage, holds
from linkrisk.solver.run.errors import UsageError

CLOSE = 1e-10
"""Relative error allowed in a number that the fit computed in double precision."""

COLUMNS = ["record", "linked", "rank", "distance", "nearest_other", "margin", "ties"]

TOTAL = "total_weight"


def check_parameters(check: Check) -> None:
    """Check the measure beside Moebius coefficients, the importance of attributes and their interaction."""
    family, fit = check.linkage.family, check.fit
    moebius = _moebius(family, check.theta)
    for claim in check.both:
        stated = claim.inner("parameters")
        if moebius is not None and "measure" in family.keys[1:] and stated.has("measure"):
            _check_measure(stated.inner("measure"), moebius, family.attributes)
    _check_importance(fit, family, moebius, check.theta)
    interaction = fit.inner("interaction")
    if moebius is None or isinstance(family, WeightedMean):
        interaction.demand(interaction.content is None, ": the family has none")
        return
    for k, row in enumerate(interaction.each(length=family.n)):
        for m, stated in enumerate(row.each(length=family.n)):
            both = 1 << k | 1 << m
            shares = (
                value / (mask.bit_count() - 1) for mask, value in moebius.items() if mask & both == both
            )
            _demand_close(stated, sum(shares, Fraction(0)) if k != m else Fraction(0))


def _check_importance(
    fit: Claim, family: Family, moebius: dict[int, Fraction] | None, theta: Sequence[Fraction]
) -> None:
    """Check Shapley values, or the shares of attributes in the trace of a quadratic form."""
    importance, stated = None, fit.inner("importance")
    if moebius is not None:
        importance = [
            sum((value / mask.bit_count() for mask, value in moebius.items() if mask >> k & 1), Fraction(0))
            for k in range(family.n)
        ]
    elif isinstance(family, QuadraticForm):
        diagonal = [value for (k, m), value in zip(family.cells, theta, strict=True) if k == m]
        importance = [value / sum(diagonal) for value in diagonal]
    if importance is None:
        stated.demand(stated.content is None, ": the family has none")
        return
    stated.demand(sorted(stated.entries()) == sorted(family.attributes), ": it must name the attributes")
    for name, share in zip(family.attributes, importance, strict=True):
        _demand_close(stated.inner(name), share)


def _moebius(family: Family, theta: Sequence[Fraction]) -> dict[int, Fraction] | None:
    """Return Moebius coefficients by bit mask, for families of Choquet integrals."""
    n = family.n
    if isinstance(family, WeightedMean):
        return {1 << k: value for k, value in enumerate(theta)}
    if isinstance(family, TwoAdditive):
        found = {1 << k: value for k, value in enumerate(theta[:n])}
        pairs = list(combinations(range(n), 2))
        for (k, m), low, high in zip(pairs, theta[n:], theta[n + len(pairs) :], strict=False):
            found[1 << k] += high
            found[1 << m] += high
            found[1 << k | 1 << m] = low - high
        return found
    if not isinstance(family, Measure):
        return None
    measure = dict(enumerate(family.values(theta)))
    return {mask: value for mask, value in enumerate(subset_sums(measure, n, -1)) if mask}


def _check_measure(stated: Claim, moebius: dict[int, Fraction], names: Sequence[str]) -> None:
    if len(names) > MOST_ATTRIBUTES:
        raise UsageError(f"a measure on {len(names)} attributes has too many values to be listed")
    measure = subset_sums(moebius, len(names))
    many = len(measure) - 1
    stated.demand(len(stated.entries()) == many, f": it must have {many} values")
    for mask in range(1, len(measure)):
        name = ",".join(name for k, name in enumerate(names) if mask >> k & 1)
        _demand_close(stated.inner(name), measure[mask])


# ---- the table of records


def check_records(check: Check, labels: Sequence[str]) -> None:
    """Check the table of records, with its labels of blocks, and the sums beside it."""
    fit, records = check.fit, check.linkage.records
    table, linked = fit.inner("records_table"), check.linked
    right = table.items("columns") == COLUMNS
    table.demand(right, f", columns: they must be {', '.join(COLUMNS)}")
    content = table.items("rows")
    if left_out(fit):
        table.demand(not content, ": it has rows, and says that they were left out")
    else:
        linked = _check_table(check, table, labels)
        for claim in check.both:
            count = claim.whole("linked")
            claim.demand(count == len(linked), f", linked: {count}, but the parameters link {len(linked)}")
    if records.sampling is None:
        for key in ("weighted_links", "weighted_links_upper_bound", TOTAL):
            fit.demand(not fit.has(key), f", {key}: the fit names no column of weights")
    else:
        _demand_sum(fit, TOTAL, records.total_weight, "the files give")
    keys = objective_keys(records.problem)
    if keys is not None:
        _demand_sum(fit, keys[0], records.weight(linked), "the parameters give")
    if not left_out(fit):
        _check_tied(fit, records, content)


def left_out(fit: Claim) -> bool:
    """Tell whether a fit of many records omits their table: then table and ties are not checked."""
    return fit.inner("records_table").has("left_out")


def _check_table(check: Check, table: Claim, labels: Sequence[str]) -> list[int]:
    """Check every cell of the table, of which empty ones claim nothing, and the blocks marked as linked."""
    linkage, content = check.linkage, table.items("rows")
    assert isinstance(linkage, FastLinkage)
    table.demand(len(content) == len(labels), f": there are {len(labels)} records")
    linked = []
    for at, (row, block) in enumerate(zip(content, linkage.settled(check.theta).blocks(), strict=True)):
        place = Claim(row, f"{table.where}: row {at + 1}")
        right = isinstance(row, list) and len(row) == len(COLUMNS) and row[0] == labels[at]
        right = right and (row[1] is None or row[1] is block.linked)
        state = "linked" if block.linked else "not linked"
        place.demand(right, f" should be record {labels[at]}, {state}")
        _check_row(row, block, place)
        if row[1] is True:
            linked.append(at)
    return linked


def _check_row(row: list[object], block: SettledBlock, place: Claim) -> None:
    _, _, rank, distance, nearest, margin, ties = row
    for name, stated, (least, most) in (("rank", rank, block.rank), ("ties", ties, block.ties)):
        right = stated is None or least <= Claim(stated, place.where).whole() <= most
        place.demand(right, f", {name}: {stated}, but it is {least}")
    apart = block.nearest - block.distance if math.isfinite(block.distance) else math.inf
    sizes = [abs(value) for value in (block.distance, block.nearest) if math.isfinite(value)]
    slack = 2 * block.error + CLOSE * max(sizes, default=0.0)
    for name, value, here in (
        ("distance", distance, block.distance),
        ("nearest_other", nearest, block.nearest),
        ("margin", margin, apart),
    ):
        if value is None:
            place.demand(rank is None or not math.isfinite(here), f", {name}: it is {here:g}")
            continue
        place.demand(math.isfinite(here), f", {name}: there is none")
        finite = isinstance(value, float) and math.isfinite(value)
        number: Any = value if finite else Claim(value, f"{place.where}, {name}").exact()
        place.demand(abs(float(number) - here) <= slack, f", {name}: {value}, but it is {here:g}")


def _check_tied(fit: Claim, records: Records, content: list[list[object]]) -> None:
    """Check the number of records that only a tie prevents from being linked, and the gain by guessing."""
    if not fit.has("tied"):
        return
    alone = twins = 0
    expected: int | Fraction = 0
    at_most, (weights, unit) = expected, records.weights
    for block, (_, linked, rank, _, _, _, ties) in enumerate(content):
        copies, weight = records.copies[block], weights[block]
        if rank is not None and ties:
            twin = not records.problem.share and copies > 1
            twins += twin
            alone += twin or rank == 1
        lot = Fraction(weight, copies) if copies > 1 and records.reachable(block) else 0
        at_most += lot
        expected += weight if linked else lot if rank == 1 and ties == copies - 1 else 0
    stated = fit.inner("tied")
    for key, many in (("records", alone), ("with_twins", twins)):
        given = stated.whole(key)
        stated.demand(given == many, f", {key}: {given}, but by the table it is {many}")
    for key, sum_ in (("expected_links", expected), ("guessed_at_most", at_most)):
        if twins:
            shown, here = float(stated.exact(key)), float(Fraction(sum_) / unit)
            right = abs(shown - here) <= _slack(here, records)
            stated.demand(right, f", {key}: {shown:g}, but by the table it is {here:g}")


def check_euclid(check: Check) -> bool:
    """Check the count of the Euclidean distance; tell whether the fit has one."""
    fit, family, records = check.fit, check.linkage.family, check.linkage.records
    baselines = fit.get("baselines")
    if not isinstance(baselines, dict) or baselines.get("euclid") is None:
        return False
    stated = float(fit.exact("baselines", "euclid"))
    if isinstance(family, QuadraticForm):  # with ties of its own
        linked = check.linkage.linked([Fraction(int(k == m)) for k, m in family.cells])
    else:
        squared = copy(records)
        squared.problem = replace(records.problem, differences="squared")
        mean = FastLinkage(squared, WeightedMean(family.attributes))
        linked = mean.linked([Fraction(1)] * family.n)
    weight = float(records.weight(block for block, is_linked in enumerate(linked) if is_linked))
    right = abs(stated - weight) <= _slack(weight, records)
    fit.demand(right, f", baselines, euclid: {stated:g}, but it is {weight:g}")
    return True


# ---- samples


def check_sampling(check: Check, limit: Limit) -> Stage:
    """Check the numbers of every stage and of the deciding sample; return that stage."""
    fit, records = check.fit, check.linkage.records
    sampling = fit.inner("sampling")
    counted = sampling.inner("counted")
    many = counted.whole("records")
    counted.demand(
        many == records.blocks and counted.get("all") is True and len(counted.content) == 2,
        f": the fit has counted its attack on {many} records, which proves nothing of all "
        f"{records.blocks}; fit again with a longer {called('time_limit')}",
    )
    everything = records.weight(range(records.blocks))
    if (keys := objective_keys(records.problem)) is not None:
        _at_most(fit, f"{keys[0]}_confidence_limit", everything, records)
    for stated, stage in zip(sampling.each("stages"), limit.stages, strict=True):
        _check_stage(stated, stage, limit, records)
    stated = sampling.inner("sample")
    stages = [stage for stage in limit.stages if stage.samples == stated.whole("samples")]
    stated.demand(bool(stages), f", samples: no stage has {stated.whole('samples')}")
    _check_sample(stated, stages[0], limit, check)
    return stages[0]


def _check_stage(stated: Claim, stage: Stage, limit: Limit, records: Records) -> None:
    _check_drawn(stated, stage)
    searched, known = stated.whole("searched"), sum(one.proved for one in limit.bounds[: stage.samples])
    stated.demand(
        known <= searched <= stage.samples,
        f", searched: {searched} of {stage.samples} samples, of which {known} have a proof",
    )
    proved, everything = limit.bound_of(stage), records.weight(range(records.blocks))
    bound = _at_most(stated, "bound", records.weight(stage.blocks), records)
    enough = bound * (1 + ROUNDED) >= proved
    stated.demand(enough, f", bound: {float(bound):.10g} is claimed, {float(proved):.10g} is proved")
    claimed = _at_most(stated, "limit", everything, records)
    follows = claimed * (1 + ROUNDED) >= everything or holds(claimed, stage, proved, records)
    stated.demand(follows, f", limit: {float(claimed):.10g} does not follow from its bound")


def _check_drawn(stated: Claim, stage: Stage) -> None:
    many = len(stage.blocks)
    stated.demand(stated.whole("records") == many, f", records: {many} were drawn")


def _check_sample(stated: Claim, stage: Stage, limit: Limit, check: Check) -> None:
    """Check the numbers of samples of the deciding stage."""
    _check_drawn(stated, stage)
    records, proved = check.linkage.records, limit.bound_of(stage)
    inside = [block for block in check.linked if block in stage.blocks]
    linked, bound = stated.whole("linked"), stated.whole("linked_upper_bound")
    stated.demand(linked == len(inside), f", linked: {linked}, but the parameters link {len(inside)}")
    most = records.most_within(stage.blocks, proved)
    right = most <= bound <= len(stage.blocks)
    stated.demand(right, f", linked_upper_bound: {bound} is claimed, {most} is proved")
    if stated.has("weight_linked"):
        _demand_sum(stated, "weight_linked", records.weight(inside), "the parameters give")
        weight = _at_most(stated, "weight_upper_bound", records.weight(stage.blocks), records)
        enough = weight * (1 + ROUNDED) >= proved
        stated.demand(enough, f", weight_upper_bound: {float(proved):.10g} is proved")


def _at_most(stated: Claim, key: str, total: Fraction, records: Records) -> Fraction:
    """Read a claimed weight: at most the total, and integral if it counts records."""
    claimed = stated.exact(key)
    stated.demand(
        claimed <= total * (1 + ROUNDED),
        f", {key}: {float(claimed):.10g} is claimed, all records together count {float(total):.10g}",
    )
    alike = records.heaviest == (Fraction(1), True)
    whole = not alike or abs(claimed - round(claimed)) <= ROUNDED * claimed
    stated.demand(whole, f", {key}: {float(claimed):.10g} is no number of records")
    return claimed


def _demand_sum(claim: Claim, key: str, here: Fraction, how: str) -> None:
    stated = claim.exact(key)
    right = abs(stated - here) <= ROUNDED * here
    claim.demand(right, f", {key}: {float(stated):.10g}, but {how} {float(here):.10g}")


def _demand_close(stated: Claim, here: Fraction) -> None:
    number = stated.exact()
    near = abs(number - here) <= Fraction(CLOSE) * max(Fraction(1), abs(here))
    stated.demand(near, f": {float(number):g}, but it is {float(here):g}")


def _slack(weight: float, records: Records) -> float:
    """Return the tolerance of a sum of weights as a double; all sampling weights may be small."""
    return CLOSE * (max(1.0, weight) if records.sampling is None else weight)
