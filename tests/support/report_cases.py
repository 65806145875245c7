"""Results of small files for reports, each measured once."""

from __future__ import annotations

import functools
import json

import pandas as pd
from survey_files import NAMES, noisy, survey

from linkrisk import report, sweep

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


@functools.cache
def risk_json():
    """The JSON of its measures, as `risk --json` would write them."""
    return full().risk.to_json()


def results():
    """The same, read anew."""
    return json.loads(risk_json())


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
