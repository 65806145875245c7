"""The headline of a result: the interval of linkable records and the state of its proof, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from linkrisk.solver.report.fields import Fields
from linkrisk.solver.report.formats import count, duration
from linkrisk.solver.run.results import EXPECTED, WEIGHTED, limit_key, objective

_PROOF_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Headline:
    """How many records can be linked.

    Attributes
    ----------
    lower, upper
        Records linked by the parameters found, and by any parameters at most; expected numbers when
        identical candidates share a link, sums of sampling weights where there are any.
    records
        What they are part of: the number of records, or the sum of their sampling weights.
    expected
        Whether `lower` and `upper` are expected numbers.
    weighted
        Whether they are sums of sampling weights.
    proven
        Whether the two ends meet.
    state, explanation
        The state of the proof in one word and in a sentence or two.
    confidence
        With which `upper` holds, where samples were searched; None where it is certain.
    """

    lower: float
    upper: float
    records: float
    expected: bool
    proven: bool
    state: str
    explanation: str
    weighted: bool = False
    confidence: float | None = None


def state(status: str, limit: str | None, confidence: float | None = None) -> str:
    """How a search ended, in a word or two; of samples, how sure their limit is."""
    if confidence is not None:
        return f"{100.0 * confidence:.4g} % confidence"
    if status == "optimal":
        return "proven"
    if status == "interrupted" or limit == "user":
        return "stopped"
    said = {"time": "time limit", "work": "work limit", "memory": "memory limit", "ties": "ties"}
    return said.get(limit or "", "open")


def sum_of_parts(parts: Mapping[str, int]) -> str:
    """What a bound is the sum of."""
    many, largest, closed = (count(parts[key]) for key in ("parts", "largest", "proven"))
    if parts["parts"] == 1:
        return f"the bound is that of one part, the {largest} records that are not out of reach"
    return f"the bound is the sum over {many} parts of at most {largest} records, {closed} of them closed"


def headline(result: Fields) -> Headline:
    """Read the interval of what the engines maximise (`solver.run.results.objective`)."""
    expected, keys = result.text("ties") == "share", objective(result)
    weighted = keys == WEIGHTED
    lower, upper = (result.number(key) for key in (EXPECTED if expected and not weighted else keys))
    total = result.number("total_weight" if weighted else "records")
    if "confidence" in result:
        upper, confidence = result.number(limit_key(keys)), result.number("confidence")
        explanation = _samples(result, confidence)
        return Headline(lower, upper, total, expected, False, "Samples", explanation, weighted, confidence)
    # Sums of weights are compared by their own size, which the status has been.
    proven = result.text("status") == "optimal" if weighted else upper - lower <= _PROOF_TOLERANCE
    state, explanation = _proof(result, proven)
    if "parts" in result:
        parts = result.nested("parts")
        said = sum_of_parts({key: int(parts.number(key)) for key in ("parts", "largest", "proven")})
        explanation += f" {said[0].upper()}{said[1:]}."
    return Headline(lower, upper, total, expected, proven, state, explanation, weighted)


def _samples(result: Fields, confidence: float) -> str:
    """What the limit rests on, and how far the attack was counted."""
    sampling = result.nested("sampling")
    sample, counted = sampling.nested("sample"), sampling.nested("counted")
    stopped = "The run was stopped by the user. " if result.text("status") == "interrupted" else ""
    seen = (
        "The lower number was counted on all records."
        if counted.value("all")
        else f"The lower number is what was counted, on {count(counted.number('records'))} records."
    )
    return (
        f"{stopped}{seen} The upper one holds with {100.0 * confidence:.4g} % confidence: it comes from "
        f"{count(sample.number('samples'))} random samples, of whose {count(sample.number('records'))} "
        f"records no parameters of this distance link more than {count(sample.number('linked_upper_bound'))}."
    )


def _proof(result: Fields, proven: bool) -> tuple[str, str]:
    status, limit = result.text("status"), result.value("limit")
    if proven:
        return "Proven", "No parameters of this distance link more records than the ones found."
    if status == "no_solution":
        return "No solution", "The engine found no parameters to count with; the upper bound still holds."
    if status == "interrupted" or limit == "user":
        return "Interrupted", f"The run was stopped by the user. {_BETWEEN}"
    if limit == "time":
        allowed = result.optional_number("time_limit")
        after = f" of {duration(allowed)}" if allowed is not None else ""
        return "Interval", f"The time limit{after} was reached before the two numbers met. {_BETWEEN}"
    if limit == "work":
        return "Interval", f"The work limit was reached before the two numbers met. {_BETWEEN}"
    if limit == "memory":
        return "Interval", f"The memory limit was reached before the two numbers met. {_BETWEEN}"
    if limit == "ties":
        return (
            "Interval",
            f"Differences that count as ties keep the two numbers apart; see the note. {_BETWEEN}",
        )
    return "Interval", f"The engine stopped before the two numbers met. {_BETWEEN}"


_BETWEEN = "Both numbers hold: the worst case lies between them."
