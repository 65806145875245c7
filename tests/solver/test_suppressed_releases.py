"""Local suppression from end to end: `mask`, `fit`, `risk` and `sweep` on keys of every scale."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from linkrisk import fit, mask, risk, sweep

SCHEMA = """
[[attributes]]
name = "sex"
role = "key"
scale = "nominal"
[[attributes]]
name = "size"
role = "key"
scale = "ordinal"
categories = ["small", "medium", "large"]
[[attributes]]
name = "age"
role = "key"
scale = "numeric"
[[attributes]]
name = "health"
role = "confidential"
scale = "nominal"
"""
KEYS = ["sex", "size", "age"]
QUICK = {"time_limit": None, "aggregator": "weighted-mean"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("suppression")
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], 90),
            "size": rng.choice(["small", "medium", "large"], 90),
            "age": rng.integers(20, 25, 90),
            "health": rng.choice(["good", "bad"], 90),
        }
    )
    table.to_csv(found / "original.csv", index=False)
    (found / "keys.toml").write_text(SCHEMA)
    return found


@pytest.fixture(scope="module")
def swept(folder):
    return sweep(
        folder / "original.csv",
        ["local-suppression k=2..5", "local-suppression k=3 count=output", "pram change=0.3"],
        schema=folder / "keys.toml", measures="information-loss,uniqueness,reidentification", workers=1,
        ties="share", **QUICK,
    )  # fmt: skip


def test_missing_values_are_compared_by_their_rule(folder):
    original = pd.read_csv(folder / "original.csv")
    release = mask(original, f"local-suppression k=3 schema={folder / 'keys.toml'}")
    options = {"schema": folder / "keys.toml", **QUICK}
    for rule in ("expected", "nearest", "farthest"):
        fitted = fit(original, release.table, missing=rule, **options)
        assert fitted.linked == fitted.linked_upper_bound < 90
        assert any(f"missing='{rule}'" in note for note in json.loads(fitted.to_json())["notes"])
    assert release.withheld == {
        name: int(release.table[name].isna().sum()) for name in KEYS if release.table[name].isna().any()
    }


def test_a_sweep_has_suppressions_in_its_table_and_on_its_front(swept, folder):
    frame = swept.to_frame().set_index("masking")
    assert (frame["status"] == "done").all()
    suppressions = [f"local-suppression k={k}" for k in (2, 3, 4, 5)]
    assert frame.loc[suppressions, "suppressed"].is_monotonic_increasing
    assert (
        frame.loc["local-suppression k=3 count=output", "suppressed"]
        < frame.loc[suppressions[1], "suppressed"]
    )
    assert frame["below_2_anonymity_wildcard"].loc[suppressions].eq(0.0).all()
    assert frame["il1s_of_all"].isna()[suppressions].all()  # IL1s does not see what was suppressed
    assert swept.loss == "pmse"
    assert frame["loss"].notna().all()
    assert frame["pareto"].notna().all()
    assert "on the front" in set(frame.loc[suppressions, "pareto"])
    alone = mask(pd.read_csv(folder / "original.csv"), f"local-suppression k=3 schema={folder / 'keys.toml'}")
    lost = alone.table[KEYS].isna().to_numpy()
    masked = [name for name in KEYS if name not in alone.unchanged]
    assert frame.loc[suppressions[1], "suppressed"] == pytest.approx(lost.sum() / (90 * len(masked)))


def test_another_masking_that_is_told_cannot_have_made_the_file(folder):
    original = pd.read_csv(folder / "original.csv")
    schema = folder / "keys.toml"
    release = mask(original, f"local-suppression k=3 schema={schema}").table
    options = {"schema": schema, "measures": "reidentification", **QUICK}
    found = risk(original, release, masking=["local-suppression k=3"], **options)
    assert found["reidentification"].attributes == tuple(KEYS)
    refused = risk(original, release, masking=["local-suppression k=2"], **options)
    assert "the masking that is given cannot have made record" in refused.not_measured["reidentification"]
    twice = ["local-suppression k=3", "noise percent=5"]
    refused = risk(original, release, masking=twice, **options)
    assert refused.not_measured["reidentification"] == (
        "age is masked by local-suppression and by noise; one can be followed"
    )
