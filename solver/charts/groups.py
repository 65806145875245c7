"""Where the records are that leak: risk by category, and how far down the list partners stand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import altair as alt

from linkrisk.datasets.microdata.names import group_in_words
from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.reading import (
    Result,
    fits,
    is_weighted,
    kept,
    listed,
    measure,
    name_of,
    number,
    share,
)
from linkrisk.solver.charts.rows import MOST, Row, described, picture
from linkrisk.solver.charts.saving import INK
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.charts.theme import REFERENCE, WORST, Picture, chart, named

CLASSES = ("1, alone", "1, with others", "2", "3 to 5", "6 to 10", "11 to 50", "above 50", "not known")
"""Where the partner stands among the candidates, the nearest first."""

_STEP = 30
"""Height of a bar."""

_FILLS = (WORST, "#ea9c62", "#4a9fd0", "#78b7dc", "#9fcbe6", "#c0dcee", "#dcebf5", REFERENCE)


def groups(result: Result) -> Chart | None:
    """Shares of re-identified records by category; None without groups.

    Parameters
    ----------
    result : mapping
        The JSON of risk.
    """
    found = [
        one for one in measure(result, "records").get("groups") or () if number(one.get("share")) is not None
    ]
    if not found:
        return None
    found = sorted(found, key=lambda one: -float(one["share"]))
    weighted = is_weighted(found)
    stand_for = ", of what records stand for" if weighted else ""
    columns = list(dict.fromkeys(group_in_words(one)[0] for one in found))
    each = max(2, (MOST - len(columns)) // len(columns))
    rows: list[Row] = []
    for column in columns:
        rows.append(Row(column, heading=True))
        own = [one for one in found if group_in_words(one)[0] == column]
        rows += [_row(one, weighted=weighted) for one in own[:each]]
    table = Table(
        (
            Column("column", "Column"),
            Column("category", "Category"),
            Column("share", f"Re-identified{stand_for}", Of.SHARE),
            Column("linked", "Re-identified records", Of.COUNT),
            Column("records", "Records", Of.COUNT),
            Column("by_any", "By any attack", Of.COUNT),
            Column("population", "Stand for", Of.COUNT),
        ),
        [
            [*group_in_words(one), *(number(one.get(key)) for key in
             ("share", "linked", "records", "by_any")), _whole(number(one.get("population")))]
            for one in found
        ],
    )  # fmt: skip
    of = "what the group's records stand for" if weighted else "the group's records"
    return chart(
        "groups",
        "Re-identified records by group",
        "Each bar is the share of a group that the worst attack re-identifies, the worst group first; shares "
        "of few records say little.",
        described(rows),
        picture(rows, f"share of {of}, %", domain=(0.0, 100.0)),
        table,
    )


def _whole(persons: float | None) -> int | None:
    return None if persons is None else round(persons)


def _row(group: Result, *, weighted: bool) -> Row:
    value = float(group["share"])
    what = " records, unweighted" if weighted else ""
    said = f"{share(value)}, {int(group['linked']):,} of {int(group['records']):,}{what}"
    return Row(group_in_words(group)[1], 100.0 * value, said=said, colour=WORST)


def ranks(result: Result) -> Chart | None:
    """Records by the place of their partner among all candidates; None where that was not looked at.

    Parameters
    ----------
    result : mapping
        The JSON of risk.
    """
    attacks = [one for one in measure(result, "records").get("attacks") or () if one.get("rank")]
    if not attacks:
        return None
    counts = [_classes(one) for one in attacks]
    used = [one for one in CLASSES if any(each[one] for each in counts)]
    rows: list[list[Any]] = [
        [name_of(attack["attack"]), name, count[name], count[name] / len(attack["rank"])]
        for attack, count in zip(attacks, counts, strict=True)
        for name in used
    ]
    said = [
        f"{name_of(attack['attack'])}: {count[CLASSES[0]]:,} of {len(attack['rank']):,} are alone at rank 1"
        for attack, count in zip(attacks, counts, strict=True)
    ]
    columns = (
        Column("attack", "Attack"),
        Column("rank", "Rank of the partner"),
        Column("records", "Records", Of.COUNT),
        Column("share", "Share of the records, unweighted" if _weights(result) else "Share", Of.SHARE),
    )
    return chart(
        "ranks",
        "Where partners stand among the candidates",
        "Rank 1 is the nearest candidate: alone there, the record is re-identified. Partners at ranks 2 to 5 "
        "are near misses, which a little more knowledge may turn.",
        f"{listed(said)}.",
        _stacked(rows, used),
        Table(columns, rows),
    )


def _weights(result: Result) -> bool:
    return any("total_weight" in one for one in fits(result))


def _classes(attack: Result) -> Counter[str]:
    linked = attack.get("linked") or [False] * len(attack["rank"])
    found: Counter[str] = Counter()
    for (rank, link), many in Counter(zip(attack["rank"], linked, strict=True)).items():
        found[_class(rank, link)] += many
    return found


def _class(rank: float | None, linked: bool) -> str:
    """Of a record, by the rank of its partner and whether it is linked."""
    place = number(rank) or 0.0
    if place == 1.0:
        return CLASSES[0] if linked else CLASSES[1]
    ends = ((0.0, 7), (2.0, 2), (5.0, 3), (10.0, 4), (50.0, 5))
    return CLASSES[next((at for end, at in ends if place <= end), 6)]


def _stacked(rows: list[list[Any]], used: list[str]) -> Picture:
    data = [
            {
                "a": attack, "b": kept(100.0 * float(part)), "c": CLASSES.index(str(name)), "e": name,
                "f": share(float(part)),
            }
            for attack, name, _, part in rows
            if part
    ]  # fmt: skip
    names = list(dict.fromkeys(str(row[0]) for row in rows))
    at = [CLASSES.index(name) for name in used]
    base = named().encode(
        y=alt.Y("a:N", sort=None, scale=alt.Scale(domain=names, padding=0.2),
                axis=alt.Axis(title=None, ticks=False, domain=False, labelPadding=6)),
        x=alt.X("b:Q", title="share of records, %", stack="zero",
                scale=alt.Scale(domain=[0, 100], nice=False), axis=alt.Axis(tickCount=5)),
        order=alt.Order("c:O"),
    )  # fmt: skip
    legend = alt.Legend(title="rank of the partner", columns=3, symbolType="square")
    bars = base.mark_bar(stroke=INK, strokeWidth=0.7, strokeOpacity=0.6).encode(
        color=alt.Color("e:N", scale=alt.Scale(domain=used, range=[_FILLS[k] for k in at]), legend=legend),
        tooltip=[
            alt.Tooltip(f"{field}:N", title=title)
            for field, title in (("a", "attack"), ("e", "rank"), ("f", "share"))
        ],
    )  # fmt: skip
    texts = base.transform_filter("datum.b >= 6").mark_text(color="#000", fontSize=11)
    words = texts.encode(x=alt.X("b:Q", stack="zero", bandPosition=0.5), text=alt.Text("b:Q", format=".0f"))
    return Picture(alt.layer(bars, words).properties(height=_STEP * len(names)), {"rows": data})
