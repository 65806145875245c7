"""Checks bounds derived from samples: repeats the draw and tests what it excludes with confidence."""

from __future__ import annotations

import hashlib
import math
import re
import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from .claims import Claim
from .linkage import Linkage
from .proofs import METHODS, Bound, added_up, check_bound
from .records import Files, Records

METHOD = "sha256-1"
ROUNDED = Fraction(1, 10**9)  # relative difference of a weight in the JSON, a double, from the exact one


@dataclass(frozen=True)
class Stage:
    """Stage of the draw, with the blocks drawn by its end.

    At least a `share` of each stratum; None for a simple random sample. Its conclusion is wrong with a
    probability of at most `alpha`.
    """

    samples: int
    blocks: frozenset[int]
    share: Fraction | None
    alpha: Fraction


@dataclass(frozen=True)
class Limit:
    """Limit: with a confidence, no parameters link more than `weight` or `count` records."""

    confidence: Fraction
    weight: Fraction
    count: int
    stages: Sequence[Stage]
    bounds: Sequence[Bound]

    def bound_of(self, stage: Stage) -> Fraction:
        """Bound the weight linked in the samples of a stage together."""
        return added_up(self.bounds[: stage.samples], Fraction(0)).weight


# ---- the draw


def draw(claim: Claim, files: Files, records: Records) -> tuple[list[list[int]], list[Stage]]:
    """Repeat the draw: the samples that a fit must have searched, and its stages."""
    plan, blocks = claim.inner("draw"), records.blocks
    plan.require(plan.text("method") == METHOD, f", method must be {METHOD}")
    seed, size = plan.whole("seed"), plan.whole("size")
    plan.demand(0 <= seed < 2**63 and size > 0, f": no samples of {size} by seed {seed}")
    strata = [""] * blocks
    if plan.has("strata"):
        strata = [cell for _, cell in records.column(plan.text("strata"), f"{plan.where}, strata")]
    order = _order(files, seed, blocks)
    samples: list[list[int]] = []
    stages: list[Stage] = []
    for stage in claim.each("stages"):
        many, alpha = stage.whole("samples"), stage.text("alpha")
        stage.demand(len(samples) < many, f", samples: {many}, no more than before")
        stage.demand(size * many <= blocks, f": {many} samples of {size} are more than there are")
        known = re.fullmatch(r"[0-9]{1,12}/[1-9][0-9]{0,12}", alpha) is not None
        stage.require(known, ", alpha must be a fraction such as 1/20")
        stage.demand(0 < Fraction(alpha) < 1, f", alpha: {alpha} is no level")
        chosen, share = first_drawn(order, size * many, strata)
        before = {block for sample in samples for block in sample}
        samples += dealt([block for block in chosen if block not in before], many - len(samples))
        least = share if plan.has("strata") else None
        stages.append(Stage(many, frozenset(chosen), least, Fraction(alpha)))
    claim.demand(bool(stages), ", stages: there is none")
    return samples, stages


def _order(files: Files, seed: int, blocks: int) -> list[int]:
    """Order the blocks at random, each by 64 bits of a digest of the files and the seed."""
    digest = hashlib.sha256(METHOD.encode())
    for columns in (files.original, files.masked):
        digest.update(struct.pack(">2q", len(columns[0]), len(columns)))
        for row in zip(*columns, strict=True):
            # NaN and zero have one representation each.
            digest.update(struct.pack(f">{len(row)}d", *(math.nan if x != x else x + 0.0 for x in row)))
    digest.update(struct.pack(f">{len(files.partner)}q", *files.partner))
    start = digest.digest() + struct.pack(">q", seed)
    fours = (hashlib.sha256(start + struct.pack(">q", at)).digest() for at in range(-(-blocks // 4)))
    keys = [key for four in fours for key in struct.unpack(">4Q", four)]
    return sorted(range(blocks), key=keys.__getitem__)


def first_drawn(order: Sequence[int], sample: int, strata: Sequence[str]) -> tuple[list[int], Fraction]:
    """Return the first blocks of each stratum, by its share, and the smallest of these shares."""
    sizes = Counter(strata)
    wanted = {name: -(-sample * many // len(order)) for name, many in sizes.items()}
    left, chosen = dict(wanted), []
    for block in order:
        if left[strata[block]]:
            left[strata[block]] -= 1
            chosen.append(block)
    return chosen, min(Fraction(wanted[name], many) for name, many in sizes.items())


def dealt(blocks: Sequence[int], many: int) -> list[list[int]]:
    """Deal blocks into parts of equal size, the first ones larger by one if necessary."""
    size, more = divmod(len(blocks), many)
    ends = [at * size + min(at, more) for at in range(many + 1)]
    return [list(blocks[first:last]) for first, last in pairwise(ends)]


def described_draw(fit: Mapping[str, object]) -> str:
    """Describe the draw of a limit: its seed may have been chosen for a favourable sample."""
    plan = Claim(fit, "the fit").inner("sampling", "draw")
    strata = f", by strata of {plan.text('strata')!r}" if plan.has("strata") else ""
    return f"samples of {plan.whole('size')} drawn by seed {plan.whole('seed')}{strata}"


# ---- what follows


def check_samples(
    fit: Claim, certificate: Claim, files: Files, linkage: Linkage, linked: Sequence[int], key: str
) -> tuple[Bound, Limit]:
    """Check the bound of every sample and the limit derived for all records.

    The bound returned holds for all records with certainty: those outside of the samples count in full.
    """
    records, everyone = linkage.records, range(linkage.records.blocks)
    samples, stages = draw(fit.inner("sampling"), files, records)
    stated = certificate.each("samples")
    many = f", samples: there are {len(stated)}, and {len(samples)} by the plan"
    certificate.demand(len(stated) == len(samples), many)
    bounds = [
        Bound(records.weight(blocks), frozenset(), proved=False)
        if part.content is None
        else check_bound(linkage, part, blocks, METHODS[:-1])
        for part, blocks in zip(stated, samples, strict=True)
    ]
    inside = {block for sample in samples for block in sample}
    certain = added_up(bounds, records.weight(block for block in everyone if block not in inside))
    left, everything = 1 - sum(stage.alpha for stage in stages), records.weight(everyone)
    confidence = Fraction(str(float(fit.exact("confidence"))))
    sure = f", confidence: {float(confidence):g}, but the stages leave {float(left):g}"
    fit.demand(0 < confidence <= left, sure)
    count, weight = fit.whole("linked_confidence_limit"), fit.exact(f"{key}_confidence_limit")
    claimed = f", {key}_confidence_limit: {float(weight):.10g} is claimed, all records together count "
    fit.demand(count <= records.blocks, f", linked_confidence_limit: {count} of {records.blocks} records")
    fit.demand(weight <= everything * (1 + ROUNDED), f"{claimed}{float(everything):.10g}")
    reached = len(linked) <= count and records.weight(linked) <= weight * (1 + ROUNDED)
    fit.demand(reached, f": a limit of {count} records, and the parameters of the fit link {len(linked)}")
    limit = Limit(confidence, weight, count, stages, bounds)
    proved = weight >= certain.weight * (1 - ROUNDED) or any(
        holds(weight, stage, limit.bound_of(stage), records) for stage in stages
    )
    fit.demand(proved, f": the limit {float(weight):.10g} does not follow from the samples")
    most = records.most_within(everyone, min(weight * (1 + ROUNDED), everything))
    fit.demand(count >= most, f", linked_confidence_limit: {count} is claimed, {most} records may be linked")
    return certain, limit


def holds(limit: Fraction, stage: Stage, bound: Fraction, records: Records) -> bool:
    """Tell whether a stage excludes that more than a limit is linked of all records."""
    heaviest, counts = records.heaviest
    having = int(limit / heaviest) + 1 if counts else int(limit * (1 + ROUNDED) / heaviest)
    return ruled_out(records.blocks, stage, bound / heaviest, having, counts)


def ruled_out(records: int, stage: Stage, found: Fraction, having: int, counts: bool) -> bool:
    """Tell whether a bound of `found` on the sample excludes that at least `having` of all are linked.

    The number of linked records in the sample is hypergeometric; by stratum its spread is at most that of a
    binomial one (Hoeffding 1956, 1963). Weights between 0 and 1 are bounded by ``E (t - X)_+``.
    docs/how-to/large-files.md has the proofs. `found` is in weights of the heaviest record; with `counts`
    all records weigh the same.
    """
    sample, share = len(stage.blocks), stage.share
    if having > records - sample + found:  # a record beyond the bound of the sample is outside of it
        return True
    if share is None:
        total, ways = math.comb(records, sample), _hypergeometric(records, sample, having)
    else:
        mean = share * having / sample
        total, ways = mean.denominator**sample, _binomial(sample, mean)
    allowed = stage.alpha * total
    by_number = counts and (share is None or found <= share * having - 1)
    below = expected = 0
    for k, many in enumerate(ways):
        below += many
        expected += below
        if by_number and k == found and below < allowed:
            return True
        if not (counts and share is None) and k + 1 > found and expected < allowed * (k + 1 - found):
            return True
        if k > found and below >= allowed:
            break
    return False


def _hypergeometric(n: int, m: int, w: int) -> Iterator[int]:
    """Count the subsets of m of n that contain 0, 1, ... of w."""
    first, ways = max(0, m - (n - w)), 0
    for k in range(m + 1):
        if k == first:
            ways = math.comb(w, first) * math.comb(n - w, m - first)
        elif k > first:
            ways = ways * (w - k + 1) * (m - k + 1) // (k * (n - w - m + k))
        yield ways


def _binomial(m: int, mean: Fraction) -> Iterator[int]:
    """Return the probabilities of 0, 1, ... of m, up to a common factor."""
    p, q = mean.numerator, mean.denominator - mean.numerator
    ways = q**m
    for k in range(m + 1):
        if k:
            ways = (ways * (m - k + 1) * p // (k * q)) if q else int(k == m)
        yield ways
