"""All linkers by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from linkrisk.datasets.masking.base import Option, options_of, shared_options
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
"""Every linker by name. A new one is one file and its class here."""


def all_settings() -> dict[str, Option]:
    """Every setting that users can give; the help of a shared one says what it means to each linker."""
    return shared_options(LINKERS)


def own_settings(method: str) -> dict[str, Option]:
    """The settings of a linker; none where there is no such linker."""
    return options_of(LINKERS[method]) if method in LINKERS else {}
