"""Is the worst case realistic: what an intruder links who knows some records and learns from them."""

from __future__ import annotations

from collections.abc import Iterator

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.lines import Place, picture
from linkrisk.solver.charts.reading import Result, between, listed, measure, name_of, number, share
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.charts.theme import chart


def learning_curve(result: Result) -> Chart | None:
    """Held-out rates by the share that is known; None where that was not measured.

    Parameters
    ----------
    result : mapping
        The JSON of risk.
    """
    taken = measure(result, "held-out")
    rates = [one for one in taken.get("rates") or () if number(one.get("held_out")) is not None]
    if not rates:
        return None
    shares = sorted({float(one["share"]) for one in rates})
    places = [*_rates(rates), *_worst(rates)]
    worst = any(place.at == 100.0 for place in places) and 1.0 not in shares
    ticks = [(100.0 * one, f"{100.0 * one:g} %") for one in shares]
    ticks += [(100.0, "all: worst case")] if worst else []
    chance = number(taken.get("chance"))
    level = None if chance is None else (100.0 * chance, f"random guess: {share(chance)}")
    strongest = [one for one in rates if float(one["share"]) == shares[-1]]
    said = [f"{name_of(one['aggregator'])} {_said(one)}, worst case {share(number(one.get('worst')))}"
            for one in strongest]  # fmt: skip
    return chart(
        "learning-curve",
        "What an intruder gets who knows some of the records",
        "Each point is the share of the other records that are re-identified, with its 95 % interval; a rate "
        "far below the worst case means that the worst case takes the whole truth.",
        f"With {100.0 * shares[-1]:g} % known: {listed(said)}. Random guess: {share(chance)}.",
        picture(places, ticks, ("records that the intruder knows", "re-identified of the others, %"), level),
        _table(rates),
    )


def _rates(rates: list[Result]) -> Iterator[Place]:
    for one in rates:
        ends = [None if (end := number(one.get(key))) is None else 100.0 * end for key in ("low", "high")]
        at, value = 100.0 * float(one["share"]), 100.0 * float(one["held_out"])
        yield Place(name_of(one["aggregator"]), at, value, *ends, _said(one))


def _worst(rates: list[Result]) -> Iterator[Place]:
    for name, one in {one["aggregator"]: one for one in rates}.items():
        if (value := number(one.get("worst"))) is not None:
            yield Place(name_of(name), 100.0, 100.0 * value, None, None, share(value), joined=False)


def _said(rate: Result) -> str:
    low, high = number(rate.get("low")), number(rate.get("high"))
    said = share(number(rate.get("held_out")))
    return said if low is None or high is None else f"{said} ({between(low, high)})"


def _table(rates: list[Result]) -> Table:
    columns = (
        Column("attack", "Attack"),
        Column("known", "Known", Of.SHARE),
        Column("held_out", "Re-identified", Of.SHARE),
        Column("low", "From", Of.SHARE),
        Column("high", "To", Of.SHARE),
        Column("worst", "Worst case", Of.SHARE),
    )
    keys = ("share", "held_out", "low", "high", "worst")
    rows = [[name_of(one["aggregator"]), *(number(one.get(key)) for key in keys)] for one in rates]
    return Table(columns, rows)
