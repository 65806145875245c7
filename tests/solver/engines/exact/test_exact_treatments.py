"""What the exact engine does for a domain depends on its type alone."""

from __future__ import annotations

from functools import cached_property

import pytest
from aggregator_cases import BY_LABEL, CASES, LABELS
from exact_runs import engine, files

from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.formulations.linkage.domains import Domain, Polytope, Simplex, Spectrahedron
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.engines.exact.simplex_tree import SimplexTree
from linkrisk.solver.engines.exact.treatments import TREATMENTS, treatment


class _SameAsSimplex:
    """The simplex, without its type."""

    def __init__(self, dimension):
        self.dimension, self.simplex = dimension, Simplex(dimension)

    @property
    def rows(self):
        return self.simplex.rows

    def chord(self, theta, direction):
        return self.simplex.chord(theta, direction)

    def cuts(self, theta):
        return self.simplex.cuts(theta)

    def repair(self, theta):
        return self.simplex.repair(theta)

    def exact(self, theta):
        return self.simplex.exact(theta)

    def sample(self, count, generator):
        return self.simplex.sample(count, generator)


class SomeDomain(_SameAsSimplex, Domain):
    """Of which no more is known than that it is one."""


class SomePolytope(_SameAsSimplex, Polytope):
    """Of which no more is known than its rows."""


@pytest.mark.parametrize("case", CASES, ids=LABELS)
def test_every_domain_has_the_treatment_of_its_nearest_type(case):
    domain = case.make(3).domain
    expected = next(kind for kind in (Simplex, Polytope, Spectrahedron, Domain) if isinstance(domain, kind))
    assert treatment(domain) is TREATMENTS[expected]


def test_only_a_simplex_is_halved():
    having = {kind for kind, searches in TREATMENTS.items() if searches.tree is not None}
    assert having == {kind for kind, searches in TREATMENTS.items() if searches.pairs_of_rows} == {Simplex}
    assert treatment(BY_LABEL["2-additive"].make(3).domain).tree is SimplexTree


@pytest.mark.parametrize("kind", [SomeDomain, SomePolytope])
@pytest.mark.parametrize("seed", range(3))
def test_a_type_of_which_less_is_known_is_searched_with_less_and_ends_alike(kind, seed):
    class Plain(WeightedMean):
        @cached_property
        def domain(self):
            return kind(self.dimension)

    pair = make_pair(*files(seed, n=9))
    usual, plain = (engine(pair, make(("A", "B", "C"))) for make in (WeightedMean, Plain))
    found = treatment(kind(3))
    assert found is TREATMENTS[Domain if kind is SomeDomain else Polytope]
    assert found.tree is None
    assert (plain.incumbent.value, plain.incumbent.bound) == (usual.incumbent.value, usual.incumbent.bound)
    assert plain.incumbent.proven
