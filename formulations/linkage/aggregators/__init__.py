"""One file per aggregator: feature map, domain of parameters and decode; nothing about solving.

May import numpy, scipy and the rest of `formulations`.
"""

from __future__ import annotations

from difflib import get_close_matches

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.aggregators.base import Aggregator, Domain
from linkrisk.formulations.linkage.aggregators.choquet import Choquet
from linkrisk.formulations.linkage.aggregators.k_additive import KAdditiveChoquet, TwoAdditiveChoquet
from linkrisk.formulations.linkage.aggregators.mahalanobis import Mahalanobis
from linkrisk.formulations.linkage.aggregators.owa import OrderedWeightedAverage
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.formulations.linkage.distances import Differences

AGGREGATORS: dict[str, type[Aggregator]] = {
    aggregator.name: aggregator for aggregator in (WeightedMean, OrderedWeightedAverage, Choquet, Mahalanobis)
}

__all__ = ["AGGREGATORS", "Aggregator", "Domain", "make_aggregator"]


def make_aggregator(
    name: str,
    attributes: tuple[str, ...],
    *,
    differences: Differences | str | None = None,
    k_additive: int | None = None,
) -> Aggregator:
    """Make an aggregator by the name that `--aggregator` takes.

    Parameters
    ----------
    name : str
        ``weighted-mean``, ``owa``, ``choquet`` or ``mahalanobis``.
    attributes : tuple of str
        Names of the attributes, in file order.
    differences : Differences or str, optional
        Which attribute distances to take instead of the aggregator's default.
    k_additive : int, optional
        For ``choquet``: allow interactions of at most this many attributes.

    Raises
    ------
    FormulationError
        If the name is unknown or an option does not fit.
    """
    if name not in AGGREGATORS:
        close = get_close_matches(name, AGGREGATORS, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"choose one of {', '.join(AGGREGATORS)}"
        raise FormulationError(f"unknown aggregator '{name}': {hint}")
    if k_additive is None:
        return AGGREGATORS[name](attributes, differences)
    if name != Choquet.name:
        raise FormulationError(f"--k-additive is an option of choquet, not of {name}: leave it out")
    if k_additive < 2:
        raise FormulationError(
            f"--k-additive must be at least 2, not {k_additive}: the 1-additive integral is "
            "--aggregator weighted-mean"
        )
    if min(k_additive, len(attributes)) <= 2:  # of two attributes, every measure is 2-additive
        return TwoAdditiveChoquet(attributes, differences)
    return KAdditiveChoquet(attributes, k_additive, differences)
