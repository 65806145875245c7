"""Bounds that go down: what no distance of a family links, no distance of a family inside of it links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from linkrisk.solver.run.results import LINKED, FamilyFit, limit_key, meets, objective
from linkrisk.solver.run.status import Status
from linkrisk.solver.worst_case.parts import continued
from linkrisk.solver.worst_case.result import Family

BOUND_FROM = "bound_from"
"""The key of a result whose bound is that of a family which contains it: the name of that family."""


def handed_down(families: Sequence[Family], contains: Callable[[str, str], bool]) -> list[Family]:
    """The families, each with the bound of one that contains it where that is lower, and its name.

    What a certificate would be made of (`FamilyFit.fitted`) stays the family's own. Bounds that hold up to a
    margin are about other distances in every family, and stay where they are; so do those that an order of
    attributes or ranks has raised.

    Parameters
    ----------
    families : sequence of Family
        All of one file pair.
    contains : callable
        Whether the first of two families, by name, contains the second.
    """
    found = {one.aggregator: one.result for one in families if one.result is not None}
    for name, result in list(found.items()):
        outer = [found[other] for other in found if other != name and contains(other, name)]
        lower = min(outer, key=lambda one: one.interval[1], default=result)
        if not meets(lower.interval[1], result.interval[1]) and _may(result, lower):
            found[name] = bounded_by(result, lower, lower.details["aggregator"])
    return [replace(one, result=found.get(one.aggregator)) for one in families]


def _may(result: FamilyFit, lower: FamilyFit) -> bool:
    """Whether a bound of another family says as much of this one."""
    exact = result.details["margin"] is None and lower.details["margin"] is None
    return exact and result.limit != "ties" and meets(lower.interval[1], result.interval[0])


def bounded_by(result: FamilyFit, lower: FamilyFit, name: str | None = None) -> FamilyFit:
    """The result with the bounds of another one where these are lower, and the name of where they are from.

    Parameters
    ----------
    result, lower : FamilyFit
    name : str, optional
        None where both are of one family.
    """
    keys = objective(result.details)
    details: dict[str, Any] = {**result.details}
    for key, least in ((keys[1], keys[0]), (limit_key(LINKED), LINKED[0]), (limit_key(keys), keys[0])):
        if key in details:
            counted = details.get(least, result.linked)
            details[key] = max(counted, min(details[key], lower.details[key]))
    if name is not None:
        details.pop("parts", None)  # which the bound is no sum of any more
        details[BOUND_FROM] = name
    most = max(result.linked, min(result.linked_upper_bound, lower.linked_upper_bound))
    bounded = replace(result, linked_upper_bound=most, details=details)
    met = bounded.confidence is None and meets(*bounded.interval)
    return replace(bounded, status=Status.OPTIMAL.value, limit=None) if met else bounded


def joined_searches(before: Family, again: Family, *, lower: bool) -> Family:
    """One family after a second search, which went on from what the first had found.

    Parameters
    ----------
    before, again : Family
        Both with a result.
    lower : bool
        Whether the second has proved more: else the proof is that of the first.
    """
    first, second = before.result, again.result
    assert first is not None
    assert second is not None
    if second.interval[0] >= first.interval[0]:
        kept, result = again, bounded_by(second, first)
    else:  # there was no time to count what is known
        kept, result = before, bounded_by(first, second)
    result = replace(result, details={**result.details, **_both(first.details, second.details)})
    fitted = again.fitted
    if not lower and before.fitted is not None:
        fitted = replace(before.fitted, result=result)
    return replace(kept, result=result, cores=again.cores or before.cores, fitted=fitted)


def _both(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """What two searches took together, and how they came along."""
    began, phases = first["seconds"], dict(first["phases"])
    for phase, seconds in second["phases"].items():
        phases[phase] = round(phases.get(phase, 0.0) + seconds, 3)
    later = [(began + at, low, high) for at, low, high in second["trace"]]
    took = {"seconds": round(began + second["seconds"], 3), "phases": phases}
    took["trace"] = [list(moment) for moment in continued(first["trace"], later)]
    if "work" in first:
        took["work"] = round(first["work"] + second["work"], 6)
    return took
