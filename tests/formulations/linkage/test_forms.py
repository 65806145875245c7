"""Forms of distances: what is never below them and never falls, and what is never above a quadratic form."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind

MONOTONE = [kind for kind in FormKind if kind is not FormKind.QUADRATIC]


def parameters_of(kind, random, n, wrong):
    """Parameters of a monotone distance, and then moved by up to `wrong`."""
    if kind is FormKind.CHOQUET:
        p = random.random(1 << n)
        p[0] = 0.0
        for k in range(n):
            halves = p.reshape(-1, 2, 1 << k)
            np.maximum(halves[:, 0], halves[:, 1], out=halves[:, 1])
        p[1:] += wrong * random.normal(size=p.size - 1)
    elif kind is FormKind.PAIRWISE:
        p = np.triu(random.normal(size=(n, n)), 1)
        np.fill_diagonal(p, -np.minimum(p + p.T, 0.0).sum(axis=1))
        p += wrong * np.triu(random.normal(size=(n, n)))
    else:
        p = random.exponential(size=n) * random.integers(0, 2, size=n) + wrong * random.normal(size=n)
    return p


def attribute_distances(random, rows, n):
    c = random.exponential(size=(rows, n)) * 10.0 ** random.integers(-3, 4, size=(rows, 1))
    c[::3] = np.round(c[::3])
    c[::7, 0] = 0.0
    return c


@given(
    kind=st.sampled_from(MONOTONE),
    seed=st.integers(0, 10_000),
    n=st.integers(1, 5),
    wrong=st.sampled_from([0.0, 1e-17, 1e-12, 1e-3, 1.0]),
    differences=st.sampled_from([Differences.SQUARED, Differences.ABSOLUTE]),
)
def test_monotone_forms_are_no_lower_and_never_fall(kind, seed, n, wrong, differences):
    random = np.random.default_rng(seed)
    form = DistanceForm(kind, differences, parameters_of(kind, random, n, wrong))
    before = form.parameters.copy()
    monotone, raised = form.monotone()
    np.testing.assert_array_equal(form.parameters, before)
    assert (monotone.kind, monotone.differences) == (kind, differences)
    assert raised >= 0.0
    c = attribute_distances(random, 80, n)
    rounding = 1e-13 * (1.0 + np.abs(before).sum()) * c.max(axis=1)
    assert (monotone(c) >= form(c) - rounding).all()
    assert (monotone(c) <= form(c) + raised * c.max(axis=1) + rounding).all()
    # Along one attribute, along several, and up to where two of them meet.
    for larger in (
        c + np.eye(n)[random.integers(n, size=len(c))] * random.exponential(size=(len(c), 1)),
        c + random.exponential(size=c.shape) * random.integers(0, 2, size=c.shape),
        np.maximum(c, c[:, [random.integers(n)]]),
    ):
        rounding = 1e-13 * (1.0 + np.abs(before).sum()) * larger.max(axis=1)
        assert (monotone(c) <= monotone(larger) + rounding).all()
    assert monotone.monotone()[1] <= 1e-13 * (1.0 + np.abs(before).sum())


def test_what_is_not_monotone_is_raised_as_little_as_can_be():
    """By hand: of a measure the largest value of any subset, of minima what the diagonal lacks."""
    form = DistanceForm(FormKind.CHOQUET, Differences.SQUARED, np.array([0.0, 0.5, -0.25, 0.25]))
    monotone, raised = form.monotone()
    assert (monotone.parameters.tolist(), raised) == ([0.0, 0.5, 0.0, 0.5], 0.25)
    form = DistanceForm(FormKind.PAIRWISE, Differences.SQUARED, np.array([[0.25, -0.5], [0.0, 1.0]]))
    monotone, raised = form.monotone()
    assert (monotone.parameters.tolist(), raised) == ([[0.5, -0.5], [0.0, 1.0]], 0.25)
    form = DistanceForm(FormKind.ORDERED_SUM, Differences.SQUARED, np.array([-0.25, 0.5, -0.5]))
    monotone, raised = form.monotone()
    assert (monotone.parameters.tolist(), raised) == ([0.0, 0.5, 0.0], 0.75)


# ---------------------------------------------------------------- quadratic forms


def definite(random, n, rank, exponent, zeros):
    """A semidefinite matrix of a rank, with an eigenvalue near zero and attributes without weight."""
    basis = np.linalg.qr(random.normal(size=(n, n)))[0]
    values = np.where(np.arange(n) < rank, random.exponential(size=n), 0.0)
    values[0] *= 10.0**exponent
    scale = 10.0 ** random.integers(-4, 3, size=n)
    scale[:zeros] = 0.0
    return scale[:, None] * ((basis * values) @ basis.T) * scale


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 5),
    short=st.integers(0, 3),
    exponent=st.sampled_from([0, -6, -10, -12, -14, -18]),
    zeros=st.integers(0, 2),
    signed=st.booleans(),
)
def test_diagonal_forms_are_nowhere_above_quadratic_ones(seed, n, short, exponent, zeros, signed):
    random = np.random.default_rng(seed)
    matrix = definite(random, n, max(1, n - short), exponent, min(zeros, n))
    form = DistanceForm(FormKind.QUADRATIC, Differences.SIGNED if signed else Differences.ABSOLUTE, matrix)
    diagonal = form.diagonal()
    assert (diagonal.kind, diagonal.differences) == (FormKind.WEIGHTED_SUM, Differences.SQUARED)
    assert (diagonal.parameters >= 0.0).all()
    # Anywhere, and where the form is smallest for its diagonal.
    roots = np.sqrt(np.where(np.diag(matrix) > 0.0, np.diag(matrix), 1.0))
    vectors = np.linalg.eigh(matrix / np.outer(roots, roots))[1].T / roots
    c = np.vstack([attribute_distances(random, 40, n), vectors, 1e6 * vectors])
    c = c * random.choice([-1.0, 1.0], size=(len(c), 1)) if signed else np.abs(c)
    noise = form.noise * c**2 @ np.diag(matrix)
    assert (diagonal(c**2) <= form(c) + noise).all()


def test_singular_matrices_bound_nothing_and_definite_ones_by_their_smallest_share():
    for matrix, share in (
        ([[0.5, 0.5], [0.5, 0.5]], 0.0),
        ([[1.0, 0.5], [0.5, 1.0]], 0.5),
        ([[4.0, 1.0], [1.0, 1.0]], 0.5),
        ([[1.0, 1e-3], [1e-3, 0.0]], 0.0),  # not semidefinite: below zero somewhere
    ):
        form = DistanceForm(FormKind.QUADRATIC, Differences.SIGNED, np.array(matrix))
        np.testing.assert_allclose(
            form.diagonal().parameters, share * np.diag(matrix), rtol=1e-8, atol=1e-300
        )
