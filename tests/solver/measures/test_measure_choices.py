"""Groups and the sampling fraction, as `risk` is asked for them: in Python and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli_runs import PAIR, refuse, run
from fit_runs import frames
from key_tasks import GUIDE_KEYS, practice_guide
from key_tasks import schema as key_schema
from key_tasks import task_of as key_task
from pair_tasks import pair_task

from linkrisk import risk
from linkrisk.datasets.errors import DataError
from linkrisk.solver.measures.individual_risk import IndividualRiskOfKeys
from linkrisk.solver.measures.population_uniqueness import PopulationUniques, uniques_risk
from linkrisk.solver.measures.task import MeasureChoices
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError

WEIGHTED = {"attributes": [{"name": "A", "role": "key"}, {"name": "w", "role": "weight"}]}
QUICK = {"measures": "records", "aggregator": "weighted-mean", "time_limit": None, "row_by_row": True}


def survey():
    original, masked = frames(5, 30, attributes=1, noise=0.1)
    original["region"] = ["north", "south", None] * 10
    original["w"] = np.where(np.arange(30) % 2, 2.0, 10.0)
    return original, masked


def test_groups_are_columns_of_the_original_file():
    original, masked = survey()
    found = risk(original, masked, attributes=["A"], groups="region,w", **QUICK)["records"].to_groups()
    assert set(found["column"]) == {"region", "w"}
    again = risk(original, masked, attributes=["A"], groups=["region"], **QUICK)["records"].to_groups()
    assert set(again["column"]) == {"region"}
    assert again["population"].tolist() == again["records"].tolist() == [10, 10, 10]


def test_shares_are_of_what_records_stand_for():
    original, masked = survey()
    found = risk(original, masked, schema=WEIGHTED, groups=["region"], **QUICK)["records"]
    linked, weight = found.attacks[0].linked, original["w"].to_numpy()
    assert 0 < linked.sum() < 30
    for _, row in found.to_groups().iterrows():
        of = (original["region"].fillna("missing") == row["category"]).to_numpy()
        assert row["population"] == weight[of].sum()
        assert row["share"] == pytest.approx(weight[of & linked].sum() / weight[of].sum())
        assert (row["records"], row["linked"]) == (10, (of & linked).sum())
    by = np.array([attack.linked for attack in found.attacks])
    shares = {one.key: one.value for one in found.findings}
    assert shares["linked_by_any"] == pytest.approx(np.average(by.any(axis=0), weights=weight))
    assert shares["linked_by_all"] == pytest.approx(np.average(by.all(axis=0), weights=weight))
    assert shares["out_of_reach"] == pytest.approx(np.average(found.never, weights=weight))
    assert json.loads(found.to_json())["weight"] == weight.tolist()


def test_a_fraction_serves_the_measures_of_keys():
    guide = practice_guide()
    columns = {"attributes": GUIDE_KEYS, "nominal": GUIDE_KEYS}
    task = key_task(guide, guide, **columns, row_by_row=True)
    task.choices = MeasureChoices(fraction=0.01)
    by_fraction = IndividualRiskOfKeys().take(task, Clock(None))
    assert by_fraction.weighted
    assert by_fraction.population.tolist() == (100.0 * by_fraction.frequency).tolist()
    schema = key_schema({**dict.fromkeys(GUIDE_KEYS, "key"), "weight": "weight"}, weight="numeric")
    alike = guide.assign(weight=100.0)
    by_weight = IndividualRiskOfKeys().take(key_task(alike, alike, schema, row_by_row=True), Clock(None))
    np.testing.assert_array_equal(by_fraction.risk, by_weight.risk)
    uniques = pair_task(guide, guide, **columns, choices=MeasureChoices(fraction=0.01))
    assert PopulationUniques().lacking(uniques) is None
    found = PopulationUniques().take(uniques, Clock(None))
    assert found.original.chosen == uniques_risk(guide, GUIDE_KEYS, 0.01).chosen


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.01, float("nan"), True, "0.1"])
def test_a_fraction_is_a_share(fraction):
    with pytest.raises(UsageError) as caught:
        risk(*survey(), fraction=fraction, **QUICK)
    assert str(caught.value) == f"the sampling fraction must be above 0 and at most 1, not {fraction!r}"


def test_a_fraction_beside_weights_is_refused():
    with pytest.raises(UsageError) as caught:
        risk(*survey(), schema=WEIGHTED, fraction=0.1, **QUICK)
    assert str(caught.value) == (
        "the sampling weights (column w of the schema) say what is sampled: leave fraction out, or the "
        "role weight"
    )


def test_groups_of_no_column_are_refused():
    with pytest.raises(DataError) as caught:
        risk(*survey(), attributes=["A"], groups=["regoin"], **QUICK)
    assert str(caught.value) == "the original file has no column 'regoin' (groups); did you mean 'region'?"


@pytest.mark.usefixtures("survey_folder")
def test_the_command_line(capsys):
    quick = ["risk", *PAIR, "--aggregator", "weighted-mean", "--time-limit", "none"]
    text = run(
        capsys, *quick, "--measures", "records,membership", "--groups", "hours,age", "--fraction", "0.05",
        "--json", "risk.json", "--table", "findings.csv",
    )  # fmt: skip
    assert "Targets of the population, who may not be in the file" in text
    assert "  Journalist: target of the population " in text
    read = json.loads(Path("risk.json").read_text(encoding="utf-8"))["measures"]
    columns = [row["column"] for row in read["records"]["groups"]]
    assert list(dict.fromkeys(columns)) == ["hours", "age"]
    assert read["membership"]["population"] == 600
    assert ",persons," in Path("findings.csv").read_text(encoding="utf-8")
    refuse(
        capsys, "the original file has no column 'hour' (--groups); did you mean 'hours'?", *quick,
        "--groups", "hour", "--json", "new.json",
    )  # fmt: skip
    refuse(capsys, "the sampling fraction must be above 0 and at most 1, not 2.0", *quick, "--fraction", "2")
    refuse(capsys, "--fraction must be a finite number, not 'a tenth'", *quick, "--fraction", "a tenth")
    refuse(
        capsys,
        "--groups: 'hours,,age' has an empty attribute name; write names separated by single commas",
        *quick,
        "--groups",
        "hours,,age",
    )


def test_small_and_large_shares_do_not_look_like_ends(capsys):
    del capsys
    from linkrisk.solver.report.findings import written

    assert written(0.0004, "share") == "0.04 %"
    assert written(0.9996, "share") == "99.96 %"
    assert written(12345.0, "persons") == "12,345 persons"


def test_an_interval_without_an_upper_end_is_no_empty_one():
    """As of families of which a sample was counted, and no bound found in time."""
    from linkrisk.solver.measures.base import Finding, Kind, jsonable
    from linkrisk.solver.report.findings import number_of

    counted = Finding("worst", "worst case", 0.976, low=0.9731, kind=Kind.CONFIDENCE)
    assert number_of(jsonable(counted)).interval == "97.3 % or more, 95 % confidence"
