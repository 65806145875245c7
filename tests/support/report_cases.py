"""Results that reports and charts are tested on, and what a report says of them."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pandas as pd
from small_files import NAMES, noisy, survey

from linkrisk import report, sweep
from linkrisk.solver.report.page import document_of

SCHEMA = {
    "attributes": [
        *({"name": name, "role": "key"} for name in NAMES),
        {"name": "region", "role": "stratum", "scale": "nominal"},
        {"name": "disease", "role": "confidential", "scale": "nominal"},
        {"name": "same", "role": "key"},
    ]
}
MEASURES = (
    *("worst-case", "simple-attacks", "references", "attributes", "records", "uniqueness"),
    *("attribute-disclosure", "changes", "information-loss", "held-out"),
)


def files(records=44):
    """A pair with a stratum, a confidential attribute, and a key variable that was left as it is."""
    rows = survey(records)
    original, masked = (pd.DataFrame(each, columns=list(NAMES)) for each in (rows, noisy(rows)))
    beside = {
        "region": ["north", "south"] * (records // 2),
        "disease": [("none", "flu", "none")[at % 3] for at in range(records)],
        "same": [float(at % 7) for at in range(records)],
    }
    return original.assign(**beside), masked.assign(**beside)


@functools.cache
def full():
    """A report with certificates."""
    return report(
        *files(),
        schema=SCHEMA,
        row_by_row=True,
        measures=MEASURES,
        aggregator=["weighted-mean", "choquet"],
        time_limit=None,
        work_limit=10,
        command="python -m solver report --original o.csv --masked m.csv --output r.html",
    )


def results():
    """The JSON of its measures, as `risk --json` would write them, read anew."""
    return json.loads(full().risk.to_json())


@functools.cache
def swept():
    """The JSON of a sweep of two maskings."""
    found = sweep(
        files()[0][list(NAMES)],
        ["noise percent=10,60"],
        measures=["worst-case", "information-loss"],
        aggregator="weighted-mean",
        time_limit=None,
        workers=1,
    )
    return found.to_json()


# What a report says, for tests: its texts, its sections, its tables


def leaves(content):
    """Every text and number of a JSON, keys of objects not included."""
    if isinstance(content, dict):
        content = content.values()
    if isinstance(content, list | tuple | type({}.values())):
        for each in content:
            yield from leaves(each)
    else:
        yield content


def said(*results, **options):
    """All texts of the report of some results, in one."""
    return " ".join(str(leaf) for leaf in leaves(document_of(*results, **options).to_dict()))


def section(document, name):
    """A section of a document, as its JSON has it."""
    return next(one for one in document.to_dict()["sections"] if one["name"] == name)


def blocks(content, kind):
    """All blocks of a kind, wherever they are."""
    if isinstance(content, dict):
        if content.get("kind") == kind:
            yield content
        content = list(content.values())
    if isinstance(content, list):
        for each in content:
            yield from blocks(each, kind)


def rows(content, caption):
    """The rows of the table with this caption."""
    return next(one for one in blocks(content, "table") if one["caption"] == caption)["rows"]


# Results that charts are tested on: a small one with everything in it, and one with awkward names


KEPT = Path(__file__).resolve().parents[2] / "docs" / "gallery" / "results.json"

AWKWARD = "a \"quoted' <script>alert(1)</script> </script> a.b[c]:d \u2028 \\ "


def kept_results() -> dict[str, Any]:
    """The results of the gallery."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def wide_result(names: list[str]) -> dict[str, Any]:
    """A fit and measures with these attributes, of a million records; all that charts by attribute read."""
    many = len(names)
    each = dict.fromkeys(names, 1.0 / many)
    squares = [[0.01 * (i - j) for i in range(many)] for j in range(many)]
    fit = {
        "aggregator": "choquet", "records": 10**6, "linked": 3, "linked_upper_bound": 10**6,
        "parameters": {"measure": each, "matrix": squares}, "attributes": names, "interaction": squares,
        "importance": each, "trace": [[0.5, 3, 10**6]], "seconds": 0.5, "baselines": {"euclid": None},
    }  # fmt: skip
    weighted = {**fit, "aggregator": "weighted-mean", "parameters": {"weights": each}, "interaction": None}
    attack = {
        "attack": "choquet", "attributes": names, "linked": [True], "rank": [1], "to_partner": [[0.1] * many],
        "to_rival": [[None] * many],
    }  # fmt: skip
    group = {"column": names[0], "category": names[-1], "share": 0.5, "linked": 1, "records": 2, "by_any": 1}
    fall = dict.fromkeys(("most", "fall_high")) | {"aggregator": "choquet", "linked": 1}
    fall |= {"fall": 1.0, "fall_low": -1.0}
    measures = {
        "attributes": {"total": 10.0, "withheld": [{**fall, "attribute": name} for name in names]},
        "records": {"record": ["1"], "attacks": [attack], "groups": [group]},
        "interval-disclosure": {
            "ranks": {"attributes": names, "each": [[0.5] * many] * 10, "jointly": [0.1] * 10}
        },
        "information-loss": {
            "numeric": {"rows": [["IL1s", name, None, None, None, 0.1] for name in names]},
            "categories": [
                {"attribute": names[0], "changed": 0.5, "total_variation": None, "hellinger": 0.0}
            ],
        },
    }
    return {"worst_case": {"families": [fit, weighted]}, "measures": measures}
