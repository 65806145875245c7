"""Sampling weights and strata in every command that counts links: against brute force, and said."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import brute_force as plain
import brute_optimum
import numpy as np
import pytest
from aggregator_cases import CASES, LABELS
from fit_runs import frames
from report_cases import said

from linkrisk import compare, evaluate, fit, link
from linkrisk.solver.inputs.problem import weight_unit

SCHEMA = {
    "attributes": [{"name": "W", "role": "weight"}, {"name": "S", "role": "stratum", "scale": "nominal"}]
}

KINDS = {
    "irregular": lambda random, n: random.uniform(0.5, 400.0, n),
    "whole": lambda random, n: random.integers(1, 6, n).astype(float),
    "equal": lambda _, n: np.full(n, 37.5),
    "huge": lambda random, n: random.uniform(1e8, 3e9, n),
    "tiny": lambda random, n: random.uniform(1e-7, 3e-6, n),
    "uneven": lambda random, n: 10.0 ** random.uniform(-2, 3, n),
}


def weighted(seed, kind, n=7, attributes=2, twins=False):
    original, masked = frames(seed, n, attributes, twins=twins)
    weight = KINDS[kind](np.random.default_rng(seed + 1000), n)
    stratum = [("north", "south")[at % 3 == 0] for at in range(n)]
    return (original.assign(W=weight, S=stratum), masked), weight


def exact(case, files, weight, direction, ties):
    values = [frame[[name for name in frame if name not in "WS"]].to_numpy() for frame in files]
    reference = plain.records(*values, direction, share=ties == "share")
    family = case.family(values[0].shape[1])
    return brute_optimum.optimum(replace(reference, sampling=weight.tolist()), family, 1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_the_model_maximises_the_weights(kind):
    files, weight = weighted(5, kind, n=9)
    result = fit(*files, aggregator="weighted-mean", engine="milp", schema=SCHEMA)
    best = exact(CASES[LABELS.index("weighted-mean")], files, weight, "original-to-masked", "strict")
    assert result.details["weighted_links"] == pytest.approx(best)
    assert result.details["weighted_links_upper_bound"] >= best * (1 - 1e-9)


def test_strata_are_counted_in_fit_and_evaluate_and_link():
    files, weight = weighted(8, "irregular", n=12)
    fitted = fit(*files, schema=SCHEMA, attributes=["A", "B"])
    strata, linked = files[0]["S"].tolist(), [row[1] for row in fitted.table.rows]
    expected = {
        name: {
            "records": strata.count(name),
            "linked": sum(is_linked for own, is_linked in zip(strata, linked, strict=True) if own == name),
        }
        for name in ("north", "south")
    }
    assert fitted.details["strata"] == expected
    assert (fitted.details["stratum"], sum(own["linked"] for own in expected.values())) == (
        "S",
        fitted.linked,
    )
    evaluated = evaluate(*files, parameters=fitted.to_dict(), schema=SCHEMA)
    assert evaluated.details["strata"] == expected
    assert evaluated.details["weighted_links"] == pytest.approx(fitted.details["weighted_links"])
    assert evaluated.details["expected_links"] == evaluated.linked == fitted.linked
    linker = link(*files, method="dbrl", schema=SCHEMA, direction="masked-to-original")
    known = np.array([row[1] for row in linker.table.rows])
    assert linker.details["weighted_links"] == pytest.approx(math.fsum(weight[known]))
    assert sum(own["linked"] for own in linker.details["strata"].values()) == linker.linked
    assert linker.details["expected_links"] == linker.linked


def test_what_is_printed_with_weights():
    files, weight = weighted(8, "whole", n=12)
    result = fit(*files, schema=SCHEMA)
    total = f"{weight.sum():.0f}"
    text = re.sub("(?<=\\S) {2,}", " ", str(result))
    assert f"weighted links in the worst case {result.details['weighted_links']} of {total} (" in text
    assert f"re-identified records {result.linked} of 12 (" in text
    assert f"Euclidean distance {result.details['baselines']['euclid']} of {total} (" in text
    north = result.details["strata"]["north"]
    assert "re-identified in each stratum (S)\n" in text
    assert f"    north {north['linked']} of {north['records']} (" in text
    named = [
        {**one, "label": "Bundesland", "labels": {"north": "Nord"}} if one["name"] == "S" else one
        for one in SCHEMA["attributes"]
    ]
    labelled = fit(*files, schema={"attributes": named})
    assert labelled.details["labels"] == {"S": {"label": "Bundesland", "codes": {"north": "Nord"}}}
    assert "re-identified in each stratum (Bundesland)\n    Nord (north)  " in str(labelled)
    page = said(result.to_dict())
    assert f"At worst records that stand for {result.details['weighted_links']} of {total} (" in page
    assert f"Counted as one each, {result.linked} of 12 records are re-identified" in page
    several = fit(*files, schema=SCHEMA, aggregator=["weighted-mean", "choquet"])
    content = several.to_dict()
    assert content["weighted_links"] == several.worst.details["weighted_links"]
    assert content["total_weight"] == weight.sum()
    assert f"of {total}" in str(several)
    assert "Counts are sums of sampling weights" in said(content)


def test_many_strata_are_in_the_json_only():
    files, _ = weighted(8, "whole", n=30)
    original = files[0].assign(S=[f"s{at}" for at in range(30)])
    text = str(fit(original, files[1], schema=SCHEMA, attributes=["A", "B"]))
    assert "30 strata (S): the JSON has the records linked in each\n" in text
    assert "s7 " not in text


def test_compare_shows_sums_of_weights():
    files, weight = weighted(5, "irregular", n=9)
    best = exact(CASES[LABELS.index("weighted-mean")], files, weight, "original-to-masked", "strict")
    result = compare(*files, schema=SCHEMA, backends=["exact", "highs"])
    assert [row.linked for row in result.rows] == pytest.approx([best, best], rel=1e-3)
    assert result.details["notes"][-1] == "linked and at most are sums of the sampling weights in column W"
    assert result.disagreements == ()


@pytest.mark.parametrize(
    ("weight", "unit"),
    [([1.0, 1.0], 1.0), ([37.5] * 3, 37.5), ([300.0, 200.0], 256.0), ([0.1, 0.2], 0.125), ([], 1.0)],
)
def test_the_unit_of_weights_rounds_nothing(weight, unit):
    values = np.array(weight)
    assert weight_unit(values) == unit
    np.testing.assert_array_equal(values / unit * unit, values)
