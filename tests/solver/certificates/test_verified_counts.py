"""The verifier's counts of links, by boxes and of orders: those of all pairs, and of the search."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import all_pairs
import categorical_cases as mixed
import numpy as np
import pandas as pd
import pytest
from pairwise import pairwise

from linkrisk import fit
from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.solver.certificates.checking import counting
from linkrisk.solver.certificates.checking.verify import fit_problem, linkage_of
from linkrisk.solver.certificates.core.linkage import Linkage
from linkrisk.solver.certificates.operations.verify import verify
from linkrisk.solver.commands.program import main
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.linkage import lexicographic as orders
from linkrisk.solver.options.pair import ProblemOptions

RECORDS = 90
CHOSEN = [
    ("weighted-mean", {}),
    ("owa", {}),
    ("choquet", {}),
    ("choquet", {"k_additive": 2}),
    ("choquet", {"k_additive": 3}),
    ("mahalanobis", {}),
]


def linkage_from(original, masked, **options):
    problem = make_problem(original, masked, ProblemOptions(row_by_row=True, **options))
    return linkage_of(problem.files, fit_problem(problem.describe(), "fit"))


def parameters(linkage, random):
    """Some parameters of the family, also at the end of its domain."""
    n, dimension = linkage.family.n, linkage.family.dimension
    if hasattr(linkage.family, "cells"):
        root = random.normal(size=(n, random.integers(1, n + 1)))
        matrix = root @ root.T / (root**2).sum()
        return [Fraction(float(matrix[k, m])) for k, m in linkage.family.cells]
    weights = random.dirichlet(np.ones(n)) * (random.random(n) < 0.7)
    weights = np.append(weights[:-1], 1.0 - weights[:-1].sum())
    if linkage.family.simplex:
        return [*(Fraction(float(w)) for w in weights), *[Fraction(0)] * (dimension - n)]
    if linkage.family.summed:
        return [Fraction(float(weights[m.bit_length() - 1])) if m.bit_count() == 1 else Fraction(0)
                for m in linkage.family.masks]  # fmt: skip
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


def slow(linkage):
    return Linkage(linkage.records, linkage.family)


def compare(linkage, theta):
    expected = Linkage.linked(linkage, theta)
    assert linkage.linked(theta) == expected
    settled = linkage.settled(theta)
    assert settled.linked.tolist() == expected
    for at, block in enumerate(settled.blocks()):
        if not linkage.records.reachable(at) or not linkage.arrays.rivals(at).size:
            continue
        rank, ties, nearest = all_pairs.numbers_one_by_one(linkage, theta, at)
        # Wherever the reference is sure, so is the count; it may be surer where more is left out.
        assert rank[0] <= block.rank[1]
        assert block.rank[0] <= rank[1]
        assert tuple(block.rank) == rank
        assert tuple(block.ties) == ties
        assert block.nearest == pytest.approx(nearest, rel=1e-12, abs=1e-12)


@pairwise(chosen=CHOSEN, kind=["noise", "ties", "near", "missing"], ties=["strict", "share"])
def test_what_is_counted_is_what_all_pairs_come_to(chosen, kind, ties):
    family, options = chosen
    linkage = linkage_from(*files(3, kind), aggregator=family, **options, ties=ties)
    for seed in range(2):
        compare(linkage, parameters(linkage, np.random.default_rng(seed)))


@pytest.mark.parametrize("family", ["weighted-mean", "choquet", "mahalanobis"])
@pytest.mark.parametrize("aware", [False, True])
def test_categories_are_counted_alike(family, aware):
    asked = {key: value for key, value in mixed.options(aware, ties="strict").items() if key != "row_by_row"}
    linkage = linkage_from(*mixed.frames(1, 60, numeric=1), aggregator=family, **asked)
    compare(linkage, parameters(linkage, np.random.default_rng(1)))
    arrays = linkage.arrays
    everyone = np.arange(len(arrays.candidates))
    impossible = sum(int((~arrays.possible(block, everyone)).sum()) for block in range(arrays.blocks))
    assert arrays.impossible_pairs() == impossible


def test_lists_that_are_cut_short_change_nothing(monkeypatch):
    """Of a block with many ties only some are listed first, and of all blocks what there is room for."""
    monkeypatch.setattr(counting, "MOST_LISTED", 1)
    monkeypatch.setattr(counting, "ROOM", 2)
    linkage = linkage_from(
        *files(4, "near"), aggregator="weighted-mean", standardisation=Standardisation.NONE
    )
    compare(linkage, parameters(linkage, np.random.default_rng(2)))


@pytest.mark.parametrize("kind", ["noise", "ties", "near", "missing"])
@pytest.mark.parametrize(("family", "ranked"), [("weighted-mean", False), ("owa", True)])
@pytest.mark.parametrize("ties", ["strict", "share"])
def test_the_best_order_is_one_that_all_pairs_confirm(family, ranked, kind, ties):
    linkage = linkage_from(*files(5, kind), aggregator=family, ties=ties)
    best = linkage.best_order()
    assert best == slow(linkage).best_order()
    linked = np.flatnonzero(all_pairs.linked_in_order(linkage.arrays, best.sequence, ranked=ranked)).tolist()
    assert (best.count, best.weight) == (len(linked), linkage.records.weight(linked))
    for order in permutations(range(4), 1):
        alone = np.flatnonzero(all_pairs.linked_in_order(linkage.arrays, order, ranked=ranked))
        assert linkage.records.weight(alone) <= best.weight
    assert linkage.best_order(best.weight) is None
    again = linkage.best_order(best.weight - Fraction(1, 1000))
    assert (again.count, again.weight) == (best.count, best.weight)


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


# ---------------------------------------------------------------- verify orders


COMMAND = ["--original", "original.csv", "--masked", "masked.csv", "--row-by-row"]
CHECK = ["verify", "fit.json", "--certificate", "proof.json", *COMMAND]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


def compared(problem):
    return linkage_of(problem.files, fit_problem(problem.describe(), "fit"))


def same_as_the_search(problem, ranked):
    known = orders.best_order(problem.pair, ranked=ranked)
    found = compared(problem).best_order()
    assert (found.ranked, float(found.weight)) == (ranked, pytest.approx(known.weight, rel=1e-12))
    own = orders.linked_in_order(problem.pair, np.array(found.sequence), ranked=ranked)
    assert (found.count, own.sum()) == (own.sum(), known.linked.sum())


@pairwise(
    seed=range(3),
    family=["weighted-mean", "mahalanobis", "owa"],
    direction=["original-to-masked", "masked-to-original"],
    ties=["strict", "share"],
)
def test_the_verifier_counts_what_the_search_counts(seed, family, direction, ties):
    random = np.random.default_rng(seed)
    original = pd.DataFrame(random.integers(0, 4, size=(30, 3)).astype(float), columns=list("abc"))
    masked = original + random.integers(-1, 2, size=original.shape)
    options = ProblemOptions(
        aggregator=family,
        direction=direction,
        ties=ties,
        standardisation=Standardisation.NONE,
        row_by_row=True,
    )
    same_as_the_search(make_problem(original, masked, options), family == "owa")


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_categories_are_counted_too(seed, aware):
    files = mixed.frames(seed, 24, numeric=1)
    asked = mixed.options(aware, ties=("strict", "share")[seed % 2])
    same_as_the_search(make_problem(*files, ProblemOptions(aggregator="weighted-mean", **asked)), False)


def written(original, masked):
    original.to_csv("original.csv", index=False)
    masked.to_csv("masked.csv", index=False)
    return original, masked


def coded():
    """A code has taken the place of ages, beside what nothing was done to."""
    original = pd.DataFrame({"x": [0.0, 0, 1, 2, 3, 4], "y": [10.0, 11, 12, 13, 14, 15]})
    return written(original, original.assign(y=[10.0, 11, *[99999999.0] * 4]))


def half_way():
    """A record nearly half way between two, which is a tie beside values a million times as far apart."""
    original = pd.DataFrame({"x": [0.4999, 1.0, 1e6, 2e6, 3e6, 4e6]})
    return written(original, original.assign(x=[0.0, *original["x"][1:]]))


@pytest.mark.parametrize(
    ("files", "options", "least", "order"),
    [
        (half_way, ("weighted-mean", "none"), 5, "comparing x alone"),
        (
            coded,
            ("owa", "pooled"),
            1,
            "comparing the attribute distance of rank 2 and then the attribute distance of rank 1, each only "
            "where those before it tie,",
        ),
    ],
)
@pytest.mark.parametrize("ties", ["strict", "share"])
def test_an_order_beyond_the_proof_is_named_and_never_claimed_below(
    files, options, least, order, ties, capsys
):
    """Once "no more than 5 of 6", without a word on what ties hide, for a fit that said 6."""
    files()
    family, standardisation = options
    asked = ["--aggregator", family, "--standardisation", standardisation, "--ties", ties]
    assert main(["fit", *COMMAND, *asked, "--json", "fit.json", "--certificate", "proof.json"]) == 0
    capsys.readouterr()
    assert main(CHECK) == 0
    said = capsys.readouterr().out
    assert f" whose distances differ by more than a tie links more than {least} of 6 records" in said
    assert f"not covered by this: {order} links 6, by differences" in said
    fitted = Path("fit.json").read_text(encoding="utf-8")
    for key in ("linked_upper_bound", "expected_links_upper_bound"):
        forged = json.loads(fitted)
        if key in forged:
            Path("fit.json").write_text(json.dumps({**forged, key: least}), encoding="utf-8")
            assert main(CHECK) == 1
            assert capsys.readouterr().err.startswith(f"rejected: fit.json, {key}: {least} is claimed, ")
