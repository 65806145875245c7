"""Charts of records: parts of a distance, risk by group, ranks of true matches."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import altair as alt

from linkrisk.datasets.microdata.names import group_in_words
from linkrisk.solver.charts.chart import INK, Chart, Column, Of, Table
from linkrisk.solver.charts.rows import MOST, Row, bars
from linkrisk.solver.charts.theme import (
    REFERENCE,
    WHOLE,
    WORST,
    Picture,
    chart,
    cut,
    in_words,
    kept,
    labelled,
    listed,
    name_of,
    named,
    share,
    tooltip,
    written,
)
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import fits, is_weighted, measure, number

# ---- the distances of a record

PICKED = "picked"
"""Data set with rows ``attribute``, ``to`` (`TO`) and ``contribution``, which a page puts in."""

TO = ("partner", "rival")

_COLUMNS = (
    Column("attribute", "Attribute"),
    *Of.NUMBER.columns(partner="To the partner", rival="To the nearest rival"),
)


def waterfall(result: Json, record: str | None = None, family: str | None = None) -> Chart | None:
    """The chart of one record; None where the parts of its distances are not known.

    `result`: the JSON of risk. `record`: by default the first that is re-identified. `family`: an attack of
    the measure ``records``; by default the one that links most.
    """
    taken = measure(result, "records")
    attacks = [one for one in taken.get("attacks") or () if family in (None, one["attack"])]
    if not attacks or not attacks[0].get("to_partner"):
        return None
    attack, records, at = attacks[0], [str(one) for one in taken["record"]], 0
    if record is not None:
        if record not in records:
            return None
        at = records.index(record)
    elif any(attack["linked"]):
        at = list(map(bool, attack["linked"])).index(True)
    names = in_words(result, attack["attributes"])
    title = f"Distances of record {records[at]}: {name_of(attack['attack'])}"
    return filled(blank(names), names, attack["to_partner"][at], attack["to_rival"][at], title)


def blank(attributes: Sequence[str]) -> Chart:
    """The chart before a record is picked."""
    return chart(
        "waterfall",
        "Distances of a record",
        "From left to right, each attribute adds its part to the distance. The record is re-identified when "
        "its partner's line ends before the rival's.",
        "No record is picked.",
        _parts(list(attributes)),
        Table(_COLUMNS, []),
    )


def filled(
    empty: Chart, attributes: Sequence[str], partner: Sequence[Any], rival: Sequence[Any], title: str = ""
) -> Chart:
    """The chart of a record, from what each attribute contributes to the two distances.

    `empty`: of `blank`. `partner`, `rival`: contributions; a rival that there is not has none.
    """
    both = [[*map(number, one), *[None] * len(attributes)][: len(attributes)] for one in (partner, rival)]
    rows = [
        {"attribute": name, "to": to, "contribution": kept(value)}
        for to, values in zip(TO, both, strict=True)
        for name, value in zip(attributes, values, strict=True)
        if value is not None
    ]
    sums = [
        f"to the {to} {written(sum(known))}"
        for to, values in zip(("partner", "nearest rival"), both, strict=True)
        if (known := [one for one in values if one is not None])
    ]
    cells = list(zip(attributes, *both, strict=True))
    parts = [f"{name} {written(one)} and {written(other)}" for name, one, other in cells]
    said = f"Distance {' and '.join(sums) or 'not known'}. By attribute, partner and rival: {listed(parts)}."
    spec = {**empty.spec, "datasets": {PICKED: rows}, "description": said}
    table = Table(_COLUMNS, list(map(list, cells)))
    return replace(empty, title=title or empty.title, description=said, spec=spec, table=table)


def _parts(attributes: list[str]) -> Picture:
    total = "distance"
    while total in attributes:
        total += " "
    every = [*attributes, total]
    order = f"indexof({json.dumps(attributes)}, datum.attribute)"
    begun = alt.SortField("order", order="ascending")
    parts = (
        named(PICKED)
        .transform_calculate(order=order)
        .transform_window(end="sum(contribution)", groupby=["to"], sort=[begun])
        .transform_calculate(begin="datum.end - datum.contribution")
    )
    sums = (
        named(PICKED)
        .transform_aggregate(end="sum(contribution)", groupby=["to"])
        .transform_calculate(attribute=f"{json.dumps([total])}[0]", begin="0", contribution="datum.end")
    )
    words = alt.Legend(title=None, labelExpr="datum.label == 'rival' ? 'nearest rival' : datum.label")
    to = alt.Scale(domain=list(TO))
    at = f"indexof({json.dumps(every)}, datum.value)"
    labels = alt.Axis(title=None, labelExpr=labelled(list(map(cut, every)), at))
    shared = {
        "y": alt.Y("attribute:N", sort=None, scale=alt.Scale(domain=every, paddingInner=0.25), axis=labels),
        "yOffset": alt.YOffset("to:N", scale=alt.Scale(domain=list(TO), paddingInner=0.1)),
    }
    dashes = alt.Scale(domain=list(TO), range=[[1, 0], [4, 2]])
    pointed = tooltip({"attribute": "attribute", "to": "to the"})
    pointed += tooltip({"contribution:Q": "adds"}, format=".4~g")
    drawn = {
        "x": alt.X("begin:Q", title="distance", axis=alt.Axis(tickCount=4, format=".2~g")),
        "x2": "end:Q",
        "color": alt.Color("to:N", scale=to, legend=words),
        "stroke": alt.Stroke("to:N", scale=to, legend=words),
        "strokeDash": alt.StrokeDash("to:N", scale=dashes, legend=words),
    }
    layers = [
        base.mark_bar(fillOpacity=opacity, strokeWidth=1.4).encode(**shared, **drawn, tooltip=pointed)
        for base, opacity in ((parts, 0.55), (sums, 0.95))
    ]
    text = alt.Text("end:Q", format=".3~g")
    layers.append(sums.mark_text(align="left", dx=5).encode(x="end:Q", text=text, **shared))
    return Picture(layers, 34 * len(every), {PICKED: []})


# ---- groups of records


def groups(result: Json) -> Chart | None:
    """Shares of re-identified records by category; None without groups."""
    found = [one for one in measure(result, "records").get("groups") or () if one["share"] is not None]
    if not found:
        return None
    found.sort(key=lambda one: -one["share"])
    weighted = is_weighted(found)
    columns = list(dict.fromkeys(group_in_words(one)[0] for one in found))
    each = max(2, (MOST - len(columns)) // len(columns))
    of = "what the group's records stand for" if weighted else "the group's records"
    rows = [
        (column, [_row(one, weighted=weighted) for one in found if group_in_words(one)[0] == column][:each])
        for column in columns
    ]
    heads = (
        *Of.TEXT.columns(column="Column", category="Category"),
        *Of.SHARE.columns(share="Re-identified" + (", of what records stand for" if weighted else "")),
        *Of.COUNT.columns(linked="Re-identified records", records="Records", by_any="By any attack"),
        *Of.COUNT.columns(population="Stand for"),
    )
    return chart(
        "groups",
        "Re-identified records by group",
        "Each bar is the share of a group that the worst attack re-identifies, the worst group first; shares "
        "of few records say little.",
        *bars(rows, f"share of {of}, %"),
        Table.of(heads, map(_cells, found)),
    )


def _cells(group: Json) -> dict[str, Any]:
    column, category = group_in_words(group)
    persons = group.get("population")
    stand_for = {"population": None if persons is None else round(persons)}
    return {**group, "column": column, "category": category, **stand_for}


def _row(group: Json, *, weighted: bool) -> Row:
    what = " records, unweighted" if weighted else ""
    said = f"{share(group['share'])}, {group['linked']:,} of {group['records']:,}{what}"
    return Row(group_in_words(group)[1], group["share"], said=said, colour=WORST)


# ---- ranks of partners

_PLACES = (0, 1, 2, 5, 10, 50)
_CLASSES = ("not known", "1, with others", "2", "3 to 5", "6 to 10", "11 to 50", "above 50")
"""Where the partner stands among the candidates, by the places up to which a class goes."""

_FILLS = {
    "1, alone": WORST, "1, with others": "#ea9c62", "2": "#4a9fd0", "3 to 5": "#78b7dc", "6 to 10": "#9fcbe6",
    "11 to 50": "#c0dcee", "above 50": "#dcebf5", "not known": REFERENCE,
}  # fmt: skip


def ranks(result: Json) -> Chart | None:
    """Draw the ranks of partners among all candidates; None where they were not measured."""
    attacks = [one for one in measure(result, "records").get("attacks") or () if one.get("rank")]
    if not attacks:
        return None
    counts = {name_of(one["attack"]): _classes(one) for one in attacks}
    used = [name for name in _FILLS if any(count[name] for count in counts.values())]
    rows = [
        [attack, name, count[name], count[name] / count.total()]
        for attack, count in counts.items()
        for name in used
    ]
    said = [
        f"{attack}: {count['1, alone']:,} of {count.total():,} are alone at rank 1"
        for attack, count in counts.items()
    ]
    weighted = any("total_weight" in one for one in fits(result))
    columns = (
        *Of.TEXT.columns(attack="Attack", rank="Rank of the partner"),
        *Of.COUNT.columns(records="Records"),
        *Of.SHARE.columns(share="Share of the records, unweighted" if weighted else "Share"),
    )
    return chart(
        "ranks",
        "Where partners stand among the candidates",
        "Rank 1 is the nearest candidate: alone there, the record is re-identified. Partners at ranks 2 to 5 "
        "are near misses, which a little more knowledge may turn.",
        f"{listed(said)}.",
        _stacked(rows, used, list(counts)),
        Table(columns, rows),
    )


def _classes(attack: Json) -> Counter[str]:
    linked = attack.get("linked") or [False] * len(attack["rank"])
    return Counter(
        "1, alone" if rank == 1 and link else _CLASSES[bisect_left(_PLACES, rank or 0)]
        for rank, link in zip(attack["rank"], linked, strict=True)
    )


def _stacked(rows: list[list[Any]], used: list[str], names: list[str]) -> Picture:
    data = [
        {"a": attack, "b": kept(part, 100.0), "c": used.index(name), "e": name, "f": share(part)}
        for attack, name, _, part in rows
        if part
    ]
    base = named().encode(
        y=alt.Y("a:N", sort=None, scale=alt.Scale(domain=names, padding=0.2), axis=alt.Axis(title=None)),
        x=alt.X("b:Q", title="share of records, %", stack="zero", scale=WHOLE, axis=alt.Axis(tickCount=5)),
        order="c:O",
        tooltip=tooltip({"a": "attack", "e": "rank", "f": "share"}),
    )
    fills = alt.Scale(domain=used, range=[_FILLS[name] for name in used])
    legend = alt.Legend(title="rank of the partner", symbolType="square")
    part = base.mark_bar(stroke=INK, strokeWidth=0.7, strokeOpacity=0.6).encode(
        color=alt.Color("e:N", scale=fills, legend=legend)
    )
    middle, words = alt.X("b:Q", stack="zero", bandPosition=0.5), alt.Text("b:Q", format=".0f")
    texts = base.transform_filter("datum.b >= 6").mark_text(color="#000", fontSize=11)
    return Picture([part, texts.encode(x=middle, text=words)], 30 * len(names), {"rows": data})
