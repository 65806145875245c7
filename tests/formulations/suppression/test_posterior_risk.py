"""Benedetti and Franconi's risk: published values, the distribution that it is a mean of, its limits."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from key_tasks import GUIDE_KEYS, key_file, practice_guide
from scipy import integrate, stats

from linkrisk.formulations.suppression.posterior_risk import household_risk, posterior_risk
from linkrisk.solver.measures.individual_risk import measured

DATA = os.environ.get("LINKRISK_DATA")


def one(f, p):
    return float(posterior_risk(np.array([float(f)]), np.array([f / p]))[0])


def test_the_risks_of_the_practice_guide():
    """Table 4.1, to its four digits."""
    file = practice_guide()
    found = measured(key_file(file[GUIDE_KEYS]), file["weight"].to_numpy(float), None)
    published = [0.0054, 0.0054, 0.0251, 0.0126, 0.0282, 0.0126, 0.0290, 0.0251, 0.0074, 0.0074]
    assert found.risk.round(4).tolist() == published
    assert found.expected == pytest.approx(sum(published), abs=5e-4)


@pytest.mark.skipif(DATA is None, reason="needs public data: set LINKRISK_DATA to its folder")
def test_the_example_of_capobianchi_polettini_and_lucarelli():
    """CASC deliverable 1.2-D1, as in the help page of sdcMicro's `indivRisk`."""
    file = pd.read_csv(Path(str(DATA)) / "casc_francdat.csv")
    found = measured(key_file(file[["Key1", "Key2", "Key3", "Key4"]]), file["w"].to_numpy(float), None)
    assert found.frequency.tolist() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert found.population.tolist() == [110.0, 84.5, 84.5, 17.0, 541.0, 8.0, 5.0, 110.0]
    published = [
        0.01714426,
        0.02204233,
        0.02204233,
        0.17707583,
        0.01165448,
        0.29706308,
        0.40235948,
        0.01714426,
    ]
    assert found.risk == pytest.approx(published, abs=5e-9)


@pytest.mark.parametrize("f", [1, 2, 3, 4, 10, 60])
@pytest.mark.parametrize("p", [0.003, 0.1, 0.5, 0.985, 0.995, 0.99999])
def test_it_is_the_mean_of_1_over_f_of_the_negative_binomial(f, p):
    """`scipy.stats.nbinom` counts failures before the f-th success, which is F - f."""
    beyond = np.arange(0, int(stats.nbinom.isf(1e-14, f, p)) + 50)
    mean = (stats.nbinom.pmf(beyond, f, p) / (f + beyond)).sum()
    assert one(f, p) == pytest.approx(mean, rel=1e-9)


@given(st.integers(1, 3000), st.floats(1e-6, 1.0))
def test_it_is_the_integral_of_the_hypergeometric_function(f, p):
    """Euler's integral, ``r = p int_0^1 (1-t)^(f-1) / (1 - q t) dt``, with t = 1 - s^(1/f)."""
    value = integrate.quad(
        lambda s: p / f / (p + (1.0 - p) * s ** (1.0 / f)), 0.0, 1.0, epsrel=1e-11, limit=500
    )
    assert one(f, p) == pytest.approx(value[0], rel=1e-6)
    assert p / f * (1.0 - 1e-12) <= one(f, p) <= 1.0 / f


def test_a_census_has_risk_1_over_f():
    f = np.array([1.0, 2.0, 3.0, 7.0])
    assert posterior_risk(f, f) == pytest.approx(1.0 / f)
    assert posterior_risk(f, f / 3.0) == pytest.approx(1.0 / f)  # weights below 1


def test_nearly_a_census_is_no_worse_than_a_census():
    """The closed forms cancel there."""
    for f in (1, 2, 3):
        near = [one(f, 1.0 - 10.0**-k) for k in range(1, 16)]
        assert np.all(np.diff(near) >= -1e-15)
        assert near[-1] == pytest.approx(1.0 / f)


def test_households():
    """1 - (1 - 0.1)(1 - 0.2) = 0.28; a certain member makes the household certain."""
    found = household_risk(np.array([0.1, 0.5, 0.2, 1.0, 0.3]), np.array([0, 1, 0, 2, 2]))
    assert found == pytest.approx([0.28, 0.5, 0.28, 1.0, 1.0])
