"""The verifier leaves out candidates by boxes; what it counts is what all pairs come to."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import all_pairs
import categorical_cases as mixed
import numpy as np
import pandas as pd
import pytest

from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.solver.certificates.checking import counting
from linkrisk.solver.certificates.checking.cores import Rows
from linkrisk.solver.certificates.checking.counting import linked_blocks, settled_blocks
from linkrisk.solver.certificates.checking.dyadic import shift_of, shift_of_array
from linkrisk.solver.certificates.checking.fields import Fields
from linkrisk.solver.certificates.checking.orders import best_order
from linkrisk.solver.certificates.checking.records import make_records
from linkrisk.solver.certificates.checking.setting import read_setting
from linkrisk.solver.certificates.operations.verify import verify
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.worst_case.operations.fit import fit

RECORDS = 90
FAMILIES = [
    ("weighted-mean", {}),
    ("owa", {}),
    ("choquet", {}),
    ("choquet", {"k_additive": 2}),
    ("choquet", {"k_additive": 3}),
    ("mahalanobis", {}),
]


def rows_of(original, masked, **options):
    problem = make_problem(original, masked, ProblemOptions(row_by_row=True, **options))
    setting = read_setting(Fields(problem.describe(), "fit"))
    return Rows(make_records(problem.files, setting), setting.family)


def parameters(rows, random):
    """Some parameters of the family, also at the end of its domain."""
    n, dimension = rows.family.attributes, rows.family.dimension
    if hasattr(rows.family, "cells"):
        root = random.normal(size=(n, random.integers(1, n + 1)))
        matrix = root @ root.T / (root**2).sum()
        return [Fraction(float(matrix[k, m])) for k, m in rows.family.cells]
    weights = random.dirichlet(np.ones(n)) * (random.random(n) < 0.7)
    weights = np.append(weights[:-1], 1.0 - weights[:-1].sum())
    if rows.family.simplex:
        return [*(Fraction(float(w)) for w in weights), *[Fraction(0)] * (dimension - n)]
    if hasattr(rows.family, "masks"):
        return [Fraction(float(weights[m.bit_length() - 1])) if m.bit_count() == 1 else Fraction(0)
                for m in rows.family.masks]  # fmt: skip
    sums = [sum(weights[k] for k in range(n) if m >> k & 1) for m in range(1, 2**n)]
    return [*(Fraction(float(min(s, 1.0) ** 2)) for s in sums[:-1]), Fraction(1)]


def files(seed, kind):
    """Noise; whole numbers with ties and copies; values that differ by less than a tie; some missing."""
    random = np.random.default_rng(seed)
    original = random.normal(size=(RECORDS, 4)) * [1.0, 10.0, 0.1, 1e4] + 5.0
    masked = original + 0.3 * random.normal(size=original.shape) * original.std(axis=0)
    if kind == "ties":
        original, masked = (
            np.round(random.integers(0, 3, original.shape)),
            random.integers(0, 3, masked.shape),
        )
    if kind == "near":
        masked[1::3] = masked[::3] * (1.0 + random.choice([-1, 0, 1], masked[::3].shape) * 2.0**-50)
        masked[2::3] = masked[::3] * (1.0 + random.choice([-1, 0, 1], masked[::3].shape) * 2.0**-36)
    if kind == "missing":
        original[random.random(original.shape) < 0.2] = np.nan
        masked[random.random(masked.shape) < 0.2] = np.nan
    return [pd.DataFrame(values.astype(float), columns=list("abcd")) for values in (original, masked)]


def compare(rows, theta):
    expected = all_pairs.linked_one_by_one(rows, theta)
    assert linked_blocks(rows, theta) == expected
    settled = settled_blocks(rows, theta)
    assert settled.linked.tolist() == expected
    for at, block in enumerate(settled.blocks()):
        if not rows.records.reachable(at) or not rows.records.rivals(at).size:
            continue
        rank, ties, nearest = all_pairs.numbers_one_by_one(rows, theta, at)
        # Wherever the reference is sure, so is the count; it may be surer where more is left out.
        assert rank[0] <= block.rank[1]
        assert block.rank[0] <= rank[1]
        assert tuple(block.rank) == rank
        assert tuple(block.ties) == ties
        assert block.nearest == pytest.approx(nearest, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", ["noise", "ties", "near", "missing"])
@pytest.mark.parametrize(("family", "options"), FAMILIES)
@pytest.mark.parametrize("ties", ["strict", "share"])
def test_what_is_counted_is_what_all_pairs_come_to(family, options, kind, ties):
    rows = rows_of(*files(3, kind), aggregator=family, **options, ties=ties)
    for seed in range(2):
        compare(rows, parameters(rows, np.random.default_rng(seed)))


@pytest.mark.parametrize("family", ["weighted-mean", "choquet", "mahalanobis"])
@pytest.mark.parametrize("aware", [False, True])
def test_categories_are_counted_alike(family, aware):
    asked = {key: value for key, value in mixed.options(aware, ties="strict").items() if key != "row_by_row"}
    rows = rows_of(*mixed.frames(1, 60, numeric=1), aggregator=family, **asked)
    compare(rows, parameters(rows, np.random.default_rng(1)))
    records = rows.records
    everyone = np.arange(len(records.candidates))
    impossible = sum(int((~records.possible(block, everyone)).sum()) for block in range(records.blocks))
    assert records.impossible_pairs() == impossible


def test_lists_that_are_cut_short_change_nothing(monkeypatch):
    """Of a block with many ties only some are listed first, and of all blocks what there is room for."""
    monkeypatch.setattr(counting, "MOST_LISTED", 1)
    monkeypatch.setattr(counting, "ROOM", 2)
    rows = rows_of(*files(4, "near"), aggregator="weighted-mean", standardisation=Standardisation.NONE)
    compare(rows, parameters(rows, np.random.default_rng(2)))


@pytest.mark.parametrize("kind", ["noise", "ties", "near", "missing"])
@pytest.mark.parametrize(("family", "ranked"), [("weighted-mean", False), ("owa", True)])
@pytest.mark.parametrize("ties", ["strict", "share"])
def test_the_best_order_is_one_that_all_pairs_confirm(family, ranked, kind, ties):
    rows = rows_of(*files(5, kind), aggregator=family, ties=ties)
    best = best_order(rows)
    linked = np.flatnonzero(all_pairs.linked_in_order(rows.records, best.order, ranked=ranked))
    assert (best.count, best.weight) == (linked.size, rows.records.weights.total(linked))
    for order in permutations(range(4), 1):
        alone = np.flatnonzero(all_pairs.linked_in_order(rows.records, order, ranked=ranked))
        assert rows.records.weights.total(alone) <= best.weight
    assert best_order(rows, best.weight) is None
    again = best_order(rows, best.weight - Fraction(1, 1000))
    assert (again.count, again.weight) == (best.count, best.weight)


def test_the_unit_of_an_array_is_that_of_its_values():
    values = np.concatenate([
        np.random.default_rng(1).normal(size=50) * 10.0 ** np.arange(-25, 25), [0.0, -0.0, 5e-324, 1e308, 3.0]
    ])  # fmt: skip
    for some in (values, values[25:50], values[-1:], values[-5:-3], values[-3:-2]):
        assert shift_of_array(some) == shift_of(some.tolist())


def test_a_fit_without_a_table_may_have_counted_a_part():
    """Of many records none are listed: it may claim fewer links than there are, never more."""
    original, masked = files(6, "noise")
    result = fit(original[:30], masked[:30], row_by_row=True, time_limit=None, certificate=True)
    claim, proof = result.to_dict(), dict(result.certificate)
    claim["records_table"] |= {"rows": [], "left_out": "30 records"}
    claim["status"] = "feasible"
    claim["linked_upper_bound"] = 30
    for less in (1, 0, -1):
        claim["linked"] = proof["linked"] = result.linked - less
        answer = verify(claim, original[:30], masked[:30], certificate=proof, row_by_row=True)
        assert answer.verified == (less >= 0)
        if less < 0:
            assert f"but the parameters link {result.linked}" in answer.rejected
        else:
            assert answer.linked == result.linked


def test_a_sampled_fit_that_counted_a_part_is_rejected_in_a_plain_sentence():
    original, masked = files(6, "noise")
    options = {"row_by_row": True, "sample": 8, "samples": 3, "time_limit": None}
    result = fit(original, masked, **options, certificate=True)
    claim = result.to_dict()
    claim["sampling"]["counted"] = {"records": 50, "all": False}
    answer = verify(claim, original, masked, certificate=result.certificate, row_by_row=True)
    assert answer.rejected.endswith(
        "sampling, counted: the fit has counted its attack on 50 records, which proves nothing of all 90; "
        "fit again with a longer time_limit"
    )
