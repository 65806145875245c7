"""Function `verify`: checks the certificate of a fit by the two files, or of a table by the table."""

from __future__ import annotations

import json
import math
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.schema import Attribute, Role, Scale, Schema
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.datasets.microdata.strict_json import kind_of
from linkrisk.datasets.options.option import given_of, part
from linkrisk.datasets.pairs.categorical import NOT_INFERRED
from linkrisk.datasets.pairs.file_pair import FilePair, make_file_pair
from linkrisk.datasets.public.embedded import default_pair
from linkrisk.datasets.tables.linking import split_beside
from linkrisk.datasets.tables.stored_table import StoredTable
from linkrisk.errors import called
from linkrisk.solver.certificates.checking import verify as checking
from linkrisk.solver.certificates.checking.verify import (
    FullVerdict,
    demand_fit,
    fit_problem,
    fits_and_certificates,
    is_bundle,
    read_object,
)
from linkrisk.solver.certificates.core.claims import MalformedError, Problem, RejectedError
from linkrisk.solver.certificates.core.tables import FORMAT as TABLE
from linkrisk.solver.certificates.core.tables import (
    PUBLISHED,
    Sparse,
    Table,
    TableVerdict,
    check_table,
    decimal,
)
from linkrisk.solver.certificates.operations.verification import VerificationResult, quoted
from linkrisk.solver.compiling.parts import CERTIFICATES, compile_once
from linkrisk.solver.inputs.reading import check_alignment_options
from linkrisk.solver.options.tables import TableOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.options.verifying import Bundled, FilesOptions, VerifyOptions
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.progress import Progress
from linkrisk.solver.run.result import Result
from linkrisk.solver.tables.operations.source import check_adds_up, read_asked_table
from linkrisk.solver.worst_case.result import FamilyFit, FitResult


def exact_table(stored: StoredTable) -> Table:
    """Return a table in fractions, with the respondent counts published beside its values."""
    counts = split_beside(stored)[1]
    columns = {**stored.numbers, **({} if counts is None else {PUBLISHED: counts.numbers["value"]})}
    numbers = {
        name: [None if math.isnan(value) else decimal(value) for value in column.tolist()]
        for name, column in columns.items()
    }
    relations: defaultdict[int, Sparse] = defaultdict(dict)
    terms = zip(stored.relation.tolist(), stored.cell.tolist(), stored.coefficient.tolist(), strict=True)
    for row, cell, factor in terms:
        relations[row][cell] = relations[row].get(cell, Fraction(0)) + (decimal(factor) or Fraction(0))
    status = [str(one) for one in stored.status]
    return Table(numbers, status, dict(relations), stored.counting, stored.named, stored.describe)


def checked_table(certificate: Mapping[str, Any], name: str, asked: TableOptions) -> VerificationResult:
    """Check the certificate of a table; UsageError or DataError if one of them cannot be read."""
    began = time.perf_counter()
    stored = read_asked_table(asked)
    counts = split_beside(stored)[1]
    if counts is not None:
        check_adds_up(counts)
    found: TableVerdict | None = None
    rejected: str | None = None
    try:
        found = check_table(exact_table(stored), certificate, name)
    except RejectedError as error:
        rejected = str(error)
    except MalformedError as error:
        raise UsageError(str(error)) from None
    return VerificationResult(
        verified=found is not None,
        rejected=rejected,
        table=found,
        cells=len(stored),
        relations=int(stored.relation.max(initial=-1)) + 1,
        seconds=time.perf_counter() - began,
    )


_KEPT = (Role.RECORD_ID, Role.WEIGHT)
"""Roles that the user of `verify` decides."""

WRITERS = "fit --json`, `report --certificate` or `tables audit --certificate"
"""Commands whose output can be verified."""


@taking(VerifyOptions)
def verify(asked: VerifyOptions) -> VerificationResult:
    """Check a claim by its certificate, in exact arithmetic: no optimiser, no tolerance.

    A claim is that of a fit about two files, or those of the fits of a report; or the certificate itself,
    which `suppress_table` or `audit_table` has made of a table. Suppressed cells of the table have the status
    ``u`` or ``m``, as in the internal file.

    Parameters
    ----------
    {options}

    Returns
    -------
    VerificationResult
        A check that fails is an answer, not an error: see `rejected`.

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError
        If the claim, the certificate, the files or the table cannot be read, or there is no certificate.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> result = linkrisk.fit(iris, masked, certificate=True)
    >>> linkrisk.verify(result, iris, masked).verified
    True
    """
    content, name = _content(asked.result, "the fit", WRITERS)
    if content.get("format") == TABLE:
        _refuse(asked, FilesOptions, f"{name} is the certificate of a table")
        return checked_table(content, name, part(TableOptions, asked))
    _refuse(asked, TableOptions, f"{name} is not the certificate of a table")
    if is_bundle(content):
        _refuse(asked, Bundled, f"{name} holds fits with their certificates")
        return _of_several(asked, fits_and_certificates(content, name))
    if kind_of(content) != FitResult.kind:
        raise UsageError(
            f"{name} is nothing that can be verified: give what `{WRITERS}` of this linkrisk wrote"
        )
    return _of_fit(asked, content, name)


def _refuse(asked: VerifyOptions, group: type[Any], why: str) -> None:
    """Refuse options that do not apply to such a claim."""
    for option in given_of(asked, group):
        raise UsageError(f"{why}: leave {called(option)} out", option=option)


def _of_several(asked: VerifyOptions, entries: Mapping[str, tuple[Any, Any]]) -> VerificationResult:
    """Check the fits of a report, each by its certificate."""
    results = {}
    claims = asked.result if isinstance(asked.result, str | Path) else "the fits"
    for at, (family, (fit, certificate)) in enumerate(entries.items()):
        if asked.on_progress is not None:
            asked.on_progress(Progress.uncounted("checking", about=family, done=at / len(entries)))
        one = replace(asked, result=fit, certificate=certificate, on_progress=None)
        found = _of_fit(one, *_content(fit, "the fit", WRITERS))
        results[family] = replace(found, claim=f"{claims}: {quoted(family)}")
    return VerificationResult.of(results)


def _of_fit(asked: VerifyOptions, content: Mapping[str, Any], name: str) -> VerificationResult:
    """Check the claims of a fit about two files."""
    began = time.perf_counter()
    proof, proof_name = _content(
        _certificate(asked.result, asked.certificate), "the certificate", "fit --certificate"
    )
    if "families" in content:
        raise UsageError(
            f"{name} is about several families, and a certificate about one: run `fit` with one "
            f"{called('aggregator')} and {called('certificate')}",
            option="aggregator",
        )
    problem = fit_problem(content, name)
    check_alignment_options(asked.id, asked.row_by_row)
    if asked.attributes is not None and list(asked.attributes) != problem.attributes:
        raise UsageError(
            f"{called('attributes')}: {name} is about {shown_names(problem.attributes, ',')}; leave the "
            "option out",
            option="attributes",
        )
    compile_once(CERTIFICATES, asked.on_progress)
    known = _schema(schema_of(asked.schema), problem)
    files = _files(
        asked.original, asked.masked, problem, name, schema=known, id=asked.id, row_by_row=asked.row_by_row
    )
    verdict, rejected = _judged(content, proof, files, (name, proof_name))
    return VerificationResult(
        verified=rejected is None,
        rejected=rejected,
        verdict=verdict,
        fit=content,
        claim=name,
        name=files.name,
        files=_named(asked, files.name),
        alignment=files.alignment,
        seconds=time.perf_counter() - began,
    )


def _named(asked: VerifyOptions, name: str) -> str:
    """Name the files as the user gave them, not by the JSON."""
    if asked.original is None:
        return f"the embedded pair ({name})"
    given = (asked.original, asked.masked)
    original, masked = (
        quoted(str(one)) if isinstance(one, str | Path) else what
        for one, what in zip(given, ("the original", "the release"), strict=True)
    )
    return f"{original} and, masked, {masked}"


def _certificate(result: object, given: Mapping[str, Any] | str | Path | None) -> Any:
    """Return the given certificate, or that of the result; UsageError if there is none."""
    if given is not None:
        return given
    made = result.certificate if isinstance(result, FamilyFit | FitResult) else None
    if made is None:
        raise UsageError(
            f"there is no certificate: give with {called('certificate')} the one that `fit` made in the same "
            "run, or instead of the fit what `report --certificate` wrote",
            option="certificate",
        )
    return made


def _content(given: Any, name: str, writer: str) -> tuple[Mapping[str, Any], str]:
    """Return the JSON of a fit or certificate, and its name in messages."""
    if isinstance(given, str | Path):
        return read_object(given, writer), str(given)
    content = given.to_dict() if isinstance(given, Result) else given
    if not isinstance(content, Mapping):
        raise UsageError(f"{name} is a {type(given).__name__}; give a result, a dictionary or a file name")
    try:  # only numbers, texts and lists, as in JSON
        return json.loads(json.dumps(dict(content), allow_nan=False)), name
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{name} cannot be written as JSON: {error}") from None


def _judged(
    fit: Mapping[str, Any], certificate: Mapping[str, Any], files: FilePair, names: tuple[str, str]
) -> tuple[FullVerdict | None, str | None]:
    """Return the proven statements, and the first check that failed."""
    verdict = None
    try:
        verdict = checking.verify(fit, certificate, files, names)
        demand_fit(fit, verdict, names[0])
    except RejectedError as error:
        return verdict, " ".join(str(error).splitlines())
    return verdict, None


def _files(original: Any, masked: Any, problem: Problem, name: str, **options: Any) -> FilePair:
    """Read the two files, or the embedded pair, with the attributes and categories of the fit."""
    options |= {"attributes": problem.attributes, "masking": (NOT_INFERRED,)}  # it is given by the fit
    if original is None and masked is None:
        pair = default_pair()
        absent = [known for known in problem.attributes if known not in pair.attributes]
        if absent:
            raise UsageError(
                f"{name} is about {shown_names(absent, ',')}, which the embedded pair does not have: "
                f"give the files of the fit with {called('original')} and {called('masked')}"
            )
        chosen = make_file_pair(pair.original, pair.masked, **options)
        return replace(chosen, name=pair.name)
    if original is None or masked is None:
        missing = "original" if original is None else "masked"
        raise UsageError(
            f"the {missing} file is missing: give both {called('original')} and {called('masked')}, or "
            "neither",
            option=missing,
        )
    return make_file_pair(original, masked, **options)


def _schema(given: Schema | None, problem: Problem) -> Schema:
    """Return the categories of the fit; record id, weights and missing codes are from the user's schema."""
    own = Schema(()) if given is None else given
    compared = []
    for name in problem.attributes:
        scale = Scale(problem.scales[name]) if name in problem.scales else Scale.NUMERIC
        listed = tuple(problem.categories[name]) if name in problem.categories else None
        form = problem.forms.get(name)
        compared.append(replace(_beside(own.get(name)), scale=scale, categories=listed, form=form))
    beside = [
        _beside(declared)
        for declared in own.attributes
        if declared.name not in problem.attributes
        and (declared.role in _KEPT or declared.name == problem.weight)
    ]
    return Schema((*compared, *beside))


def _beside(declared: Attribute) -> Attribute:
    """Return the user's part of a declaration: missing codes, and the roles of id and weight."""
    role = declared.role if declared.role in _KEPT else None
    return Attribute(declared.name, role, missing=declared.missing)
