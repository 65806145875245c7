"""Key variables: frequencies, individual risk, SUDA, l-diversity and t-closeness, measures of whole files."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from key_tasks import GUIDE_KEYS, key_file, practice_guide, schema, task_of

from linkrisk.datasets.microdata.schema import Attribute, Scale
from linkrisk.solver.commands.program import main
from linkrisk.solver.measures import keys as keys_module
from linkrisk.solver.measures.base import MeasureResult
from linkrisk.solver.measures.diversity import (
    DiversityOfGroups,
    attribute_diversity,
    entries_of,
    l_diversity,
    t_closeness,
)
from linkrisk.solver.measures.keys import (
    MISSING,
    IndividualRiskOfKeys,
    UniquenessOfKeys,
    column_codes,
    groups_of,
    sums,
    wildcard_sums,
)
from linkrisk.solver.measures.suda import (
    Scoring,
    SpecialUniques,
    data_intrusion_risk,
    minimal_uniques,
    shared_out,
    size_scores,
    special_uniques,
)
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock

small_codes = st.tuples(st.integers(1, 12), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(MISSING, 2))
)


def test_a_missing_value_fits_any_as_in_the_guide():
    """Table 4.2."""
    education = ["Secondary complete", "Secondary incomplete", None]
    codes = key_file(
        pd.DataFrame({"gender": ["Male"] * 3, "education": education, "labor": ["Employed"] * 3})
    ).codes
    assert sums(groups_of(codes)).tolist() == [1, 1, 1]
    fitting = wildcard_sums(codes, (None,))
    assert fitting is not None
    assert fitting[0].tolist() == [2, 2, 3]


@given(small_codes)
def test_frequencies_are_those_of_the_definition(codes):
    weight = np.arange(1.0, len(codes) + 1.0)
    one, other = codes[:, None], codes[None]
    same, groups = (one == other).all(axis=2), groups_of(codes)
    assert np.array_equal(sums(groups), same.sum(axis=1))
    assert np.array_equal(sums(groups, weight), same @ weight)
    fits = ((one == other) | (one == MISSING) | (other == MISSING)).all(axis=2)
    found = wildcard_sums(codes, (None, weight))
    assert found is not None
    assert np.array_equal(found[0], fits.sum(axis=1))
    assert np.array_equal(found[1], fits @ weight)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1.0, 1, 2, None]),
        pd.Series(["a", "a", "b", None]),
        pd.Series([1, 1, 2, None], dtype="Int64"),
    ],
)
def test_columns_of_any_kind_become_codes(column):
    assert column_codes(column).tolist() == [0, 0, 1, MISSING]
    assert column_codes(column.astype("category")).tolist() == [0, 0, 1, MISSING]


MEASURES = (UniquenessOfKeys(), IndividualRiskOfKeys(), SpecialUniques(), DiversityOfGroups())
ROLES = {**dict.fromkeys(GUIDE_KEYS, "key"), "weight": "weight", "health": "confidential"}
NUMERIC = {"weight": "numeric"}


def guide_task(**changes: object) -> RiskTask:
    file = practice_guide()
    return task_of(file, file.assign(**changes), schema(ROLES, **NUMERIC))


def taker(measure):
    return lambda task: measure.take(task, Clock(None))


uniqueness, individual, suda, diversity = map(taker, MEASURES)


def check(result: MeasureResult) -> None:
    """What every result promises."""
    json.loads(result.to_json())
    assert result.paragraph[0].islower() or result.paragraph[0].isdigit()
    assert result.paragraph.endswith(".")
    assert repr(result) == f"{result.measure}: {result.paragraph}"
    assert all(found.value is None or np.isfinite(found.value) for found in result.findings)
    assert not result.to_frame().empty


def test_the_guide_through_the_measures():
    """Tables 4.1, 4.3 and 4.5 (see the tests of the mathematics)."""
    task = guide_task()
    file, found = practice_guide(), uniqueness(task)
    assert found.frequency.tolist() == [2, 2, 1, 2, 1, 2, 1, 1, 2, 2]
    assert [(each.k, each.masked) for each in found.anonymity] == [(2, 4), (3, 10), (5, 10)]
    groups = groups_of(key_file(file[GUIDE_KEYS]).codes)
    weighted = sums(groups, file["weight"].to_numpy(float))
    assert weighted.tolist() == [360, 360, 215, 152, 186, 152, 180, 215, 262, 262]
    assert individual(task).expected == pytest.approx(0.1582, abs=5e-5)
    found = suda(task)
    assert (found.fraction, found.score.max()) == (pytest.approx(10 / 1570), 12)
    within = diversity(task)
    assert within.distinct[:, 0].tolist() == [1, 1, 1, 2, 1, 2, 1, 1, 2, 2]
    assert within.below == 6


def test_masking_is_seen_beside_the_original():
    found = uniqueness(guide_task(education=practice_guide()["education"].str.split().str[0]))
    assert (found.anonymity[0].original, found.anonymity[0].masked) == (4, 2)
    assert found.frequency[[2, 6]].tolist() == [2, 2]  # both primary now


def suppressed():
    values = practice_guide()["education"].copy()
    values[4] = None
    return values


def test_suppressed_values_count_in_both_ways():
    task = guide_task(education=suppressed(), residence=["Urban"] * 9 + [None])
    found, single = uniqueness(task), individual(task)
    assert found.wildcard is not None
    assert (found.wildcard >= found.frequency).all()
    assert found.anonymity[0].masked_wildcard is not None
    assert found.anonymity[0].original_wildcard is None
    assert single.expected_wildcard is not None
    assert single.expected_wildcard < single.expected
    for measure in MEASURES:
        check(measure.take(task, Clock(None)))


def test_wildcards_that_would_take_too_long_are_not_counted(monkeypatch):
    monkeypatch.setattr(keys_module, "MOST_WORK", 5)
    task = guide_task(education=suppressed())
    note = "values are missing in too many patterns to count them as values that fit any"
    for found in (uniqueness(task), individual(task)):
        assert note in found.notes
        check(found)
    assert uniqueness(guide_task()).notes == ()


def test_without_a_schema_all_that_is_compared_is_a_key():
    random = np.random.default_rng(1)
    file = pd.DataFrame({"a": random.integers(0, 3, 30), "b": random.normal(size=30)})
    masked = file.assign(b=file["b"].round(1))
    task = task_of(file, masked)
    found = uniqueness(task)
    assert found.keys == ("a", "b")
    assert found.anonymity[0].original == 30
    assert any("more than half of these are different in b" in note for note in found.notes)
    risks = individual(task)
    assert risks.risk.tolist() == (1.0 / found.frequency).tolist()
    assert any("whole population" in note for note in risks.notes)
    assert any("1 %" in note for note in suda(task).notes)
    assert DiversityOfGroups().lacking(task) == "no schema names a confidential attribute"


def test_what_is_lacking_is_said():
    file = practice_guide()
    whole = file.assign(x=range(10))
    declared = schema({**ROLES, "x": "ignored"}, weight="numeric", x="numeric")
    gone = uniqueness(
        task_of(whole, whole.drop(columns="residence"), declared, attributes=["gender", "education"])
    )
    assert gone.keys == ("gender", "education", "labor")
    assert gone.notes == ("key variables that the masked file does not have are not counted: residence",)
    no_health = task_of(file, file.drop(columns="health"), schema(ROLES, **NUMERIC))
    assert DiversityOfGroups().lacking(no_health) == "the masked file does not have health"
    confidential = schema({"gender": "confidential", "health": "confidential"})
    compared = task_of(*[file[["gender", "health"]]] * 2, confidential, attributes=["gender", "health"])
    reason = "there are no key variables beside the confidential attributes"
    assert DiversityOfGroups().lacking(compared) == reason
    file = pd.DataFrame({"k": [1, 2, 3], "c": [1.0, 2.5, 3.0]})
    declared = schema({"k": "key", "c": "confidential"}, c="numeric")
    task = task_of(file, file[["c"]], declared, attributes=["c"])
    assert {each.lacking(task) for each in MEASURES} == {"the masked file has none of the key variables k"}


def test_weights_follow_records_to_their_partners_and_others_have_the_mean():
    file = practice_guide().assign(id=range(10))
    declared = schema({**ROLES, "id": "record-id"}, weight="numeric", id="numeric")
    masked = file.iloc[::-1].drop(columns="weight").reset_index(drop=True)
    turned = individual(task_of(file, masked, declared))
    assert turned.risk[::-1].tolist() == individual(guide_task()).risk.tolist()
    more = pd.concat([file, file.iloc[:1].assign(id=99)], ignore_index=True).drop(columns="weight")
    found = individual(task_of(file, more, declared))
    assert found.population[10] == pytest.approx(360 + 157)
    note = "1 masked records have no known sampling weight; the mean of the others is taken for them"
    assert note in found.notes


def test_households_of_the_masked_file_or_of_the_partners():
    file = practice_guide().assign(home=[1, 1, 2, 2, None, None, 3, 4, 5, 6])
    declared = schema({**ROLES, "home": "household"}, **NUMERIC)
    for masked in (file, file.drop(columns="home")):
        found = individual(task_of(file, masked, declared))
        assert found.household is not None
        safe = 1 - found.risk
        expected = [1 - safe[0] * safe[1], *[1 - safe[2] * safe[3]] * 2, *found.risk[4:]]
        assert [found.household[0], *found.household[2:]] == pytest.approx(expected)
        check(found)


def test_scales_of_confidential_attributes():
    file = practice_guide().assign(grade=list("aabcabccbb"), pay=[10, 20, 30, 40, 50, 60, 70, 80, 90, None])
    declared = schema(
        {**ROLES, "grade": "confidential", "pay": "confidential"}, weight="numeric", pay="numeric"
    )
    declared["attributes"][-2] |= {"scale": "ordinal", "categories": ["c", "a", "b"]}
    found = diversity(task_of(file, file, declared))
    by_name = {each.attribute: each for each in found.attributes}
    assert {name: each.ordered for name, each in by_name.items()} == {
        "health": False,
        "grade": True,
        "pay": True,
    }
    assert found.closeness[7, 1] == pytest.approx(0.55)  # {c} against 3 c, 3 a, 4 b: (0.7 + 0.4) / 2
    assert by_name["pay"].below_distinct == 4
    check(found)


def test_many_records_are_left_out_of_the_json(monkeypatch):
    monkeypatch.setattr(keys_module, "MOST_ROWS", 9)
    for measure in MEASURES:
        result = measure.take(guide_task(), Clock(None))
        written = json.loads(result.to_json())
        assert all(written[name] is None for name in result.per_record)


PAGE = Path(__file__).resolve().parents[3] / "docs" / "methods" / "risk-keys.md"


def test_the_worked_example_is_true(tmp_path, monkeypatch, capsys):
    """Up to the worst case above it, which is a search, and the seconds below."""
    section = PAGE.read_text(encoding="utf-8").split("## A worked example")[1].split("\n## ")[0]
    (script,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    (declared,) = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)
    command, shown = re.findall(r"```\n\$ python -m solver ([^\n]+)\n(.*?)```", section, re.DOTALL)[0]
    monkeypatch.chdir(tmp_path)
    exec(compile(script, "risk-keys.md", "exec"), {})
    (tmp_path / "keys.toml").write_text(declared, encoding="utf-8")
    assert main([*command.split(), "--aggregator", "weighted-mean", "--time-limit", "none"]) == 0
    printed = capsys.readouterr().out
    start, end = "Uniqueness on the key variables", "\nseed 0"
    assert start in shown
    assert shown[shown.index(start) : shown.index(end)] == printed[printed.index(start) : printed.index(end)]


def by_definition(codes: np.ndarray) -> list[set[tuple[int, ...]]]:
    """The minimal sample uniques of each record."""
    keys = range(codes.shape[1])
    found: list[set[tuple[int, ...]]] = []
    subsets = [s for size in range(1, len(keys) + 1) for s in itertools.combinations(keys, size)]
    for record in codes:
        alone: list[tuple[int, ...]] = []
        for subset in subsets:
            values = record[list(subset)]
            same = (codes[:, list(subset)] == values).all(axis=1)
            minimal = not any(set(other) < set(subset) for other in alone)
            if minimal and (values != MISSING).all() and same.sum() == 1:
                alone.append(subset)
        found.append(set(alone))
    return found


@given(small_codes, st.data())
def test_what_is_found_is_what_the_definition_says(codes, data):
    keys = codes.shape[1]
    largest = data.draw(st.integers(1, keys))
    found = minimal_uniques(codes, largest)
    worth = [math.prod(keys - i for i in range(k, min(largest, keys - 1) + 1)) for k in range(1, largest + 1)]
    for record, sets in enumerate(by_definition(codes)):
        sets = [subset for subset in sets if len(subset) <= largest]
        sizes = [sum(len(subset) == k for subset in sets) for k in range(1, largest + 1)]
        assert found.counts[record].tolist() == sizes
        assert found.score[record] == sum(worth[len(subset) - 1] for subset in sets)
        parts = [sum(worth[len(s) - 1] for s in sets if key in s) for key in range(keys)]
        assert found.contribution[record].tolist() == parts


def test_the_scores_of_the_practice_guide():
    """Table 4.5: its SUDA scores are Elliot's, its DIS-SUDA scores come from the others (sdcMicro #226)."""
    keys = key_file(practice_guide()[GUIDE_KEYS])
    found = special_uniques(keys)
    assert found.score.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert special_uniques(keys, largest=3).score.tolist() == found.score.tolist()
    before = special_uniques(keys, 0.01, scoring=Scoring.IHSN)
    assert before.score.tolist() == [0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0]
    assert before.dis_suda.round(4).tolist() == [0, 0, 0.0051, 0, 0.0107, 0, 0.0051, 0.0088, 0, 0]
    assert (found.uniques, found.paired) == (4, 6)
    assert size_scores(10, 3).tolist() == [9 * 8 * 7, 8 * 7, 7]
    assert size_scores(1, 1).tolist() == [1]


def test_the_scores_of_templs_book():
    """Statistical Disclosure Control for Microdata (2017), Section 3.5, as in sdcMicro #263."""
    education = ["high"] * 4 + ["university", "high", "middle", "university"]
    keys = key_file(
        pd.DataFrame(
            {
                "age": ["20s"] * 7 + ["60s"],
                "gender": ["male"] * 4 + ["female"] * 3 + ["male"],
                "income": ["50k+"] * 2 + ["50k-"] * 6,
                "education": education,
            }
        )
    )
    assert special_uniques(keys).score.tolist() == [0, 0, 0, 0, 4, 2, 6, 8]
    assert special_uniques(keys, scoring=Scoring.IHSN).score[-1] == 2.25


@pytest.mark.parametrize("order", list(itertools.permutations("abc")))
def test_contributions_whatever_the_order_of_columns(order):
    """sdcMicro #275, where a column's place changed its contribution: 50, 37.5 and 37.5 %."""
    file = pd.DataFrame({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})[list(order)]
    found = special_uniques(key_file(file))
    assert found.score.tolist() == [2, 4, 2]
    assert dict(zip(found.keys, found.attribute_contribution, strict=True)) == {
        "a": 0.5,
        "b": 0.375,
        "c": 0.375,
    }


def test_contributions_of_seven_records():
    """sdcMicro #356."""
    rows = ["AXP", "BXQ", "AYQ", "CZR", "BYR", "AXP", "BZQ"]
    found = special_uniques(key_file(pd.DataFrame([list(row) for row in rows])))
    assert found.score.tolist() == [0, 2, 3, 3, 3, 0, 2]
    assert (100.0 * found.attribute_contribution).round(5).tolist() == [61.53846, 69.23077, 53.84615]


def test_the_risk_of_the_file_by_hand():
    """40 uniques, 60 records in pairs, a tenth of the population: 4 / (4 + 54)."""
    assert data_intrusion_risk(40, 60, 0.1) == pytest.approx(4 / 58)
    assert data_intrusion_risk(0, 0, 0.1) is None
    assert data_intrusion_risk(0, 2, 0.1) == 0.0
    assert data_intrusion_risk(5, 2, 1.0) == 1.0


@given(st.lists(st.floats(0.5, 1e9), min_size=1, max_size=20), st.integers(1, 40), st.floats(0.001, 1.0))
def test_the_mean_odds_against_are_those_of_the_file(scores, keys, risk):
    found = shared_out(np.array([*scores, 0.0]), keys, len(scores), risk)
    assert found[-1] == 0.0
    assert (1.0 / found[:-1] - 1.0).mean() == pytest.approx(1.0 / risk - 1.0, rel=1e-6, abs=1e-9)
    order = np.argsort(scores)
    assert np.all(np.diff(found[order]) >= -1e-12)


def test_when_time_is_up_the_sizes_that_were_finished_count():
    codes = np.array([[5, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
    found, only = minimal_uniques(codes, 3, clock=Clock(0.0)), minimal_uniques(codes, 1)
    assert found.largest == 1
    assert found.score.tolist() == only.score.tolist() == [2, 2, 0, 0]
    assert found.contribution.tolist() == only.contribution.tolist()


def test_nothing_unique_and_everything_unique():
    nothing = special_uniques(key_file(pd.DataFrame({"a": [1, 1, 2, 2], "b": [3, 3, 3, 3]})))
    assert not nothing.score.any()
    assert not nothing.attribute_contribution.any()
    assert nothing.dis == 0.0
    assert "no record is unique" in nothing.paragraph
    everything = special_uniques(key_file(pd.DataFrame({"a": [1, 2, 3]})))
    assert everything.score.tolist() == [1, 1, 1]
    assert everything.dis == 1.0
    assert everything.dis_suda.tolist() == [1, 1, 1]


small = st.integers(1, 14).flatmap(
    lambda n: st.tuples(
        arrays(np.int64, n, elements=st.integers(0, 3)), arrays(np.int64, n, elements=st.integers(0, 5))
    )
)


def test_the_salaries_of_li_li_and_venkatasubramanian():
    """ICDE 2007, Section 5.1: D[P1, Q] = 0.375 and D[P2, Q] = 0.167 for Tables 3 and 4."""
    salary = np.array([3, 4, 5, 6, 11, 8, 7, 9, 10]) - 3
    groups = np.repeat([0, 1, 2], 3)
    found = t_closeness(entries_of(groups, salary), ordered=True)
    assert found[0] == pytest.approx(0.375)
    assert found[1] == pytest.approx(1 / 6)


@given(small, st.floats(0.5, 4.0))
def test_l_is_that_of_the_definition(drawn, constant):
    groups, values = groups_of(drawn[0][:, None]), drawn[1]
    found = l_diversity(entries_of(groups, values), constant)
    for group in range(int(groups.max()) + 1):
        counts = sorted(np.unique(values[groups == group], return_counts=True)[1].tolist(), reverse=True)
        p = np.array(counts) / sum(counts)
        assert found.distinct[group] == len(counts)
        assert found.entropy[group] == pytest.approx(np.exp(-(p * np.log(p)).sum()))
        holds = [at + 1 for at in range(len(counts)) if counts[0] < constant * sum(counts[at:])]
        assert found.recursive[group] == max([1, *holds])


@given(small)
def test_t_is_that_of_the_definition(drawn):
    groups, values = groups_of(drawn[0][:, None]), np.unique(drawn[1], return_inverse=True)[1]
    entries, m = entries_of(groups, values), int(values.max()) + 1
    whole = np.bincount(values) / values.size
    apart, along = t_closeness(entries, ordered=False), t_closeness(entries, ordered=True)
    for group in range(int(groups.max()) + 1):
        inside = values[groups == group]
        difference = np.bincount(inside, minlength=m) / inside.size - whole
        assert apart[group] == pytest.approx(0.5 * np.abs(difference).sum(), abs=1e-12)
        moved = np.abs(np.cumsum(difference)).sum() / (m - 1) if m > 1 else 0.0
        assert along[group] == pytest.approx(moved, abs=1e-12)


def test_missing_values_are_not_counted_where_they_have_no_place():
    groups, values = np.array([0, 0, 1, 1, 2]), np.array([0, MISSING, 1, 1, MISSING])
    found = t_closeness(entries_of(groups, values), ordered=True)
    assert found == pytest.approx([2 / 3, 1 / 3, 0.0])


@pytest.mark.parametrize("categories", [("poor", "fair", "good"), ("good", "fair", "poor")])
@pytest.mark.parametrize("two", [("poor", "fair"), ("fair", "good"), ("poor", "good")])
def test_categories_that_do_not_occur_have_no_place_among_values(categories, two):
    """Of two values one group has the first alone, the other both: a quarter of each has to move one step."""
    groups = np.array([0, 0, 1, 1])
    column = pd.Series([two[0], two[0], *two])
    schema = Attribute("health", scale=Scale.ORDINAL, categories=categories)
    _, _, closeness = attribute_diversity(schema, column, groups)
    assert closeness == pytest.approx([0.25, 0.25, 0.25, 0.25])
