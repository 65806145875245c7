"""What a report says: every section of full, partial and empty results, beside the numbers it is made of."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import report_cases
from report_cases import blocks, rows, said, section

from linkrisk import fit
from linkrisk.solver.app.answers import interval_of
from linkrisk.solver.charts.theme import worst_said
from linkrisk.solver.documents.document import Audience
from linkrisk.solver.documents.notebook import notebook
from linkrisk.solver.documents.short import short_of
from linkrisk.solver.report.findings import MEANINGS, meaning_of
from linkrisk.solver.report.outside import FINDINGS
from linkrisk.solver.report.page import SECTIONS, document_of
from linkrisk.solver.report.results import FamilyResult
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.schemas.reading import held_out_of, worst_cases

ORDER = [
    *("summary", "worst-case", "who-leaks", "which-records", "is-it-realistic", "several-releases"),
    *("other-measures", "cost", "making"),
]


@pytest.fixture(scope="module")
def full():
    return report_cases.full()


@pytest.fixture(scope="module")
def measured():
    return report_cases.results()


def test_sections_are_in_the_order_of_the_page(full):
    assert [one.name for one in full.document.sections] == [one for one in ORDER if one != "several-releases"]
    assert len(SECTIONS[Audience.INTERNAL]) == 1 + len(ORDER) > len(SECTIONS[Audience.EXTERNAL])


def test_what_was_not_measured_has_a_line_and_no_section(full, measured):
    missing = rows(section(full.document, "other-measures"), "Not measured")
    assert [row[1] for row in missing[:-1]] == list(measured["not_measured"].values())
    assert missing[-1][0] == "After several releases"
    without = measured | {
        "measures": {name: one for name, one in measured["measures"].items() if name != "held-out"},
        "not_measured": {"held-out": "it had not ended"},
    }
    told = document_of(without)
    assert "is-it-realistic" not in [one.name for one in told.sections]
    (title, *_), *_ = missing = rows(section(told, "other-measures"), "Not measured")
    assert title.startswith("Held-out")
    assert [row[1] for row in missing].count("it had not ended") == 1
    assert "Is it realistic" not in [row[0] for row in missing]


def test_notes_are_in_the_order_of_what_limits_the_claim(measured):
    family, *others = measured["worst_case"]["families"]
    cut = family | {"linked_upper_bound": 44, "status": "feasible", "limit": "time", "notes": ["of a search"]}
    given = measured | {
        "worst_case": measured["worst_case"] | {"families": [cut, *others]},
        "notes": ["of the files"],
        "measures": measured["measures"]
        | {"uniqueness": measured["measures"]["uniqueness"] | {"notes": ["of a measure"]}},
    }
    worst = next(one for one in document_of(given).sections if one.name == "worst-case")
    notes = [note for note in worst.notes if note.startswith(("of ", "Weighted mean: ", "Out of reach"))]
    assert notes[0].startswith("Weighted mean: the time limit was reached; a longer time_limit or ")
    assert notes[1:4] == ["of the files", "of a search", "of a measure"]
    assert not any(getattr(one, "quiet", False) for one in worst.shown)


def test_the_headline_is_that_of_the_worst_case(full, measured):
    worst = measured["worst_case"]
    head = full.document.headline
    assert head.answer == measured["verdict"]["answer"] == "above"
    assert head.verdict.lower() == measured["verdict"]["sentence"].lower() + "."
    share = f"{100.0 * worst['linked'] / worst['records']:.1f} %"
    assert head.worst.startswith(f"At worst {worst['linked']} of {worst['records']} records ({share})")
    proven = "None of the two kinds of distance searched (weighted mean, Choquet integral) re-identifies more"
    assert any(reason.startswith(proven) for reason in head.reasons)


def test_what_was_left_as_it_is_is_named_first(full):
    masked, todo = list(blocks(section(full.document, "summary"), "items"))
    assert any("although an intruder may know them: same." in item for item in masked["items"])
    assert todo["items"][0] == "Mask what was left as it is and may be known to an intruder: same."


def test_the_advice_to_withhold_is_the_least_certified_worst_case(full, measured):
    """The largest bound of all families without the attribute, by the searches themselves."""
    without = measured["measures"]["attributes"]["withheld"]
    names = {row["attribute"] for row in without}
    most = {name: max(row["most"] for row in without if row["attribute"] == name) for name in names}
    best = min(most.values())
    todo = list(blocks(section(full.document, "summary"), "items"))[1]["items"]
    advice = [item for item in todo if item.startswith("Withhold ")]
    assert bool(advice) == (best < measured["worst_case"]["linked"])
    for item in advice:
        attribute = item.split()[1]
        assert most[attribute] == best
        assert f"at most {best} of 44 (" in item


def test_the_riskiest_groups_are_named(full, measured):
    told = rows(section(full.document, "summary"), "The riskiest groups of records")
    shares = [row[4] for row in told]
    assert shares == sorted(shares, reverse=True)
    listed = [one for one in measured["measures"]["records"]["groups"] if one["records"] >= 10]
    groups = {(one["column"], one["category"]): one["share"] for one in listed}
    assert groups[told[0][0], told[0][1]] == told[0][4] == max(groups.values())


def test_families_are_as_they_were_searched(full, measured):
    told = rows(section(full.document, "worst-case"), "Worst case of every family of distances")
    for row, family in zip(told, measured["worst_case"]["families"], strict=True):
        assert row[1:3] == [family["linked"], family["linked_upper_bound"]]
        assert row[5:] == [family["lost"], "proven"]
    charts = [one["name"] for one in blocks(section(full.document, "worst-case"), "chart")]
    assert charts == ["headline"]


def test_every_record_has_the_parts_of_its_distances(full, measured):
    (table,) = blocks(section(full.document, "which-records"), "records")
    worst = max(measured["worst_case"]["families"], key=lambda family: family["linked"])
    listed = worst["records_table"]
    assert [row[0] for row in table["table"]["rows"]] == [row[0] for row in listed["rows"]]
    assert sum(row[1] for row in table["table"]["rows"]) == worst["linked"]
    at = [one["name"] for one in table["table"]["columns"]].index("distance")
    for row, parts in zip(table["table"]["rows"], table["partner"], strict=True):
        assert sum(parts) == pytest.approx(row[at], rel=2e-3, abs=1e-12)
    assert table["waterfall"]["name"] == "waterfall"


def test_it_says_how_to_make_it_again(full):
    making = section(full.document, "making")
    assert next(blocks(making, "code"))["text"] == full.risk.details["command"]
    told = rows(making, "Certificates, checked by code that shares nothing with the search")
    assert [row[2] for row in told] == [True, True]
    assert all(len(row[1]) == 64 for row in told)
    worst = full.risk.worst.worst
    assert any(f"no parameters link more than {worst.linked_upper_bound} of 44" in row[3] for row in told)
    assert [one["name"] for one in blocks(making, "chart")] == ["bound", "bound"]


def test_every_finding_of_these_measures_has_a_meaning(measured):
    for name, content in measured["measures"].items():
        if name != "attribute-disclosure":  # its keys are names of attributes
            for finding in content["findings"]:
                assert meaning_of(finding["key"]), finding["key"]
    assert all(one.endswith(".") for one in MEANINGS.values())
    assert all(all(words.values()) and all(map(meaning_of, words)) for words in FINDINGS.values())


def test_a_fit_alone_has_its_sections():
    original, masked = report_cases.files()
    result = fit(original[["age", "hours"]], masked[["age", "hours"]], row_by_row=True, time_limit=None)
    document = document_of(result.to_dict())
    assert [one.name for one in document.sections] == [*ORDER[:4], "making"]
    assert document.headline.answer == "unknown"
    missing = rows(section(document, "making"), "Not measured")
    assert [row[0] for row in missing] == [
        *("Is it realistic", "After several releases", "Other measures", "What protection has cost")
    ]
    assert all(row[1] for row in missing)
    assert "take it as tolerated and compare" in said(result.to_dict())


def test_a_sweep_alone_and_beside_a_worst_case(measured):
    sweep = json.loads(report_cases.swept())
    alone = document_of(sweep)
    assert alone.headline.verdict.startswith("2 of 2 maskings were measured")
    assert alone.headline.answer == "compared"
    assert [one.name for one in alone.sections] == ["map", "summary", "making"]
    chart, words, table, *_ = section(alone, "map")["blocks"]
    assert chart["name"] == "risk-utility"
    losses = [(run["loss"], run["masking"]) for run in sweep["runs"] if run["verdict"]["high"] <= 0.05]
    cheapest = f"that are tolerated is {min(losses)[1]}: it loses" if losses else "No masking keeps"
    assert cheapest in words["text"]
    held_out = any(held_out_of(run) is not None for run in sweep["runs"])
    assert ("Held-out" in [column["title"] for column in table["columns"]]) == held_out
    both = document_of(measured, sweep)
    assert both.headline == document_of(measured).headline
    told = rows(section(both, "cost"), "Maskings: their risk and their loss")
    losses = {run["masking"]: run["loss"] for run in sweep["runs"]}
    assert {row[0]: row[-2] for row in told} == losses
    assert "risk-utility" in [one["name"] for one in blocks(section(both, "cost"), "chart")]
    measured = measured | {"verdict": measured["verdict"] | {"tolerated": 0.4}}
    (chart,) = [
        one
        for one in blocks(section(document_of(measured, sweep), "cost"), "chart")
        if one["name"] == "risk-utility"
    ]
    assert chart["description"].endswith(" Tolerated: 40.0 %.")
    with pytest.raises(UsageError, match="one worst case and one sweep"):
        document_of(sweep, sweep)


@pytest.mark.parametrize("row_by_row", [True, False])
def test_an_order_that_cannot_be_judged_is_to_be_changed(row_by_row):
    frame = pd.DataFrame({"id": range(6), "A": [1.0, 3.0, 2.0, 4.0, 6.0, 5.0]})
    by = {"row_by_row": True, "attributes": ["A"]} if row_by_row else {"id": "id"}
    text = said(fit(frame, frame, time_limit=None, **by).to_dict())
    assert ("Release the records in another order: here both files lie row by row" in text) is row_by_row


def test_nothing_linked_and_one_record():
    far = pd.DataFrame({"A": [1.0, 2.0, 3.0, 4.0], "B": [1.0, 3.0, 2.0, 4.0]})
    result = fit(far, far.iloc[::-1].reset_index(drop=True), row_by_row=True, time_limit=None)
    assert result.linked == 0
    text = said(result.to_dict())
    assert "At worst 0 of 4 records (0.0 %)" in text
    assert "No record is re-identified, so that the parameters are arbitrary." in text


def test_an_interval_that_is_open_says_so():
    original, masked = report_cases.files()
    result = fit(original[["age", "hours"]], masked[["age", "hours"]], row_by_row=True, time_limit=1e-9)
    low, high = result.interval
    assert low < high
    document = document_of(result.to_dict())
    assert document.headline.worst.startswith(f"At worst between {low:.0f} and {high:.0f} of 44 records (")
    assert "Search longer with a larger time_limit" in said(result.to_dict())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": 1}, "this is no JSON of results: give what `fit --json`, `risk --json`"),
        ({"runs": [{}]}, "these results cannot be shown, they lack "),
    ],
)
def test_what_is_no_result_is_refused(given, message):
    with pytest.raises(UsageError) as caught:
        document_of(given)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def edited(results, path, value):
    changed = json.loads(json.dumps(results))
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return changed


FIRST = ("worst_case", "families", 0)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ((*FIRST, "linked"), 4000, "the weighted mean links 4000, at most "),
        ((*FIRST, "linked_upper_bound"), 1, "the weighted mean links "),
        ((*FIRST, "linked"), float("nan"), "the weighted mean links nan, "),
        (("worst_case", "families"), [], "there is no worst case of any family"),
        (("verdict", "answer"), "below", "the verdict says below and its numbers say above"),
        (("verdict", "high"), 5.0, "the verdict is about "),
        (("verdict", "low"), 0.06, "the verdict is below the worst case of a family"),
    ],
)
def test_results_that_contradict_themselves_are_refused(measured, path, value, message):
    with pytest.raises(UsageError) as caught:
        document_of(edited(measured, path, value))
    assert str(caught.value).startswith(f"these results contradict themselves, {message}")
    assert str(caught.value).endswith(": give the JSON as it was written")


def test_columns_that_have_nothing_to_compare_say_why(measured):
    without = [("id", "names records"), ("a", "in the masked file only"), ("b", "in the masked file only")]
    columns = [
        {**measured["measures"]["changes"]["columns"][0], "column": name, "changed": None, "note": note}
        for name, note in without
    ]
    text = said(edited(measured, ("measures", "changes", "columns"), columns))
    assert "Not compared with what it was, names records: id." in text
    assert "Not compared with what it was, in the masked file only: a and b." in text


def test_the_cheapest_masking_that_is_tolerated_is_said_below_the_map():
    sweep = json.loads(report_cases.swept())
    first, second = sweep["runs"]
    rate = {"key": "held_out_weighted_mean", "value": 0.125}
    first |= {"loss": 0.2, "findings": {"held-out": [rate]}}
    second |= {"loss": 0.1}
    for run, high in ((first, 0.25), (second, 0.5)):
        run["verdict"] |= {"low": 0.0, "high": high, "tolerated": 0.3, "findings": []}
    _, words, table, *_ = section(document_of(sweep), "map")["blocks"]
    assert words["text"] == (
        f"The cheapest masking whose worst case is within the 30.0 % that are tolerated is "
        f"{first['masking']}: it loses 0.2, and at most 25.0 % of its records can be re-identified."
    )
    assert {row[0]: row[3] for row in table["rows"]} == {first["masking"]: 0.125, second["masking"]: None}
    first["verdict"]["findings"] = [{"severity": "red", "low": None}]
    (_, words, *_) = section(document_of(sweep), "map")["blocks"]
    assert words["text"].endswith(
        "and has nothing else against it, such as columns that are neither masked nor compared."
    )
    first["verdict"] |= {"high": 0.4, "findings": []}
    (_, words, *_) = section(document_of(sweep), "map")["blocks"]
    assert words["text"].startswith("No masking keeps its worst case within the 30.0 %")
    first["verdict"]["high"], first["loss"] = 0.25, None
    (words, *_) = section(document_of(sweep), "map")["blocks"]  # nothing to be drawn
    assert words["text"] == (
        "The safest masking whose worst case is within the 30.0 % that are tolerated is "
        f"{first['masking']}: at most 25.0 % of its records can be re-identified. What it loses was not "
        "measured."
    )


@pytest.fixture(scope="module")
def fitted():
    original = pd.DataFrame(np.random.default_rng(1).normal(size=(20, 2)), columns=["a", "b"])
    return fit(original, original + 0.5 * original.to_numpy()[::-1], aggregator="weighted-mean").to_dict()


@pytest.mark.parametrize(
    ("certificate", "proven"),
    [
        (None, True),
        ({"made": True, "reason": None}, True),
        ({"made": False, "reason": "it would be too large"}, False),
    ],
)
def test_only_a_certificate_that_is_there_proves(fitted, certificate, proven):
    assert fitted["status"] == "optimal"
    content = {**fitted, "certificate": certificate}
    assert FamilyResult("weighted-mean", content).interval.proven is proven
    assert interval_of(content).proven is proven
    assert ("proven" in worst_said(worst_cases(content)["weighted-mean"])) is proven
    assert ("proven: no other parameters" in notebook(short_of(content))) is proven
    assert ("by the search, " in notebook(short_of(content))) is not proven
    reasons = " ".join(document_of(content).headline.reasons)
    assert ("re-identifies more, which is proven." in reasons) is proven
    assert ("re-identifies more, as the search says: there is no certificate of it." in reasons) is not proven
