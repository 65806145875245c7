"""The report of a protected table: what it says, draws and refuses."""

from __future__ import annotations

import copy
import json
import re

import numpy as np
import pandas as pd
import pytest
from small_tables import WORKED, write_table_files
from table_pages import RECTANGLE, grid, section

from linkrisk import audit_table, open_table, suppress_table
from linkrisk.datasets.tables.code_trees import CodeTree
from linkrisk.solver.charts.chart import Table
from linkrisk.solver.charts.rows import Reach, intervals
from linkrisk.solver.documents.document import Audience, CellGrid, CellState, Choice, GridCell
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.tables.pages.build import table_document
from linkrisk.solver.tables.pages.shown import grids

OUTSIDERS_ONLY = (
    "Both sensitive cells are protected from outsiders only; respondents of single cells were not looked at, "
    "because the table does not say how many respondents each of its cells has."
)

# What it says


def test_what_the_report_of_a_suppression_says(protected):
    document = table_document(protected)
    head = document.headline
    assert (document.title, document.about, head.answer) == ("Protection of cells.csv", "table", "below")
    assert head.verdict == OUTSIDERS_ONLY
    assert head.worst.startswith(
        "4 cells are suppressed with them, at a cost of 69: proven least, every pattern"
    )
    reason = "6 of 25 (24.0 %) cells are suppressed, with 5.5 % of the sum of all values, totals included."
    assert head.reasons == (reason,)
    statuses = section(document, "table").blocks[0]
    total = 4 * np.sum(WORKED)
    assert statuses.rows[0] == ["Sensitive", 2, 2 / 25, 22 / total]
    assert statuses.rows[1] == ["Suppressed with them", 4, 4 / 25, 69 / total]
    options = dict(section(document, "loss").blocks[0].options)
    assert options["row"][0].rows[1] == ["1", 5, 1, 1, 2 / 5, 13 / 126]
    drawn = section(document, "intervals").blocks[0]
    assert [row[0] for row in drawn.table.rows] == ["1 × 3", "3 × 2"]
    assert drawn.table.rows[0][1:] == pytest.approx([10, 7, 13, "7 to 13", 1.0, 0.0], abs=1e-6)
    audit = section(document, "audit").blocks[0].numbers
    assert [one.value for one in audit] == ["2", "0", "0", "1 × 3"]


def test_the_grid_has_every_cell_with_its_interval(protected):
    found = grid(table_document(protected))
    assert (found.row_variable, found.column_variable) == ("row", "column")
    assert found.rows == found.columns == ("T", "1", "2", "3", "4")
    assert found.states == [CellState.SENSITIVE, CellState.SECONDARY]
    cell = found.cells[1][3]
    assert (cell.state, cell.text) == (CellState.SENSITIVE, "10")
    assert cell.note == "an outsider finds 7 to 13; 7 to 13 must remain possible"
    assert found.cells[1][2].note == "an outsider finds 0 to 6"
    assert found.cells[0][0].text == "411"
    assert CellGrid.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_an_audit_that_failed(failed):
    document = table_document(failed)
    assert document.headline.answer == "above"
    verdict = "1 of 2 sensitive cells is NOT protected: it can be computed too closely."
    assert document.headline.verdict == verdict
    assert document.headline.worst == "2 cells are suppressed with them; nothing was searched, only audited."
    cell, note = (
        grid(document).cells[3][2],
        "an outsider finds 9 to 15; 8 to 16 must remain possible, short by 1",
    )
    assert (cell.state, cell.note) == (CellState.SHORT, note)
    assert section(document, "intervals").blocks[0].table.rows[0][0] == "3 × 2"  # the worst first
    assert section(document, "audit").blocks[0].numbers[1].meaning == "cell 17 (row=3, column=2) by 1"


def test_a_table_in_which_nothing_is_sensitive(tmp_path):
    result = suppress_table(**write_table_files(tmp_path, levels={}))
    head = table_document(result.to_dict()).headline
    assert head.verdict == "No cell is sensitive: nothing had to be suppressed."
    assert (head.answer, head.worst, head.reasons) == ("unknown", "", ())
    assert "nothing had to be suppressed" in result.to_html()
    assert "No cell of this table is suppressed" in result.to_html(external=True)


def test_what_is_not_proven_has_a_gap(protected):
    given = {**protected, "bound": 60.0, "status": "feasible", "limit": "time"}
    head = table_document(given).headline
    assert head.answer == "open"
    assert head.worst.endswith("at a cost of 69; no pattern that protects costs less than 60, a gap of 13 %.")
    assert head.reasons[-1].startswith("The time was over before that was proven")


def test_what_the_report_of_a_rounding_says(rounded):
    document = table_document(rounded)
    head = document.headline
    assert head.verdict == "14 of 25 (56.0 %) cells changed, by 28 in all: proven least."
    assert head.answer == "below"
    assert table_document({**rounded, "bound": 20.0, "status": "feasible"}).headline.answer == "open"
    assert head.worst == (
        "Every cell is a multiple of 5, and every relation adds up exactly, counted in whole numbers."
    )
    changes = section(document, "changes").blocks[0].rows
    assert sum(abs(by) * many for by, many, _ in changes) == 28
    cell, became = grid(document).cells[1][2], rounded["rounded"][7]
    way = CellState.UP if became == 5 else CellState.DOWN
    assert (cell.state, cell.text, cell.note) == (way, f"{became:g}", "was 3")
    assert document.about == "rounding"


def test_what_the_report_of_an_adjustment_says(adjusted):
    document = table_document(adjusted)
    assert document.about == "adjustment"
    assert document.headline.verdict == (
        "2 sensitive cells are at least their level away from the value, at a cost of 0.820444, the sum of "
        "weighted changes: proven least."
    )
    found = section(document, "sensitive").blocks[1].rows
    assert sorted(row[:2] for row in found) == [["1 × 3", 10], ["3 × 2", 12]]
    for _, value, became, level, far, share in found:
        assert far == abs(became - value) >= level - 1e-9
        assert share == far / value
    classes = section(document, "changes").blocks[0].rows
    assert sum(row[1] for row in classes) == 25
    assert classes[0][0] == "none"
    assert classes[0][1] == 25 - adjusted["changed"]


def test_an_audit_that_was_ended_before(tmp_path):
    cancel = Cancel()
    cancel.cancel()
    write = write_table_files(tmp_path, status=RECTANGLE)
    given = audit_table(**write, cancel=cancel).to_dict()
    assert given["undecided"]
    document = table_document(given)
    assert document.headline.answer == "above"
    assert "nobody knows whether they are protected" in document.headline.verdict
    assert section(document, "audit").blocks[0].numbers[2].words == "Not known whether they are"
    assert "must not be published" in table_document(given, Audience.EXTERNAL).headline.verdict


INSIDERS = {
    "attackers": 3,
    "protected": False,
    "audited": True,
    "without_interval": 0,
    "unreachable": [],
    "under_protected": [8],
    "short_by": [1.5],
    "short_of": ["contributor B"],
    "narrowest": [{"cell": 8, "low": 8.5, "high": 13.0, "attacker": "contributor B"}],
}
OUT_OF_REACH = {"cell": 8, "attacker": "contributor B", "way": "up", "level": 3.0, "reached": 1.5}


def test_insiders_are_said_where_they_are_there(protected):
    document = table_document({**protected, "insiders": INSIDERS, "protected": False})
    assert document.headline.answer == "above"
    assert document.headline.verdict == (
        "Both sensitive cells are protected from outsiders, but 1 cell is NOT protected from insiders."
    )
    assert grid(document).cells[1][3].note.endswith("; contributor B finds 8.5 to 13")
    whom, short, narrowest = section(document, "audit").blocks[1:]
    assert whom.rows[0] == ["Outsiders, who know what is published", "yes"]
    assert all(safe.startswith("not looked at") for _, safe in whom.rows[1:])
    assert short.rows == [["1 × 3", 1.5, "contributor B"]]
    assert narrowest.rows == [["1 × 3", 10.0, 8.5, 13.0, "contributor B"]]
    safe = {**INSIDERS, "protected": True, "under_protected": [], "short_by": [], "short_of": []}
    looked = {"who": ["contributors"], "left_out": None, "in_part": True}
    given = {**protected, "from": looked, "insiders": {**safe, "unreachable": [OUT_OF_REACH]}}
    document = table_document(given)
    verdict = (
        "Both sensitive cells are protected from outsiders and from 3 insiders, as far as they can be kept"
    )
    assert document.headline.verdict == f"{verdict} from them."
    found = {one.words: one for one in section(document, "audit").blocks[0].numbers}
    meaning = "every sensitive cell is protected from each, as far as they can be kept from them"
    assert found["Insiders"].meaning == meaning
    assert found["Levels out of reach"].value == "1"
    said = "cell 8 (row=1, column=3) from contributor B: 1.5 of 3"
    assert found["Levels out of reach"].meaning.endswith(f"what they know of their own cells: {said}.")
    assert "contributor B" not in table_document(given, Audience.EXTERNAL).to_json()


def test_more_than_two_variables_are_shown_a_slice_at_a_time(protected):
    """What is shown of them depends on their codes alone."""
    given, size = copy.deepcopy(protected), (2, 3, 2)
    indices = zip("abc", np.indices(size).reshape(3, -1), strict=True)
    places = [[f"{name}{at}" for at in place] for name, place in indices]
    many = int(np.prod(size))
    given["table"]["variables"] = list("abc")
    given["table"]["all"] = {"codes": places, "value": [1.0] * many, "status": ["s"] * many}
    given["table"]["loss"] = {}
    given["cells"] = many
    (choice,) = grids(given, lambda at: GridCell(CellState.PUBLISHED, str(at)))
    assert isinstance(choice, Choice)
    assert [name for name, _ in choice.options] == ["c c0", "c c1"]
    second = choice.options[1][1][0]
    assert (second.row_variable, second.column_variable) == ("b", "a")
    assert [[one.text for one in line] for line in second.cells] == [["1", "7"], ["3", "9"], ["5", "11"]]


PARENTS = {"1": "Total", "10": "1", "11": "1", "2": "Total"}


@pytest.mark.parametrize(
    ("codes", "parents", "shown"),
    [
        (["Total", "c1", "c10", "c2"], {}, ["Total", "c1", "c2", "c10"]),
        (["c1", "c10", "c2", "Total"], {}, ["c1", "c2", "c10", "Total"]),
        (["Total", "low", "high"], {}, ["Total", "low", "high"]),  # an order that somebody has chosen
        (["Total", "1", "10", "11", "2"], PARENTS, None),
    ],
)
def test_the_grid_of_ready_cells_is_in_natural_order_where_they_are_sorted_as_text(codes, parents, shown):
    value = dict.fromkeys(codes, 5) | ({"1": 10} if parents else {})
    value["Total"] = 15 if parents else 5 * (len(codes) - 1)
    frame = pd.DataFrame({"v": codes, "value": [value[code] for code in codes]})
    trees = {"v": CodeTree.of("v", parents, "a tree")} if parents else {}
    result = suppress_table(open_table(frame, hierarchies=trees))
    assert result.to_dict()["table"]["all"]["codes"] == [codes]
    document = table_document(result.to_dict())
    found = grid(document)
    assert list(found.rows) == (shown or codes)
    values = [float(line[0].text.replace(",", "")) for line in found.cells]
    assert values == [value[code] for code in found.rows]
    options = dict(section(document, "loss").blocks[0].options)
    assert [row[0] for row in options["v"][0].rows] == list(found.rows)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"variables": []}, "Cells have no codes"),
        ({"all": None}, "it has more than 10,000 cells"),
        (
            {"all": {"codes": [["a"] * 25, ["b"] * 25], "value": [1.0] * 25, "status": ["s"] * 25}},
            "same codes",
        ),
    ],
)
def test_tables_that_are_not_drawn_say_why(protected, change, said):
    document = table_document({**protected, "table": {**protected["table"], **change}})
    assert any(said in block.text for block in section(document, "table").blocks[1:])


# How it is drawn


def reach(below, above, lower=2.0, upper=2.0, sliding=0.0):
    return Reach("x", below, above, lower, upper, sliding, "", short=False)


def test_what_is_100_per_cent_and_what_is_an_arrow():
    assert reach(2, 4).share == 1.0
    assert reach(1, 4).share == 0.5
    assert reach(1, 4, 0.0, 2.0).share == 2.0
    assert reach(1, 4, 0.0, 0.0, 10.0).share == 0.5
    assert reach(1, 4, 0.0, 0.0, 10.0).units == (5.0, 5.0)
    assert reach(0, 0, 0.0, 0.0).share == float("inf")

    # Long intervals end in an arrow.
    drawn = intervals([reach(2, 400), reach(1, 1)], Table((), []))
    first, second = drawn.spec["datasets"]["rows"]
    assert (first["c"], first["d"], first["l"], first["r"]) == (-100.0, 300.0, False, True)
    assert (second["c"], second["d"]) == (-50.0, 50.0)


# What it refuses


@pytest.mark.parametrize(
    ("kind", "change", "fault"),
    [
        ("protected", {"cells": 26}, "they have 26 cells and 25 statuses"),
        ("protected", {"suppressed": 7}, "of 7 suppressed cells 2 are sensitive, and by status 2 and 4 with"),
        ("protected", {"pattern": [1]}, "6 cells are suppressed and 1 are named"),
        ("protected", {"protected": False}, "the verdict is not that of the cells that are short of a level"),
        ("protected", {"bound": 70.0}, "the cost is 69 and none is less than 70"),
        ("protected", {"bound": 60.0}, "the status is optimal, the cost 69 and its bound 60"),
        ("protected", {"status": "feasible"}, "the status is feasible, the cost 69 and its bound 69"),
        ("rounded", {"changed": 3}, "3 cells changed, and by how much is said of 14"),
        ("rounded", {"largest_change": 9.0}, "the largest change is 9, and one cell changed by 3"),
        ("rounded", {"rounded": [7.0]}, "a rounded value is no multiple of 5"),
        ("rounded", {"bound": 20.0}, "the status is optimal, the cost 28 and its bound 20"),
        ("adjusted", {"cells": 26}, "they have 26 cells, and of 25 is said by how much they changed"),
    ],
)
def test_results_that_contradict_themselves(request, kind, change, fault):
    with pytest.raises(UsageError, match=re.escape(f"these results contradict themselves, {fault}")):
        table_document({**request.getfixturevalue(kind), **change})


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("high", 12.0, "1 × 3 counts as protected, and its interval, 7 to 12, is short of a level around 10"),
        ("low", 11.0, "the value of 1 × 3 is outside of its interval, 11 to 13"),
        ("upper_level", 30.0, "1 × 3 counts as protected, and its interval, 7 to 13, is short of a level"),
        ("became", 11.0, "1 × 3 is nearer to its value, 10, than its level: give the"),
    ],
)
def test_cells_that_contradict_the_verdict(protected, adjusted, name, value, fault):
    given = copy.deepcopy(adjusted if name == "became" else protected)
    if name == "became":
        given["table"]["sensitive"][name][0] = value
    else:
        found = given["table"]["intervals"]
        found[name][found["cell"].index(8)] = value
    with pytest.raises(UsageError, match=fault):
        table_document(given)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"table": None}, "a part is not what it should be"),
        ({"table": {}}, "they lack 'statuses'"),
        ({"protection": "magic"}, "they lack 'magic'"),
    ],
)
def test_json_that_cannot_be_shown(protected, change, what):
    with pytest.raises(UsageError, match=f"^these results cannot be shown, {what}: give what `tables supp"):
        table_document({**protected, **change})


# The page


def drawn(texts):
    codes = [f"c{number}" for number in range(len(texts))]
    given = {"cells": len(texts), "table": {"variables": ["region"], "all": {"codes": [codes]}}}
    (grid,) = grids(given, lambda at: GridCell(CellState.PUBLISHED, texts[at]))
    return [line[0].text for line in grid.cells]


def test_values_have_the_decimals_of_the_finest():
    assert drawn(["1,250", "3.5", "0.25"]) == ["1,250.00", "3.50", "0.25"]
    for texts in (["12", "7"], ["1.5", "0.3333333333"], ["1.5", "2e+20"]):
        assert drawn(texts) == texts


def test_where_there_is_no_bound_nothing_is_said_to_be_almost_all(protected, rounded):
    ended = {"bound": 0.0, "status": "feasible", "limit": "time"}
    for given in ({**protected, "cost": 97.9}, rounded):
        document = table_document({**given, **ended})
        assert "99.9 %" not in json.dumps(document.to_dict(), ensure_ascii=False)
        assert "no bound above 0 was found" in str(section(document, "making"))
        said = (document.headline.verdict, document.headline.worst)
        assert any("; no bound above 0 was found." in one or ": no bound above 0" in one for one in said)
