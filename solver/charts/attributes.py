"""Which attributes leak: weights with their ranges, and the worst case without each of them."""

from __future__ import annotations

from typing import Any

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.reading import (
    Result,
    fit_of,
    hundredfold,
    in_words,
    measure,
    name_of,
    number,
    numbers,
    points,
    written,
)
from linkrisk.solver.charts.rows import Ends, Row, described, picture
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.charts.theme import SIMPLE, WORST, chart

Value = tuple[str, float | None, float | None, float | None]
"""Attribute or rank, value, and the ends of its range."""


def weights(result: Result, family: str | None = None) -> Chart | None:
    """Weights of attributes or ranks; None where the family has none, as the Choquet integral.

    Parameters
    ----------
    result : mapping
        The JSON of a fit, or of risk, whose measure ``attributes`` has ranges.
    family : str, optional
        By default the worst one that has weights.
    """
    found = _of(result, family, lambda parameters: "measure" not in parameters)
    if found is None:
        return None
    family, parameters = str(found["aggregator"]), found.get("parameters") or {}
    diagonal = "matrix" in parameters
    what = "share of the matrix's diagonal" if diagonal else "weight"
    return _drawn(
        "weights", f"{'Diagonal' if diagonal else 'Weights'} of the worst distance: {name_of(family)}", what,
        _values(result, found),
    )  # fmt: skip


def shapley(result: Result, family: str | None = None) -> Chart | None:
    """Shapley values of the attributes; None where no family is a fuzzy measure.

    Parameters are those of `weights`.
    """
    found = _of(result, family, lambda parameters: "measure" in parameters)
    if found is None:
        return None
    title = f"Shapley values of the worst distance: {name_of(str(found['aggregator']))}"
    return _drawn("shapley", title, "Shapley value", _values(result, found))


def withheld(result: Result, family: str | None = None) -> Chart | None:
    """By how much the worst case falls without an attribute; None where that was not measured.

    Parameters
    ----------
    result : mapping
        The JSON of risk.
    family : str, optional
        By default the first one that was measured, which links most.
    """
    taken = measure(result, "attributes")
    total = number(taken.get("total")) or 1.0
    every = [one for one in taken.get("withheld") or () if number(one.get("fall")) is not None]
    family = family or next((one["aggregator"] for one in every), None)
    found = [one for one in every if one["aggregator"] == family]
    if family is None or not found:
        return None
    found.sort(key=lambda one: -one["fall"])
    words = in_words(result, (one["attribute"] for one in found))
    values: list[list[Any]] = [
        [words[one["attribute"]], *(None if (end := number(one.get(key))) is None else end / total
                             for key in ("fall", "fall_low", "fall_high"))]
        for one in found
    ]  # fmt: skip
    rows = [_fall(*one) for one in values]
    columns = (
        Column("attribute", "Attribute"),
        Column("fall", "Fall of the attacks found", Of.POINTS),
        Column("fall_low", "At least", Of.POINTS),
        Column("fall_high", "At most", Of.POINTS),
    )
    return chart(
        "withheld",
        f"What withholding an attribute would bring: {name_of(family)}",
        "How far the worst case falls when the attribute is not released: a long bar leaks much. "
        "Whiskers go from the least to the most that is proven; where there are none, no bound was found in "
        "time.",
        described(rows),
        picture(rows, "fall of the worst case, percentage points"),
        Table(columns, values),
    )


def _fall(attribute: str, value: float | None, low: float | None, high: float | None) -> Row:
    said = points(value)
    if low is not None and high is not None:
        said += f" ({points(low).removesuffix(' points')} to {points(high)})"
    else:
        said, low, high = f"{said} (no bound in time)", None, None
    return Row(
        attribute, hundredfold(value), hundredfold(low), hundredfold(high), said=said, short=points(value),
        colour=WORST, ends=Ends.WHISKERS,
    )  # fmt: skip


def _of(result: Result, family: str | None, fits: Any) -> Result | None:
    """A family of the measure, else of the fit, whose parameters are of a kind."""
    taken = measure(result, "attributes").get("families") or ()
    fit = fit_of(result, family)
    whole = result.get("worst_case") or result
    every = [*taken, *([fit] if fit else []), *(one for one in whole.get("families") or ())]
    named = [one for one in every if family in (None, one.get("aggregator"))]
    return next((one for one in named if one.get("parameters") and fits(one["parameters"])), None)


def _values(result: Result, found: Result) -> list[Value]:
    if "owners" in found:
        names = in_words(result, found["owners"]).values()
        columns = [numbers(found.get(key)) for key in ("importance", "low", "high")]
        return list(zip(names, *columns, strict=True))
    importance = found.get("importance") or found["parameters"].get("weights") or {}
    words = in_words(result, importance)
    return [(words[str(name)], number(value), None, None) for name, value in importance.items()]


def _drawn(name: str, title: str, what: str, values: list[Value]) -> Chart | None:
    if not any(value is not None for _, value, _, _ in values):
        return None
    ranged = any(low is not None for _, _, low, _ in values)
    rows = [_row(*one) for one in values]
    columns = (
        Column("attribute", "Attribute"),
        Column("value", what[0].upper() + what[1:], Of.NUMBER),
        Column("low", "From", Of.NUMBER),
        Column("high", "To", Of.NUMBER),
    )
    reading = "A long bar means that the distance goes by this much; all together are 1."
    if ranged:
        reading += " Whiskers: parameters in between link the same records; from 0 on, none of it is forced."
    return chart(name, title, reading, described(rows), picture(rows, what), Table(columns, values))


def _row(label: str, value: float | None, low: float | None, high: float | None) -> Row:
    said = written(value)
    if low is not None and high is not None:
        said += f" ({written(low)} to {written(high)})"
    return Row(label, value, low, high, said=said, short=written(value), colour=SIMPLE)
