"""Register the core finder and the branch and bound of each type of domain."""

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

    # creates a core finder; each thread has its own
    finder: Callable[[BlockSystem, Scorer, Clock, FinderSteering], CoreFinder]
    # branch and bound by bisection of the domain, where possible; only in few dimensions
    tree: type[SimplexTree] | None = None
    # whether two rows that exclude each other are known by their entries, without a linear program
    pairs_of_rows: bool = False


def linear_finder(system: BlockSystem, scorer: Scorer, clock: Clock, steering: FinderSteering) -> CoreFinder:
    """Create the core finder by linear programs, which fits any domain and ignores the steering."""
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
    """Find the treatment of the domain's type, or of its nearest base class."""
    return next(TREATMENTS[kind] for kind in type(domain).__mro__ if kind in TREATMENTS)
