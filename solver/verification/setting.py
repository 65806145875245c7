"""What was solved: which file is linked to which, by which family of distances."""

from __future__ import annotations

from dataclasses import dataclass

from solver.errors import UsageError
from solver.verification.fields import Fields, text, whole
from solver.verification.rejection import demand

MOST_ATTRIBUTES = 12
"""Of a measure whose values are listed."""

_CHOICES = {
    "aggregator": ("weighted-mean", "owa", "choquet", "mahalanobis"),
    "direction": ("original-to-masked", "masked-to-original"),
    "ties": ("strict", "share"),
    "standardisation": ("own", "original", "pooled", "none"),
    "differences": ("squared", "absolute", "signed"),
}


@dataclass(frozen=True)
class Setting:
    """The problem of a fit, as the JSON names it.

    Attributes
    ----------
    aggregator, direction, ties, standardisation, differences : str
    attributes : tuple of str
        In the order of the parameters.
    k_additive : int or None
        Of a k-additive Choquet integral.
    """

    aggregator: str
    direction: str
    ties: str
    standardisation: str
    differences: str
    attributes: tuple[str, ...]
    k_additive: int | None

    @property
    def share(self) -> bool:
        """Whether candidates identical to the partner are no rivals and share its weight."""
        return self.ties == "share"


def read_setting(fields: Fields) -> Setting:
    """Read the problem; UsageError for names that are unknown."""
    chosen = {}
    for key, allowed in _CHOICES.items():
        chosen[key] = fields.text(key)
        if chosen[key] not in allowed:
            raise UsageError(f"{fields.where}, {key} must be one of {', '.join(allowed)}")
    quadratic, signed = chosen["aggregator"] == "mahalanobis", chosen["differences"] == "signed"
    if (signed and not quadratic) or (quadratic and chosen["differences"] == "squared"):
        raise UsageError(
            f"{fields.where}: {chosen['aggregator']} takes no {chosen['differences']} differences"
        )
    attributes = tuple(text(name, f"{fields.where}, attributes") for name in fields.listed("attributes"))
    options = fields.inner("aggregator_options")
    k = None if options.get("k_additive") is None else whole(options.value("k_additive"), options.where)
    if not attributes or len(set(attributes)) < len(attributes):
        raise UsageError(f"{fields.where}, attributes must name at least one attribute, each once")
    if k is not None and (k < 2 or chosen["aggregator"] != "choquet"):
        raise UsageError(f"{fields.where}, aggregator_options: k_additive is for choquet, and at least 2")
    if chosen["aggregator"] == "choquet" and k != 2 and len(attributes) > MOST_ATTRIBUTES:
        raise UsageError(f"{fields.where}, attributes: a measure on {len(attributes)} has too many subsets")
    return Setting(attributes=attributes, k_additive=k, **chosen)


def demand_same(fit: Setting, certificate: Setting) -> None:
    """Reject a certificate of another problem than the fit's."""
    for name in (*_CHOICES, "attributes", "k_additive"):
        here, there = getattr(fit, name), getattr(certificate, name)
        demand(here == there, f"problem: the fit has {name} {here}, the certificate {there}")
