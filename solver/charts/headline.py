"""The worst case of every family beside simple and held-out attacks and reference points, on one axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.rows import Row, bars
from linkrisk.solver.charts.table import Of, Table
from linkrisk.solver.charts.theme import HELD_OUT, REFERENCE, SIMPLE, WORST, Level, chart
from linkrisk.solver.charts.wording import name_of, ranged, share, worst_said
from linkrisk.solver.schemas.intervals import meets
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import (
    Interval,
    findings,
    fits,
    interval,
    measure,
    worst_cases,
)
from linkrisk.solver.schemas.risk import Finding

_BASELINES = {"euclid": "equal-weights", "mahalanobis": "classical-mahalanobis"}


def headline(result: Json, worst: Mapping[str, Interval] | None = None) -> Chart | None:
    """All that can be re-identified; None where no family has a result.

    `result`: the JSON of a fit, or of risk. `worst`: worst cases of several runs by their names, in place of
    those of the families.
    """
    groups = [
        ("Worst case, by family", [_worst(name_of(key), one) for key, one in worst_cases(result).items()]),
        ("Simple attacks", list(_simple(result))),
        (_known(result), list(_held_out(result))),
        ("For comparison", list(_references(result))),
    ]
    if worst is not None:
        groups = [("Worst case, by run", [_worst(name, one) for name, one in worst.items()])]
    if not any(row.value is not None for row in groups[0][1]):
        return None
    groups = [(heading, rows) for heading, rows in groups if rows]
    level = Level((result.get("verdict") or {}).get("tolerated"), "tolerated")
    of = "what records stand for" if any("total_weight" in one for one in fits(result)) else "records"
    columns = (
        *Of.TEXT.columns(group="Group", attack="Attack"),
        *Of.SHARE.columns(share=f"Share of {of}", low="At least", high="At most"),
        *Of.TEXT.columns(said="In words"),
    )
    cells = [
        [heading, row.label, row.value, row.low, row.upper, row.said]
        for heading, rows in groups
        for row in rows
    ]
    return chart(
        "headline",
        "What can be re-identified",
        f"Each bar is a share of {'the ' if of == 'records' else ''}{of}; of a worst case, the pale part is "
        "what is not excluded. Whiskers are 95 % intervals or ranges.",
        *bars(groups, f"share of {of}, %", level=level),
        Table(columns, cells),
    )


def _worst(label: str, one: Interval | None) -> Row:
    low, high = (None, None) if one is None else one.shares
    return Row(label, low, low, high, worst_said(one), colour=WORST, search=True)


def _simple(result: Json) -> Iterator[Row]:
    """The measure of simple attacks; without it, the distances that need no search."""
    if found := findings(result, "simple-attacks"):
        yield from (_found(one, one["words"], SIMPLE) for one in found)
        return
    records = measure(result, "records")
    attacks = {one["attack"]: one.get("linked") for one in records.get("attacks") or ()}
    rates = {}
    if records.get("weight") is None and all(map(attacks.get, _BASELINES.values())):
        rates = {name: sum(map(bool, attacks[name])) / len(attacks[name]) for name in _BASELINES.values()}
    else:
        for fit in fits(result)[:1]:
            counts, total = fit.get("baselines") or {}, interval(fit).total
            rates = {_BASELINES[name]: one / total for name, one in counts.items() if one is not None}
    for name, rate in rates.items():
        yield Row(name_of(name), rate, said=share(rate))


def _known(result: Json) -> str:
    """Above the rates of an intruder who knows some records."""
    shares = measure(result, "held-out").get("shares")
    return f"{f'{100.0 * shares[-1]:g} %' if shares else 'Some'} of records known"


def _held_out(result: Json) -> Iterator[Row]:
    for one in findings(result, "held-out"):
        first, second, *_ = [*one["words"].split(", "), ""]
        if one["key"].startswith("held_out_"):
            yield _found(one, name_of(first), HELD_OUT)
        elif one["key"] == "one_to_one":
            yield _found(one, f"{first}, {name_of(second)}", HELD_OUT)


def _references(result: Json) -> Iterator[Row]:
    for one in findings(result, "references"):
        yield _found(one, one["words"].replace("attributes shuffled", "shuffled"), REFERENCE)


def _found(finding: Finding, label: str, colour: str) -> Row:
    value, low, high = finding["value"], finding["low"], finding["high"]
    same = low is not None and high is not None and meets(low, high)
    said = ranged(value, None if same else low, high)
    return Row(label, value, low, high, said, share(value), colour, search=finding["kind"] == "certain")
