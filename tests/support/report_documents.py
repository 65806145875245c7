"""Documents to make pages of, and results as `fit --json` writes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkrisk.formulations.linkage import fuzzy_measures as measures
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

# Documents to make pages of: all kinds of blocks, nothing at all, and names that want to be HTML


SCRIPT = '</script><script>window.ran = "it"</script><img src=x onerror="window.ran = 1">'


def bars(name, values, title="Weights of the attributes"):
    """A chart of one bar per name."""
    rows = [[key, value] for key, value in values.items()]
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "height": 22 * max(len(values), 1),
        "data": {"values": [{"name": key, "value": value} for key, value in rows]},
        "mark": {"type": "bar", "color": "#0072B2", "tooltip": True},
        "encoding": {
            "y": {"field": "name", "type": "nominal", "sort": None, "title": None},
            "x": {"field": "value", "type": "quantitative", "title": "weight"},
        },
    }
    most = max(values, key=values.get, default="nothing")
    columns = (Column("name", "Attribute"), Column("value", "Weight", Of.NUMBER))
    return Chart(
        name, title, "Longer bars decide more.", f"{title}: most on {most}.", spec, Table(columns, rows)
    )


def waterfall(attributes):
    """A chart of the contributions of a record that is picked."""
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "height": 24 * max(len(attributes), 1),
        "data": {"name": "picked", "values": []},
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "y": {"field": "attribute", "type": "nominal", "sort": None, "title": None},
            "x": {"field": "contribution", "type": "quantitative", "title": "part of the distance"},
            "yOffset": {"field": "to"},
            "color": {
                "field": "to",
                "type": "nominal",
                "scale": {"domain": ["partner", "rival"], "range": ["#0072B2", "#D55E00"]},
                "legend": {"orient": "top", "title": None},
            },
        },
    }
    return Chart(
        "waterfall",
        "Distance of one record, attribute by attribute",
        "A record is re-identified when its partner is nearer than every other candidate.",
        "Contributions of the attributes to the distances of the record that is picked in the table.",
        spec,
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


# Results as `fit --json` writes them, one for each form of parameters


ATTRIBUTES = ["AFNLWGT", "AGI", "EMCONTRB"]
MEASURE = {
    "AFNLWGT": 0.3,
    "AGI": 0.45,
    "AFNLWGT,AGI": 0.5,
    "EMCONTRB": 0.0,
    "AFNLWGT,EMCONTRB": 0.9,
    "AGI,EMCONTRB": 0.625,
    "AFNLWGT,AGI,EMCONTRB": 1.0,
}
COLUMNS = ["record", "linked", "rank", "distance", "nearest_other", "margin", "ties"]
ROWS: list[list[Any]] = [
    ["1", True, 1, 0.0125, 0.51, 0.4975, 0],
    ["2", True, 1, 0.0, 1.25, 1.25, 0],
    ["3", False, 2, 0.75, 0.5, -0.25, 0],
    ["4", False, 1, 0.25, 0.25, 0.0, 1],
    ["5", True, 1, 3.1e-7, 12345.678, 12345.678, 0],
    ["6", False, 12, 2.5, 0.003, -2.497, 0],
    ["7", True, 1, 0.1, None, None, 0],
]


def choquet_result(**changes: Any) -> dict[str, Any]:
    """A result of the Choquet integral, stopped by the time limit."""
    mu = measures.measure_from_names(MEASURE, ATTRIBUTES)
    result: dict[str, Any] = {
        "linkrisk": "0.1.0",
        "command": "python -m solver fit --original o.csv --masked m.csv --aggregator choquet",
        "name": "o.csv -> m.csv",
        "aggregator": "choquet",
        "aggregator_options": {"k_additive": None},
        "direction": "original-to-masked",
        "engine": "milp",
        "backend": "highs",
        "attributes": ATTRIBUTES,
        "records": 7,
        "candidates": 8,
        "ties": "strict",
        "standardisation": "own",
        "differences": "squared",
        "linked": 4,
        "linked_upper_bound": 5,
        "lost": 1,
        "status": "feasible",
        "limit": "time",
        "margin": 1e-6,
        "parameters": {"measure": MEASURE},
        "importance": dict(zip(ATTRIBUTES, np.round(measures.shapley_values(mu), 12).tolist(), strict=True)),
        "interaction": np.round(measures.interaction_indices(mu), 12).tolist(),
        "baselines": {"euclid": 2, "mahalanobis": 3},
        "seconds": 121.53,
        "phases": {"attack": 1.2, "build": 0.04, "solve": 120.1},
        "model": {"rows": 15960, "columns": 14, "nonzeros": 123456},
        "trace": [[0.1, 2, 7], [1.2, 3, 7], [40.0, 4, 6], [121.53, 4, 5]],
        "seed": 0,
        "threads": 1,
        "time_limit": 120.0,
        "versions": {"python": "3.12.4", "numpy": "2.1.0", "highspy": "1.15.1"},
        "records_table": {"columns": COLUMNS, "rows": ROWS},
    }
    return {**result, **changes}


def weighted_mean_result(**changes: Any) -> dict[str, Any]:
    """A proven result of the weighted mean."""
    weights = {"AFNLWGT": 0.5, "AGI": 0.5, "EMCONTRB": 0.0}
    proven = {"status": "optimal", "limit": None, "linked_upper_bound": 4, "time_limit": None, "trace": []}
    form = {"aggregator": "weighted-mean", "aggregator_options": {}, "parameters": {"weights": weights}}
    return choquet_result(**proven, **form, importance=weights, interaction=None) | changes
