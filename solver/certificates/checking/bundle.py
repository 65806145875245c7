"""What `report --certificate` writes: the fits of several families with their certificates in one file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkrisk.solver.run.errors import UsageError

FORMAT = "linkrisk-certificates"
KEY, FAMILY, FIT, CERTIFICATE = "certificates", "aggregator", "fit", "certificate"
"""Keys of such a file, and of each of its entries."""

_WRITER = "report --certificate"


def is_bundle(content: Mapping[str, Any]) -> bool:
    """Whether a JSON object is what `report --certificate` writes."""
    return content.get("format") == FORMAT


def fits_and_certificates(content: Mapping[str, Any], name: str) -> dict[str, tuple[Any, Any]]:
    """List fit and certificate of each family, as the fits name their families.

    Raises
    ------
    UsageError
        If the file, called `name`, is not as it was written.
    """
    listed = content.get(KEY)
    if not isinstance(listed, list):
        raise UsageError(f"{name} has no list of certificates; give the file that `{_WRITER}` wrote")
    if not listed:
        raise UsageError(f"{name} has no certificate: the report that wrote it says why")
    found: dict[str, tuple[Any, Any]] = {}
    for at, entry in enumerate(listed, start=1):
        fit, certificate = _pair(entry, f"{name}, certificate {at}")
        family = fit.get(FAMILY)
        if not isinstance(family, str):
            raise UsageError(f"{name}, certificate {at}: its fit does not say of which family it is")
        if family in found:
            raise UsageError(f"{name} has two certificates of {family!r}; give the file as it was written")
        found[family] = fit, certificate
    return found


def _pair(entry: Any, where: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Fit and certificate of an entry."""
    for key in (FIT, CERTIFICATE):
        if not isinstance(entry, Mapping) or not isinstance(entry.get(key), Mapping):
            raise UsageError(f"{where} has no '{key}'; give the file that `{_WRITER}` wrote")
    return entry[FIT], entry[CERTIFICATE]
