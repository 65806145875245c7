"""Numbers that a fit shows besides its claims, computed again so that all that is printed is checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

from linkrisk.errors import called
from linkrisk.solver.certificates.checking.counting import SettledBlock
from linkrisk.solver.certificates.checking.linkage import FastLinkage
from linkrisk.solver.certificates.core.check import Check, objective_keys
from linkrisk.solver.certificates.core.claims import Claim, demand, exact, items, whole
from linkrisk.solver.certificates.core.families import (
    MOST_ATTRIBUTES,
    Family,
    KAdditive,
    Measure,
    QuadraticForm,
    TwoAdditive,
    WeightedMean,
    measure_of,
)
from linkrisk.solver.certificates.core.records import Records
from linkrisk.solver.certificates.core.samples import ROUNDED, Limit, Stage, holds
from linkrisk.solver.run.errors import UsageError

CLOSE = 1e-10
"""By how much a number that the fit computed in double precision may miss the exact one, relatively."""

COLUMNS = ["record", "linked", "rank", "distance", "nearest_other", "margin", "ties"]

TOTAL = "total_weight"


def check_parameters(check: Check) -> None:
    """Check the measure beside Moebius coefficients, the importance of attributes and their interaction."""
    family, fit, n = check.linkage.family, check.fit, check.linkage.family.n
    names = family.attributes
    moebius = _moebius(family, check.theta)
    for claim in (fit, check.certificate):
        told = claim.inner("parameters")
        if moebius is not None and "measure" in family.keys[1:] and told.get("measure") is not None:
            _check_measure(told.inner("measure"), moebius, names)
    _check_importance(fit, family, moebius, check.theta)
    where = f"{fit.where}, interaction"
    if moebius is None or isinstance(family, WeightedMean):
        demand(fit.value("interaction") is None, f"{where}: the family has none")
        return
    rows = [[exact(one, where) for one in items(row, where, n)] for row in fit.items("interaction")]
    demand(len(rows) == n, f"{where}: it must have {n} rows")
    for k, m in product(range(n), repeat=2):
        both = 1 << k | 1 << m
        shares = (value / (mask.bit_count() - 1) for mask, value in moebius.items() if mask & both == both)
        _demand_close(rows[k][m], sum(shares, Fraction(0)) if k != m else Fraction(0), where)


def _check_importance(
    fit: Claim, family: Family, moebius: dict[int, Fraction] | None, theta: Sequence[Fraction]
) -> None:
    """Check Shapley values, or the shares of attributes in the trace of a quadratic form."""
    names, importance = family.attributes, None
    if moebius is not None:
        importance = [
            sum((value / mask.bit_count() for mask, value in moebius.items() if mask >> k & 1), Fraction(0))
            for k in range(family.n)
        ]
    elif isinstance(family, QuadraticForm):
        diagonal = [value for (k, m), value in zip(family.cells, theta, strict=True) if k == m]
        importance = [value / sum(diagonal) for value in diagonal]
    if importance is None:
        demand(fit.value("importance") is None, f"{fit.where}, importance: the family has none")
    else:
        told = fit.inner("importance")
        demand(sorted(told.content) == sorted(names), f"{told.where}: it must name the attributes")
        for name, share in zip(names, importance, strict=True):
            _demand_close(told.exact(name), share, f"{told.where}, {name}")


def _moebius(family: Family, theta: Sequence[Fraction]) -> dict[int, Fraction] | None:
    """Moebius coefficients by bit mask, of families whose distances are Choquet integrals."""
    n = family.n
    if isinstance(family, WeightedMean):
        return {1 << k: value for k, value in enumerate(theta)}
    if isinstance(family, KAdditive):
        return dict(zip(family.masks, theta, strict=True))
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
    unit = max(value.denominator for value in theta)
    table = [int(value * unit) for value in family.values(theta)]
    for k in range(n):
        for mask in range(len(table)):
            if mask >> k & 1:
                table[mask] -= table[mask ^ 1 << k]
    return {mask: Fraction(value, unit) for mask, value in enumerate(table) if mask}


def _check_measure(told: Claim, moebius: dict[int, Fraction], names: Sequence[str]) -> None:
    if len(names) > MOST_ATTRIBUTES:
        raise UsageError(f"a measure on {len(names)} attributes has too many values to be listed")
    measure = measure_of(moebius, len(names))
    many = len(measure) - 1
    demand(len(told.content) == many, f"{told.where}: it must have {many} values")
    for mask in range(1, len(measure)):
        name = ",".join(name for k, name in enumerate(names) if mask >> k & 1)
        _demand_close(told.exact(name), measure[mask], f"{told.where}, {name}")


# ---- the table of records


def check_records(check: Check, labels: Sequence[str]) -> None:
    """Check the table of records, which calls blocks by `labels`, and the sums and numbers beside it."""
    fit, records = check.fit, check.linkage.records
    table, linked = fit.inner("records_table"), check.linked
    columns = ", ".join(COLUMNS)
    demand(table.items("columns") == COLUMNS, f"{table.where}, columns: they must be {columns}")
    content = table.items("rows")
    if left_out(fit):
        demand(not content, f"{table.where}: it has rows, and says that they were left out")
    else:
        linked = _check_table(check, table, labels)
        for claim in (fit, check.certificate):
            count = claim.whole("linked")
            right = count == len(linked)
            demand(right, f"{claim.where}, linked: {count}, but the parameters link {len(linked)}")
    if records.sampling is None:
        for key in ("weighted_links", "weighted_links_upper_bound", TOTAL):
            demand(fit.get(key) is None, f"{fit.where}, {key}: the fit names no column of weights")
    else:
        _demand_sum(fit, TOTAL, records.total_weight, "the files give")
    keys = objective_keys(records.problem)
    if keys is not None:
        _demand_sum(fit, keys[0], records.weight(linked), "the parameters give")
    if not left_out(fit):
        _check_tied(fit, records, content)


def left_out(fit: Claim) -> bool:
    """Whether a fit of many records lists none of them: then its table and its ties are not checked."""
    return fit.inner("records_table").get("left_out") is not None


def _check_table(check: Check, table: Claim, labels: Sequence[str]) -> list[int]:
    """Check every cell of the table, an empty one says nothing; the blocks that it calls linked."""
    linkage, content = check.linkage, table.items("rows")
    assert isinstance(linkage, FastLinkage)
    demand(len(content) == len(labels), f"{table.where}: there are {len(labels)} records")
    linked = []
    for at, (item, block) in enumerate(zip(content, linkage.settled(check.theta).blocks(), strict=True)):
        row, place = items(item, table.where), f"{table.where}: row {at + 1}"
        right = len(row) == len(COLUMNS) and row[0] == labels[at]
        right = right and (row[1] is None or row[1] is block.linked)
        state = "linked" if block.linked else "not linked"
        demand(right, f"{place} should be record {labels[at]}, {state}")
        _check_row(row, block, place)
        if row[1] is True:
            linked.append(at)
    return linked


def _check_row(row: list[object], block: SettledBlock, place: str) -> None:
    _, _, rank, distance, nearest, margin, ties = row
    for name, told, (least, most) in (("rank", rank, block.rank), ("ties", ties, block.ties)):
        right = told is None or least <= whole(told, place) <= most
        demand(right, f"{place}, {name}: {told}, but it is {least}")
    apart = block.nearest - block.distance if math.isfinite(block.distance) else math.inf
    sizes = [abs(value) for value in (block.distance, block.nearest) if math.isfinite(value)]
    slack = 2 * block.error + CLOSE * max(sizes, default=0.0)
    for name, value, here in (
        ("distance", distance, block.distance),
        ("nearest_other", nearest, block.nearest),
        ("margin", margin, apart),
    ):
        if value is None:
            demand(rank is None or not math.isfinite(here), f"{place}, {name}: it is {here:g}")
            continue
        demand(math.isfinite(here), f"{place}, {name}: there is none")
        finite = isinstance(value, float) and math.isfinite(value)
        number = value if isinstance(value, float) and finite else exact(value, f"{place}, {name}")
        off = abs(float(number) - here)
        demand(off <= slack, f"{place}, {name}: {value}, but it is {here:g}")


def _check_tied(fit: Claim, records: Records, content: list[list[object]]) -> None:
    """Check how many records a tie alone keeps from being linked, and what guessing adds, by the table."""
    if fit.get("tied") is None:
        return
    alone = twins = 0
    expected, at_most = Fraction(0), Fraction(0)
    for block, (_, linked, rank, _, _, _, ties) in enumerate(content):
        copies, weight = records.copies[block], records.weight([block])
        if rank is not None and ties:
            twin = not records.problem.share and copies > 1
            twins += twin
            alone += twin or rank == 1
        lot = weight / copies if copies > 1 and records.reachable(block) else Fraction(0)
        at_most += lot
        expected += weight if linked else lot if rank == 1 and ties == copies - 1 else 0
    told = fit.inner("tied")
    for key, many in (("records", alone), ("with_twins", twins)):
        given = told.whole(key)
        demand(given == many, f"{told.where}, {key}: {given}, but by the table it is {many}")
    for key, here in (("expected_links", float(expected)), ("guessed_at_most", float(at_most))):
        if twins:
            shown = float(told.exact(key))
            right = abs(shown - here) <= _slack(here, records)
            demand(right, f"{told.where}, {key}: {shown:g}, but by the table it is {here:g}")


def check_euclid(check: Check) -> bool:
    """Check the count of the Euclidean distance; whether the fit shows one."""
    fit, family, records = check.fit, check.linkage.family, check.linkage.records
    baselines = fit.get("baselines")
    if not isinstance(baselines, dict) or baselines.get("euclid") is None:
        return False
    told = float(fit.inner("baselines").exact("euclid"))
    if isinstance(family, QuadraticForm):  # with ties of its own
        linked = check.linkage.linked([Fraction(int(k == m)) for k, m in family.cells])
    else:
        squared = copy(records)
        squared.problem = replace(records.problem, differences="squared")
        mean = FastLinkage(squared, WeightedMean(family.attributes))
        linked = mean.linked([Fraction(1)] * family.n)
    weight = float(records.weight(block for block, is_linked in enumerate(linked) if is_linked))
    right = abs(told - weight) <= _slack(weight, records)
    demand(right, f"{fit.where}, baselines, euclid: {told:g}, but it is {weight:g}")
    return True


# ---- samples


def check_sampling(check: Check, limit: Limit) -> Stage:
    """Check the numbers of every stage and of the sample that decides; that stage."""
    fit, records = check.fit, check.linkage.records
    sampling = fit.inner("sampling")
    counted = sampling.inner("counted")
    many = counted.whole("records")
    demand(
        many == records.blocks and counted.get("all") is True and len(counted.content) == 2,
        f"{counted.where}: the fit has counted its attack on {many} records, which proves nothing of all "
        f"{records.blocks}; fit again with a longer {called('time_limit')}",
    )
    everything = records.weight(range(records.blocks))
    if (keys := objective_keys(records.problem)) is not None:
        _at_most(fit, f"{keys[0]}_confidence_limit", everything, records)
    for at, (item, stage) in enumerate(zip(sampling.items("stages"), limit.stages, strict=True)):
        told = Claim(item, f"{sampling.where}, stages[{at}]")
        _check_stage(told, stage, limit, records)
    told = sampling.inner("sample")
    stages = [stage for stage in limit.stages if stage.samples == told.whole("samples")]
    demand(bool(stages), f"{told.where}, samples: no stage has {told.whole('samples')}")
    _check_sample(told, stages[0], limit, check)
    return stages[0]


def _check_stage(told: Claim, stage: Stage, limit: Limit, records: Records) -> None:
    _check_drawn(told, stage)
    searched, known = told.whole("searched"), sum(one.proved for one in limit.bounds[: stage.samples])
    demand(
        known <= searched <= stage.samples,
        f"{told.where}, searched: {searched} of {stage.samples} samples, of which {known} have a proof",
    )
    proved, everything = limit.bound_of(stage), records.weight(range(records.blocks))
    bound = _at_most(told, "bound", records.weight(stage.blocks), records)
    demand(
        bound * (1 + ROUNDED) >= proved,
        f"{told.where}, bound: {float(bound):.10g} is claimed, {float(proved):.10g} is proved",
    )
    claimed = _at_most(told, "limit", everything, records)
    follows = claimed * (1 + ROUNDED) >= everything or holds(claimed, stage, proved, records)
    demand(follows, f"{told.where}, limit: {float(claimed):.10g} does not follow from its bound")


def _check_drawn(told: Claim, stage: Stage) -> None:
    many = len(stage.blocks)
    demand(told.whole("records") == many, f"{told.where}, records: {many} were drawn")


def _check_sample(told: Claim, stage: Stage, limit: Limit, check: Check) -> None:
    """Check what is shown of the samples of the stage that decides."""
    _check_drawn(told, stage)
    records, proved = check.linkage.records, limit.bound_of(stage)
    inside = [block for block in check.linked if block in stage.blocks]
    linked, bound = told.whole("linked"), told.whole("linked_upper_bound")
    right = linked == len(inside)
    demand(right, f"{told.where}, linked: {linked}, but the parameters link {len(inside)}")
    most = records.most_within(stage.blocks, proved)
    demand(
        most <= bound <= len(stage.blocks),
        f"{told.where}, linked_upper_bound: {bound} is claimed, {most} is proved",
    )
    if told.get("weight_linked") is not None:
        _demand_sum(told, "weight_linked", records.weight(inside), "the parameters give")
        weight = _at_most(told, "weight_upper_bound", records.weight(stage.blocks), records)
        enough = weight * (1 + ROUNDED) >= proved
        demand(enough, f"{told.where}, weight_upper_bound: {float(proved):.10g} is proved")


def _at_most(told: Claim, key: str, total: Fraction, records: Records) -> Fraction:
    """A weight that is claimed: not above that of all it is about, and whole where records count alike."""
    claimed = told.exact(key)
    demand(
        claimed <= total * (1 + ROUNDED),
        f"{told.where}, {key}: {float(claimed):.10g} is claimed, all records together count "
        f"{float(total):.10g}",
    )
    whole_ = records.heaviest != (Fraction(1), True) or abs(claimed - round(claimed)) <= ROUNDED * claimed
    demand(whole_, f"{told.where}, {key}: {float(claimed):.10g} is no number of records")
    return claimed


def _demand_sum(claim: Claim, key: str, here: Fraction, how: str) -> None:
    told = claim.exact(key)
    demand(
        abs(told - here) <= ROUNDED * here,
        f"{claim.where}, {key}: {float(told):.10g}, but {how} {float(here):.10g}",
    )


def _demand_close(told: Fraction, here: Fraction, where: str) -> None:
    near = abs(told - here) <= Fraction(CLOSE) * max(Fraction(1), abs(here))
    demand(near, f"{where}: {float(told):g}, but it is {float(here):g}")


def _slack(weight: float, records: Records) -> float:
    """Of a sum of weights as a double; sampling weights may be small, all of them."""
    return CLOSE * (max(1.0, weight) if records.sampling is None else weight)
