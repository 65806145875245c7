"""The measures that go by records and attributes, in one call on weighted survey data with categories."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from linkrisk.solver.measures.risk import risk

SCHEMA = {
    "attributes": [
        {"name": "id", "role": "record-id"},
        {"name": "sex", "role": "key", "scale": "nominal", "categories": ["f", "m"]},
        {"name": "age", "role": "key", "scale": "numeric"},
        {"name": "income", "role": "key", "scale": "numeric"},
        {"name": "w", "role": "weight"},
    ]
}


def survey():
    random = np.random.default_rng(0)
    original = pd.DataFrame(
        {
            "id": np.arange(24),
            "sex": random.choice(["f", "m"], 24),
            "age": random.integers(18, 90, 24).astype(float),
            "income": random.lognormal(3.0, 1.0, 24),
            "w": random.choice([10.0, 20.0, 50.0], 24),
        }
    )
    masked = original.assign(
        age=original["age"] + random.integers(-9, 9, 24),
        income=original["income"] * random.uniform(0.7, 1.4, 24),
    )
    masked.loc[[2, 5], "income"] = np.nan
    return original, masked.iloc[random.permutation(24)[:20]].reset_index(drop=True)


@pytest.mark.parametrize("direction", ["original-to-masked", "masked-to-original"])
def test_all_three_on_weighted_categories(direction):
    measures = "attributes,records,held-out"
    result = risk(*survey(), schema=SCHEMA, measures=measures, direction=direction, time_limit=None)
    assert list(result.measures) == ["attributes", "records", "held-out"]
    assert result.not_measured == {}
    assert json.loads(result.to_json())["measures"]["held-out"]["records"] == 20
    table = result.to_frame()
    shares = table[table["unit"] == "share"]
    assert shares["value"].between(-1.0, 1.0).all()
    known = shares.dropna(subset=["low", "high"])
    assert (known["low"] <= known["value"] + 1e-9).all()
    assert (known["value"] <= known["high"] + 1e-9).all()
    text = str(result)
    assert "Which attributes leak" in text
    assert "Fall without" in text
    worst = result["held-out"].rates[-1].worst
    assert worst == pytest.approx(result.worst.results["mahalanobis"].interval[0] / result.worst.worst.total)
    groups = result["records"].to_groups()
    assert groups.loc[groups["column"] == "sex", "records"].sum() == 20
