"""All linkers by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType

from linkrisk.datasets.masking.base import Option
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
    meanings: dict[str, dict[str, list[str]]] = {}
    options: dict[str, Option] = {}
    for method, linker in LINKERS.items():
        for item in fields(linker):  # type: ignore[arg-type]
            if "option" in item.metadata:
                option: Option = item.metadata["option"]
                options.setdefault(item.name, option)
                meanings.setdefault(item.name, {}).setdefault(option.help, []).append(method)
    return {name: replace(option, help=_joined(meanings[name])) for name, option in options.items()}


def _joined(meanings: Mapping[str, list[str]]) -> str:
    return "; ".join(f"{', '.join(methods)}: {meaning}" for meaning, methods in meanings.items())
