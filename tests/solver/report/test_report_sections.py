"""The sections of the report: baselines, parameters, records, progress, how it was made."""

from __future__ import annotations

import re

import pytest
from report_pages import read
from report_results import (
    ATTRIBUTES,
    COLUMNS,
    RESULTS,
    ROWS,
    choquet_result,
    owa_result,
    weighted_mean_result,
)

from linkrisk.solver.report import charts
from linkrisk.solver.report.page import PRINTED_ROWS, render_report

# Baselines


def test_baselines_beside_the_worst_case():
    table = read(choquet_result()).table("Distance")
    assert [row[:2] + row[3:] for row in table[1:]] == [
        ["Euclidean (equal weights)", "2", "2"],
        ["Classical Mahalanobis", "3", "1"],
        ["Worst case found", "4", "–"],
        ["Upper bound of this family", "5", "–"],
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
        [k, f"{v:.4f}" if v else "0"] for k, v in choquet_result()["parameters"]["measure"].items()
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
        ["Attribute", "Weight"], ["AFNLWGT", "0.5000"], ["AGI", "0.5000"], ["EMCONTRB", "0"],
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
        "Record", "Linked", "Rank of partner", "Distance to partner", "Distance to nearest other",
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
    table = read(choquet_result()).table("Rank of the partner")
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
    assert "Rank of the partner" not in page.text


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
