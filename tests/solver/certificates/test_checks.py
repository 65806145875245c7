"""The single checks of the verifier against their definitions."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

import brute_force as plain
import numpy as np
import pytest
from aggregator_cases import CERTIFIABLE
from certified import frames
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.solver.certificates.checking.linkage import FastLinkage
from linkrisk.solver.certificates.checking.record_arrays import FastAttribute
from linkrisk.solver.certificates.checking.simplex_kernels import replay, rows_conflict
from linkrisk.solver.certificates.checking.verify import fit_problem, linkage_of
from linkrisk.solver.certificates.core.claims import Claim, Problem, RejectedError
from linkrisk.solver.certificates.core.families import (
    FAMILIES,
    Measure,
    WeightedMean,
    is_negative_semidefinite,
)
from linkrisk.solver.certificates.core.linkage import Linkage, conflict
from linkrisk.solver.certificates.core.proofs import check_inequalities, least_given_up
from linkrisk.solver.certificates.core.records import Attribute, Files, Records, exact
from linkrisk.solver.certificates.writing.hitting import HittingTree
from linkrisk.solver.certificates.writing.simplex import TreeSearch
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions

every_case = pytest.mark.parametrize("case", CERTIFIABLE, ids=[case.label for case in CERTIFIABLE])
small = st.integers(-4, 4)
large = st.integers(-(2**60), 2**60)


CHOSEN = ("weighted-mean", "original-to-masked", "strict", "none", "absolute", "nearest")


def family(name, n, k=None):
    return FAMILIES[name].of("ABCDEF"[:n], {} if k is None else {"k_additive": k})


# ---------------------------------------------------------------- numbers


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_doubles_are_whole_numbers(values):
    for kind in (Attribute, FastAttribute):
        one = kind(Problem(*CHOSEN, ["A"], {}), "A", [values, values], range(len(values)), range(len(values)))
        numbers = [exact(value, one.shift) for value in values]
        assert [Fraction(number, 2**one.shift) for number in numbers] == [Fraction(value) for value in values]


every_double = st.floats(allow_infinity=False)
usual = st.one_of(st.sampled_from([0.0, 1.0, 2.5, -3.0]), st.floats(-3.0, 3.0), st.just(np.nan))


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.lists(
            st.one_of(*(st.lists(kind, min_size=n, max_size=n) for kind in (usual, every_double))),
            min_size=2,
            max_size=2,
        )
    ),
    st.sampled_from(["none", "own", "original", "pooled"]),
    st.sampled_from(["nearest", "expected", "farthest"]),
)
def test_vectorised_code_makes_the_attributes_of_the_core(files, how, missing):
    found = []
    for kind in (Attribute, FastAttribute):
        problem = Problem(*CHOSEN[:3], how, "absolute", missing, ["A"], {})
        rows = range(len(files[0]))
        try:
            one = kind(problem, "A", files, rows, rows)
        except (RejectedError, ArithmeticError, ValueError) as error:
            found.append(type(error))
        else:
            sides = [list(side) for side in (one.queries, one.candidates, one.widths)]
            found.append(repr((sides, one.grain, one.offset, one.shift, one.missing)))
    assert found[0] == found[1] or ArithmeticError in getattr(found[0], "__mro__", ())


@given(st.integers(1, 4).flatmap(lambda n: st.lists(small, min_size=n * n, max_size=n * n)))
def test_semidefinite_matrices(entries):
    n = int(len(entries) ** 0.5)
    square = np.array(entries).reshape(n, n)
    symmetric, gram = square + square.T, square @ square.T
    largest = np.linalg.eigvalsh(symmetric.astype(float))[-1]
    if abs(largest) > 1e-9:
        assert is_negative_semidefinite(symmetric.tolist()) == (largest < 0)
    assert is_negative_semidefinite((-gram).tolist())  # singular ones included
    gram[0, 0] -= int(np.abs(gram).sum()) + 1
    assert not is_negative_semidefinite((-gram).tolist())


# ---------------------------------------------------------------- rows and links


def compared(case, n, **options):
    problem = make_problem(
        *frames(2, rows=12, columns=n), ProblemOptions(aggregator=case.name, **case.options, **options)
    )
    return problem, linkage_of(problem.files, fit_problem(problem.describe(), "problem"))


@every_case
@pytest.mark.parametrize("n", [2, 3, 4])
def test_exact_constraints_are_the_rows_of_the_formulation(case, n):
    """The verifier's own constraints, with the tie, beside the engine's features."""
    problem, linkage = compared(case, n)
    aggregator, family = problem.aggregator, linkage.family
    degree = 1 if linkage.records.problem.differences == "absolute" and case.name != "mahalanobis" else 2
    unit = family.factor * 2 ** (degree * linkage.records.shift + family.shift)
    for block, rival in ((0, 3), (5, 2), (7, 11)):
        exact = np.array([float(value / Fraction(unit)) for value in linkage.constraint(block, rival)])
        other = linkage.arrays.distances(block, np.array([rival]))
        partners = problem.pair.partners(aggregator.differences, aggregator.tied_differences, 1.0)[[block]]
        expected = aggregator.rows(partners, other).toarray()[0]
        np.testing.assert_allclose(exact, expected, rtol=1e-12, atol=1e-12)


@every_case
@pytest.mark.parametrize("ties", ["strict", "share"])
@pytest.mark.parametrize("direction", ["original-to-masked", "masked-to-original"])
def test_links_are_counted_as_by_definition(case, ties, direction):
    problem, linkage = compared(case, 3, ties=ties, direction=direction)
    records = linkage.records
    first, second = (frame.to_numpy() for frame in (problem.files.original, problem.files.masked))
    files = plain.records(first, second, direction, ties == "share")
    random = np.random.default_rng(0)
    for theta in problem.aggregator.domain.sample(8, random):
        parameters = problem.aggregator.decode(theta)
        exact = linkage.family.parameters(Claim(parameters, "fit"))
        distance = case.define(problem.aggregator, parameters)
        expected = plain.outcome(files, distance, records.problem.differences)
        assert linkage.linked(exact) == Linkage.linked(linkage, exact) == expected.linked
    assert [records.weight([block]) for block in range(records.blocks)] == files.weights


@pytest.mark.parametrize("kind", [Linkage, FastLinkage])
def test_comparisons_too_near_for_doubles_are_exact(kind):
    tied = 1.0 + 2.0**-36 + 2.0**-48  # and 2**-84 more, which no double has
    for rival, linked in ((tied, False), (np.nextafter(tied, 2.0), True)):
        records = Records(Files([[0.0]], [[1.0, float(rival)]], [0]), Problem(*CHOSEN, ["A"], {}))
        (one,) = records.attributes
        one.grain = 0.0
        assert kind(records, WeightedMean("A")).linked([Fraction(1)]) == [linked]


# ---------------------------------------------------------------- domains


@given(st.data())
def test_nothing_passes_as_nowhere_positive_that_is_positive_somewhere(data):
    """Random rows and multipliers against random points of the domain, and against its extreme points."""
    name, k = data.draw(st.sampled_from([("owa", None), ("choquet", None), ("choquet", 2), ("choquet", 3)]))
    own = family(name, 3, k)
    row = [data.draw(small) for _ in range(own.dimension)]
    steps = st.tuples(st.integers(0, 7), st.integers(0, 2), st.integers(0, 3))
    multipliers = data.draw(st.lists(steps, max_size=4)) if isinstance(own, Measure) else []
    total = data.draw(small) if isinstance(own, Measure) else 0
    if own.nowhere_positive(row, multipliers, total):
        aggregator = make_aggregator(name, ("A", "B", "C"), k_additive=k)
        points = aggregator.domain.sample(50, np.random.default_rng(0))
        assert (points @ np.array(row, dtype=float)).max() <= 1e-9


# ---------------------------------------------------------------- conflicts and simplex trees


@given(st.integers(2, 4).flatmap(lambda n: st.lists(st.tuples(small, small), min_size=n, max_size=n)))
def test_conflicts_of_small_numbers(pairs):
    first, second = (list(values) for values in zip(*pairs, strict=True))
    assert rows_conflict(np.array(first), np.array(second)) == conflict(first, second)


@given(st.lists(large, min_size=3, max_size=3), st.lists(st.integers(-2, 2), min_size=3, max_size=3))
def test_conflicts_too_near_for_doubles(first, moved):
    second = [max(-(2**60), min(2**60, -a + d)) for a, d in zip(first, moved, strict=True)]
    assert rows_conflict(np.array(first), np.array(second)) == conflict(first, second)


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_that_passes_bounds_every_point(seed):
    random = np.random.default_rng(seed)
    rows = random.integers(-1000, 1000, size=(60, 3))
    block = np.sort(random.integers(0, 20, size=60))
    weight = random.integers(1, 4, size=20)
    points = random.dirichlet(np.ones(3), size=20_000)
    holds = points @ rows.T > 0
    linked = np.stack([holds[:, block == b].all(axis=1) for b in range(20)], axis=1)
    reached = int((linked @ weight).max())
    without_rows = int(weight[[b for b in range(20) if b not in block]].sum())
    search = TreeSearch(rows, block, weight, reached - without_rows)
    parts = [search.run(7)]
    while not search.complete:
        assert not search.stuck
        parts.append(search.run(7))
    codes = np.concatenate(parts)
    length = len(codes)
    assert replay(rows, block, weight, reached - without_rows, codes[:length])[0] == 0
    assert replay(rows, block, weight, reached - without_rows - 1, codes[:length])[0] == 1
    for wrong, problem in ((codes[: length - 1], 4), (np.append(codes[:length], codes[:1] * 0), 4)):
        assert replay(rows, block, weight, reached - without_rows, wrong)[0] == problem
    assert replay(rows, block, weight, reached, np.array([9, 0, 0], dtype=np.uint8))[0] in (0, 2)
    assert replay(rows, block, weight, -1, np.array([4], dtype=np.uint8))[0] == 2
    assert replay(rows, block, weight, -1, np.ones(5000, dtype=np.uint8))[0] == 3


# ---------------------------------------------------------------- hitting sets


def least_hitting(cores, weight):
    """By trying every set of blocks."""
    blocks = sorted(weight)
    sets = chain.from_iterable(combinations(blocks, size) for size in range(len(blocks) + 1))
    return min(sum(weight[b] for b in s) for s in sets if all(core & set(s) for core in cores))


@pytest.mark.parametrize("seed", range(12))
def test_hitting_trees_prove_the_least_weight(seed):
    """Sparse graphs with odd cycles, and cores of three: most need cuts, some a split."""
    random = np.random.default_rng(seed)
    size = 11
    pairs = {frozenset(random.choice(size, 2, replace=False).tolist()) for _ in range(16 + seed)}
    triples = {frozenset(random.choice(size, 3, replace=False).tolist()) for _ in range(6)}
    cores = [*pairs, *(t for t in triples if not any(p <= t for p in pairs))]
    weight = {b: 1 if seed % 2 else int(random.integers(1, 5)) for b in range(size)}
    least = least_hitting(cores, weight)
    proof, proven = HittingTree(cores, weight, least, 30.0).prove()
    assert proven == least
    listed = [cores[at] for at in proof["cores"]]
    inequalities = check_inequalities(listed, Claim(proof["inequalities"], "inequalities"))
    assert least_given_up(Claim(proof["tree"], "tree"), inequalities, listed, weight)[0] == least
    for hit in random.integers(0, 2, size=(500, size)):
        if all(any(hit[b] for b in core) for core in listed):
            for inequality in inequalities:
                assert sum(c * hit[b] for b, c in inequality.coefficients.items()) >= inequality.least


TRIANGLE = [frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 2})]


@pytest.mark.parametrize(
    ("inequalities", "tree", "message"),
    [
        ([["clique", [0, 1, 3]]], [], "blocks 0 and 3 are not a core"),
        ([["clique", [0, 0]]], [], "blocks must differ"),
        ([["half", [0, 3]]], [], "no earlier inequality 3"),
        ([["half", [-1]]], [], "no earlier inequality -1"),
        ([], [["split", 0], ["leaf", 1, []]], "ends before"),
        ([], [["leaf", 1, []], ["leaf", 1, []]], "complete before"),
        ([], [["split", 0], ["split", 0], ["leaf", 1, []]], "decided already"),
        ([], [["split", 7]], "cannot be given up"),
        ([], [["core", 0]], "not kept"),
        ([], [["split", 0], ["leaf", 1, []], ["core", 0]], "not kept"),
        ([], [["leaf", 0, []]], "above zero"),
        ([], [["leaf", 1, [[0, -1]]]], "above zero"),
        ([], [["leaf", 1, [[4, 1]]]], "no inequality 4"),
    ],
)
def test_inequalities_that_do_not_follow_and_trees_that_are_none(inequalities, tree, message):
    with pytest.raises(RejectedError, match=message):  # noqa: PT012 - whichever of the two is wrong
        known = check_inequalities(TRIANGLE, Claim(inequalities, "inequalities"))
        least_given_up(Claim(tree, "tree"), known, TRIANGLE, dict.fromkeys(range(3), 1))


def test_a_tree_that_holds():
    inequalities = check_inequalities(TRIANGLE, Claim([], "inequalities"))
    halves = [[0, 1], [1, 1], [2, 1]]
    kept = [["split", 0], ["leaf", 1, [[1, 1]]], ["split", 1], ["leaf", 1, [[2, 1]]], ["core", 0]]
    too_much = [["leaf", 1, [[0, 5]]]]  # costs, and proves nothing
    for tree, expected in (([["leaf", 2, halves]], (2, 1)), (kept, (2, 3)), (too_much, (-3, 1))):
        weight = dict.fromkeys(range(3), 1)
        assert least_given_up(Claim(tree, "tree"), inequalities, TRIANGLE, weight) == expected
