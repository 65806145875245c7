"""`verify`: the certificate of a fit, checked from the two files."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.schema import Attribute, Role, Scale, Schema
from linkrisk.datasets.pairs.categorical import NOT_INFERRED
from linkrisk.datasets.pairs.file_pair import FilePair, make_file_pair
from linkrisk.datasets.public.default_pair import default_pair
from linkrisk.errors import called
from linkrisk.solver.certificates.checking import verify as checking
from linkrisk.solver.certificates.checking.fields import read_object
from linkrisk.solver.certificates.checking.rejection import RejectedError
from linkrisk.solver.certificates.checking.setting import Setting
from linkrisk.solver.certificates.checking.verify import Verdict, demand_fit, fit_setting
from linkrisk.solver.compiling.ahead import CERTIFICATES, compile_once
from linkrisk.solver.inputs.problem import check_alignment_options, schema_of
from linkrisk.solver.options.operations.verify import VerifyOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.results import EXPECTED, WEIGHTED, FitResult, dump_json
from linkrisk.solver.worst_case.family_results import FitResults

_KEPT = (Role.RECORD_ID, Role.WEIGHT)
"""Roles that the user of `verify` has the say on."""


@dataclass(frozen=True)
class VerificationResult:
    """What a certificate proves about two files. As a condition it is true if all that the fit claims holds.

    Attributes
    ----------
    verified : bool
        Whether the certificate proves what the fit claims.
    rejected : str or None
        The first check that failed.
    verdict : Verdict or None
        What is proved in any case; None where the certificate itself is rejected.
    fit : dict
        The fit, as JSON has it.
    name : str
        What to call the file pair.
    alignment : str
        How the records of the two files were aligned.
    seconds : float
        What checking took.
    """

    verified: bool
    rejected: str | None
    verdict: Verdict | None = field(repr=False)
    fit: Mapping[str, Any] = field(repr=False)
    name: str
    alignment: str
    seconds: float

    def __bool__(self) -> bool:
        return self.verified

    @property
    def linked(self) -> int | None:
        """Records that the parameters of the fit link, where that is proved."""
        return None if self.verdict is None else self.verdict.linked

    @property
    def linked_upper_bound(self) -> int | None:
        """No parameters link more records, where that is proved."""
        return None if self.verdict is None else self.verdict.bound_count

    def to_dict(self) -> dict[str, Any]:
        """What is proved, and whether that is what the fit claims."""
        head = {
            "verified": self.verified,
            "rejected": self.rejected,
            "name": self.name,
            "alignment": self.alignment,
            "seconds": round(self.seconds, 3),
        }
        if self.verdict is None:
            return {**head, "proved": None}
        verdict, setting = self.verdict, self.verdict.setting
        proved = {
            "aggregator": setting.aggregator,
            "direction": setting.direction,
            "ties": setting.ties,
            "attributes": list(setting.attributes),
            "records": verdict.records,
            "linked": verdict.linked,
            "linked_upper_bound": verdict.bound_count,
            **_sums(verdict),
            "assumed_masking": [entry.masking for entry in setting.recodings],
            "covers_ties": verdict.ordered is None,
            "method": verdict.method,
            "lost": verdict.lost,
            "cores": verdict.cores,
            "leaves": verdict.leaves,
        }
        return {**head, "proved": proved}

    def to_json(self) -> str:
        """The same as JSON."""
        return dump_json(self.to_dict())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from linkrisk.solver.charts.cards import verification_card

        return verification_card(self.to_dict())

    def __repr__(self) -> str:
        if self.verdict is None:
            return f"VerificationResult(rejected: {self.rejected})"
        proved = f"{self.linked} of {self.verdict.records} linked, at most {self.linked_upper_bound}"
        if self.verified:
            return f"VerificationResult(verified: {proved})"
        return f"VerificationResult(proved: {proved}; rejected: {self.rejected})"


@taking(VerifyOptions)
def verify(asked: VerifyOptions) -> VerificationResult:
    """Check what a fit claims about two files, by its certificate, in exact arithmetic.

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
        If the fit, the certificate or the files cannot be read, or there is no certificate.

    Examples
    --------
    >>> from linkrisk import fit, verify
    >>> result = fit("original.csv", "masked.csv", certificate=True)  # doctest: +SKIP
    >>> assert verify(result, "original.csv", "masked.csv")  # doctest: +SKIP
    """
    began = time.perf_counter()
    content, name = _content(asked.result, "the fit", "fit --json")
    proof, proof_name = _content(
        _certificate(asked.result, asked.certificate), "the certificate", "fit --certificate"
    )
    if "certificates" in content and "aggregator" not in content:
        raise UsageError(f"{name} is what `report --certificate` writes: give it to verify_bundle")
    if "families" in content:
        raise UsageError(
            f"{name} is about several families, and a certificate about one: run `fit` with one "
            f"{called('aggregator')} and {called('certificate')}",
            option="aggregator",
        )
    setting = fit_setting(content, name)
    check_alignment_options(asked.id, asked.row_by_row)
    if asked.attributes is not None and tuple(asked.attributes) != setting.attributes:
        raise UsageError(
            f"{called('attributes')}: {name} is about {shown_names(setting.attributes, ',')}; leave the "
            "option out",
            option="attributes",
        )
    compile_once(CERTIFICATES, asked.on_progress)
    known = _schema(schema_of(asked.schema), setting)
    files = _files(
        asked.original, asked.masked, setting, name, schema=known, id=asked.id, row_by_row=asked.row_by_row
    )
    verdict, rejected = _judged(content, proof, files, (name, proof_name))
    return VerificationResult(
        verified=rejected is None,
        rejected=rejected,
        verdict=verdict,
        fit=content,
        name=files.name,
        alignment=files.alignment,
        seconds=time.perf_counter() - began,
    )


def _sums(verdict: Verdict) -> dict[str, Any]:
    """What is proved of the weights of linked records: of sampling weights, where the fit has these."""
    ends = float(verdict.linked_weight), float(verdict.bound)
    if verdict.sampling is None:
        return dict(zip(EXPECTED, ends, strict=True))
    said = {"weight": verdict.sampling.column, "total_weight": float(verdict.total)}
    return {**said, **dict(zip(WEIGHTED, ends, strict=True))}


def _certificate(result: object, given: Mapping[str, Any] | str | Path | None) -> Any:
    """The certificate that is given, or that of the result; UsageError when there is none."""
    if given is not None:
        return given
    made = result.certificate if isinstance(result, FitResult) else None
    if made is None:
        raise UsageError("there is no certificate: fit with certificate=True, or give it as certificate=...")
    return made


def _content(given: Any, name: str, writer: str) -> tuple[Mapping[str, Any], str]:
    """The JSON of a fit or certificate, and what to call it."""
    if isinstance(given, str | Path):
        return read_object(given, writer), str(given)
    content = given.to_dict() if isinstance(given, FitResult | FitResults) else given
    if not isinstance(content, Mapping):
        raise UsageError(f"{name} is a {type(given).__name__}; give a result, a dictionary or a file name")
    try:  # numbers, texts and lists as a stranger would read them, and nothing else
        return json.loads(json.dumps(dict(content), allow_nan=False)), name
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{name} cannot be written as JSON: {error}") from None


def _judged(
    fit: Mapping[str, Any], certificate: Mapping[str, Any], files: FilePair, names: tuple[str, str]
) -> tuple[Verdict | None, str | None]:
    """What is proved, and which check failed first."""
    verdict = None
    try:
        verdict = checking.verify(fit, certificate, files, names)
        demand_fit(fit, verdict, names[0])
    except RejectedError as error:
        return verdict, " ".join(str(error).splitlines())
    return verdict, None


def _files(original: Any, masked: Any, setting: Setting, name: str, **options: Any) -> FilePair:
    """The two files, or the embedded pair, with the attributes of the fit and their categories."""
    options |= {"attributes": setting.attributes, "masking": (NOT_INFERRED,)}  # it is given by the fit
    if original is None and masked is None:
        pair = default_pair()
        absent = [known for known in setting.attributes if known not in pair.attributes]
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


def _schema(given: Schema | None, setting: Setting) -> Schema:
    """The categories of the fit; record id, weights and missing codes are those of the user's own schema."""
    own = Schema(()) if given is None else given
    categories = {name: (Scale(scale), listed) for name, scale, listed in setting.schema}
    compared = []
    for name in setting.attributes:
        scale, listed = categories.get(name, (Scale.NUMERIC, None))
        form = setting.dates.get(name)
        if name in setting.dates:
            scale = Scale.DATE
        compared.append(replace(_beside(own.get(name)), scale=scale, categories=listed, form=form))
    beside = [
        _beside(declared)
        for declared in own.attributes
        if declared.name not in setting.attributes
        and (declared.role in _KEPT or declared.name == setting.weight)
    ]
    return Schema((*compared, *beside))


def _beside(declared: Attribute) -> Attribute:
    """What counts of a declaration whatever the fit says: missing codes, and whether it is id or weight."""
    role = declared.role if declared.role in _KEPT else None
    return Attribute(declared.name, role, missing=declared.missing)
