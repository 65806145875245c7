"""The families of distances as the verifier knows them: one file each, found by the name in its class.

May import the rest of `checking` but what counts and checks. A family shares no code with the aggregator of
the same name: that both come to the same is what a certificate is worth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from linkrisk.solver.certificates.checking.families.base import Family
from linkrisk.solver.run.errors import UsageError


def found() -> Iterator[type[Family]]:
    """The classes in the files of this folder that have a name of their own, in the order of the files."""
    for module in iter_modules(__path__, f"{__name__}."):
        for kind in vars(import_module(module.name)).values():
            own = isinstance(kind, type) and kind.__module__ == module.name
            if own and issubclass(kind, Family) and "name" in vars(kind):
                yield kind


FAMILIES: dict[str, type[Family]] = {kind.name: kind for kind in found()}


def family_of(aggregator: str, attributes: int, options: Mapping[str, Any], where: str = "fit") -> Family:
    """The family of an aggregator.

    Parameters
    ----------
    aggregator : str
        Its name.
    attributes : int
    options : mapping
        Its options in the JSON, those that were not given left out.
    where : str
        What to name in messages.

    Raises
    ------
    UsageError
        If the name is unknown, or the family has no such options.
    """
    if aggregator not in FAMILIES:
        raise UsageError(f"{where}, aggregator must be one of {', '.join(FAMILIES)}")
    return FAMILIES[aggregator].of(attributes, options, where)
