"""Aggregators by the name that `--aggregator` takes: one line for each."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

from linkrisk.errors import called
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.aggregators.base import Aggregator, Words
from linkrisk.formulations.linkage.aggregators.choquet import Choquet
from linkrisk.formulations.linkage.aggregators.k_additive import KAdditiveChoquet, TwoAdditiveChoquet
from linkrisk.formulations.linkage.distances import Differences

# File and class; poorer families before the richer ones that contain them.
_CLASSES = (
    "weighted_mean:WeightedMean",
    "owa:OrderedWeightedAverage",
    "choquet:Choquet",
    "mahalanobis:Mahalanobis",
)


def load_aggregator(place: str) -> type[Aggregator]:
    """The class at a place such as ``weighted_mean:WeightedMean``, file and class."""
    file, name = place.split(":")
    found: type[Aggregator] = getattr(
        import_module(f"linkrisk.formulations.linkage.aggregators.{file}"), name
    )
    return found


AGGREGATORS: dict[str, type[Aggregator]] = {kind.name: kind for kind in map(load_aggregator, _CLASSES)}


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
        One of `AGGREGATORS`.
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

    Examples
    --------
    >>> from linkrisk.distances import make_aggregator
    >>> make_aggregator("choquet", ("age", "income")).parameter_names
    ('mu_age', 'mu_income', 'mu_age+income')
    """
    if name not in AGGREGATORS:
        close = get_close_matches(name, AGGREGATORS, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"choose one of {', '.join(AGGREGATORS)}"
        raise FormulationError(f"unknown aggregator '{name}': {hint}")
    if k_additive is None:
        return AGGREGATORS[name](attributes, differences)
    if name != Choquet.name:
        raise FormulationError(
            f"{called('k_additive')} is an option of choquet, not of {name}: leave it out",
            option="k_additive",
        )
    if k_additive < 2:
        raise FormulationError(
            f"{called('k_additive')} must be at least 2, not {k_additive}: the 1-additive integral is "
            f"{called('aggregator', 'weighted-mean')}",
            option="k_additive",
        )
    if min(k_additive, len(attributes)) <= 2:  # of two attributes, every measure is 2-additive
        return TwoAdditiveChoquet(attributes, differences)
    return KAdditiveChoquet(attributes, k_additive, differences)


def words_of(name: str) -> Words:
    """What people read about the family of this name, which a file may give that another version wrote."""
    kind = AGGREGATORS.get(name)
    return Words(name, "parameters") if kind is None else kind.words
