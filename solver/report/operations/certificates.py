"""Certificates of the worst cases of a report: written, checked at once from the files, and counted."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkrisk.errors import called
from linkrisk.solver.certificates.checking.bundle import CERTIFICATE, FAMILY, FIT, FORMAT, KEY
from linkrisk.solver.certificates.operations.verify import verify
from linkrisk.solver.certificates.writing.certifiable import why_not_certifiable
from linkrisk.solver.options.types import TableLike
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.limits import in_time
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.run.results import FamilyFit
from linkrisk.solver.worst_case.result import Family, FitResult

SECONDS = 20.0
"""For the certificates of all families together where nothing else is said."""

MOST_PAIRS = 25_000_000
"""Pairs of a record and a candidate up to which certificates are made unasked: they take moments there."""

PHASE = "certificate"
"""What a reporter is told is being done."""

_STOPPED = "stopped before it was checked"


_MAKING = 0.5
"""Share of the time of a certificate after which what was made is checked."""


@dataclass(frozen=True)
class Certified:
    """The certificate of one family.

    Attributes
    ----------
    aggregator : str
    result : FamilyFit or None
        With its certificate, where there is one.
    said : str
        What `verify` has said, or why there is no certificate.
    verified : bool or None
        None where there was nothing to check.
    """

    aggregator: str
    result: FamilyFit | None
    said: str
    verified: bool | None = None

    @property
    def text(self) -> str | None:
        """The certificate as `fit --certificate` writes it."""
        if self.result is None or self.result.certificate is None:
            return None
        return json.dumps(self.result.certificate) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """For the report: its hash, and what was said."""
        text = self.text
        return {
            "aggregator": self.aggregator,
            "sha256": None if text is None else hashlib.sha256(text.encode("utf-8")).hexdigest(),
            "verified": self.verified,
            "said": self.said,
        }


def certified(
    worst: FitResult,
    original: TableLike | None,
    masked: TableLike | None,
    reading: Mapping[str, Any],
    *,
    seconds: float | None = None,
    asked: bool = False,
    on_progress: Reporter | None = None,
) -> tuple[Certified, ...]:
    """Certify every family that has a result, and check each certificate from the files.

    Parameters
    ----------
    worst : FitResult
        With what certificates are made of (`risk(certificates=True)`).
    original, masked
        As they were given.
    reading : mapping
        How `verify` reads them: `id`, `row_by_row`, `schema`.
    seconds : float, optional
        For all certificates; `SECONDS` when absent.
    asked : bool
        Whether they are wanted whatever they take; else none are made above `MOST_PAIRS`.
    on_progress : callable, optional
        Told which family it is.
    """
    families = [family for family in worst.families if family.result is not None]
    pairs = worst.worst.records * worst.details["candidates"]
    if not asked and pairs > MOST_PAIRS:
        why = f"not made, as checking so many records takes long; {called('certificates', True)} makes it"
        return tuple(Certified(family.aggregator, family.result, why) for family in families)
    ends = time.monotonic() + (SECONDS if seconds is None else seconds)
    found = []
    for at, family in enumerate(families):
        share = max(0.1, (ends - time.monotonic()) / (len(families) - at))
        if on_progress is not None:
            low, high = worst.interval
            about, total = family.aggregator, worst.worst.total
            on_progress(Progress(0.0, float(low), float(high), PHASE, "", about, total, at / len(families)))
        certifying = _Certifying(family, original, masked, reading, share)
        try:
            found.append(in_time(certifying, Clock(share)))
        except KeyboardInterrupt:  # must not cost the report
            return *found, *(Certified(one.aggregator, one.result, _STOPPED) for one in families[at:])
    return tuple(found)


@dataclass(frozen=True)
class _Certifying:
    """Certifying one family, and checking that, within its time."""

    family: Family
    original: Any
    masked: Any
    reading: Mapping[str, Any]
    seconds: float

    def do(self) -> Certified:
        """Certify and check."""
        return _one(self.family, self.original, self.masked, self.reading, _MAKING * self.seconds)

    def so_far(self) -> Certified:
        """There is no certificate that was checked."""
        return Certified(self.family.aggregator, self.family.result, _too_long())


def _too_long() -> str:
    limits = called("time_limit"), called("certificate_time_limit")
    return f"not checked: its time was over; a longer {limits[0]}, or {limits[1]}, would check it"


def _one(family: Family, original: Any, masked: Any, reading: Mapping[str, Any], seconds: float) -> Certified:
    """Certify one family within its share of the time, and check the certificate."""
    name, fitted = family.aggregator, family.fitted
    if fitted is None:
        return Certified(name, family.result, "not made")
    reason = why_not_certifiable(fitted.problem.describe())
    if reason is not None:
        return Certified(name, fitted.result, f"not possible: {reason}")
    result = fitted.certified(seconds)
    if result.certificate is None:
        return Certified(name, result, f"not made: {result.details['certificate']['reason']}")
    if _several(original) or _several(masked):
        return Certified(name, result, "not checked: verify reads one original and one masked file")
    checked = verify(FitResult.of(result), original, masked, **reading)
    if checked.verdict is None or not checked.verified:
        return Certified(name, result, f"rejected: {checked.rejected}", verified=False)
    records = checked.verdict.records
    said = f"proved that no parameters link more than {checked.linked_upper_bound} of {records} records"
    said = said if result.bounded else "proved nothing but that no more than all records can be linked"
    return Certified(name, result, f"{said}, and that those found link {checked.linked}", verified=True)


def _several(given: object) -> bool:
    return isinstance(given, list | tuple)


def hashes(original: Any, masked: Any) -> list[dict[str, Any]]:
    """Names, sizes and hashes of the files that were given as files."""
    return [
        {"role": role, "name": str(path), **_hashed(Path(path))}
        for role, given in (("original", original), ("masked", masked))
        for path in (given if _several(given) else [given])
        if isinstance(path, str | Path) and Path(path).is_file()
    ]


def _hashed(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def bundle(made: Sequence[Certified]) -> dict[str, Any]:
    """What `report --certificate` writes: every certificate beside the fit that it proves."""
    return {
        "format": FORMAT,
        "version": 1,
        KEY: [
            {FAMILY: one.aggregator, FIT: one.result.to_dict(), CERTIFICATE: one.result.certificate}
            for one in made
            if one.result is not None and one.result.certificate is not None
        ],
    }
