"""What `verify` finds, of whatever it is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from linkrisk.solver.certificates.checking.json_files import KEY
from linkrisk.solver.certificates.checking.verify import FullVerdict
from linkrisk.solver.certificates.core.tables import TableVerdict
from linkrisk.solver.certificates.operations.claims import aligned, checked, coverage, of_table, proved
from linkrisk.solver.run.result import Result
from linkrisk.solver.schemas.intervals import EXPECTED, WEIGHTED


@dataclass(frozen=True, kw_only=True)
class VerificationResult(Result):
    """What a certificate proves about two files, or about a table.

    As a condition it is true if all that a fit claims holds, or if the table is protected.

    Attributes
    ----------
    verified : bool
        Whether the certificate proves what is claimed.
    rejected : str or None
        The first check that failed.
    verdict : FullVerdict or None
        What is proved of two files in any case; None where the certificate itself is rejected.
    table : TableVerdict or None
        What is proved of a table; None where a claim does not hold.
    parts : mapping of str to VerificationResult
        Of a file with the certificates of several families: what is found of each.
    fit : mapping
        The fit, as JSON has it.
    claim : str
        What to call the fit.
    name : str
        What to call the file pair.
    files : str
        The same, as they were given to the check, and which of them is masked.
    alignment : str
        How the records of the two files were aligned.
    cells, relations : int
        How many the table has.
    seconds : float
        What checking took.
    """

    kind: ClassVar[str] = "verification"

    verified: bool
    rejected: str | None
    verdict: FullVerdict | None = field(default=None, repr=False)
    table: TableVerdict | None = None
    parts: Mapping[str, VerificationResult] = field(default_factory=dict, repr=False)
    fit: Mapping[str, Any] = field(default_factory=dict, repr=False)
    claim: str = ""
    name: str = ""
    files: str = ""
    alignment: str = ""
    cells: int = 0
    relations: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, parts: Mapping[str, VerificationResult]) -> Self:
        """What is found of several families together."""
        failed = [f"{name}: {one.rejected}" for name, one in parts.items() if not one]
        return cls(
            verified=not failed,
            rejected=failed[0] if failed else None,
            parts=parts,
            seconds=sum(one.seconds for one in parts.values()),
        )

    def __bool__(self) -> bool:
        return self.verified and (self.table is None or self.table.protected)

    @property
    def linked(self) -> int | None:
        """Records that the parameters of the fit link, where that is proved."""
        return None if self.verdict is None else self.verdict.linked

    @property
    def linked_upper_bound(self) -> int | None:
        """No parameters link more records, where that is proved."""
        return None if self.verdict is None else self.verdict.bound_count

    def content(self) -> dict[str, Any]:
        """What is proved, and whether that is what is claimed."""
        if self.parts:
            return {"verified": self.verified, KEY: {name: one.content() for name, one in self.parts.items()}}
        head: dict[str, Any] = {
            "verified": self.verified,
            "rejected": self.rejected,
            "said": self._sentences(),
        }
        if self.cells:
            return head if self.table is None else {**head, **_of_table(self.table)}
        head |= {"name": self.name, "alignment": self.alignment, "seconds": round(self.seconds, 3)}
        return {**head, "proved": None if self.verdict is None else _of_fit(self.verdict)}

    def _sentences(self) -> list[str]:
        """What is proved in words, with all that it rests on; names that could be words of it are quoted."""
        if self.cells:
            return [] if self.table is None else of_table(self.table)
        if self.verdict is None:
            return []
        lines = [f"of {self.files}:", *proved(self.verdict, aligned(self.alignment))]
        if self.verified:
            covered = coverage(self.verdict, self.fit, self.alignment)
            lines += [checked(self.verdict, self.seconds), f"of {self.claim}: {covered}"]
        return lines

    def __repr__(self) -> str:
        return f"VerificationResult({self._said()})"

    def _said(self) -> str:
        if self.parts:
            return ", ".join(f"{name}: {one!r}" for name, one in self.parts.items())
        if self.table is not None:
            said = "protected" if self else "not protected"
            return f"{said}: {self.table.met} levels of {self.table.demands} met"
        if self.verdict is None:
            return f"rejected: {self.rejected}"
        proved = f"{self.linked} of {self.verdict.records} linked, at most {self.linked_upper_bound}"
        return f"verified: {proved}" if self.verified else f"proved: {proved}; rejected: {self.rejected}"


def _of_fit(verdict: FullVerdict) -> dict[str, Any]:
    """What is proved of two files."""
    problem = verdict.problem
    return {
        "aggregator": problem.aggregator,
        "direction": problem.direction,
        "ties": problem.ties,
        "attributes": problem.attributes,
        "records": verdict.records,
        "linked": verdict.linked,
        "linked_upper_bound": verdict.bound_count,
        **_sums(verdict),
        "assumed_masking": list(problem.methods.values()),
        "covers_ties": verdict.order is None,
        "method": verdict.method,
        "lost": verdict.lost,
        "cores": verdict.cores,
        "leaves": verdict.leaves,
    }


def _sums(verdict: FullVerdict) -> dict[str, Any]:
    """What is proved of the weights of linked records: of sampling weights, where the fit has these."""
    ends = float(verdict.linked_weight), float(verdict.bound)
    if verdict.problem.weight is None:
        return dict(zip(EXPECTED, ends, strict=True))
    said = {"weight": verdict.problem.weight, "total_weight": float(verdict.total)}
    return {**said, **dict(zip(WEIGHTED, ends, strict=True))}


def _of_table(verdict: TableVerdict) -> dict[str, Any]:
    """What is proved of a table."""
    found = {name: getattr(verdict, name) for name in ("demands", "met", "missed", "undecided")}
    return {"protected": verdict.protected, **found, "defect": str(verdict.defect)}
