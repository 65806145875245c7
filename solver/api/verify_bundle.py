"""`verify` of what `report --certificate` wrote: the certificates of several families in one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.api.verify import VerificationResult, verify
from linkrisk.solver.certificates.checking.fields import read_object
from linkrisk.solver.options.operations.verify import BundleOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.progress import Progress
from linkrisk.solver.run.results import dump_json

KEY, FAMILY, FIT, CERTIFICATE = "certificates", "aggregator", "fit", "certificate"
"""Keys of such a file, and of each of its entries."""

_WRITER = "report --certificate"


@dataclass(frozen=True)
class BundleVerification:
    """What several certificates prove about two files. As a condition it is true if all fits are verified.

    Attributes
    ----------
    results : mapping of str to VerificationResult
        By family.
    """

    results: Mapping[str, VerificationResult] = field(repr=False)

    def __bool__(self) -> bool:
        return all(self.results.values())

    @property
    def rejected(self) -> tuple[str, ...]:
        """Families whose fit is not proved."""
        return tuple(family for family, result in self.results.items() if not result)

    def to_dict(self) -> dict[str, Any]:
        """Whether all is verified, and each result."""
        found = {family: result.to_dict() for family, result in self.results.items()}
        return {"verified": bool(self), KEY: found}

    def to_json(self) -> str:
        """The same as JSON."""
        return dump_json(self.to_dict())

    def __repr__(self) -> str:
        said = ", ".join(f"{family}: {result!r}" for family, result in self.results.items())
        return f"BundleVerification({said})"


@taking(BundleOptions)
def verify_bundle(asked: BundleOptions) -> BundleVerification:
    """Check all fits of a report about two files, each by its certificate.

    Parameters
    ----------
    {options}

    Returns
    -------
    BundleVerification
        A check that fails is an answer, not an error.

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError
        If the bundle or the files cannot be read, or there is no certificate in it.

    Examples
    --------
    >>> from linkrisk import verify_bundle
    >>> assert verify_bundle("proofs.json", "original.csv", "masked.csv")  # doctest: +SKIP
    """
    entries, tell = _entries(asked.result), asked.on_progress
    results = {}
    for at, (family, (fit, certificate)) in enumerate(entries.items()):
        if tell is not None:
            tell(Progress.uncounted("checking", about=family, done=at / len(entries)))
        more = {"result": fit, "certificate": certificate, "on_progress": None}
        results[family] = verify(**keywords(BundleOptions, asked, **more))
    return BundleVerification(results)


def is_bundle(content: Mapping[str, Any]) -> bool:
    """Whether a JSON object is what `report --certificate` writes, and not a fit."""
    return KEY in content and FAMILY not in content


def _entries(bundle: Any) -> dict[str, tuple[Any, Any]]:
    """Fit and certificate of each family, as the fits name their families."""
    name = str(bundle) if isinstance(bundle, str | Path) else "the bundle"
    content = read_object(bundle, _WRITER) if isinstance(bundle, str | Path) else bundle
    listed = content.get(KEY) if isinstance(content, Mapping) else None
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
