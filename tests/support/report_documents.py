"""Documents to make pages of: all kinds of blocks, nothing at all, and names that want to be HTML."""

from __future__ import annotations

from linkrisk.solver.charts.chart import Chart, Column, Of, Table
from linkrisk.solver.documents.document import (
    Audience,
    Choice,
    Code,
    Document,
    Headline,
    Items,
    Number,
    Numbers,
    Paragraph,
    Records,
    Section,
)

SCRIPT = '</script><script>window.ran = "it"</script><img src=x onerror="window.ran = 1">'


def spec(data, height, colour, **axes):
    """Horizontal bars."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "height": height,
        "data": data,
        "mark": {"type": "bar", "tooltip": True, **colour},
        "encoding": axes,
    }


def bars(name, values, title="Weights of the attributes"):
    """A chart of one bar per name."""
    rows = [[key, value] for key, value in values.items()]
    drawn = spec(
        {"values": [{"name": key, "value": value} for key, value in rows]},
        22 * max(len(values), 1),
        {"color": "#0072B2"},
        y={"field": "name", "type": "nominal", "sort": None, "title": None},
        x={"field": "value", "type": "quantitative", "title": "weight"},
    )
    most = max(values, key=values.get, default="nothing")
    columns = (Column("name", "Attribute"), Column("value", "Weight", Of.NUMBER))
    return Chart(
        name, title, "Longer bars decide more.", f"{title}: most on {most}.", drawn, Table(columns, rows)
    )


def waterfall(attributes):
    """A chart of the contributions of a record that is picked."""
    drawn = spec(
        {"name": "picked", "values": []},
        24 * max(len(attributes), 1),
        {},
        y={"field": "attribute", "type": "nominal", "sort": None, "title": None},
        x={"field": "contribution", "type": "quantitative", "title": "part of the distance"},
        yOffset={"field": "to"},
        color={"field": "to", "type": "nominal"},
    )
    return Chart(
        "waterfall",
        "Distance of one record, attribute by attribute",
        "A record is re-identified when its partner is nearer than every other candidate.",
        "Contributions of the attributes to the distances of the record that is picked in the table.",
        drawn,
        Table((Column("attribute", "Attribute"),), [[one] for one in attributes]),
    )


def records(n, attributes):
    """A table of `n` records and their contributions; every tenth has no partner."""
    columns = (
        Column("record", "Record", Of.COUNT),
        Column("linked", "Re-identified", Of.FLAG),
        Column("rank", "Rank of the partner", Of.COUNT),
        Column("margin", "Margin", Of.NUMBER),
        Column("share", "Share of distances that link it", Of.SHARE),
        Column("region", "Region"),
    )
    regions = ("North", "South, with islands", "West")
    rows = [
        [
            i,
            None if i % 10 == 9 else i % 3 != 0,
            i * 7 % 11,
            (i * 37 % 101 - 50) / 997,
            i * 13 % 101 / 100,
            regions[i % 3],
        ]
        for i in range(n)
    ]
    known = [i % 10 != 9 for i in range(n)]

    def made(step):
        return [
            [((i + 1) * (k + step) * 31 % 97) / 970 for k in range(len(attributes))] if known[i] else []
            for i in range(n)
        ]

    table = Table(columns, rows, "Records, the most exposed first")
    return Records(table, tuple(attributes), made(1), made(3), waterfall(attributes))


def full_document(
    n=60, attributes=("INCOME", "TAX", "AGE", "HOURS"), title="census, noise of 20 %", families=3
):
    """Every kind of block."""
    weights = {name: 1 / (k + 2) for k, name in enumerate(attributes)}
    names = ("Weighted mean", "OWA", "Choquet integral", "Mahalanobis", "All at once", "Sugeno")[:families]
    options = tuple(
        (name, (Paragraph(f"Text of {name}."), bars("weights", weights, f"Weights: {name}")))
        for name in names
    )
    sections = (
        Section(
            "decision",
            "For whoever decides",
            "What was found, and what to do about it.",
            (
                Paragraph("Noise of 20 % was added to 4 of 5 columns; SEX was left as it is."),
                Items(
                    "What to do next",
                    ("Mask INCOME more: it decides the worst distance.", "Withhold TAX from the file."),
                ),
                bars("axis", {"worst case": 0.81, "equal weights": 0.64, "random": 0.02}, "On one axis"),
            ),
        ),
        Section(
            "who-leaks",
            "Who leaks",
            "INCOME gives away most.",
            (Choice("Family of distances", options), Paragraph("Weights sum to one.", quiet=True)),
        ),
        Section("records", "Which records", "40 of 60 can be re-identified.", (records(n, attributes),)),
        Section(
            "measures",
            "Other measures",
            "Each with its direction.",
            (
                Numbers(
                    "Keys",
                    (
                        Number(
                            "Records alone with their key",
                            "12 (3.0 %)",
                            "8 to 17, with 95 % confidence",
                            "higher is worse",
                            "Nobody else in the file has the same values.",
                        ),
                        Number("Loss of information", "0.12", "", "lower is worse"),
                        Number("Seconds", "12.3 s"),
                    ),
                ),
                Table(
                    (
                        Column("method", "Method"),
                        Column("p", "Share", Of.SHARE),
                        Column("s", "Time", Of.SECONDS),
                    ),
                    [["noise", 0.81, 12.34], ["swapping", None, 700.0]],
                    "Maskings side by side",
                ),
            ),
        ),
        Section("releases", "After several releases", "There was one release.", ()),
        Section(
            "made",
            "How it was made",
            "The same command gives the same report.",
            (Code("To do it again", "python -m solver report --original 'my file.csv' --masked M.csv"),),
        ),
    )
    headline = Headline(
        "above",
        "This file should not be published as it is: up to 84.0 % of its records can be re-identified.",
        "At worst between 324 and 336 of 400 records (81.0 % to 84.0 %) can be re-identified by a "
        "distance of this kind.",
        ("At most 20 % is tolerated.", "The bound is proven."),
    )
    return Document(title, Audience.INTERNAL, headline, sections, "0.1.0", "2026-11-23T22:00:00+00:00")


def empty_document():
    """A report of which nothing but the headline is known."""
    headline = Headline("unknown", "Nothing could be linked.", "", ())
    sections = (Section("records", "Which records", "The file has no records.", (records(0, ()),)),)
    return Document("nothing", Audience.EXTERNAL, headline, sections, "0.1.0", "2026-11-23T22:00:00+00:00")


def hostile_document():
    """HTML and scripts wherever a name, a value or a file can have them."""
    columns = (Column(SCRIPT, SCRIPT), Column("text", f"Name {SCRIPT}"))
    table = Table(columns, [[SCRIPT, '"quoted", =1+1'], ["<b>bold</b>", "line\nbreak"]], f"Caption {SCRIPT}")
    blocks = (
        Paragraph(SCRIPT),
        Items(SCRIPT, (SCRIPT,)),
        Numbers(SCRIPT, (Number(SCRIPT, SCRIPT, SCRIPT, "higher is worse", SCRIPT),)),
        Code(SCRIPT, SCRIPT),
        table,
        Records(
            table, (SCRIPT, "<i>b</i>"), [[1.0, 2.0], []], [[2.0, 1.0], []], waterfall((SCRIPT, "<i>b</i>"))
        ),
        Choice(SCRIPT, ((SCRIPT, (Paragraph(SCRIPT),)), (f"second {SCRIPT}", (table,)))),
        bars("bars", {SCRIPT: 1.0, "<!--<script>": 0.5}, SCRIPT),
    )
    headline = Headline("open", SCRIPT, SCRIPT, (SCRIPT,))
    sections = (Section("first", SCRIPT, SCRIPT, blocks),)
    return Document(SCRIPT, Audience.INTERNAL, headline, sections, "0.1.0", "2026-11-23T22:00:00+00:00")
