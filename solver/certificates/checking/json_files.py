"""Files of fits and certificates: read strictly, from anybody; one fit each, or those of a report."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from linkrisk.datasets.microdata.strict_json import AmbiguousError, parse
from linkrisk.solver.run.errors import UsageError

LARGEST_FILE = 1 << 28
"""Bytes of a file that is read."""

MOST_ITEMS = 1 << 24
"""Commas and brackets in it: at sixty bytes a value, what is read stays far below two gigabytes."""

FORMAT = "linkrisk-certificates"
KEY, FAMILY, FIT, CERTIFICATE = "certificates", "aggregator", "fit", "certificate"
"""Keys of what `report --certificate` writes, and of each of its entries."""

_WRITER = "report --certificate"


def read_object(path: str | Path, writer: str) -> dict[str, Any]:
    """Read a JSON object, compressed where the name ends with ``.gz``; messages name the command `writer`.

    UsageError if the file cannot be read, is too large, no JSON object, or ambiguous (`strict_json`).
    """
    hint = f"give the file that `{writer}` wrote"
    try:
        with gzip.open(path) if str(path).endswith(".gz") else Path(path).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except (EOFError, zlib.error):
        raise UsageError(f"{path} is not a whole gzip file; {hint}") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"{path} cannot be read: {reason}; {hint}") from None
    if len(content) > LARGEST_FILE or sum(map(content.count, (b",", b"[", b"{"))) > MOST_ITEMS:
        raise UsageError(f"{path} is too large to be checked; {hint}")
    try:
        found = parse(content)
    except AmbiguousError as error:
        raise UsageError(f"{path} cannot be used: {error}; {hint}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is not valid JSON; {hint}") from None
    if not isinstance(found, dict):
        raise UsageError(f"{path} does not hold a JSON object; {hint}")
    return found


def is_bundle(content: Mapping[str, Any]) -> bool:
    """Whether a JSON object is what `report --certificate` writes."""
    return content.get("format") == FORMAT


def fits_and_certificates(content: Mapping[str, Any], name: str) -> dict[str, tuple[Any, Any]]:
    """Fit and certificate by aggregator; UsageError if the file `name` is not as it was written."""
    listed = content.get(KEY)
    if not isinstance(listed, list):
        raise UsageError(f"{name} has no list of certificates; give the file that `{_WRITER}` wrote")
    if not listed:
        raise UsageError(f"{name} has no certificate: the report that wrote it says why")
    found: dict[str, tuple[Any, Any]] = {}
    for at, entry in enumerate(listed, start=1):
        where = f"{name}, certificate {at}"
        for key in (FIT, CERTIFICATE):
            if not isinstance(entry, Mapping) or not isinstance(entry.get(key), Mapping):
                raise UsageError(f"{where} has no '{key}'; give the file that `{_WRITER}` wrote")
        family = entry[FIT].get(FAMILY)
        if not isinstance(family, str):
            raise UsageError(f"{where}: its fit does not say of which family it is")
        if family in found:
            raise UsageError(f"{name} has two certificates of {family!r}; give the file as it was written")
        found[family] = entry[FIT], entry[CERTIFICATE]
    return found
