"""The page of a suppression, for readers inside and outside."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from browsers import chromium, opened
from cli_runs import contents, refuse, run
from key_tasks import PEOPLE
from report_cases import leaves

from linkrisk import suppress
from linkrisk.datasets.microdata.schema import Attribute, Role, Scale, Schema
from linkrisk.solver.documents.document import Audience
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.suppression.page import for_external, rounded, suppression_document

EVIL = "<script>alert('&\"')</script>"
ASKED = ["suppress", "--input", "people.csv", "--k", "2"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")


@pytest.fixture(scope="module")
def survey():
    """Households with weights, priorities, ghosts, and a seed that is not found by chance."""
    chance = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "HOMENUMBER": np.repeat(range(100), 3),
            "HEAVY": chance.uniform(1.0, 9.0, 300),
            "street": np.repeat(chance.integers(0, 4, 100), 3).astype(str),
            "age": chance.integers(20, 60, 300),
            "sex": chance.choice(["f", "m"], 300),
            "trade": chance.choice(["smith", "nurse", "BISHOP"], 300, p=[0.5, 0.48, 0.02]),
            "GHOSTLY": "g",
        }
    )
    return suppress(
        frame,
        keys=["street", "age", "sex", "trade"],
        dimension=2,
        threshold=12,
        household="HOMENUMBER",
        household_keys=["street"],
        weight="HEAVY",
        cost="priority",
        priorities={"sex": 7.25},
        ghosts={"age": ["GHOSTLY"]},
        seed=71234567,
        time_limit=71234.0,
    )


def texts(page):
    """What people and scripts find in a page: everything but its own scripts and styles."""
    return unescape(re.sub(r"<script>.*?</script>|<style>.*?</style>", "", page, flags=re.DOTALL))


def section(document, name):
    (found,) = [one for one in document.sections if one.name == name]
    return found


# What it says


def test_what_an_internal_report_says():
    result = suppress("people.csv", keys=["town", "sex", "trade"], k=2)
    document = suppression_document(result.to_dict())
    head = document.headline
    assert document.title == "Suppression in people.csv"
    assert head.verdict == "3 of 24 (12.5 %) values of key variables suppressed: proven, no fewer will do."
    assert head.worst == (
        "Counted again by independent code: 0 records with an unsafe combination of the input still whole."
    )
    assert head.answer == "below"
    assert head.reasons[1] == (
        "After, when all of the output is counted: 2 of 8 (25.0 %) records where a missing value is a "
        "category of its own and 0 of 8 (0.0 %) records where it matches anything."
    )
    risk = section(document, "risk").blocks[0]
    assert risk.rows[0] == ["Records with fewer than 2 like them", *["2 (25.0 %)"] * 2, "0 (0.0 %)"]
    assert risk.rows[3][1:] == [1, 1, 2]
    assert risk.rows[4][1:] == ["5 (62.5 %)", "5 (62.5 %)", "3 (37.5 %)"]
    unsafe = section(document, "unsafe").blocks
    assert unsafe[0].rows == [["town × sex × trade", 1.0, 2, 2]]
    assert [row[1] for row in unsafe[1].rows] == ["2 (25.0 %)", "2 (25.0 %)", "0 (0.0 %)"]
    variables = section(document, "key-variables").blocks[0]
    assert variables.rows[0] == ["town", 2, 0.25, 2, 0, 1.0]
    options = dict(section(document, "frequencies").blocks[0].options)
    assert options["town"][0].rows == [["Delft", 3, 2, 1], ["Urk", 5, 4, 1]]
    riskiest = section(document, "riskiest").blocks[0]
    assert riskiest.rows[0] == [
        *("town = Delft, sex = m, trade = nurse", 1.0, "town, sex suppressed", 1, 1.0),
        pytest.approx(1 / 3),
    ]
    made = json.dumps(document.to_dict(), ensure_ascii=False)
    assert result.details["sha256"] in made
    assert "fewer than k = 2 records" in made


def test_categories_are_told_in_words():
    labels = {"Delft": "in the west", "Urk": "on land"}
    schema = Schema((Attribute("town", Role.KEY, Scale.NOMINAL, labels=labels),))
    frame = pd.read_csv("people.csv").iloc[list(range(8)) * 5]
    result = suppress(frame, keys=["town", "sex", "trade"], k=8, schema=schema)
    inside = suppression_document(result.to_dict())
    options = dict(section(inside, "frequencies").blocks[0].options)
    assert [row[0] for row in options["town"][0].rows] == ["in the west (Delft)", "on land (Urk)"]
    assert "town = in the west (Delft)" in section(inside, "riskiest").blocks[0].rows[0][0]
    outside = suppression_document(result.to_dict(), Audience.EXTERNAL)
    shown = dict(section(outside, "frequencies").blocks[0].options)["town"][0].rows
    assert shown[0][0] == "on land (Urk)"


def test_page_and_json_have_the_same_numbers(survey):
    found = json.loads(survey.to_json())["before_and_after"]
    document = suppression_document(survey.to_dict())
    variables = section(document, "key-variables").blocks[0]
    assert [row[1] for row in variables.rows] == [one["suppressed"] for one in found["variables"]]
    assert survey.suppressed == {one["name"]: one["suppressed"] for one in found["variables"]}
    listed = section(document, "riskiest").blocks[0].rows
    assert [row[1] for row in listed] == [one["risk"] for one in found["riskiest"]["combinations"]]
    assert len(listed) == 10
    risk = section(document, "risk").blocks[0]
    assert len(risk.rows) == 7
    assert "Benedetti" in section(document, "risk").blocks[1].text
    made = json.dumps(document.to_dict(), ensure_ascii=False)
    for words in ("HOMENUMBER; its key variables: street", "HEAVY", "GHOSTLY with age", "sex 7.25"):
        assert words in made


def test_what_is_not_proven_has_a_gap():
    chance = np.random.default_rng(1)
    frame = pd.DataFrame(chance.integers(0, 3, (300, 8)), columns=list("abcdefgh")).astype(str)
    cancel = Cancel()
    cancel.cancel()
    head = suppression_document(suppress(frame, k=3, cancel=cancel).to_dict()).headline
    assert head.answer == "open"
    assert re.search(r"no other answer costs less than [\d,]+, a gap of [\d.]+ %\.$", head.verdict)


def test_nothing_to_suppress():
    frame = pd.DataFrame({"a": [1, 1, 1], "b": [None, None, None]})
    result = suppress(frame, keys=["a", "b"], k=2)
    assert suppression_document(result.to_dict()).headline.verdict == "Nothing had to be suppressed."
    assert "Nothing had to be" in result.to_html()
    assert "Fewer than 10 values" in result.to_html(external=True)


# Readers outside


SECRET = (
    *("HOMENUMBER", "HEAVY", "GHOSTLY", "71234567", "7.25", "BISHOP", "priorit", "riskiest"),
    *("SHA-256", "lost", "highs"),
)


def test_nothing_that_helps_an_intruder_is_outside(survey):
    inside, outside = texts(survey.to_html()), texts(survey.to_html(external=True))
    for words in (*SECRET[:6], *SECRET[8:10]):
        assert words in inside, words
    outside = outside.replace("which categories lost values", "")
    for words in SECRET:
        assert words not in outside, words
    compared = survey.before_and_after
    for one in compared["riskiest"]["combinations"]:
        assert ", ".join(f"{name} = {value}" for name, value in one["values"].items()) in inside
        assert f"age = {one['values']['age']}" not in outside


def test_counts_outside_are_rounded(survey):
    kept = for_external(survey.to_dict())
    counts = {leaf for leaf in leaves(kept["variables"]) if isinstance(leaf, str) and " " in leaf}
    assert all(re.fullmatch(r"fewer than 10|about [\d,]*0|all others", one) for one in counts)
    for one, full in zip(kept["variables"], survey.before_and_after["variables"], strict=True):
        assert one["suppressed"] == rounded(full["suppressed"])
        named = {name for name, _ in one["categories"]} - {"all others", "missing"}
        often = survey.table[one["name"]].astype(str).value_counts()
        assert all(often[name] >= 10 for name in named)
        order = [(-round(often[name] / 10), name) for name, _ in one["categories"] if name in named]
        assert order == sorted(order)
    document = suppression_document(survey.to_dict(), Audience.EXTERNAL)
    numbers = [leaf for leaf in leaves(document.to_dict()) if isinstance(leaf, int | float)]
    assert set(numbers) <= {0, 1}  # of the format and of flags


def test_what_is_new_stays_inside(survey):
    given = {**survey.to_dict(), "invented": "ZQXJ"}
    given["before_and_after"] = {**given["before_and_after"], "invented": "ZQXJ"}
    given["before_and_after"]["variables"] = [
        {**one, "invented": "ZQXJ"} for one in given["before_and_after"]["variables"]
    ]
    given["missing"] = given["status"] = "ZQXJ"
    assert "ZQXJ" not in suppression_document(given, Audience.EXTERNAL).to_json()


def test_how_counts_are_rounded():
    said = ["fewer than 10", "fewer than 10", "about 10", "about 20", "about 12,340"]
    assert [rounded(many) for many in (0, 9, 10, 16, 12_344)] == said


# The page


@pytest.mark.parametrize("external", [False, True])
def test_data_is_never_markup(external):
    frame = pd.DataFrame({EVIL: [EVIL] * 20 + ["x", "y"], "<b>b": ["<i>"] * 22})
    frame.to_csv("in.csv", index=False)
    page = suppress("in.csv", keys=[EVIL, "<b>b"], k=3).to_html(external=external)
    assert not [markup for markup in ("<script>alert", "<b>", "<i>") if markup in page]
    assert "\\u003cscript>alert(" in page
    assert "&lt;b&gt;b" in page


def test_the_page_loads_nothing_and_says_what_it_is(survey):
    inside, outside = survey.to_html(), survey.to_html(external=True)
    for page in (inside, outside):
        assert "default-src 'none'" in unescape(page)
        assert not re.search(r"(?:src|href)=\"(?!#)", page)
        assert len(page) < 200_000  # no scripts of charts
    assert "Confidential." in inside
    assert "do not publish" not in outside
    assert "For readers outside" in outside


# The command line


def test_the_command_writes_both(capsys):
    message = "--report and --external-report both name r.html: give each a different file"
    refuse(capsys, message, *ASKED, "--report", "r.html", "--external-report", "r.html")
    printed = run(
        capsys, *ASKED, *("--report", "in.html", "--external-report", "out.html", "--json", "found.json")
    )
    assert printed.endswith("wrote found.json\nwrote in.html\nwrote out.html\n")
    inside, outside = (Path(name).read_text(encoding="utf-8") for name in ("in.html", "out.html"))
    assert "town = Delft, sex = m, trade = nurse" in inside
    assert "Delft" not in outside  # three records
    assert "fewer than 10" in outside
    assert "before_and_after" in json.loads(Path("found.json").read_text(encoding="utf-8"))


def test_what_cannot_be_shown_and_where_a_report_cannot_go():
    result, before = suppress("people.csv", keys=["town"], k=2), contents()
    with pytest.raises(UsageError, match=r"the report people\.csv is the input file; give it another name"):
        result.report("people.csv")
    assert contents() == before
    said = "^these results cannot be shown, they lack 'linkrisk': give what `suppress --json`"
    with pytest.raises(UsageError, match=said):
        suppression_document({"format": "linkrisk-suppression"})


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def result():
    chance = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "a_long_name_without_any_space_" * 6: chance.choice(["v" * 120, "<img src=x>", "&amp;"], 80),
            "</script><script>alert(1)</script>": chance.integers(0, 40, 80),
            "town": chance.choice(["Urk", "Delft"], 80),
        }
    )
    return suppress(frame, keys=list(frame), k=3)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("external", "width", "scheme"), [(False, 390, "dark"), (True, 390, "light"), (False, 1280, "light")]
)
def test_nothing_sticks_out_and_everybody_can_read_it(browser, result, tmp_path, external, width, scheme):
    with opened(browser, result.to_html(external=external), tmp_path, width=width, scheme=scheme) as one:
        root = "document.documentElement"
        assert one.page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
        assert one.page.locator("img").count() == 0
        assert one.page.locator("[role=tab]").count() == 3
        assert one.violations() == []
