"""All linkers by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from linkrisk.solver.linkage.bayesian.linker import Bayesian
from linkrisk.solver.linkage.distance_based import DistanceBased
from linkrisk.solver.linkage.linker import Linker
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.linkage.representatives.linkers import OrderedWeightedAverages, SugenoIntegrals
from linkrisk.solver.linkage.representatives.one_dimension import PrincipalComponent, SumOfStandardised
from linkrisk.solver.linkage.representatives.random_matching import RandomMatching

LINKERS: Mapping[str, type[Linker]] = MappingProxyType(
    {
        linker.name: linker
        for linker in (
            DistanceBased,
            Probabilistic,
            OrderedWeightedAverages,
            SugenoIntegrals,
            Bayesian,
            PrincipalComponent,
            SumOfStandardised,
            RandomMatching,
        )
    }
)
"""Every linker by name. A new one is a file, its class here, and its settings in `parameters.PARAMETERS`."""
