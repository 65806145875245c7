"""What was solved: which file is linked to which, by which family of distances."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from linkrisk.solver.certificates.checking.families import family_of
from linkrisk.solver.certificates.checking.families.base import Family
from linkrisk.solver.certificates.checking.fields import Fields, text
from linkrisk.solver.certificates.checking.missing import RULES
from linkrisk.solver.certificates.checking.recodings import Recodings, read_recodings
from linkrisk.solver.certificates.core.claims import demand
from linkrisk.solver.run.errors import UsageError

MOST_CATEGORIES = 2000

_SCALES = ("ordinal", "nominal", "date")

_CHOICES = {
    "direction": ("original-to-masked", "masked-to-original"),
    "ties": ("strict", "share"),
    "standardisation": ("own", "original", "pooled", "none"),
    "differences": ("squared", "absolute", "signed"),
    "missing": RULES,
}


@dataclass(frozen=True)
class Setting:
    """The problem of a fit, as the JSON names it.

    Attributes
    ----------
    aggregator, direction, ties, standardisation, differences : str
    missing : str
        What a missing value is compared as.
    attributes : tuple of str
        In the order of the parameters.
    options : dict
        Of the aggregator, such as the k of a k-additive Choquet integral; those that were given.
    family : Family
        The distances that these make.
    schema : tuple of (str, str, tuple of str)
        Name, scale and categories of each categorical attribute.
    dates : dict of str to (str or None)
        The attributes that are dates, compared by days, with the form in which they are written, if named.
    recodings : tuple of Recodings
        What is assumed of the masking of attributes, one entry for an attribute.
    weight : str, optional
        The column with the sampling weights; without one all records count alike.
    """

    aggregator: str
    direction: str
    ties: str
    standardisation: str
    differences: str
    missing: str
    attributes: tuple[str, ...]
    options: dict[str, Any]
    family: Family = field(compare=False)
    schema: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    dates: dict[str, str | None] = field(default_factory=dict)
    recodings: tuple[Recodings, ...] = ()
    weight: str | None = None

    @property
    def share(self) -> bool:
        """Whether candidates identical to the partner are not rivals and share its weight."""
        return self.ties == "share"


def read_setting(fields: Fields) -> Setting:
    """Read the problem; UsageError for names that are unknown."""
    aggregator, chosen = fields.text("aggregator"), {}
    for key, allowed in _CHOICES.items():
        chosen[key] = fields.text(key)
        if chosen[key] not in allowed:
            raise UsageError(f"{fields.where}, {key} must be one of {', '.join(allowed)}")
    attributes = tuple(text(name, f"{fields.where}, attributes") for name in fields.listed("attributes"))
    if not attributes or len(set(attributes)) < len(attributes):
        raise UsageError(f"{fields.where}, attributes must name at least one attribute, each once")
    options = fields.inner("aggregator_options").given()
    family = family_of(aggregator, len(attributes), options, fields.where)
    if chosen["differences"] not in family.differences:
        raise UsageError(f"{fields.where}: {aggregator} takes no {chosen['differences']} differences")
    schema, dates = _read_schema(fields, attributes)
    if schema and chosen["differences"] == "signed":
        raise UsageError(f"{fields.where}: differences of categories have no sign")
    sizes: dict[str, int] = dict.fromkeys(attributes, 0)
    recodings = read_recodings(fields, sizes | {name: len(categories) for name, _, categories in schema})
    return Setting(
        aggregator=aggregator,
        attributes=attributes,
        options=options,
        family=family,
        schema=schema,
        dates=dates,
        recodings=recodings,
        weight=None if fields.get("weight") is None else fields.text("weight"),
        **chosen,
    )


def _read_schema(
    fields: Fields, attributes: tuple[str, ...]
) -> tuple[tuple[tuple[str, str, tuple[str, ...]], ...], dict[str, str | None]]:
    """Scale and categories of the categorical attributes, and the dates; none where the fit names none."""
    if fields.get("schema") is None:
        return (), {}
    found: list[tuple[str, str, tuple[str, ...]]] = []
    dates: dict[str, str | None] = {}
    for item in fields.inner("schema").listed("attributes"):
        row = Fields(item, f"{fields.where}, schema")
        name, scale = row.text("name"), row.text("scale")
        if name not in attributes or scale not in _SCALES:
            raise UsageError(f"{row.where}: {name} must be an attribute of the fit, {' or '.join(_SCALES)}")
        if name in dates or any(name == known for known, _, _ in found):
            raise UsageError(f"{fields.where}, schema names an attribute twice")
        if scale == "date":
            dates[name] = None if row.get("form") is None else row.text("form")
            continue
        categories = tuple(text(category, row.where) for category in row.listed("categories"))
        if not 0 < len(set(categories)) == len(categories) <= MOST_CATEGORIES:
            raise UsageError(f"{row.where}: {name} must list up to {MOST_CATEGORIES} categories, each once")
        found.append((name, scale, categories))
    return tuple(found), dates


def demand_same(fit: Setting, certificate: Setting) -> None:
    """Reject a certificate of another problem than the fit's."""
    same = (fit.schema, fit.dates) == (certificate.schema, certificate.dates)
    demand(same, "problem: the fit and the certificate have different schemas")
    demand(
        fit.recodings == certificate.recodings,
        "problem: the fit and the certificate have different recodings",
    )
    for name in ("aggregator", *_CHOICES, "attributes", "options", "weight"):
        here, there = getattr(fit, name), getattr(certificate, name)
        demand(here == there, f"problem: the fit has {name} {here}, the certificate {there}")
