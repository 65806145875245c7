"""The report: the whole page against a golden file, every form and state, escaping, bad input."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from report_results import (
    ATTRIBUTES,
    COLUMNS,
    RESULTS,
    ROWS,
    choquet_result,
    owa_result,
    weighted_mean_result,
)

from solver.errors import UsageError
from solver.risk import charts, formats
from solver.risk.report import PRINTED_ROWS, render_report

GOLDEN = Path(__file__).parent / "golden" / "report.html"
VOID = {"meta", "wbr", "br", "hr", "img", "input", "link"}
SVG_LEAVES = {"rect", "line", "path"}


class Page(HTMLParser):
    """Checks that tags are balanced, and collects tags, texts and tables."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.tables, self.texts = [], [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("th", "td"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag, attrs):
        assert tag in SVG_LEAVES, f"<{tag}/> has no meaning in HTML"
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if "table" in self.open and {"th", "td"} & set(self.open):
            self.tables[-1][-1][-1] += data

    @property
    def text(self):
        return re.sub(r"[\s\N{NARROW NO-BREAK SPACE}]+", " ", "".join(self.texts))

    def table(self, first_header):
        return next(table for table in self.tables if table[0][0] == first_header)


def read(result):
    return Page(render_report(result))


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
        "Upper bound, any parameters",
        "3.25",
        "46.4\N{NARROW NO-BREAK SPACE}%",
        "–",
    ]


def test_lost_records():
    assert "1 record (14.3 %) is proved to be out of reach" in read(choquet_result()).text
    assert "2 records (28.6 %) are proved to be out of reach" in read(choquet_result(lost=2)).text
    assert "out of reach" not in read(choquet_result(lost=None)).text


# Baselines


def test_baselines_beside_the_worst_case():
    table = read(choquet_result()).table("Distance")
    assert [row[:2] + row[3:] for row in table[1:]] == [
        ["Euclidean (equal weights)", "2", "2"],
        ["Classical Mahalanobis", "3", "1"],
        ["Worst case found", "4", "–"],
        ["Upper bound, any parameters", "5", "–"],
    ]
    proven = read(weighted_mean_result()).table("Distance")
    assert [row[0] for row in proven[3:]] == ["Worst case"]


def test_bars_are_in_proportion():
    html = render_report(choquet_result())
    chart = html[html.index("Records linked, out of") : html.index("Hatched")]
    widths = [float(w) for w in re.findall(r'width="([\d.]+)" height="14"', chart)]
    # Each bar lies on a track of the full width; the upper bound lies under the worst case.
    assert widths == pytest.approx(
        [400, 400 * 2 / 7, 400, 400 * 3 / 7, 400, 400 * 5 / 7, 400 * 4 / 7], abs=0.01
    )


# Parameters


def test_choquet_shows_importance_interaction_and_the_whole_measure():
    page = read(choquet_result())
    importance = choquet_result()["importance"]
    assert [row[:2] for row in page.table("Attribute")[1:]] == [
        [a, f"{importance[a]:.4f}"] for a in ATTRIBUTES
    ]
    assert page.table("Attribute")[0][1] == "Shapley value"
    measure = page.table("Attributes")
    assert [row[:2] for row in measure[1:]] == [
        [k, f"{v:.4f}"] for k, v in choquet_result()["parameters"]["measure"].items()
    ]
    interaction = page.table("")
    assert interaction[0] == ["", *ATTRIBUTES]
    assert interaction[1] == ["AFNLWGT", "", "\N{MINUS SIGN}0.388", "+0.463"]


def test_a_measure_without_a_list_of_all_subsets_shows_what_summarises_it():
    # So `fit` writes a 2-additive measure of more than twelve attributes.
    page = read(choquet_result(parameters={"moebius": dict.fromkeys(ATTRIBUTES, 1 / 3)}))
    assert page.table("Attribute")[0][1] == "Shapley value"
    assert page.table("")[0] == ["", *ATTRIBUTES]
    assert "Fuzzy measure" not in page.text
    assert "No parameters were found." not in page.text


def test_weighted_mean_shows_its_weights_once():
    page = read(weighted_mean_result())
    assert [row[:2] for row in page.table("Attribute")] == [
        ["Attribute", "Weight"], ["AFNLWGT", "0.5000"], ["AGI", "0.5000"], ["EMCONTRB", "0.0000"],
    ]  # fmt: skip
    assert "Fuzzy measure" not in page.text
    assert "Interaction" not in page.text
    assert "Importance" not in page.text


def test_owa_weights_belong_to_ranks():
    table = read(owa_result()).table("Rank of the attribute distance (1 is the largest)")
    assert [row[:2] for row in table[1:]] == [["1", "0.6250"], ["2", "0.2500"], ["3", "0.1250"]]


def test_mahalanobis_shows_its_matrix():
    page = read(RESULTS["mahalanobis"]())
    assert page.table("Attribute")[0][1] == "Share of the diagonal"
    assert page.table("")[1:] == [
        ["AFNLWGT", "12.5", "\N{MINUS SIGN}0.3", "0.002"],
        ["AGI", "\N{MINUS SIGN}0.3", "1", "0.1"],
        ["EMCONTRB", "0.002", "0.1", "3"],
    ]


def test_no_parameters():
    assert "No parameters were found." in read(choquet_result(parameters=None)).text


# Records


def test_records_table():
    table = read(choquet_result()).table("Record")
    assert table[0] == [
        "Record", "Linked", "Rank of counterpart", "Distance to counterpart", "Distance to nearest other",
        "Margin", "Ties",
    ]  # fmt: skip
    assert table[3] == ["3", "no", "2", "0.75", "0.5", "\N{MINUS SIGN}0.25", "0"]
    assert table[5][3:6] == ["3.1e\N{MINUS SIGN}07", "1.235e+04", "1.235e+04"]
    assert table[7] == ["7", "yes", "1", "0.1", "–", "–", "0"]
    assert len(table) == 1 + len(ROWS)


def test_linked_rows_are_marked_and_only_those():
    html = render_report(choquet_result())
    marked = re.findall(r'<tr class="linked"><th scope="row">(\w+)', html)
    assert marked == [row[0] for row in ROWS if row[1]]


def test_ranks_are_counted_in_classes():
    table = read(choquet_result()).table("Rank of the counterpart")
    assert [row[:2] for row in table[1:]] == [
        ["1", "5"], ["2", "1"], ["3", "0"], ["4 to 5", "0"], ["6 to 10", "0"], ["above 10", "1"],
    ]  # fmt: skip


def test_no_records():
    page = read(choquet_result(records_table={"columns": COLUMNS, "rows": []}))
    assert "The result lists no records." in page.text


def test_other_columns_and_unknown_ranks():
    page = read(
        choquet_result(records_table={"columns": ["record", "group"], "rows": [["1", "a"], ["2", None]]})
    )
    assert page.table("Record") == [["Record", "group"], ["1", "a"], ["2", "–"]]
    assert "Rank of the counterpart" not in page.text


def test_a_huge_table_is_whole_on_screen_and_says_that_paper_has_less():
    rows = [[str(i), False, None, 0.5, 0.25, -0.25, 0] for i in range(PRINTED_ROWS + 1)]
    page = read(choquet_result(records_table={"columns": COLUMNS, "rows": rows}))
    assert len(page.table("Record")) == PRINTED_ROWS + 2
    assert "Only the first 1,000 of 1,001 records are printed" in page.text
    fewer = read(choquet_result(records_table={"columns": COLUMNS, "rows": rows[1:]}))
    assert "are printed" not in fewer.text


# Progress


def test_progress_goes_on_to_the_end_of_the_run():
    early = [[0.1, 2, 7], [1.2, 3, 6]]
    page = read(choquet_result(trace=early, seconds=121.5)).text
    assert "0 s 60.8 s 121.5 s" in page
    assert page == read(choquet_result(trace=[*early, [121.5, 3, 6]], seconds=121.5)).text


def test_progress_needs_two_known_points():
    assert "Progress of the search" in read(choquet_result()).text
    assert "Progress of the search" not in read(choquet_result(trace=[])).text
    assert "Progress of the search" not in read(choquet_result(trace=[[0, 4, 5], [1, 4, None]])).text


def test_step_chart_holds_each_value_until_the_next():
    chart = charts.step_chart([(0.0, 0.0, 10.0), (5.0, 4.0, 10.0), (10.0, 4.0, 5.0)])
    assert chart.linked == "M48.00,160.00L222.00,160.00L222.00,101.60L396.00,101.60L396.00,101.60"
    assert chart.bound == "M48.00,14.00L222.00,14.00L222.00,14.00L396.00,14.00L396.00,87.00"
    assert chart.between.endswith("L48.00,14.00Z")
    assert [tick.label for tick in chart.vertical] == ["0 s", "5 s", "10 s"]
    # 4 and 5 of 10 stand too near each other for two labels.
    assert [tick.label for tick in chart.horizontal] == ["10", "5", "4", "0"]


def test_step_chart_without_any_change():
    chart = charts.step_chart([(0.0, 3.0, 3.0), (0.0, 3.0, 3.0)])
    assert "nan" not in chart.linked
    assert [tick.label for tick in chart.horizontal] == ["3"]


# How it was made


def test_how_it_was_made():
    text = read(choquet_result(aggregator_options={"k_additive": 2})).text
    for words in (
        "Distance learned Choquet integral (k_additive = 2)",
        "Engine milp, backend highs",
        "Model 15,960 rows, 14 columns, 123,456 nonzeros",
        "Time limit 120 s",
        "Time taken 121.5 s: attack 1.2 s, build 0.04 s, solve 120.1 s",
        "Seed 0",
        "Versions python 3.12.4, numpy 2.1.0, highspy 1.15.1",
        "--masked m.csv --aggregator choquet",
        "a margin of at least 1e−06 on scaled rows",
    ):
        assert words in text
    assert "Time limit none" in read(weighted_mean_result()).text
    assert "Model –" in read(RESULTS["mahalanobis"]()).text


def test_names_without_words_are_shown_as_they_are():
    text = read(choquet_result(aggregator="sugeno", direction="sideways", baselines={"gower": 1})).text
    assert "Worst-case record linkage: sugeno" in text
    assert "Direction sideways" in text
    assert "gower" in text


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


# Bad input


@pytest.mark.parametrize("key", [key for key in choquet_result() if key not in ("expected_links",)])
def test_a_missing_key_is_named(key):
    result = choquet_result()
    del result[key]
    with pytest.raises(UsageError) as caught:
        render_report(result)
    assert str(caught.value) == f"the result has no '{key}': give the JSON that `fit --json` wrote"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ties": "share"}, "the result has no 'expected_links'"),
        ({"records_table": {"rows": []}}, "the result has no 'records_table.columns'"),
        ({"linked": "372"}, "the result's 'linked' is not a number"),
        ({"records": True}, "the result's 'records' is not a number"),
        ({"linked": float("nan")}, "the result's 'linked' is not a number"),
        ({"name": None}, "the result's 'name' is not a text"),
        ({"attributes": "AGI"}, "the result's 'attributes' is not a list"),
        ({"attributes": [1]}, "the result's 'attributes' is not a list of texts"),
        ({"baselines": [1]}, "the result's 'baselines' is not an object"),
        ({"baselines": {"euclid": None}}, "the result's 'baselines.euclid' is not a number"),
        ({"parameters": {"weights": {"AGI": "1"}}}, "the result's 'parameters.weights.AGI' is not a number"),
        (
            {"parameters": {"theta": []}},
            "the result's 'parameters' has none of weights, measure, moebius, matrix",
        ),
        (
            {"parameters": {"matrix": [[1.0]]}},
            "the result's 'parameters.matrix[0]' is not a list of 3 values",
        ),
        ({"interaction": []}, "the result's 'interaction' is not a list of 3 rows"),
        ({"interaction": [[0, 0, "x"]] * 3}, "the result's 'interaction' is not a matrix of numbers"),
        ({"trace": [[1, 2]]}, "the result's 'trace[0]' is not a list of 3 values"),
        (
            {"records_table": {"columns": COLUMNS, "rows": [ROWS[0], ["2", True]]}},
            "the result's 'records_table.rows[1]' is not a list of 7 values",
        ),
    ],
)
def test_what_is_of_another_kind_is_named(changes, message):
    with pytest.raises(UsageError) as caught:
        render_report(choquet_result(**changes))
    assert str(caught.value) == f"{message}: give the JSON that `fit --json` wrote"


# Numbers


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (formats.count(12345), "12,345"),
        (formats.count(-3), "\N{MINUS SIGN}3"),
        (formats.count(371.5), "371.5"),
        (formats.count(371.996), "372"),
        (formats.count(None), "–"),
        (formats.percent(372, 400), "93.0\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(19999, 20000), "99.995\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(1, 10000), "0.01\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(0, 400), "0.0\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(400, 400), "100.0\N{NARROW NO-BREAK SPACE}%"),
        (formats.percent(1, 0), "–"),
        (formats.percent(None, 5), "–"),
        (formats.significant(0.000123456), "0.0001235"),
        (formats.significant(None), "–"),
        (formats.decimals(-0.00001, 3), "0.000"),
        (formats.decimals(0.25, 3, sign=True), "+0.250"),
        (formats.decimals(-0.00001, 3, sign=True), "0.000"),
        (formats.decimals(None), "–"),
        (formats.duration(0), "0 s"),
        (formats.duration(0.042), "0.04 s"),
        (formats.duration(12.34), "12.3 s"),
        (formats.duration(120), "120 s"),
        (formats.duration(620), "10 min 20 s"),
        (formats.duration(7500), "2 h 05 min"),
        (formats.duration(None), "–"),
        (formats.cell(True), "yes"),
        (formats.cell(float("inf")), "–"),
        (formats.cell("a"), "a"),
        (charts.bar_width(1, 0), 0.0),
        (charts.bar_width(9, 4), charts.WIDTH),
    ],
)
def test_numbers_are_written_for_readers(written, expected):
    assert written == expected


def test_a_bound_without_a_margin_holds_for_every_choice():
    page = render_report(RESULTS["choquet"](margin=None))
    assert "The upper bound holds for every choice of the parameters." in page
    assert "by a margin of at least" not in page
