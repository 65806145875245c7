"""Charts of attributes: weights, interactions, withheld attributes and information loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import altair as alt

from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.charts.chart import INK, Chart, Column, Of, Table
from linkrisk.solver.charts.rows import Row, bars
from linkrisk.solver.charts.theme import (
    OWN,
    SIMPLE,
    WORST,
    Picture,
    chart,
    cut,
    in_words,
    kept,
    lines,
    listed,
    name_of,
    named,
    points,
    ranged,
    tooltip,
    written,
)
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import fit_of, fits, measure, number

_ATTRIBUTE = Column("attribute", "Attribute")

_WRITTEN = 9
"""Columns up to which numbers are written into the squares."""

_SHORT = 8
"""Letters of names that have their place above a square."""

Cell = tuple[int, int, float]
"""Row, column and value of a square."""


def _family(result: Json, family: str | None, has: Callable[[Json], Any]) -> Json | None:
    """A family that has something: of the measure, whose ranges are known; else the worst, or any."""
    measured = measure(result, "attributes").get("families") or ()
    every = [*measured, fit_of(result, None) or {}, *fits(result)]
    return next((one for one in every if family in (None, one.get("aggregator")) and has(one)), None)


# ---- bars


def weights(result: Json, family: str | None = None) -> Chart | None:
    """Weights of attributes or ranks, of the worst family by default; None of one that has none."""
    found = _family(result, family, lambda one: one.get("parameters") and "measure" not in one["parameters"])
    if found is None:
        return None
    if "matrix" in found["parameters"]:
        return _importance(result, found, "weights", "Diagonal", "share of the matrix's diagonal")
    return _importance(result, found, "weights", "Weights", "weight")


def shapley(result: Json, family: str | None = None) -> Chart | None:
    """Shapley values of the attributes; None where no family is a fuzzy measure."""
    found = _family(result, family, lambda one: "measure" in (one.get("parameters") or ()))
    return None if found is None else _importance(result, found, "shapley", "Shapley values", "Shapley value")


def _importance(result: Json, found: Json, name: str, title: str, what: str) -> Chart | None:
    if "owners" in found:
        owners, *ends = (found[key] for key in ("owners", "importance", "low", "high"))
    else:
        given = found.get("importance") or found["parameters"].get("weights") or {}
        owners, ends = given, [given.values(), *2 * [[None] * len(given)]]
    numbers = [list(map(number, one)) for one in ends]
    values = list(zip(in_words(result, owners), *numbers, strict=True))
    if not any(value is not None for _, value, _, _ in values):
        return None
    reading = "A long bar means that the distance goes by this much; all together are 1."
    if any(low is not None for _, _, low, _ in values):
        reading += " Whiskers: parameters in between link the same records; from 0 on, none of it is forced."
    rows = [
        Row(label, value, low, high, ranged(value, low, high, Of.NUMBER), written(value))
        for label, value, low, high in values
    ]
    words = words_of(found["aggregator"])
    columns = (
        Column("attribute", words.owner),
        *Of.NUMBER.columns(value=words.column, low="From", high="To"),
    )
    return chart(
        name,
        f"{title} of the worst distance: {name_of(found['aggregator'])}",
        reading,
        *bars([("", rows)], what, Of.NUMBER),
        Table(columns, values),
    )


def withheld(result: Json, family: str | None = None) -> Chart | None:
    """How far the worst case falls without an attribute, of the family that links most by default."""
    taken = measure(result, "attributes")
    every = [one for one in taken.get("withheld") or () if one["fall"] is not None]
    family = family or next((one["aggregator"] for one in every), "")
    found = sorted((one for one in every if one["aggregator"] == family), key=lambda one: -one["fall"])
    if not found:
        return None
    keys, total = ("fall", "fall_low", "fall_high"), taken.get("total") or 1.0
    falls = [[None if one[key] is None else one[key] / total for key in keys] for one in found]
    names = in_words(result, (one["attribute"] for one in found))
    rows = []
    for name, (fall, low, high) in zip(names, falls, strict=True):
        unknown = " (no bound in time)" if low is None or high is None else ""
        said = ranged(fall, low, high, Of.POINTS) + unknown
        rows.append(Row(name, fall, low, high, said, points(fall), WORST))
    columns = (
        _ATTRIBUTE,
        *Of.COUNT.columns(linked="Re-identified without it", most="At most"),
        *Of.POINTS.columns(
            fall="Fall of the attacks found", fall_low="Falls at least by", fall_high="Falls at most by"
        ),
    )
    cells = (
        [name, one["linked"], one["most"], *fall] for name, one, fall in zip(names, found, falls, strict=True)
    )
    return chart(
        "withheld",
        f"What withholding an attribute would bring: {name_of(family)}",
        "How far the worst case falls when the attribute is not released: a long bar leaks much. "
        "Whiskers go from the least to the most that is proven; where there are none, no bound was found in "
        "time.",
        *bars([("", rows)], "fall of the worst case, percentage points", Of.POINTS),
        Table(columns, list(cells)),
    )


# ---- squares


def interactions(result: Json, family: str | None = None) -> Chart | None:
    """Interaction indices of pairs of attributes; None where no family has them."""
    found = _family(result, family, lambda one: one.get("interaction"))
    if found is None:
        return None
    square = found["interaction"]
    return _pairs(
        "interactions",
        f"Interactions of attributes: {name_of(found['aggregator'])}",
        "Plus: together the two tell more than apart (they complement each other); minus: one can stand in "
        "for the other. Darker squares are stronger.",
        in_words(result, found.get("owners") or found["attributes"]),
        [(j, i, square[j][i]) for j in range(len(square)) for i in range(j)],
        "interaction",
    )


def matrix(result: Json, family: str | None = None) -> Chart | None:
    """The matrix of a quadratic form; None where no family is one."""
    found = _family(result, family, lambda one: (one.get("parameters") or {}).get("matrix"))
    if found is None:
        return None
    return _pairs(
        "matrix",
        f"Matrix of the worst distance: {name_of(found['aggregator'])}",
        "On the diagonal, how much a difference counts; elsewhere, how much two differences of the same sign "
        "count more (plus) or less (minus) together. Darker squares are larger.",
        in_words(result, found.get("owners") or found["attributes"]),
        [(i, j, value) for i, row in enumerate(found["parameters"]["matrix"]) for j, value in enumerate(row)],
        "coefficient",
    )


def _pairs(
    name: str, title: str, reading: str, names: list[str], cells: Sequence[Cell], what: str
) -> Chart | None:
    if not cells:
        return None
    by_size = sorted(cells, key=lambda cell: -abs(cell[2]))
    said = [f"{names[i]} and {names[j]} {written(value)}" for i, j, value in by_size if i >= j]
    columns = (*Of.TEXT.columns(one="Attribute", other="With"), Column("value", what, Of.NUMBER))
    most = [abs(by_size[0][2])] * len(names)
    drawn = _squares(cells, names, names, most)
    table = Table(columns, [[names[i], names[j], value] for i, j, value in cells])
    return chart(name, title, reading, f"Largest first: {listed(said)}.", drawn, table)


def loss(result: Json) -> Chart | None:
    """Information loss by attribute; None where nothing was masked or measured."""
    found = list(_losses(measure(result, "information-loss")))
    if not found:
        return None
    attributes, kinds = (list(dict.fromkeys(column)) for column in list(zip(*found, strict=True))[:2])
    names = in_words(result, map(str, attributes))
    cells = [(attributes.index(name), kinds.index(kind), value) for name, kind, value in found]
    worst = [max((one for one in cells if one[1] == at), key=lambda one: one[2]) for at in range(len(kinds))]
    said = [f"{kinds[j]}, most of {names[i]}, {written(value)}" for i, j, value in worst]
    columns = (*Of.TEXT.columns(attribute="Attribute", statistic="Loss"), Column("loss", "Value", Of.NUMBER))
    return chart(
        "loss",
        "What masking has cost each attribute",
        "0 is no loss, and more is worse; squares are darker the larger a loss is in its column.",
        f"{listed(said)}.",
        _squares(cells, names, kinds, [value for _, _, value in worst]),
        Table(columns, [[names[i], kinds[j], value] for i, j, value in cells]),
    )


def _losses(taken: Json) -> Iterator[tuple[str, str, float]]:
    """Attribute, statistic and value of those that belong to one attribute."""
    for statistic, name, other, _, _, value in (taken.get("numeric") or {}).get("rows") or ():
        if name is not None and other is None and value is not None:
            yield name, statistic, value
    words = {"changed": "changed", "total_variation": "total variation", "hellinger": "Hellinger"}
    for one in taken.get("categories") or ():
        yield from ((one["attribute"], words[key], one[key]) for key in words if one[key] is not None)


def _squares(
    cells: Sequence[Cell], rows: Sequence[str], columns: Sequence[str], most: Sequence[float]
) -> Picture:
    """Squares: opacity is the size of a number beside the most of its column, colour its sign."""
    few = len(columns) <= _WRITTEN
    data = [
        {
            "a": i, "b": j, "c": kept(value), "d": abs(kept(value / (most[j] or 1.0)) or 0.0),
            "e": rows[i], "f": columns[j], "g": WORST if value < 0 else SIMPLE, "h": written(value),
        }
        for i, j, value in cells
    ]  # fmt: skip
    angle = 0 if few and all(len(name) <= _SHORT for name in columns) else -90
    above = lines(list(map(cut, columns)), 0.03, orient="top", labelAngle=angle, labelLimit=110)
    base = named().encode(
        y=alt.Y("a:O", **lines(list(map(cut, rows)), 0.03)),
        x=alt.X("b:O", **above),
        tooltip=tooltip({"e": "row", "f": "column", "h": "value"}),
    )
    dark = alt.Scale(domain=[0, 1], range=[0.04, 0.75])
    square = base.mark_rect(stroke=INK, strokeOpacity=0.2).encode(
        fillOpacity=alt.FillOpacity("d:Q", scale=dark, legend=None), **OWN
    )
    layers = [square, base.mark_text(fontSize=11).encode(text="h:N")] if few else [square]
    return Picture(layers, (30 if len(rows) <= 12 else 18) * len(rows), {"rows": data})
