"""Files and distances of every kind, and a plain look at every pair of records.

The plain computation is one matrix of all distances: nothing in it knows of boxes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import brute_force as plain
import numpy as np

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.comparison import Columns, Missing
from linkrisk.formulations.linkage.distances import Differences, Standardisation, nominal_table, ordinal_table
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind
from linkrisk.formulations.linkage.pair import LinkagePair, Ties, make_pair
from linkrisk.solver.linkage.evaluator import Evaluator

ATTRIBUTES = 4
NAMES = tuple("ABCDE")
FEW, MANY = 120, 260
"""Blocks, fewer and more than those for which a quadratic form gets a tree of its own."""

# ---------------------------------------------------------------- looking at every pair of records


@dataclass(frozen=True)
class Expected:
    """What becomes of every block; `clear` are those on which rounding has no say."""

    linked: np.ndarray
    rank: np.ndarray
    ties: np.ndarray
    distance: np.ndarray
    nearest_other: np.ndarray
    clear: np.ndarray
    leads: np.ndarray
    group: np.ndarray


def everyone(pair: LinkagePair, form: DistanceForm) -> Expected:
    blocks, candidates = np.arange(pair.blocks)[:, None], np.arange(len(pair.candidates))[None, :]
    quadratic = form.kind is FormKind.QUADRATIC
    c = pair.distances(blocks, candidates, form.differences)
    own = c[blocks[:, 0], pair.partner]
    possible = pair.possible(blocks, candidates)
    distance = np.where(possible, form(c), np.inf)
    mine = distance[blocks[:, 0], pair.partner]
    # The rule for ties, as in `brute_force`.
    wide = np.abs(pair.partner_distances(Differences.ABSOLUTE)) + pair.rounding
    if quadratic or form.differences is Differences.SQUARED:
        wide = (wide**2 + pair.grains**2) * (1.0 + plain.TIE)
    else:
        wide = (wide + plain.GRAIN * pair.grains) * (1.0 + plain.TIE)
    if quadratic:
        n, weights = len(form.parameters), np.diag(form.parameters)
        noise = plain.CANCELLATION * n * (n + 2) * (c**2 @ weights)
        slack = ((wide - own**2) @ weights)[:, None] + noise
        doubt = 0.3 * (noise + plain.CANCELLATION * (own**2 @ weights)[:, None])
    else:
        slack = np.broadcast_to((form(wide) - form(own))[:, None], distance.shape)
        doubt = 1e-14 * (form(c) + form(own)[:, None])
    slack = np.where(np.isinf(mine)[:, None], 0.0, slack)
    known = np.where(np.isnan(pair.candidates), 1e99, pair.candidates)
    group = np.unique(known, axis=0, return_inverse=True)[1].reshape(-1)
    rival = possible & (candidates != pair.partner[:, None])
    if pair.ties is Ties.SHARE:
        rival &= group != group[pair.partner][:, None]
    with np.errstate(invalid="ignore"):
        farther = np.where(rival, distance - np.where(np.isinf(mine), np.inf, mine)[:, None], np.inf)
    tied = rival & (np.abs(farther) <= slack)
    nearer = rival & (farther < -slack)
    doubtful = rival & np.isfinite(mine)[:, None] & (np.abs(np.abs(farther) - slack) < doubt)
    others = np.where(rival, distance, np.inf)
    clear = np.where(rival, distance - np.where(rival, slack, 0.0), np.inf)
    leads = rival & (clear <= clear.min(axis=1, keepdims=True) + 2.0 * doubt)
    return Expected(
        linked=~tied.any(axis=1) & ~nearer.any(axis=1) & np.isfinite(mine),
        rank=1 + nearer.sum(axis=1),
        ties=tied.sum(axis=1),
        distance=mine,
        nearest_other=others.min(axis=1),
        clear=~doubtful.any(axis=1),
        leads=leads,
        group=group,
    )


def agree(found, expected, purpose):
    """Record for record; `purpose` says what has been counted."""
    clear = expected.clear
    assert clear.mean() > 0.95
    np.testing.assert_array_equal(found.linked[clear], expected.linked[clear])
    np.testing.assert_allclose(found.distance, expected.distance, rtol=1e-10, atol=1e-12)
    if purpose == "table":
        np.testing.assert_array_equal(found.rank[clear], expected.rank[clear])
        np.testing.assert_array_equal(found.ties[clear], expected.ties[clear])
    if purpose != "count":
        np.testing.assert_allclose(found.nearest_other, expected.nearest_other, rtol=1e-10, atol=1e-12)
        for rival, leads in zip(found.rival.tolist(), expected.leads, strict=True):
            first = np.flatnonzero(leads)
            if first.size == 0:
                assert rival == -1
                continue
            assert leads[rival]
            if (expected.group[first] == expected.group[first[0]]).all():
                assert rival == first[0]


def check(pair, form, threads=1):
    """Everything that an evaluator can be asked."""
    expected, asked = everyone(pair, form), Evaluator(pair, threads)
    agree(asked.rank(form), expected, "table")
    agree(asked.nearest(form), expected, "nearest")
    agree(asked.count(form), expected, "count")
    some = np.arange(0, pair.blocks, 3)
    part = asked.count(form, some)
    np.testing.assert_array_equal(np.flatnonzero(part.settled), some)
    sure = some[expected.clear[some]]
    np.testing.assert_array_equal(part.linked[sure], expected.linked[sure])
    return expected


# ---------------------------------------------------------------- distances


def family(name, corner=False, **options):
    """Parameters of a family, drawn anew for each seed; at a corner only one of them counts."""

    def form(random, absolute, n=ATTRIBUTES):
        differences = Differences.ABSOLUTE if absolute else None
        aggregator = make_aggregator(name, NAMES[:n], differences=differences, **options)
        if corner:
            return aggregator.form(np.eye(aggregator.dimension)[random.integers(n)])
        return aggregator.form(aggregator.domain.sample(1, random)[0])

    return form


def pairwise_form(random, absolute, n=ATTRIBUTES):
    """As files of many attributes have it."""
    aggregator = make_aggregator("choquet", NAMES[:n], k_additive=2)
    coefficients = aggregator.moebius(aggregator.domain.sample(1, random)[0])
    matrix = np.diag(coefficients[:n])
    matrix[np.triu_indices(n, 1)] = coefficients[n:]
    kind = Differences.ABSOLUTE if absolute else Differences.SQUARED
    return DistanceForm(FormKind.PAIRWISE, kind, matrix)


def of_rank(rank, smallest=0.0):
    def form(random, absolute, n=ATTRIBUTES):
        basis = np.linalg.qr(random.normal(size=(n, n)))[0]
        values = np.where(np.arange(n) < rank, random.uniform(0.1, 1.0, n), smallest)
        kind = Differences.ABSOLUTE if absolute else Differences.SIGNED
        return DistanceForm(FormKind.QUADRATIC, kind, (basis * values) @ basis.T)

    return form


def diagonal_form(random, absolute, n=ATTRIBUTES):
    """An attribute has no weight."""
    kind = Differences.ABSOLUTE if absolute else Differences.SIGNED
    weights = np.append(0.0, random.dirichlet(np.ones(n - 1))) if n > 1 else np.ones(1)
    return DistanceForm(FormKind.QUADRATIC, kind, np.diag(weights))


FORMS = {
    "weighted-mean": family("weighted-mean"),
    "corner": family("weighted-mean", corner=True),
    "owa": family("owa"),
    "owa-corner": family("owa", corner=True),
    "choquet": family("choquet"),
    "pairwise": pairwise_form,
    "mahalanobis": family("mahalanobis"),
    "singular": of_rank(2),
    "nearly-singular": of_rank(2, 1e-12),
    "diagonal": diagonal_form,
}


# ---------------------------------------------------------------- files


def numbers(random, many):
    original = random.normal(size=(many, ATTRIBUTES)) * 2.0
    return original, original + 0.5 * random.normal(size=original.shape)


def plain_numbers(random, many):
    return (*numbers(random, many), {})


def whole_numbers(random, many):
    """Ties everywhere; a quarter of the masked records are copies of others."""
    original, masked = (np.round(values) for values in numbers(random, many))
    masked[: many // 4] = masked[random.integers(many, size=many // 4)]
    return original, masked, {"standardisation": Standardisation.NONE}


def groups(random, many):
    """As after microaggregation of all attributes together."""
    original, masked = numbers(random, many)
    masked[:] = masked[random.integers(many // 5, size=many)]
    return original, masked, {}


def outliers(random, many):
    """A million standard deviations of the others away, in one file or in both."""
    original, masked = numbers(random, many)
    original[0, 0], masked[0, 0] = 2e6, 2e6
    original[1, 1], masked[2] = -2e6, 2e6
    return original, masked, {"standardisation": Standardisation.NONE}


def categories(random, many):
    """A nominal attribute, an ordinal one, and one with tables that rule a quarter of all pairs out."""
    original, masked = numbers(random, many)
    size = ordinal_table(6)
    impossible = np.round(random.random((5, 7)), 2)
    impossible[random.random(impossible.shape) < 0.25] = np.inf
    for k, table in ((1, nominal_table(4)), (2, size), (3, impossible)):
        original[:, k] = random.integers(table.shape[0], size=many)
        masked[:, k] = random.integers(table.shape[1], size=many)
    return original, masked, {"columns": Columns(tables=[None, nominal_table(4), size, impossible])}


def missing(rule, among=plain_numbers):
    def files(random, many):
        original, masked, options = among(random, many)
        columns = options.get("columns", Columns())
        tables = columns.tables or [None] * ATTRIBUTES
        for values, shares in ((original, (0.0, 0.1, 0.3, 0.5)), (masked, (0.1, 0.0, 0.7, 0.97))):
            for k, share in enumerate(shares):
                if tables[k] is None:
                    values[np.append([False] * 4, random.random(many - 4) < share), k] = np.nan
        return original, masked, {**options, "columns": replace(columns, missing=rule)}

    return files


FILES = {
    "numbers": plain_numbers,
    "whole": whole_numbers,
    "groups": groups,
    "outliers": outliers,
    "categories": categories,
    "nearest": missing(Missing.NEAREST),
    "expected": missing(Missing.EXPECTED),
    "farthest": missing(Missing.FARTHEST),
    "missing-whole": missing(Missing.EXPECTED, whole_numbers),
    "mixed": missing(Missing.FARTHEST, categories),
}


def pair_of(files, many, seed, shuffled=True, **options):
    """Each masked record somewhere else, unless that is not wanted."""
    random = np.random.default_rng(seed)
    original, masked, more = FILES[files](random, many)
    order = random.permutation(many) if shuffled else np.arange(many)
    return make_pair(original, masked[order], np.argsort(order), **more, **options)
