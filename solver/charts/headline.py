"""The worst case of every family beside simple and held-out attacks and reference points, on one axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.reading import (
    Result,
    between,
    findings,
    fits,
    hundredfold,
    measure,
    name_of,
    number,
    numbers,
    share,
    total_of,
    upper_end,
    worst_cases,
)
from linkrisk.solver.charts.rows import Ends, Row, described, picture
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.charts.theme import HELD_OUT, REFERENCE, SIMPLE, WORST, chart
from linkrisk.solver.run.results import meets

_BASELINES = ("equal-weights", "classical-mahalanobis")


def headline(result: Result, *, by: str = "family") -> Chart | None:
    """The chart of the JSON of a fit, or of risk; None where no family has a result.

    Parameters
    ----------
    result : mapping
    by : str
        What the ``aggregator`` of each worst case names: a family; or something else, such as a run, whose
        name is written as it is.
    """
    groups = [
        (f"Worst case, by {by}", list(_worst(result, by))),
        ("Simple attacks", list(_simple(result))),
        (_known(result), list(_held_out(result))),
        ("For comparison", list(_references(result))),
    ]
    if not any(row.value is not None for row in groups[0][1]):
        return None
    groups = [(heading, rows) for heading, rows in groups if rows]
    rows = [row for heading, group in groups for row in (Row(heading, heading=True), *group)]
    tolerated = number((result.get("verdict") or {}).get("tolerated"))
    rule = None if tolerated is None else (100.0 * tolerated, f"tolerated: {share(tolerated)}")
    said = "" if tolerated is None else f" Tolerated: {share(tolerated)}."
    of = "what records stand for" if any("total_weight" in one for one in fits(result)) else "the records"
    return chart(
        "headline",
        "What can be re-identified",
        f"Each bar is a share of {of}; of a worst case, the pale part is what is not excluded. "
        "Whiskers are 95 % intervals or ranges.",
        described(rows) + said,
        picture(rows, f"share of {of.removeprefix('the ')}, %", rule, (0.0, 100.0)),
        _table(groups, of.removeprefix("the ")),
    )


def _table(groups: list[tuple[str, list[Row]]], of: str) -> Table:
    columns = (
        Column("group", "Group"),
        Column("attack", "Attack"),
        Column("share", f"Share of {of}", Of.SHARE),
        Column("low", "At least", Of.SHARE),
        Column("high", "At most", Of.SHARE),
        Column("said", "In words"),
    )
    parts = [
        [heading, row.label, _hundredth(row.value), *_ends(row), row.said]
        for heading, rows in groups
        for row in rows
    ]
    return Table(columns, parts)


def _hundredth(value: float | None) -> float | None:
    return None if value is None else value / 100.0


def _ends(row: Row) -> tuple[float | None, float | None]:
    """As shares; of a search without an upper end that is none."""
    low, high = _hundredth(row.low), _hundredth(row.high)
    return low, upper_end(low, high) if row.ends is Ends.OPEN else high


def _worst(result: Result, by: str) -> Iterator[Row]:
    for one in worst_cases(result):
        low, high = one.low, one.high
        name = name_of(one.aggregator) if by == "family" else one.aggregator
        yield _row(name, low, low, high, one.said, WORST, Ends.OPEN)


def _simple(result: Result) -> Iterator[Row]:
    """The measure of simple attacks; without it, the distances that need no search."""
    if found := findings(result, "simple-attacks"):
        yield from (_found(one, one["words"], SIMPLE) for one in found)
        return
    attacks = {one["attack"]: one for one in measure(result, "records").get("attacks") or ()}
    weight = measure(result, "records").get("weight")
    if weight is None and all(attacks.get(name, {}).get("linked") for name in _BASELINES):
        for name in _BASELINES:
            linked = attacks[name]["linked"]
            value = sum(map(bool, linked)) / len(linked)
            yield _row(name_of(name), value, None, None, share(value), SIMPLE)
        return
    for fit in fits(result)[:1]:
        for name, count in (fit.get("baselines") or {}).items():
            if number(count) is not None:
                value = float(count) / total_of(fit)
                yield _row(
                    name_of(_BASELINES[name == "mahalanobis"]), value, None, None, share(value), SIMPLE
                )


def _known(result: Result) -> str:
    """Above the rates of an intruder who knows some records."""
    shares = numbers(measure(result, "held-out").get("shares"))
    known = f"{100.0 * shares[-1]:g} %" if shares and shares[-1] is not None else "Some"
    return f"{known} of records known"


def _held_out(result: Result) -> Iterator[Row]:
    for one in findings(result, "held-out"):
        key, (first, second, *_) = str(one["key"]), [*str(one["words"]).split(", "), ""]
        if key.startswith("held_out_"):
            yield _found(one, name_of(first), HELD_OUT)
        elif key == "one_to_one":
            yield _found(one, f"{first}, {name_of(second)}", HELD_OUT)


def _references(result: Result) -> Iterator[Row]:
    for one in findings(result, "references"):
        yield _found(one, str(one["words"]).replace("attributes shuffled", "shuffled"), REFERENCE)


def _found(finding: Mapping[str, Any], label: str, colour: str) -> Row:
    value, low, high = (number(finding.get(key)) for key in ("value", "low", "high"))
    said = share(value)
    if low is not None and high is not None and not meets(low, high):
        said += f" ({between(low, high)})"
    short = share(value)
    open_end = finding.get("kind") == "certain"
    return _row(label, value, low, high, said, colour, Ends.OPEN if open_end else Ends.WHISKERS, short)


def _row(
    label: str,
    value: float | None,
    low: float | None,
    high: float | None,
    said: str,
    colour: str,
    drawn: Ends = Ends.WHISKERS,
    short: str = "",
) -> Row:
    """A line in per cent."""
    return Row(
        label, hundredfold(value), hundredfold(low), hundredfold(high), said=said, short=short, colour=colour,
        ends=drawn,
    )  # fmt: skip
