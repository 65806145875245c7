"""Result of `verify`, and the sentences that state it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Self

from linkrisk.datasets.pairs.alignment import BY_ID, BY_ROW
from linkrisk.solver.certificates.checking.shown import TOTAL
from linkrisk.solver.certificates.checking.verify import KEY, Draw, FullVerdict
from linkrisk.solver.certificates.core.check import objective_keys
from linkrisk.solver.certificates.core.samples import Limit
from linkrisk.solver.certificates.core.tables import TableVerdict
from linkrisk.solver.run.number_format import with_confidence
from linkrisk.solver.run.result import Result
from linkrisk.solver.schemas.intervals import EXPECTED, WEIGHTED

_SCALED = {
    "own": "each file in units of its own mean and deviation",
    "original": "both files in units of the original's mean and deviation",
    "pooled": "both files in units of their pooled mean and deviation",
    "none": "values as they are",
}

_CHECKED = (
    "records",
    "candidates",
    "linked",
    "linked_upper_bound",
    "status",
    "lost",
    "parameters",
    "importance",
    "interaction",
    "records_table",
    "tied",
)
"""Keys of a fit that are recounted from the files, or follow from such."""

_BY_RECORD = ("records_table", "tied")
"""Keys that are checked if the fit lists its records."""

_PROBLEM = (
    "format",
    "version",
    "aggregator",
    "aggregator_options",
    "direction",
    "attributes",
    "ties",
    "standardisation",
    "differences",
    "missing",
    "schema",
    "masking",
    "recodings",
    "weight",
)
"""Keys of a fit that state the problem and the claim, which the sentence contains."""

_MOST_CATEGORIES = 12
_MOST_KEYS = 40


def proved(verdict: FullVerdict, aligned: str) -> list[str]:
    """List the proven claims, a line each; `aligned` says how records were aligned."""
    problem = verdict.problem
    family = verdict.family.words
    under = "proved under this assumption" if problem.methods else "proved"
    if (
        verdict.order is not None or not verdict.family.orders
    ):  # what links more, or might: it was not searched
        family += " whose distances differ by more than a tie"
    how = f"{problem.direction}, ties {problem.ties}, records aligned {aligned}), by {_compared(verdict)}"
    if verdict.limit is not None and verdict.draw is not None:
        claims = _limited(verdict, verdict.limit, verdict.draw)
    else:
        claims = _counted(verdict) if problem.weight is None else _weighed(verdict)
    bound, *others = claims
    sure = with_confidence(None if verdict.limit is None else float(verdict.limit.confidence))
    lines = [f"{under}{sure}: no {family} links {bound}{how}", *_beyond(verdict)]
    return [*_assumption(verdict), *lines, *(f"{under}: {other}" for other in others)]


def _counted(verdict: FullVerdict) -> list[str]:
    """State the bound on the number of records up to its brackets, then further claims."""
    lines = [
        f"more than {verdict.bound_count} of {verdict.records} records (",
        f"the parameters of the fit link {verdict.linked}",
    ]
    if verdict.problem.share:
        expected = f"{float(verdict.linked_weight):.6g}, at most {float(verdict.bound):.6g}"
        lines.append(f"expected links {expected}")
    return lines


def _limited(verdict: FullVerdict, limit: Limit, draw: Draw) -> list[str]:
    """State the limit of samples up to its brackets, the draw, and the certain bound."""
    heading, certain = f"more than {limit.count} of {verdict.records} records (", str(verdict.bound_count)
    linked = str(verdict.linked)
    if verdict.problem.weight is not None:
        heading = f"records that stand for more than {_sum(limit.weight)} of {_weights(verdict)}; "
        linked += f" records, which stand for {_sum(verdict.linked_weight)}"
        certain += f" records, which stand for {_sum(verdict.bound)}"
    by = "" if draw.strata is None else f" and, of each value of {quoted(draw.strata)}, its share"
    return [
        heading,
        f"this follows from {_many(draw.samples, 'sample')}, drawn by seed {draw.seed}{by}: of their "
        f"{draw.records} records no parameters link more than {draw.bound}, those of the fit link "
        f"{draw.linked}",
        f"the parameters of the fit link {linked}",
        f"whatever was drawn, no parameters link more than {certain}",
    ]


def _weighed(verdict: FullVerdict) -> list[str]:
    """State the same for sums of sampling weights."""
    shared = ", shared by identical candidates" if verdict.problem.share else ""
    return [
        f"records that stand for more than {_sum(verdict.bound)} of {_weights(verdict)}{shared}; ",
        f"the parameters of the fit link {verdict.linked} records, which stand for "
        f"{_sum(verdict.linked_weight)}",
        f"by that bound no more than {verdict.bound_count} of {verdict.records} records are linked",
    ]


def _weights(verdict: FullVerdict) -> str:
    """State the total weight and its column."""
    column = quoted(verdict.problem.weight or "")
    return f"{_sum(verdict.total)} (weights of column {column} of the {verdict.weighted_file} file"


def _sum(weight: Fraction) -> str:
    """Format a sum of weights with ten digits."""
    return f"{float(weight):.10g}"


def _beyond(verdict: FullVerdict) -> list[str]:
    """State what the bound does not cover: a lexicographic order that links more."""
    order = verdict.order
    if order is None:
        return []
    attack = order.described([quoted(name) for name in verdict.problem.attributes])
    linked = str(order.count)
    if verdict.problem.weight is not None:
        linked += f" records, which stand for {_sum(order.weight)}"
    return [
        f"not covered by this: {attack} links {linked}, by differences so small compared with others "
        "that they count as ties"
    ]


def _assumption(verdict: FullVerdict) -> list[str]:
    """State the assumed masking, which no file can confirm."""
    methods = verdict.problem.methods
    if not methods:
        return []
    masked = [
        f"{_listed([name for name, own in methods.items() if own == method])} masked by {json.dumps(method)}"
        for method in dict.fromkeys(methods.values())
    ]
    under = f", under which {verdict.impossible} of {verdict.pairs} pairs of records are impossible"
    known = under if verdict.problem.possible else ""
    return [f"assuming, which verify cannot check: {'; '.join(masked)}{known}"]


def _compared(verdict: FullVerdict) -> str:
    """State the attributes compared, and how."""
    problem, shown = verdict.problem, []
    for name in problem.attributes:
        scale, names = problem.scales.get(name, ""), problem.categories.get(name, ())
        kind = f" ({scale}: {_categories(scale, names)})" if names else " (dates)" if scale else ""
        shown.append(quoted(name) + kind)
    numeric = len(problem.categories) < len(problem.attributes)
    scaled = f", {_SCALED[problem.standardisation]}" if numeric else ""
    missing = f", missing values as {problem.missing} ones" if verdict.has_missing else ""
    return f"{problem.differences} differences of {', '.join(shown)}{scaled}{missing}"


def _categories(scale: str, names: Sequence[str]) -> str:
    if scale == "nominal":
        return f"{len(names)} categories"
    shown = [quoted(name) for name in names]
    # unexpected orders are shown in full: an omission could hide anything
    if len(shown) > _MOST_CATEGORIES and _in_natural_order(names):
        shown = [*shown[: _MOST_CATEGORIES - 2], f"... {len(names)} categories ...", shown[-1]]
    return " < ".join(shown)


def _in_natural_order(names: Sequence[str]) -> bool:
    """Tell whether categories ascend as numbers, or else as text."""
    try:
        values: list[Any] = [float(name) for name in names]
    except ValueError:
        values = list(names)
    return all(first < second for first, second in pairwise(values))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names)) + (" was" if len(names) == 1 else " were")


def aligned(alignment: str) -> str:
    """State how the records of the two files were aligned."""
    if alignment.startswith(BY_ID):
        return f"by the id column {quoted(alignment.removeprefix(BY_ID))}"
    return "row by row" if alignment == BY_ROW else "by the labels of the two indexes"


def quoted(name: str) -> str:
    """Quote a name unless it has only letters, digits and a few signs."""
    plain = name.isprintable() and all(sign.isalnum() or sign in "_-.+/%" for sign in name)
    return name if plain and name else json.dumps(name)


def coverage(verdict: FullVerdict, fit: Mapping[str, Any], alignment: str) -> str:
    """State which parts of the JSON of a fit were checked; `alignment` is that of the files."""
    checked = [*_CHECKED, *(objective_keys(verdict.problem) or ())]
    if verdict.problem.weight is not None:
        checked.append(TOTAL)
    if verdict.limit is not None:
        keys = objective_keys(verdict.problem) or ("linked",)
        limits = dict.fromkeys(f"{key}_confidence_limit" for key in ("linked", keys[0]))
        checked += ["confidence", *limits, "sampling"]
    if fit.get("alignment") == alignment:
        checked.append("alignment")
    listed = "left_out" not in fit["records_table"]
    checked = [key for key in checked if key in fit and (listed or key not in _BY_RECORD)]
    unchecked = [key for key in fit if key not in ("format", "version", *checked, *_PROBLEM)]
    if verdict.euclid:
        checked.append("baselines (euclid)")
        unchecked[unchecked.index("baselines")] = "baselines (others)"
    shown = [key if key == "baselines (others)" else quoted(str(key)) for key in unchecked[:_MOST_KEYS]]
    if len(unchecked) > _MOST_KEYS:
        shown.append(f"and {len(unchecked) - _MOST_KEYS} more")
    return f"checked {', '.join(checked)}; not checked {', '.join(shown) or 'nothing'}"


def checked(verdict: FullVerdict, seconds: float) -> str:
    """State how much was checked, and in what time."""
    leaves = "1 leaf" if verdict.leaves == 1 else f"{verdict.leaves} leaves"
    parts = [_many(verdict.lost, "record") + " out of reach"]
    if verdict.method == "hitting-set":
        parts.append(f"{_many(verdict.cores, 'core')}, a hitting-set tree of {leaves}")
    if verdict.method == "samples":
        parts.append(f"{_many(verdict.cores, 'core')} and trees of {leaves} for the samples")
    if verdict.method == "parts":
        parts.append(f"{_many(verdict.cores, 'core')} and trees of {leaves} for the parts of the sum")
    if verdict.method == "simplex-tree":
        parts.append(f"a simplex tree of {leaves}")
    return f"checked: {', '.join(parts)}; {seconds:.1f} s"


def of_table(verdict: TableVerdict) -> list[str]:
    """State the proven claims about a table."""
    vectors = _many(verdict.witnesses, "witness vector")
    said = f"{_many(verdict.met, 'level')} of {verdict.demands:,} met, by {vectors}"
    more = [f"{verdict.missed} missed"] if verdict.missed else []
    more += [f"{verdict.undecided} undecided"] if verdict.undecided else []
    answer = f"PROTECTED: {said}" if verdict.protected else f"NOT protected: {said}; {', '.join(more)}"
    adds_up = "exactly" if verdict.defect == 0 else f"but for {float(verdict.defect):g}"
    return [f"relations   add up {adds_up}", f"proven      {answer}"]


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


@dataclass(frozen=True, kw_only=True)
class VerificationResult(Result):
    """Result of the check of a certificate, about two files or a table.

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

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> checked = linkrisk.verify(linkrisk.fit(iris, masked, certificate=True), iris, masked)
    >>> checked.verified, checked.linked, checked.linked_upper_bound
    (True, 14, 14)
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
        """Combine the results of several families."""
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
        """Number of records linked by the parameters of the fit, if proven."""
        return None if self.verdict is None else self.verdict.linked

    @property
    def linked_upper_bound(self) -> int | None:
        """Proven upper bound on the number of linked records for all parameters."""
        return None if self.verdict is None else self.verdict.bound_count

    def content(self) -> dict[str, Any]:
        """Return the proven statements, and whether they include the claims."""
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
        """List the sentences and their assumptions; ambiguous names are quoted."""
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
    """Return what is proven of two files."""
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
    """Return what is proven of the weights of linked records, if the fit has sampling weights."""
    ends = float(verdict.linked_weight), float(verdict.bound)
    if verdict.problem.weight is None:
        return dict(zip(EXPECTED, ends, strict=True))
    said = {"weight": verdict.problem.weight, "total_weight": float(verdict.total)}
    return {**said, **dict(zip(WEIGHTED, ends, strict=True))}


def _of_table(verdict: TableVerdict) -> dict[str, Any]:
    """Return what is proven of a table."""
    found = {name: getattr(verdict, name) for name in ("demands", "met", "missed", "undecided")}
    return {"protected": verdict.protected, **found, "defect": str(verdict.defect)}
