"""Register the searches of the exact engine for each type of domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.formulations.linkage.domains import Domain, Polytope, Simplex, Spectrahedron
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.exact.cores import CoreFinder, LinearCoreFinder
from linkrisk.solver.engines.exact.polytope import polytope_finder
from linkrisk.solver.engines.exact.simplex_tree import SimplexTree
from linkrisk.solver.engines.exact.spectrahedron import SemidefiniteCoreFinder
from linkrisk.solver.engines.steering import FinderSteering
from linkrisk.solver.run.clock import Clock


@dataclass(frozen=True)
class Treatment:
    """The searches for a type of domain."""

    # makes what finds cores; each thread has its own
    finder: Callable[[BlockSystem, Scorer, Clock, FinderSteering], CoreFinder]
    # halves the domain, where that is possible; it is worth a try in few dimensions only
    tree: type[SimplexTree] | None = None
    # whether two rows that exclude each other are known by their entries, without a program
    pairs_of_rows: bool = False


def linear_finder(system: BlockSystem, scorer: Scorer, clock: Clock, steering: FinderSteering) -> CoreFinder:
    """What finds cores of any domain, by linear programs; there is nothing to steer."""
    del steering
    return LinearCoreFinder(system, scorer, clock)


TREATMENTS: Mapping[type, Treatment] = MappingProxyType(
    {
        Domain: Treatment(linear_finder),
        Polytope: Treatment(polytope_finder),
        Simplex: Treatment(polytope_finder, tree=SimplexTree, pairs_of_rows=True),
        Spectrahedron: Treatment(SemidefiniteCoreFinder),
    }
)


def treatment(domain: Domain) -> Treatment:
    """That of the domain's type, or of the nearest type that it is derived from."""
    return next(TREATMENTS[kind] for kind in type(domain).__mro__ if kind in TREATMENTS)
