"""Checks a certificate against the two files of a `FilePair`, by the core with accelerated steps."""

from __future__ import annotations

import gzip
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.numeric import numeric_matrix
from linkrisk.datasets.microdata.strict_json import AmbiguousError, parse
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.solver.certificates.checking.linkage import FastLinkage
from linkrisk.solver.certificates.checking.record_arrays import FastRecords
from linkrisk.solver.certificates.checking.shown import (
    check_euclid,
    check_parameters,
    check_records,
    check_sampling,
    left_out,
)
from linkrisk.solver.certificates.core.check import Check, Verdict
from linkrisk.solver.certificates.core.check import demand_fit as core_demand_fit
from linkrisk.solver.certificates.core.claims import Claim, MalformedError, Problem, demand, read_problem
from linkrisk.solver.certificates.core.families import family_of
from linkrisk.solver.certificates.core.records import Files
from linkrisk.solver.certificates.core.samples import Limit
from linkrisk.solver.run.errors import UsageError

LARGEST_FILE = 1 << 28
"""Bytes of a file that is read."""

MOST_ITEMS = 1 << 24
"""Commas and brackets of a file: with sixty bytes a value, memory stays far below two gigabytes."""

FORMAT = "linkrisk-certificates"
KEY, FAMILY, FIT, CERTIFICATE = "certificates", "aggregator", "fit", "certificate"
"""Keys of the output of `report --certificate`, and of each of its entries."""

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
    """Tell whether a JSON object is an output of `report --certificate`."""
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


@dataclass(frozen=True)
class Draw:
    """Samples that a limit rests on: numbers of their linked records, claimed and at most."""

    seed: int
    strata: str | None
    samples: int
    records: int
    linked: int
    bound: int


@dataclass(frozen=True)
class FullVerdict(Verdict):
    """Statements that a certificate proves, and further output of `verify`.

    `euclid`: the fit shows a count of the Euclidean distance, which is right. `impossible` of all `pairs` of
    a block and a candidate are so if the masking is what it is claimed to be.
    """

    euclid: bool = False
    impossible: int = 0
    pairs: int = 0
    has_missing: bool = False
    weighted_file: str | None = None
    draw: Draw | None = None


@contextmanager
def usage_errors() -> Iterator[None]:
    """Raise errors of the core as errors of usage."""
    try:
        yield
    except MalformedError as error:
        raise UsageError(str(error)) from None


def fit_problem(fit: Mapping[str, Any], where: str) -> Problem:
    """Return the problem of a fit; UsageError if the core does not support it."""
    with usage_errors():
        problem = read_problem(Claim(dict(fit), where))
        family_of(problem, where)
        return problem


def verify(
    fit: Mapping[str, Any], certificate: Mapping[str, Any], files: FilePair, names: tuple[str, str]
) -> FullVerdict:
    """Check a certificate and the fit that it belongs to, which messages call `names`.

    RejectedError if a check fails, UsageError if one of the two is malformed. `demand_fit` compares the bound
    that is proved with that of the fit.
    """
    with usage_errors():
        claim = Claim(dict(fit), names[0])
        problem = fit_problem(fit, names[0])
        _check_files(files, problem)
        compared = partial(FastLinkage, settles=not left_out(claim))
        proof = Claim(dict(certificate), names[1])
        check = Check(claim, proof, core_files(files, problem, _strata(claim)), FastRecords, compared)
        _check_weights(files, problem, names[0])
        records, linkage = check.linkage.records, check.linkage
        assert isinstance(linkage, FastLinkage)
        backwards = problem.direction == "masked-to-original"
        labels = files.masked_labels if backwards else files.original_labels
        blocks = records.masked if backwards else records.original
        check_parameters(check)
        check_records(check, [labels[block] for block in blocks])
        proven = check.verdict()
        draw = None if proven.limit is None else _draw(check, proven.limit)
        return FullVerdict(
            **{key: getattr(proven, key) for key in Verdict.__dataclass_fields__},
            euclid=check_euclid(check),
            impossible=linkage.arrays.impossible_pairs(),
            pairs=records.blocks * records.candidates,
            has_missing=any(
                one.missing is not None or (one.table and len(one.table) > len(problem.categories[name]))
                for name, one in zip(problem.attributes, records.attributes, strict=True)
            ),
            weighted_file=None if problem.weight is None else _file_of(files, problem.weight),
            draw=draw,
        )


def linkage_of(files: FilePair, problem: Problem) -> FastLinkage:
    """Return the records of a problem in exact numbers, and as arrays."""
    return FastLinkage(FastRecords(core_files(files, problem), problem), family_of(problem))


def demand_fit(fit: Mapping[str, Any], verdict: Verdict, name: str) -> None:
    """Reject a fit that claims a smaller bound, or more lost records, than its certificate proves."""
    with usage_errors():
        core_demand_fit(Claim(dict(fit), name), verdict)


def core_files(files: FilePair, problem: Problem, strata: str | None = None) -> Files:
    """Return two files in the form of the core, with the columns of weights and strata."""
    columns = {}
    for name in (strata, problem.weight):
        file = None if name is None else _file_of(files, name)
        if name is None or file is None:
            continue
        frame = files.original if file == "original" else files.masked
        cells: Sequence[Any]
        if name == problem.weight:
            cells = numeric_matrix(frame, [name], f"the {file} file")[:, 0].tolist()
        if name == strata:
            cells = ["" if pd.isna(value) else str(value) for value in frame[name].to_list()]
        columns[name] = (file == "original", cells)
    sides = (files.original_values, files.masked_values)
    original, masked = ([array("d", np.ascontiguousarray(one).tobytes()) for one in side.T] for side in sides)
    return Files(original, masked, array("q", files.partner.tolist()), columns)


def _file_of(files: FilePair, column: str) -> str | None:
    """Return the file that has a column, the original one first."""
    frames = {"original": files.original, "masked": files.masked}
    return next((name for name, frame in frames.items() if column in frame.columns), None)


def _strata(fit: Claim) -> str | None:
    """Return the column of the strata of a draw, if any."""
    draw = fit.inner("sampling", "draw") if fit.has("sampling") else None
    return draw.text("strata") if draw is not None and draw.has("strata") else None


def _check_files(files: FilePair, problem: Problem) -> None:
    """Reject files that are read differently from those of the fit."""
    here = {name: (kind.scale.value, list(kind.categories)) for name, kind in files.categorical.items()}
    stated = {name: (problem.scales[name], names) for name, names in problem.categories.items()}
    demand(here == stated, "problem, schema: the files are read with other categories")
    demand(dict(files.dates) == problem.forms, "problem, schema: the files are read with other dates")
    same = list(files.attributes) == problem.attributes
    demand(same, "problem, attributes: others are read from the files")


def _check_weights(files: FilePair, problem: Problem, where: str) -> None:
    """Reject a fit whose column of weights is not that of the user's schema."""
    expected, column = files.design.weight_column, problem.weight
    shown = "none" if column is None else repr(column)
    demand(
        expected is None or expected == column,
        f"{where}, weight: the schema says that weights are in column {expected!r}, the fit has {shown}",
    )


def _draw(check: Check, limit: Limit) -> Draw:
    """Return the numbers of the deciding samples."""
    stage, sampling = check_sampling(check, limit), check.fit.inner("sampling")
    plan = sampling.inner("draw")
    return Draw(
        seed=plan.whole("seed"),
        strata=_strata(check.fit),
        samples=stage.samples,
        records=len(stage.blocks),
        linked=sum(block in stage.blocks for block in check.linked),
        bound=sampling.inner("sample").whole("linked_upper_bound"),
    )
