"""Sampling weights and strata in every command that counts links: against brute force, and said."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import brute_force as plain
import brute_optimum
import numpy as np
import pytest
from aggregator_cases import CASES, LABELS
from fit_runs import frames, solve
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
    """A pair of files, the original one with weights and strata, and the weights."""
    original, masked = frames(seed, n, attributes, twins=twins)
    weight = KINDS[kind](np.random.default_rng(seed + 1000), n)
    stratum = [("north", "south")[at % 3 == 0] for at in range(n)]
    return (original.assign(W=weight, S=stratum), masked), weight


def exact(case, files, weight, direction, ties):
    """The largest sum of weights by brute force."""
    values = [frame[[name for name in frame if name not in "WS"]].to_numpy() for frame in files]
    reference = plain.records(*values, direction, share=ties == "share")
    family = case.family(values[0].shape[1])
    return brute_optimum.optimum(replace(reference, sampling=weight.tolist()), family, 1e-7)


@pytest.mark.parametrize("case", CASES, ids=LABELS)
@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_a_proven_result_is_the_exact_optimum_of_the_weights(case, seed):
    kind = list(KINDS)[seed]
    ties, twins = ("share", True) if seed % 3 == 1 else ("strict", False)
    direction = ("original-to-masked", "masked-to-original")[seed % 2]
    files, weight = weighted(seed + 70, kind, twins=twins)
    result = solve(case, files, direction=direction, ties=ties, schema=SCHEMA)
    best = exact(case, files, weight, direction, ties)
    assert result.proven
    content = json.loads(result.to_json())
    assert content["weighted_links"] == pytest.approx(best)
    assert content["weighted_links_upper_bound"] == pytest.approx(best)
    assert content["weighted_links"] <= content["weighted_links_upper_bound"]
    assert result.interval == (content["weighted_links"], content["weighted_links_upper_bound"])
    assert "expected_links" not in content
    # Records are still counted as records.
    linked = [row[1] for row in content["records_table"]["rows"]]
    assert content["linked"] == sum(linked) <= content["linked_upper_bound"]
    assert (content["weight"], content["total_weight"]) == ("W", pytest.approx(math.fsum(weight)))
    if ties == "strict":
        assert content["weighted_links"] == pytest.approx(math.fsum(weight[np.array(linked)]))
    assert content["trace"][-1][1:] == pytest.approx([best, best])
    assert content["baselines"]["euclid"] <= content["weighted_links"] * (1 + 1e-12)


@pytest.mark.parametrize("engine", ["exact", "milp"])
@pytest.mark.parametrize("kind", KINDS)
def test_both_engines_maximise_the_weights(engine, kind):
    files, weight = weighted(5, kind, n=9)
    result = fit(*files, aggregator="weighted-mean", engine=engine, schema=SCHEMA)
    best = exact(CASES[LABELS.index("weighted-mean")], files, weight, "original-to-masked", "strict")
    assert result.details["weighted_links"] == pytest.approx(best)
    assert result.details["weighted_links_upper_bound"] >= best * (1 - 1e-9)


def test_weights_decide_who_is_linked():
    """A record that the unweighted worst case leaves out is brought in by its weight; others go."""
    files, _ = weighted(0, "equal", n=9)
    alone = fit(*files, schema={"attributes": SCHEMA["attributes"][1:]}, attributes=["A", "B"])
    left_out = [at for at, row in enumerate(alone.table.rows) if not row[1]]
    brought_in = []
    for record in left_out:
        heavy = files[0].assign(W=[1000.0 if at == record else 1.0 for at in range(9)])
        found = fit(heavy, files[1], schema=SCHEMA)
        assert found.linked <= alone.linked
        if found.table.rows[record][1]:
            assert found.details["weighted_links"] == 1000.0 + found.linked - 1
            assert found.linked < alone.linked
            brought_in.append(record)
    assert brought_in


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


def test_heavy_records_that_are_lost_take_nothing_from_the_others():
    """Beside 1e12, a ten-thousandth is below the rounding of a sum: of what is left it is not."""
    files, _ = weighted(5, "whole", n=9)
    twice = files[1].copy()
    twice.loc[0] = twice.loc[1]  # nobody tells them apart: both are lost
    weight = np.full(9, 1e-4)
    weight[:2] = 1e12
    found = fit(files[0].assign(W=weight), twice, schema=SCHEMA, attributes=["A", "B"])
    low, high = found.interval
    assert 0.0 < low <= high < 1e-3
    assert (found.status == "optimal") == (high <= low * (1 + 1e-9))
    assert high == pytest.approx(1e-4 * round(high / 1e-4))


@pytest.mark.parametrize(
    ("weight", "unit"),
    [([1.0, 1.0], 1.0), ([37.5] * 3, 37.5), ([300.0, 200.0], 256.0), ([0.1, 0.2], 0.125), ([], 1.0)],
)
def test_the_unit_of_weights_rounds_nothing(weight, unit):
    values = np.array(weight)
    assert weight_unit(values) == unit
    np.testing.assert_array_equal(values / unit * unit, values)
