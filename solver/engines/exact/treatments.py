"""Register the core finder and the branch and bound of each type of domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from linkrisk.datasets.options.late import imported
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.formulations.linkage.domains import Domain, Polytope, Simplex, Spectrahedron
from linkrisk.solver.engines.attacks.scoring import Scorer
from linkrisk.solver.engines.exact.cores import CoreFinder, LinearCoreFinder
from linkrisk.solver.engines.steering import FinderSteering
from linkrisk.solver.run.clock import Clock

if TYPE_CHECKING:
    from linkrisk.solver.engines.exact.simplex_tree import SimplexTree

Finder = Callable[[BlockSystem, Scorer, Clock, FinderSteering], CoreFinder]

_HERE = "linkrisk.solver.engines.exact"


@dataclass(frozen=True)
class Treatment:
    """The searches for a type of domain."""

    # where what creates a core finder is; each thread has its own
    finder_at: str
    # where branch and bound by bisection of the domain is, where possible; only in few dimensions
    tree_at: str | None = None
    # whether two rows that exclude each other are known by their entries, without a linear program
    pairs_of_rows: bool = False

    @property
    def finder(self) -> Finder:
        """What creates a core finder."""
        found: Finder = imported(f"{_HERE}.{self.finder_at}")
        return found

    @property
    def tree(self) -> type[SimplexTree] | None:
        """Branch and bound by bisection of the domain."""
        return None if self.tree_at is None else imported(f"{_HERE}.{self.tree_at}")


def linear_finder(system: BlockSystem, scorer: Scorer, clock: Clock, steering: FinderSteering) -> CoreFinder:
    """Create the core finder by linear programs, which fits any domain and ignores the steering."""
    del steering
    return LinearCoreFinder(system, scorer, clock)


TREATMENTS: Mapping[type, Treatment] = MappingProxyType(
    {
        Domain: Treatment("treatments:linear_finder"),
        Polytope: Treatment("polytope:polytope_finder"),
        Simplex: Treatment("polytope:polytope_finder", "simplex_tree:SimplexTree", pairs_of_rows=True),
        Spectrahedron: Treatment("spectrahedron:SemidefiniteCoreFinder"),
    }
)


def treatment(domain: Domain) -> Treatment:
    """Find the treatment of the domain's type, or of its nearest base class."""
    return next(TREATMENTS[kind] for kind in type(domain).__mro__ if kind in TREATMENTS)
