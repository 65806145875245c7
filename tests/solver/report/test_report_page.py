"""The report as a whole: against a golden file, in every form and state, and with everything escaped."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from report_pages import Page, read
from report_results import RESULTS, choquet_result, owa_result

from linkrisk.solver.report.page import render_report

GOLDEN = Path(__file__).parents[2] / "golden" / "report.html"


# The page as a whole


def test_golden_page():
    """Set LINKRISK_UPDATE_GOLDEN=1 to write the file anew, then look at the difference."""
    html = render_report(choquet_result())
    if os.environ.get("LINKRISK_UPDATE_GOLDEN"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(html, encoding="utf-8")
    assert html == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RESULTS)
def test_every_form_is_well_formed_and_stands_alone(name):
    html = render_report(RESULTS[name]())
    page = Page(html)
    assert html.startswith("<!DOCTYPE html>")
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert not {"src", "href", "srcset", "action"} & {key for key, _ in page.attributes}
    assert "://" not in html
    assert "@import" not in html
    assert all(target == "#room" for target in re.findall(r"url\(([^)]*)\)", html))
    identifiers = [value for key, value in page.attributes if key == "id"]
    assert len(identifiers) == len(set(identifiers))
    for table in page.tables:
        assert len({len(row) for row in table}) == 1, table[0]


@pytest.mark.parametrize("name", RESULTS)
def test_the_page_is_made_from_the_json_alone(name):
    result = RESULTS[name]()
    assert render_report(json.loads(json.dumps(result))) == render_report(result)


# The headline


AT_LEAST = "At least 4 of 7 records (57.1 %), at most 5 (71.4 %) can be linked. "
EXACTLY = "Exactly 4 of 7 records (57.1 %) can be linked. Proven No parameters of this distance link more"
BETWEEN = "Both numbers hold: the worst case lies between them."
REACHED = "was reached before the two numbers met. " + BETWEEN
NO_SOLUTION = "No solution The engine found no parameters to count with; the upper bound still holds."


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, f"{AT_LEAST}Interval The time limit of 120 s {REACHED}"),
        ({"time_limit": None}, f"{AT_LEAST}Interval The time limit {REACHED}"),
        ({"limit": "memory"}, f"{AT_LEAST}Interval The memory limit {REACHED}"),
        ({"limit": None}, f"{AT_LEAST}Interval The engine stopped before the two numbers met. {BETWEEN}"),
        ({"limit": "user"}, f"{AT_LEAST}Interrupted The run was stopped by the user. {BETWEEN}"),
        ({"status": "interrupted"}, f"{AT_LEAST}Interrupted The run was stopped by the user. {BETWEEN}"),
        ({"status": "no_solution", "parameters": None}, f"{AT_LEAST}{NO_SOLUTION}"),
        ({"status": "optimal", "limit": None, "linked_upper_bound": 4}, EXACTLY),
        ({"linked_upper_bound": 4}, EXACTLY),
        # A claim of optimality does not make an open interval a proof.
        ({"status": "optimal", "limit": None}, f"{AT_LEAST}Interval The engine stopped before"),
    ],
)
def test_headline_says_the_state_of_the_proof(changes, words):
    assert words in read(choquet_result(**changes)).text


def test_shared_ties_put_expected_links_first():
    page = read(owa_result())
    assert (
        "At least 2.5 of 7 records (35.7 %), at most 3.25 (46.4 %) can be linked in expectation." in page.text
    )
    assert "Counted as one each, 4 records are linked (at most 5)." in page.text
    assert page.table("Distance")[-1] == [
        "Upper bound of this family",
        "3.25",
        "46.4\N{NARROW NO-BREAK SPACE}%",
        "–",
    ]


def test_lost_records():
    assert "1 record (14.3 %) is proved to be out of reach" in read(choquet_result()).text
    assert "2 records (28.6 %) are proved to be out of reach" in read(choquet_result(lost=2)).text
    assert "out of reach" not in read(choquet_result(lost=None)).text


def test_a_bound_without_a_margin_holds_for_every_choice():
    page = render_report(RESULTS["choquet"](margin=None))
    assert "The upper bound holds for every choice of the parameters." in page
    assert "by a margin of at least" not in page


# Escaping


EVIL = '<script>alert("1")</script>&\''


def test_everything_that_comes_from_files_is_escaped():
    names = [EVIL, "AGI", "EMCONTRB"]
    measure = {k.replace("AFNLWGT", EVIL): v for k, v in choquet_result()["parameters"]["measure"].items()}
    importance = dict(zip(names, choquet_result()["importance"].values(), strict=True))
    html = render_report(
        choquet_result(
            attributes=names, parameters={"measure": measure}, importance=importance, name=EVIL, command=EVIL,
            aggregator=EVIL, aggregator_options={EVIL: EVIL}, backend=EVIL, engine=EVIL, direction=EVIL,
            versions={EVIL: EVIL}, baselines={EVIL: 2}, phases={EVIL: 1.0}, linkrisk=EVIL,
            standardisation=EVIL,
            records_table={"columns": [EVIL, "linked"], "rows": [[EVIL, True], ["2", EVIL]]},
        )
    )  # fmt: skip
    page = Page(html)
    assert "<script" not in html
    assert "script" not in page.tags
    assert page.text.count(EVIL) >= 20
    assert page.table("Attributes")[1][0] == EVIL
    assert page.table("Attributes")[3][0] == f"{EVIL},AGI"
    # No attribute was broken out of: none but ours exist.
    assert {key for key, _ in page.attributes} <= {
        key for key, _ in Page(GOLDEN.read_text("utf-8")).attributes
    }
