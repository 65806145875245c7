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
from linkrisk.solver.certificates.operations.verify import verify
from linkrisk.solver.certificates.writing.certifiable import why_not_certifiable
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.limits import in_time
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.worst_case.result import Family, FamilyFit, FitResult

SECONDS = 20.0
"""For the certificates of all families together where nothing else is said."""

MOST_PAIRS = 25_000_000
"""Pairs of a record and a candidate up to which certificates are made unasked: they take moments there."""

PHASE = "certificate"
"""What a reporter is told is being done."""

_MAKING = 0.5
"""Share of the time of a certificate after which what was made is checked."""


@dataclass(frozen=True)
class Certified:
    """The certificate of one family."""

    aggregator: str
    result: FamilyFit | None  # with its certificate, where there is one
    said: str  # what `verify` has said, or why there is no certificate
    verified: bool | None = None  # None where there was nothing to check

    def to_dict(self) -> dict[str, Any]:
        """For the report: its hash, as `fit --certificate` writes it, and what was said."""
        made = None if self.result is None else self.result.certificate
        text = None if made is None else json.dumps(made) + "\n"
        return {
            "aggregator": self.aggregator,
            "sha256": None if text is None else hashlib.sha256(text.encode("utf-8")).hexdigest(),
            "verified": self.verified,
            "said": self.said,
        }


def certified(
    worst: FitResult,
    files: Mapping[str, Sequence[Any]],
    reading: Mapping[str, Any],
    seconds: float,
    *,
    asked: bool = False,
    on_progress: Reporter | None = None,
) -> tuple[Certified, ...]:
    """Certify every family that has a result, and check each certificate from the files.

    `worst`: with what certificates are made of (`risk(certificates=True)`). `files`: as they were given, by
    their roles: `original` and `masked`. `reading`: how `verify` reads them: `id`, `row_by_row`, `schema`.
    `seconds`: for all certificates. `asked`: whether they are wanted whatever they take; else none are made
    above `MOST_PAIRS`. `on_progress`: told which family it is.
    """
    families = [family for family in worst.families if family.result is not None]
    if not asked and worst.worst.records * worst.details["candidates"] > MOST_PAIRS:
        why = f"not made, as checking so many records takes long; {called('certificates', True)} makes it"
        return tuple(Certified(family.aggregator, family.result, why) for family in families)
    ends = time.monotonic() + seconds
    found = []
    for at, family in enumerate(families):
        share = max(0.1, (ends - time.monotonic()) / (len(families) - at))
        if on_progress is not None:
            low, high = map(float, worst.interval)
            about, total = family.aggregator, worst.worst.total
            on_progress(Progress(0.0, low, high, PHASE, "", about, total, at / len(families)))
        try:
            found.append(in_time(_Certifying(family, files, reading, share), Clock(share)))
        except KeyboardInterrupt:  # must not cost the report
            stopped = "stopped before it was checked"
            return *found, *(Certified(one.aggregator, one.result, stopped) for one in families[at:])
    return tuple(found)


@dataclass(frozen=True)
class _Certifying:
    """Certifying one family, and checking that, within its time."""

    family: Family
    files: Mapping[str, Sequence[Any]]
    reading: Mapping[str, Any]
    seconds: float

    def do(self) -> Certified:
        """Certify in a part of the time, and check what was made."""
        name, fitted = self.family.aggregator, self.family.fitted
        if fitted is None:
            return Certified(name, self.family.result, "not made")
        reason = why_not_certifiable(fitted.problem.describe())
        if reason is not None:
            return Certified(name, fitted.result, f"not possible: {reason}")
        result = fitted.certified(_MAKING * self.seconds)
        if result.certificate is None:
            return Certified(name, result, f"not made: {result.details['certificate']['reason']}")
        if any(len(given) > 1 for given in self.files.values()):
            return Certified(name, result, "not checked: verify reads one original and one masked file")
        files = {role: given[0] for role, given in self.files.items() if given}
        checked = verify(FitResult.of(result), **files, **self.reading)
        if checked.verdict is None or not checked.verified:
            return Certified(name, result, f"rejected: {checked.rejected}", verified=False)
        records = checked.verdict.records
        said = f"proved that no parameters link more than {checked.linked_upper_bound} of {records} records"
        said = said if result.bounded else "proved nothing but that no more than all records can be linked"
        return Certified(name, result, f"{said}, and that those found link {checked.linked}", verified=True)

    def so_far(self) -> Certified:
        """There is no certificate that was checked."""
        limits = called("time_limit"), called("certificate_time_limit")
        why = f"not checked: its time was over; a longer {limits[0]}, or {limits[1]}, would check it"
        return Certified(self.family.aggregator, self.family.result, why)


def hashes(files: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Names, sizes and hashes of the files that were given as files."""
    found = []
    for role, given in files.items():
        for name in (one for one in given if isinstance(one, str | Path) and Path(one).is_file()):
            with Path(name).open("rb") as file:
                digest, size = hashlib.file_digest(file, "sha256").hexdigest(), Path(name).stat().st_size
            found.append({"role": role, "name": str(name), "bytes": size, "sha256": digest})
    return found
