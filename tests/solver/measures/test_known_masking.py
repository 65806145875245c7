"""Likelihoods of masked records, and what intruders believe by them: densities, Bayes, all matchings."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import multivariate_normal, norm

from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.pram import Pram
from linkrisk.datasets.masking.rank_swapping import RankSwapping, swap_partners
from linkrisk.datasets.masking.registry import masking_method
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.measures import reidentification
from linkrisk.solver.measures.known_masking import KnownMasking, swap_kernel, unknown
from linkrisk.solver.measures.posteriors import (
    TOLERANCE,
    calibrated,
    compatible,
    one_record_posterior,
    right_claims,
)
from linkrisk.solver.measures.reidentification import Queries, exact_marginals, matching_limit
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.clock import Clock


def numbers(n=12, seed=0):
    values = np.random.default_rng(seed).normal(size=(n, 3)) @ np.array([[2, 1, 0], [0, 1, 0], [0, 0, 5.0]])
    return pd.DataFrame(values.round(3), columns=list("ABC"))


def known(original, masked, *texts, recodings=(), **options):
    options = ProblemOptions(row_by_row=True, masking=recodings, **options)
    files = make_problem(original, masked, options).files
    return KnownMasking(files, tuple(masking_method(text) for text in texts), recodings)


def apart(found):
    """Log likelihoods but for the constant that is the same for all pairs."""
    return found - found[0, 0]


def test_independent_noise_is_a_product_of_normal_densities():
    original = numbers()
    masked = AdditiveNoise(percent=30).apply(original, seed=1)
    found = known(original, masked, "noise percent=30").log_likelihood
    expected = sum(
        norm.logpdf(
            masked[name].to_numpy()[None, :], original[name].to_numpy()[:, None], 0.3 * original[name].std()
        )
        for name in "ABC"
    )
    np.testing.assert_allclose(apart(found), apart(expected))


def test_correlated_noise_has_the_covariance_of_the_data():
    original = numbers()
    masked = AdditiveNoise(percent=30, correlated=True).apply(original, seed=1)
    options = {"attributes": ["A", "B"]}  # C was masked too, and is not compared
    found = known(original, masked, "noise percent=30 correlated attributes=A,B,C", **options).log_likelihood
    cov = 0.09 * original[["A", "B"]].cov().to_numpy()
    rows, columns = original[["A", "B"]].to_numpy(), masked[["A", "B"]].to_numpy()
    expected = [[multivariate_normal.logpdf(y, x, cov) for y in columns] for x in rows]
    np.testing.assert_allclose(apart(found), apart(np.array(expected)))


def test_what_is_missing_stays_missing():
    original = numbers()
    original.loc[3, "A"] = np.nan
    masked = AdditiveNoise(percent=30).apply(original, seed=1)
    found = known(original, masked, "noise percent=30").log_likelihood
    assert np.isfinite(found[3]).tolist() == [row == 3 for row in range(12)]
    assert np.isneginf(found[np.arange(12) != 3, 3]).all()


@pytest.mark.parametrize("text", ["microaggregation k=3", "optimal-microaggregation k=4", "M4-33"])
def test_methods_without_chance_are_repeated(text):
    original = numbers(15, 2)
    original["D"] = original["A"] * original["B"]
    masked = masking_method(text).apply(original)
    found = known(original, masked, text).log_likelihood
    same = (masked.to_numpy()[:, None] == masked.to_numpy()[None]).all(axis=2)
    np.testing.assert_array_equal(np.exp(found), same.astype(float))


def test_pram_is_looked_up_and_untouched_attributes_stay():
    random = np.random.default_rng(3)
    original = pd.DataFrame({"size": random.choice(list("abc"), 40), "x": np.arange(40) % 7 * 1.0})
    method = Pram(change=0.3, attributes=("size",))
    masked = method.apply(original, seed=2)
    text = "pram change=0.3 attributes=size"
    found = known(original, masked, recodings=[text], nominal=["size"])
    assert found.attributes == ("size", "x")
    for i, j in ((0, 0), (0, 7), (3, 3), (5, 12), (9, 8)):
        same = original["size"][i] == masked["size"][j]
        expected = (0.7 if same else 0.15) * (original["x"][i] == masked["x"][j])
        assert np.exp(found.log_likelihood[i, j]) == pytest.approx(expected)


@pytest.mark.parametrize("percent", [10, 40])
def test_the_swap_kernel_is_the_frequency_of_swaps(percent):
    n, runs = 20, 1000
    kernel, random = swap_kernel(n, percent, 0), np.random.default_rng(9)
    counts = np.zeros((n, n))
    for _ in range(runs):
        counts[np.arange(n), swap_partners(n, n * percent // 100, random)] += 1
    assert np.abs(kernel - counts / runs).max() < 0.06
    np.testing.assert_allclose(kernel.sum(axis=1), 1.0)
    window = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= n * percent // 100
    assert (kernel[~window] == 0.0).all()
    assert (kernel[window] > 0.0).all()


def test_rank_swapping_moves_values_within_the_window():
    original = numbers(30, 5)
    original["A"] = original["A"].round()  # equal values
    masked = RankSwapping(percent=10).apply(original, seed=1)
    found = known(original, masked, "rank-swapping percent=10")
    assert "estimated by simulation" in found.approximate[0]
    ranks = original["C"].rank().to_numpy()[:, None] - masked["C"].rank().to_numpy()[None, :]
    assert np.isneginf(found.log_likelihood[np.abs(ranks) > 3]).all()
    assert np.isfinite(np.diag(found.log_likelihood)).all()


def refused(original, masked, *texts, **options):
    return known(original, masked, *texts, **options).lacking()


def test_the_wrong_masking_is_found_out():
    original = numbers()
    masked = AdditiveNoise(percent=30).apply(original, seed=1)
    for texts, reason in (
        (
            ["microaggregation k=3"],
            "the masking that is given cannot have made record 1 what it is in A, B, C (12 such records): it "
            "is another one, or not the only one",
        ),
        ([], unknown()),
        (
            ["noise percent=9 attributes=A,B", "noise percent=5 attributes=B,C"],
            "B is masked by noise and by noise; one can be followed",
        ),
        (["noise percent=9 attributes=Z"], "the masking does not fit: "),
        (
            ["rank-swapping percent=9"],
            "masked record 1 has a value of 'A' that no original record has, which swapping does not make",
        ),
    ):
        assert refused(original, masked, *texts).startswith(reason)


def test_attributes_without_a_known_masking_are_left_out():
    original = numbers()
    masked = AdditiveNoise(percent=30).apply(original, seed=1)
    found = known(original, masked, "noise percent=30 attributes=A,C")
    assert (found.attributes, found.left_out) == (("A", "C"), ("B",))
    masked["B"] = original["B"]  # released as it was
    found = known(original, masked, "noise percent=30 attributes=A,C")
    assert (found.attributes, found.left_out) == (("A", "B", "C"), ())
    assert np.isfinite(found.log_likelihood).sum() == 12


def test_what_has_no_density_or_is_too_large():
    original = numbers()
    correlated = AdditiveNoise(percent=30, correlated=True)
    for before, reason in (
        (
            original.assign(D=original["A"] + original["B"]),
            "correlated noise on attributes that follow from each other has no density",
        ),
        (
            original.assign(A=original["A"].where(original.index != 2)),
            "correlated noise is not followed where values are missing",
        ),
    ):
        after = correlated.apply(before, seed=1)
        assert refused(before, after, "noise percent=30 correlated") == reason
    large = pd.DataFrame({"A": np.arange(4000.0) % 17})
    assert refused(large, large + 1.0, "noise percent=5") == (
        "it compares all pairs of records, 2e+07 here; take a sample of the files"
    )


def test_recodings_that_the_files_show_need_no_method():
    random = np.random.default_rng(3)
    original = pd.DataFrame({"code": random.choice(["1010", "1020", "2010", "2020"], 40)})
    original["age"], original["income"] = random.integers(20, 60, 40), random.integers(1000, 3000, 40)
    masked = original.assign(code=original["code"].str[:2], age=original["age"] // 10 * 10)
    masked["income"] += random.integers(1, 50, 40)
    found = known(original, masked, nominal=["code"])
    assert (found.lacking(), found.attributes, found.left_out) == (None, ("code", "age"), ("income",))
    code, age = (np.equal.outer(*[masked[name].to_numpy()] * 2) for name in ("code", "age"))
    np.testing.assert_array_equal(np.isfinite(found.log_likelihood), code & age)
    # A value that is suppressed besides was changed by something that is not known.
    masked.loc[0, "age"] = np.nan
    assert known(original, masked, nominal=["code"]).attributes == ("code",)
    assert known(original, masked, nominal=["code"], recodings=["none"]).lacking() == unknown()
    # Levels of dates are no recoding of categories.
    born = pd.Series(pd.to_datetime("1950-01-01") + pd.to_timedelta(random.integers(0, 4000, 40), unit="D"))
    original = original[["income"]].assign(born=born.dt.strftime("%Y-%m-%d"))
    masked = original.assign(born=born.dt.strftime("%Y"))
    found = known(original, masked, recodings=["recode level=year attributes=born"])
    assert (found.lacking(), set(found.attributes)) == (None, {"born", "income"})


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    for name, sweeps in (("BURNING", 200), ("CHOOSING", 500), ("COUNTING", 1200)):
        monkeypatch.setattr(reidentification, name, sweeps)


def enumerated(logs):
    """Marginals by all injections of the masked records into the originals, shape of `logs`."""
    n, m = logs.shape
    weights = np.exp(logs)
    total, found = 0.0, np.zeros((n, m))
    for rows in itertools.permutations(range(n), m):
        weight = weights[rows, range(m)].prod()
        total += weight
        found[rows, range(m)] += weight
    return found / total


def queries_of(n, masked=False, weight=None):
    return Queries(np.arange(n), masked, np.ones(n) if weight is None else weight)


def drawn(logs, truth, queries=None, seed=0):
    return matching_limit(logs, truth, queries or queries_of(len(logs)), seed, Clock(None))


@given(st.integers(2, 7), st.integers(1, 7), st.integers(0, 2**32))
def test_bayes_theorem_written_out(n, m, seed):
    logs = np.random.default_rng(seed).normal(size=(n, m)) * 4.0
    f = np.exp(logs)
    expected = f / (f.sum(axis=0) - f)
    found = one_record_posterior(logs, np.arange(n), Direction.ORIGINAL_TO_MASKED)
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-6)
    found = one_record_posterior(logs, np.arange(m), Direction.MASKED_TO_ORIGINAL)
    np.testing.assert_allclose(found, (f / f.sum(axis=0)).T)
    logs[1:, 0] = -np.inf  # what no other record can have become is certain
    found = one_record_posterior(logs, np.array([0]), Direction.ORIGINAL_TO_MASKED)
    np.testing.assert_array_equal(found[0], np.arange(m) == 0)


ATTACKS = {
    "bayes": lambda x, y, p: int(p.argmax()),  # noqa: ARG005
    "nearest": lambda x, y, p: int(((y - x) ** 2).sum(axis=1).argmin()),  # noqa: ARG005
    "extreme": lambda x, y, p: int((y @ x).argmax()),  # noqa: ARG005
}


def repetitions(seed, repeats=900, n=7, noise=0.6):
    """Right claims, and those expected, where one record is given and the others are drawn anew."""
    random, base = np.random.default_rng(seed), np.random.default_rng(1).normal(size=(n, 2))
    found = {name: ([], []) for name in ATTACKS}
    for _ in range(repeats):
        target = int(random.integers(n))
        pool = np.delete(np.arange(n), target)
        members = np.concatenate([[target], random.choice(pool, n - 1)])
        masked = base[members] + noise * random.normal(size=(n, 2))
        order = random.permutation(n)
        masked, partner = masked[order], int(np.argsort(order)[0])
        logs = -((base[:, None] - masked[None]) ** 2).sum(axis=2) / (2.0 * noise**2)
        posterior = one_record_posterior(logs, np.array([target]), Direction.ORIGINAL_TO_MASKED)[0]
        for name, (right, expected) in found.items():
            claim = ATTACKS[name](base[target], masked, posterior)
            right.append(float(claim == partner))
            expected.append(posterior[claim])
    return {name: np.array(both) for name, both in found.items()}


def test_probabilities_are_frequencies_and_no_other_attack_expects_more():
    found = repetitions(3)
    for right, expected in found.values():
        error = (right - expected).std() / np.sqrt(right.size)
        assert abs((right - expected).mean()) < 4.0 * error
    expected = {name: both[1].mean() for name, both in found.items()}
    assert expected["bayes"] == max(expected.values())
    assert expected["bayes"] > expected["nearest"] + 0.01, "the nearest candidate is not the most probable"


@pytest.mark.parametrize(("n", "m", "seed"), [(2, 2, 0), (6, 6, 2), (6, 4, 3), (1, 1, 4)])
@pytest.mark.parametrize("masked", [False, True])
def test_draws_agree_with_all_matchings(n, m, seed, masked):
    random = np.random.default_rng(seed)
    logs, truth = random.normal(size=(n, m)) * 1.5, np.full(n, -1)
    truth[random.permutation(n)[:m]] = np.arange(m)
    rows = np.arange(m) if masked else np.flatnonzero(truth >= 0)
    marginals = enumerated(logs)
    table = (marginals.T if masked else marginals)[rows]
    queries = Queries(rows, masked, random.uniform(1.0, 2.0, m))
    found = drawn(logs, truth, queries)
    claimed = table[np.arange(m), found.claimed]
    best, claims = (np.average(each, weights=queries.weight) for each in (table.max(axis=1), claimed))
    assert found.expected == pytest.approx(claims, abs=0.03)
    assert found.low <= best <= found.high + 1e-9 or abs(best - found.expected) < 0.03
    assert found.probability == pytest.approx(claimed, abs=0.05)


def test_draws_agree_where_some_pairs_are_impossible():
    """A band: three neighbours are possible, as within a window."""
    apart = np.abs(np.subtract.outer(np.arange(7), np.arange(7)))
    logs = np.where(apart <= 1, -0.3 * apart, -np.inf)
    found = drawn(logs, np.arange(7))
    assert found.expected == pytest.approx(enumerated(logs).max(axis=1).mean(), abs=0.03)


def test_groups_that_cannot_be_told_apart_need_no_draws():
    group = np.array([0, 0, 0, 1, 1, 2])
    logs = np.where(group[:, None] == group[[2, 0, 3, 1, 5, 4]][None, :], 0.0, -np.inf)
    np.testing.assert_allclose(exact_marginals(logs), enumerated(logs))
    truth = np.array([0, 1, 3, 2, 5, 4])
    found = drawn(logs, truth)
    assert (found.sweeps, found.low, found.high) == (0, found.expected, found.expected)
    assert found.expected == found.right == pytest.approx(0.5)


def test_unequal_groups_are_drawn():
    assert exact_marginals(np.array([[0.0, -1.0], [-1.0, 0.0]])) is None
    assert exact_marginals(np.array([[0.0, 0.0, -np.inf], [0.0, 0.0, 0.0], [-np.inf, 0.0, 0.0]])) is None
    assert exact_marginals(np.zeros((3, 2))) is None


def test_a_clock_that_has_run_out_leaves_a_wide_interval():
    logs = np.random.default_rng(5).normal(size=(30, 30))
    clock = Clock(1e-9)
    short = matching_limit(logs, np.arange(30), queries_of(30), 0, clock)
    assert short.sweeps == 200
    assert short.low <= short.expected <= short.high
    assert short.high - short.low > 0.05


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_the_rate_is_that_of_the_largest_likelihood(seed):
    random = np.random.default_rng(seed)
    distance = random.exponential(size=(40, 6)) * 10.0
    weight = np.exp(-0.3 * distance)
    partner = np.array([random.choice(6, p=row / row.sum()) for row in weight])
    found = calibrated(distance, partner)

    def likelihood(rate):
        logs = -rate * distance
        return (logs[np.arange(40), partner] - np.log(np.exp(logs).sum(axis=1))).sum()

    assert likelihood(found.rate) >= max(likelihood(rate) for rate in np.geomspace(1e-3, 10, 200)) - 1e-3
    np.testing.assert_allclose(found.probability.sum(axis=1), 1.0)


def test_distances_without_any_use_and_impossible_candidates():
    flat = calibrated(np.full((3, 4), 2.5), np.zeros(3, dtype=int))
    np.testing.assert_allclose(flat.probability, 0.25)
    impossible = np.array([[1.0, np.inf, 2.0], [np.inf, np.inf, np.inf], [3.0, 1.0, np.inf]])
    found = calibrated(impossible, np.array([0, 1, 1])).probability
    assert found[0, 1] == found[2, 2] == 0.0
    np.testing.assert_allclose(found[1], 1.0 / 3.0)
    equal = np.array([[0.4, 0.4, 0.2], [0.2, 0.5, 0.3]])  # between which lots decide
    np.testing.assert_allclose(right_claims(equal, np.array([1, 2])), [0.5, 0.0])


def missed_by_belief_functions(true, claimed):
    """By how much no mass on the subsets with ``Bel <= P`` has P' as its pignistic probability.

    The definition as it stands: a mass for each of the 2^n - 1 subsets, and as many inequalities.
    """
    n = len(true)
    subsets = [set(each) for k in range(1, n + 1) for each in itertools.combinations(range(n), k)]
    many = len(subsets)
    inside = np.array([[float(one <= other) for one in subsets] for other in subsets])
    pignistic = np.array([[(i in one) / len(one) for one in subsets] for i in range(n)])
    found = linprog(
        np.repeat([0.0, 0.5], [many, 2 * n]),
        A_ub=np.hstack([inside, np.zeros((many, 2 * n))]),
        b_ub=[sum(true[i] for i in one) for one in subsets],
        A_eq=np.vstack([np.hstack([pignistic, np.eye(n), -np.eye(n)]), np.repeat([1.0, 0.0], [many, 2 * n])]),
        b_eq=[*claimed, 1.0],
    )
    return found.fun


def tenths(n, whole):
    """Probabilities of n candidates in parts of `whole`: ties and zeros are common."""
    return st.lists(st.integers(0, whole), min_size=n - 1, max_size=n - 1).map(
        lambda cuts: np.diff([0, *sorted(cuts), whole]) / whole
    )


@settings(max_examples=60)
@given(tenths(3, 12), tenths(3, 12))
def test_three_records_as_by_all_belief_functions(true, claimed):
    assert compatible(true, claimed) == (missed_by_belief_functions(true, claimed) <= TOLERANCE)


def test_what_is_quick_to_see_is_right_and_not_all():
    """Some need the linear program, and both its answers come up."""
    random, left = np.random.default_rng(0), set()
    for _ in range(70):
        true, claimed = random.dirichlet(np.ones(5)), random.dirichlet(np.ones(5))
        expected = missed_by_belief_functions(true, claimed) <= TOLERANCE
        quick = compatible(true, claimed, 0)
        assert quick in (None, expected)
        assert compatible(true, claimed) == expected
        if quick is None:
            left.add(expected)
    assert left == {True, False}


@pytest.mark.parametrize(("outsider", "answer"), [(0.39, True), (0.4, True), (0.41, False)])
def test_twins_together_weigh_as_much_as_any_other_candidate(outsider, answer):
    """Four equal masked records with 0.1 each may all be the true one: no other may have more than 0.4."""
    others = np.array([outsider, (0.6 - outsider) / 2, (0.6 - outsider) / 2])
    claimed = np.concatenate([np.full(4, 0.1), others])
    true = np.concatenate([np.full(4, 0.25), np.zeros(3)])
    assert compatible(true, claimed, 0) is answer
