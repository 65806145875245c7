"""Likelihoods of masked records: densities written out, frequencies of repeated masking, bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal, norm

from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.pram import Pram
from linkrisk.datasets.masking.rank_swapping import RankSwapping, swap_partners
from linkrisk.datasets.masking.registry import masking_method
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.measures.known_masking import KnownMasking, swap_kernel, unknown
from linkrisk.solver.options.pair import ProblemOptions


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
