"""Report: measures of a release on one page, with certificates that have been checked."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from linkrisk.datasets.microdata.strict_json import kind_of
from linkrisk.datasets.microdata.writing import write_whole
from linkrisk.datasets.options.option import given_of, keywords
from linkrisk.errors import called, needs_extra
from linkrisk.solver.certificates.operations.verify import verify
from linkrisk.solver.certificates.writing.certifiable import why_not_certifiable
from linkrisk.solver.documents.document import Audience, Document
from linkrisk.solver.documents.short import PAGES, page_of, short
from linkrisk.solver.options.measuring import ReportOptions, RiskOptions
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.report.page import document_of
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.limits import in_time
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.run.result import Result
from linkrisk.solver.schemas.keys import read
from linkrisk.solver.worst_case.result import Family, FamilyFit, FitResult

if TYPE_CHECKING:
    from linkrisk.solver.measures.risk import RiskResult


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


_MEASURED = 0.9
"""Share of the call after which there is nothing left but certificates."""

_LEAST_SECONDS = 0.5
"""Certificates have so many, however late the measures have ended."""

_OF_SAVED = ("original", "masked", "audience", "on_progress", "cancel")
"""Options that hold for a report of results, too."""

_READING = ("id", "row_by_row", "schema")
"""How files are read, for certificates."""

_CURE = "give what fit, risk, sweep, report, suppress or tables wrote with --json"

_READABLE = ("fit", "risk", "sweep", Document.kind, *(one.removeprefix("linkrisk-") for one in PAGES))
"""Kinds of JSON that make a report."""


@dataclass(frozen=True)
class ReportResult(Result):
    """A report, and what it was made of.

    Attributes
    ----------
    document : Document
        What it says.
    risk : RiskResult or None
        All measures; None where it was made from JSON.
    certificates : tuple of Certified
        One for each family that has a result.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> page = linkrisk.report(linkrisk.fit(iris, masked))
    >>> "<html" in page.to_html()
    True
    """

    kind: ClassVar[str] = Document.kind

    document: Document
    risk: RiskResult | None = field(default=None, repr=False)
    certificates: tuple[Certified, ...] = field(default=(), repr=False)

    def in_short(self) -> Document:
        """Its sentences on top."""
        return short(said=replace(self.document.headline, reasons=()))

    def to_html(self) -> str:
        """The page."""
        from linkrisk.solver.documents.page import render_page

        return render_page(self.document)

    def save(self, path: str | Path) -> None:
        """Write the page atomically; DataError where it cannot be written."""
        write_whole(path, self.to_html())

    def content(self) -> dict[str, Any]:
        """What the JSON of `report --json` has besides its format."""
        return self.document.content()

    def bundle(self) -> str:
        """What `report --certificate` writes: every certificate beside the fit that it proves."""
        from linkrisk.solver.certificates.checking.verify import CERTIFICATE, FAMILY, FIT, FORMAT, KEY

        proofs = [
            {FAMILY: one.aggregator, FIT: one.result.to_dict(), CERTIFICATE: one.result.certificate}
            for one in self.certificates
            if one.result is not None and one.result.certificate is not None
        ]
        return json.dumps({"format": FORMAT, "version": 1, KEY: proofs}) + "\n"

    def __repr__(self) -> str:
        return f"ReportResult({self.document.audience.value}: {self.document.headline.verdict})"


@taking(ReportOptions)
def report(asked: ReportOptions) -> ReportResult:
    """Take every measure of a release, certify its worst cases, and make one document of them.

    Given results in place of files, make it of those, without measuring anything: of what `fit`, `risk` or
    `sweep` returned, or a worst case and a sweep; of what a function of tables returned; or of a report.

    Parameters
    ----------
    {options}

    Returns
    -------
    ReportResult

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request, the files or the results cannot be used, or an internal report is to become
        external.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> page = linkrisk.report(iris, masked, aggregator="weighted-mean", measures=["uniqueness"])
    >>> "At worst" in page.to_html()
    True
    """
    saved = _saved(asked)
    return saved_report(saved, asked.audience) if saved else _measured(asked)


def _measured(asked: ReportOptions) -> ReportResult:
    """Measure two files, and certify what was found."""
    needs_extra("a report", "altair", "jinja2", "vl_convert")
    from linkrisk.solver.charts import theme
    from linkrisk.solver.measures.risk import risk
    from linkrisk.solver.run.progress import part_of_call

    del theme  # loaded while no clock runs: Altair takes seconds

    audience, limit = Audience(asked.audience or Audience.INTERNAL), asked.certificate_time_limit
    wanted, certain = asked.certificates is not False, asked.certificates is True
    measuring, certifying = (
        part_of_call(asked.on_progress, *part) for part in ((0.0, _MEASURED), (_MEASURED, 1.0))
    )
    found = risk(**keywords(RiskOptions, asked, certificates=wanted, on_progress=measuring))
    files = {role: _listed(getattr(asked, role)) for role in ("original", "masked")}
    made: tuple[Certified, ...] = ()
    if wanted:
        read = {name: value for name, value in given_of(asked, ProblemOptions).items() if name in _READING}
        seconds = limit or _left(found, asked=certain)
        made = certified(found.worst, files, read, seconds, asked=certain, on_progress=certifying)
    content = {**found.to_dict(), "files": hashes(files), "certificates": [one.to_dict() for one in made]}
    return ReportResult(document_of(content, audience=audience), found, made)


def _listed(files: Any) -> list[Any]:
    return list(files) if isinstance(files, list | tuple) else [] if files is None else [files]


def _left(found: RiskResult, *, asked: bool) -> float:
    """Seconds for certificates where none are named: what the measures have left of the time limit."""
    from linkrisk.solver.measures.risk import page_seconds

    limit, records = found.details["time_limit"], found.worst.worst.records
    if limit is None or (asked and records * found.worst.details["candidates"] > MOST_PAIRS):
        return SECONDS  # whatever that takes
    left = float(limit) - page_seconds(records, limit) - float(found.details["seconds"])
    return min(SECONDS, max(_LEAST_SECONDS, left))


# ---- of results


def _saved(asked: ReportOptions) -> list[Any]:
    """The results that are given in place of files; none where there are files."""
    given = _listed(asked.original) + _listed(asked.masked)
    saved = [one for one in given if _is_saved(one)]
    if saved and len(saved) < len(given):
        raise UsageError("give two files, or results that are saved already: not one of each")
    others = [name for name in given_of(asked, ReportOptions) if name not in _OF_SAVED]
    if saved and others:
        raise UsageError(
            f"a report of results measures nothing: leave {called(others[0])} out", option=others[0]
        )
    return saved


def _is_saved(given: Any) -> bool:
    """Whether this is a result, its JSON or the file with it."""
    if isinstance(given, str | Path):
        return Path(given).suffix.lower() == ".json"
    return isinstance(given, Mapping | Result)


def saved_report(saved: Sequence[Any], audience: str | None) -> ReportResult:
    """Make the report of results: a worst case, a sweep or both, a table, or a report.

    Raises UsageError if one cannot be read, or an internal report is to become external.
    """
    given = [_read(one) for one in saved]
    try:
        return ReportResult(_document(given, audience))
    except UsageError as error:
        names = " and ".join(str(one) for one in saved if isinstance(one, str | Path))
        raise UsageError(f"{names}: {error}" if names else str(error), option=error.option) from error


def _document(given: Sequence[Mapping[str, Any]], audience: str | None) -> Document:
    """Make the document of JSON that was read."""
    reader, (first, *others) = Audience(audience or Audience.INTERNAL), given
    if not others and first.get("format") in PAGES:
        return page_of(first, reader)
    if others or kind_of(first) != Document.kind:
        return document_of(*given, audience=reader)
    document = Document.from_dict(first)
    if audience is not None and reader is not document.audience:
        raise UsageError(
            f"the report was made for {document.audience.value} readers, and stays that: make it from the "
            "JSON of risk instead"
        )
    return document


def _read(given: Any) -> Mapping[str, Any]:
    """A JSON object; UsageError where a file has none."""
    if isinstance(given, Mapping):
        return given
    if not isinstance(given, str | Path):
        return dict(given.to_dict())
    try:
        content = json.loads(Path(given).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {given}: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise UsageError(f"{given} is no JSON of results: {_CURE}")
    try:
        read(content, _READABLE, _CURE)
    except UsageError as error:
        raise UsageError(f"{given}: {error}") from None
    return content
