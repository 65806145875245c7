"""`report`: every measure of a release as one document, with certificates that were checked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from linkrisk.datasets.microdata.strict_json import kind_of
from linkrisk.datasets.microdata.writing import write_whole
from linkrisk.datasets.options.option import given_of, keywords
from linkrisk.errors import called
from linkrisk.solver.documents.document import Audience, Document
from linkrisk.solver.documents.short import PAGES, page_of, short
from linkrisk.solver.options.measuring import ReportOptions, RiskOptions
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.report.page import document_of
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.result import Result
from linkrisk.solver.schemas.kinds import read

if TYPE_CHECKING:  # a page that is made again should not wait for what measures
    from linkrisk.solver.measures.risk import RiskResult
    from linkrisk.solver.report.operations.certificates import Certified

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
        """Write the page, whole or not at all; DataError where it cannot be written."""
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
    """Take every measure of a release, certify its worst cases, and say all of it in one document.

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
    >>> from linkrisk import report
    >>> report("original.csv", "masked.csv").save("report.html")  # doctest: +SKIP
    >>> report("risk.json", audience="external").save("outside.html")  # doctest: +SKIP
    """
    saved = _saved(asked)
    return saved_report(saved, asked.audience) if saved else _measured(asked)


def _measured(asked: ReportOptions) -> ReportResult:
    """Measure two files, and certify what was found."""
    from linkrisk.solver.charts import theme
    from linkrisk.solver.inputs.limits import check_limit
    from linkrisk.solver.measures.risk import risk
    from linkrisk.solver.report.operations.certificates import certified, hashes
    from linkrisk.solver.run.progress import part_of_call

    del theme  # loaded while no clock runs: Altair takes seconds

    audience, limit = Audience(asked.audience or Audience.INTERNAL), asked.certificate_time_limit
    if limit is not None:
        check_limit(limit, "time limit of the certificate")
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
    from linkrisk.solver.report.operations.certificates import MOST_PAIRS, SECONDS

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
    """What JSON that was read says."""
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
