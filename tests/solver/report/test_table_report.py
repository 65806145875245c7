"""The report of a protected table: what it says inside and outside, and what it refuses."""

from __future__ import annotations

import copy
import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from cli_runs import refuse, run
from report_texts import leaves
from table_files import WORKED, write_table_files

from linkrisk import adjust_table, audit_table, protect_table, report_of, round_table
from linkrisk.solver.charts.intervals import Reach, intervals
from linkrisk.solver.charts.table import Table
from linkrisk.solver.commands.program import main
from linkrisk.solver.report.cell_grid import CellGrid, CellState
from linkrisk.solver.report.content.tables.build import table_document
from linkrisk.solver.report.content.tables.outside import for_external
from linkrisk.solver.report.document import Audience, Choice, Document
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel

RECTANGLE = {(1, 2): "m", (3, 3): "m"}
"""Which is cheaper than the optimum, and does not protect."""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_table_files(tmp_path_factory.mktemp("worked"))


@pytest.fixture(scope="module")
def protected(files):
    return protect_table(**files).to_dict()


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    return audit_table(**write_table_files(tmp_path_factory.mktemp("failed"), status=RECTANGLE)).to_dict()


@pytest.fixture(scope="module")
def adjusted(files):
    return adjust_table(**files).to_dict()


@pytest.fixture(scope="module")
def rounded(files):
    return round_table(**files, base=5).to_dict()


def section(document, name):
    (found,) = [one for one in document.sections if one.name == name]
    return found


def grid(document):
    (found,) = [one for one in section(document, "table").blocks if isinstance(one, CellGrid)]
    return found


# What it says


def test_what_the_report_of_a_suppression_says(protected):
    document = table_document(protected)
    head = document.headline
    assert (document.title, document.about, head.answer) == ("Protection of cells.csv", "table", "below")
    assert head.verdict == "Both sensitive cells are protected from outsiders."
    assert head.worst == (
        "4 cells are suppressed with them, at a cost of 69: proven least, every pattern that protects "
        "costs as "
        "much or more."
    )
    assert head.reasons == (
        "6 of 25 (24.0 %) cells are suppressed, with 5.5 % of the sum of all values, totals included.",
    )
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
    assert document.headline.verdict == (
        "1 of 2 sensitive cells is NOT protected: it can be computed too closely."
    )
    assert document.headline.worst == "2 cells are suppressed with them; nothing was searched, only audited."
    assert grid(document).cells[3][2].state is CellState.SHORT
    assert grid(document).cells[3][2].note == (
        "an outsider finds 9 to 15; 8 to 16 must remain possible, short by 1"
    )
    assert section(document, "intervals").blocks[0].table.rows[0][0] == "3 × 2"  # the worst first
    assert section(document, "audit").blocks[0].numbers[1].meaning == "3 × 2"


def test_a_table_in_which_nothing_is_sensitive(tmp_path):
    result = protect_table(**write_table_files(tmp_path, levels={}))
    head = table_document(result.to_dict()).headline
    assert (head.answer, head.verdict, head.worst, head.reasons) == (
        "unknown",
        "No cell is sensitive: nothing had to be suppressed.",
        "",
        (),
    )
    assert "nothing had to be suppressed" in result.to_html()
    assert "No cell of this table is suppressed" in result.to_html(external=True)


def test_what_is_not_proven_has_a_gap(protected):
    given = {**protected, "bound": 60.0, "status": "feasible", "limit": "time"}
    head = table_document(given).headline
    assert head.answer == "open"
    assert head.worst == (
        "4 cells are suppressed with them, at a cost of 69; no pattern that protects costs less than 60, a "
        "gap "
        "of 13 %."
    )
    assert head.reasons[-1].startswith("The time was over before that was proven")


def test_a_search_that_was_stopped_has_a_report(files):
    cancel = Cancel()
    cancel.cancel()
    document = table_document(protect_table(**files, cancel=cancel).to_dict())
    assert document.headline.verdict == "Both sensitive cells are protected from outsiders."


def test_what_the_report_of_a_rounding_says(rounded):
    document = table_document(rounded)
    head = document.headline
    assert head.verdict == "14 of 25 (56.0 %) cells changed, by 28 in all: proven least."
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
        "2 sensitive cells are at least their level away from the value: at the least change, proven."
    )
    found = section(document, "sensitive").blocks[0].rows
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
    "under_protected": [8],
    "short_by": [1.5],
    "short_of": ["contributor B"],
    "narrowest": [{"cell": 8, "low": 8.5, "high": 13.0, "attacker": "contributor B"}],
    "unreachable": [],
}


def test_insiders_are_said_where_they_are_there(protected):
    document = table_document({**protected, "insiders": INSIDERS, "protected": False})
    assert document.headline.answer == "above"
    assert document.headline.verdict == (
        "Both sensitive cells are protected from outsiders, but 1 cell is NOT protected from insiders."
    )
    assert grid(document).cells[1][3].note.endswith("; contributor B finds 8.5 to 13")
    short, narrowest = section(document, "audit").blocks[1:]
    assert short.rows == [["1 × 3", 1.5, "contributor B"]]
    assert narrowest.rows == [["1 × 3", 10.0, 8.5, 13.0, "contributor B"]]
    safe = {**INSIDERS, "protected": True, "under_protected": [], "short_by": [], "short_of": []}
    given = {**protected, "insiders": {**safe, "unreachable": [{}]}}
    document = table_document(given)
    assert document.headline.verdict == (
        "Both sensitive cells are protected from outsiders and from 3 insiders."
    )
    assert section(document, "audit").blocks[-1].text.startswith("1 level cannot be reached")
    assert "contributor B" not in table_document(given, Audience.EXTERNAL).to_json()


def test_what_was_repaired_is_said(files):
    given = protect_table(**files, method="modular").to_dict()
    made = {
        one.words: one.value
        for block in section(table_document(given), "making").blocks[:2]
        for one in block.numbers
    }
    assert made["Method"].startswith("modular: one subtable after the other")
    assert made["Repair"] == f"{given['added_by_repair']} cells added".replace("1 cells", "1 cell")


def three_ways(given, size=(2, 3, 2)):
    """A table of three variables: what is shown of it depends on its codes alone."""
    given = copy.deepcopy(given)
    places = [
        [f"{name}{at}" for at in place]
        for name, place in zip("abc", np.indices(size).reshape(3, -1), strict=True)
    ]
    many = int(np.prod(size))
    given["table"]["variables"] = list("abc")
    given["table"]["all"] = {"codes": places, "value": [1.0] * many, "status": ["s"] * many}
    given["table"]["loss"] = {}
    given["cells"] = many
    return given


def test_more_than_two_variables_are_shown_a_slice_at_a_time(protected):
    from linkrisk.solver.report.cell_grid import GridCell
    from linkrisk.solver.report.content.tables.shown import grids

    given = three_ways(protected)
    (choice,) = grids(given, lambda at: GridCell(CellState.PUBLISHED, str(at)))
    assert isinstance(choice, Choice)
    assert [name for name, _ in choice.options] == ["c c0", "c c1"]
    second = choice.options[1][1][0]
    assert (second.row_variable, second.column_variable) == ("b", "a")
    assert [[one.text for one in line] for line in second.cells] == [["1", "7"], ["3", "9"], ["5", "11"]]


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


def test_what_is_100_per_cent():
    assert reach(2, 4).share == 1.0
    assert reach(1, 4).share == 0.5
    assert reach(1, 4, 0.0, 2.0).share == 2.0
    assert reach(1, 4, 0.0, 0.0, 10.0).share == 0.5
    assert reach(1, 4, 0.0, 0.0, 10.0).units == (5.0, 5.0)
    assert reach(0, 0, 0.0, 0.0).share == float("inf")


def test_long_intervals_end_in_an_arrow():
    drawn = intervals([reach(2, 400), reach(1, 1)], Table((), []))
    first, second = drawn.spec["datasets"]["rows"]
    assert (first["c"], first["d"], first["l"], first["r"]) == (-100.0, 300.0, False, True)
    assert (second["c"], second["d"]) == (-50.0, 50.0)


# Readers outside


INNER = ((70001, 80021, 90031), (71011, 81041, 91081), (72019, 82051, 92041))


@pytest.fixture(scope="module")
def secret(tmp_path_factory):
    """Values that occur nowhere by chance."""
    folder = tmp_path_factory.mktemp("secret")
    levels = {(1, 1): 4321.0, (2, 3): 5432.0}
    codes = {"rows": ["north", "south", "east"], "columns": ["big", "small", "tiny"]}
    return protect_table(**write_table_files(folder, INNER, levels, **codes), seed=987654)


def texts(page):
    """What people and scripts find in a page: everything but its own scripts and styles."""
    found = unescape(re.sub(r"<script>.*?</script>|<style>.*?</style>", "", page, flags=re.DOTALL))
    return found.replace(",", "")


def test_nothing_that_helps_an_intruder_is_outside(secret):
    inside, outside = texts(secret.to_html()), texts(secret.to_html(external=True))
    found = secret.to_dict()["table"]["intervals"]
    numbers = {
        round(number)
        for name in ("value", "low", "high", "lower_level", "upper_level")
        for number in found[name]
        if number >= 1000
    }
    assert numbers >= {70001, 91081, 4321, 5432}
    for number in numbers:
        assert str(number) not in outside, number
    assert "70001" in inside
    assert "4321" in inside
    for words in ("987654", "cells.csv", "cost", "proven", "exact", "ensitive", "secondary", "seed"):
        assert words in inside.replace("secondary", "secondary") or words in ("secondary", "seed"), words
        assert words not in outside, words


def test_values_of_a_rounding_are_not_outside(tmp_path):
    result = round_table(**write_table_files(tmp_path, INNER), base=10)
    assert "70001" in texts(result.to_html())
    outside = texts(result.to_html(external=True))
    for value in {number for line in INNER for number in line} | set(result.cells["value"]):
        assert str(value) not in outside
    assert "multiple of 10" in outside


def test_values_of_an_adjustment_are_not_outside(tmp_path):
    levels = {(1, 1): 4321.0, (2, 3): 5432.0}
    result = adjust_table(**write_table_files(tmp_path, INNER, levels))
    assert "70001" in texts(result.to_html())
    outside = texts(result.to_html(external=True))
    for value in {number for line in INNER for number in line} | set(result.cells["value"]) | {4321, 5432}:
        assert str(value) not in outside
    assert "Controlled tabular adjustment" in outside


def test_what_is_new_stays_inside(protected):
    given = {**protected, "invented": "ZQXJ", "name": "ZQXJ", "rules": ["ZQXJ"], "backend": "ZQXJ"}
    given["table"] = {**given["table"], "invented": "ZQXJ"}
    assert "ZQXJ" in table_document(given).to_json()
    assert "ZQXJ" not in table_document(given, Audience.EXTERNAL).to_json()


def test_outside_only_what_can_be_counted_in_the_published_table(protected):
    kept = for_external(protected)
    assert kept["loss"]["row"] == [["T", 5, 0], ["1", 5, 2], ["2", 5, 0], ["3", 5, 2], ["4", 5, 2]]
    numbers = {leaf for leaf in leaves(kept) if isinstance(leaf, int | float)}
    assert numbers <= {25, 10, 6, 5, 4, 3, 2, 1, 0}
    assert set(kept) == {
        *("cells", "relations", "suppressed", "protected", "protection", "variables", "loss")
    }


def test_a_table_that_failed_is_not_for_readers_outside(failed):
    head = table_document(failed, Audience.EXTERNAL).headline
    assert (head.answer, head.verdict) == ("above", "This table is not protected, and must not be published.")


# What it refuses


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"cells": 26}, "they have 26 cells and 25 statuses"),
        (
            {"suppressed": 7},
            "of 7 suppressed cells 2 are sensitive, and by status 2 and 4 with them",
        ),
        ({"pattern": [1]}, "6 cells are suppressed and 1 are named"),
        ({"protected": False}, "the verdict is not that of the cells that are short of a level"),
        ({"bound": 70.0}, "the cost is 69 and none is less than 70"),
        ({"bound": 60.0}, "the status is optimal, the cost 69 and its bound 60"),
        ({"status": "feasible"}, "the status is feasible, the cost 69 and its bound 69"),
    ],
)
def test_results_that_contradict_themselves(protected, change, fault):
    with pytest.raises(
        UsageError, match=re.escape(f"these results contradict themselves, {fault}: give the")
    ):
        table_document({**protected, **change})


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        (
            "high",
            12.0,
            r"1 × 3 counts as protected, and its interval, 7 to 12, is short of a level around 10",
        ),
        ("low", 11.0, r"the value of 1 × 3 is outside of its interval, 11 to 13"),
        ("upper_level", 30.0, r"1 × 3 counts as protected, and its interval, 7 to 13, is short of a level"),
    ],
)
def test_intervals_that_contradict_the_verdict(protected, name, value, fault):
    given = copy.deepcopy(protected)
    found = given["table"]["intervals"]
    found[name][found["cell"].index(8)] = value
    with pytest.raises(UsageError, match=fault):
        table_document(given)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"changed": 3}, "3 cells changed, and by how much is said of 14"),
        ({"largest_change": 9.0}, "the largest change is 9, and one cell changed by 3"),
        ({"rounded": [7.0]}, "a rounded value is no multiple of 5"),
        ({"bound": 20.0}, "the status is optimal, the cost 28 and its bound 20"),
    ],
)
def test_roundings_that_contradict_themselves(rounded, change, fault):
    with pytest.raises(UsageError, match=re.escape(f"contradict themselves, {fault}: give the")):
        table_document({**rounded, **change})


def test_adjustments_that_contradict_themselves(adjusted):
    given = copy.deepcopy(adjusted)
    given["table"]["sensitive"]["became"][0] = 11.0
    with pytest.raises(UsageError, match="1 × 3 is nearer to its value, 10, than its level: give the"):
        table_document(given)
    with pytest.raises(UsageError, match="they have 26 cells, and of 25 is said by how much they changed"):
        table_document({**adjusted, "cells": 26})


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


def test_it_loads_nothing_and_says_what_it_is(secret):
    inside, outside = secret.to_html(), secret.to_html(external=True)
    for page in (inside, outside):
        assert "default-src 'none'" in unescape(page)
        assert not re.search(
            r"(?:src|href)=\"(?!#)", re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
        )
    assert len(outside) < 100_000
    assert "Confidential." in inside
    assert "do not publish" not in outside
    assert "For readers outside" in outside


@pytest.mark.parametrize("external", [False, True])
def test_codes_are_never_markup(tmp_path, external):
    evil = "<script>alert(1)</script>"
    files = write_table_files(tmp_path, rows=[evil, "<b>", "c", "d"], names=("<i>", "column"))
    page = protect_table(**files).to_html(external=external)
    assert "<script>alert" not in page
    assert "<i>" not in page
    assert "&lt;i&gt;" in page


def test_a_large_table_still_gives_a_page(protected):
    """Of 100,000 cells 12,000 are suppressed; the grid is left out, and long tables are cut."""
    given, many = copy.deepcopy(protected), 12_000
    found = given["table"]["intervals"]
    level = found["lower_level"]
    for name in found:
        found[name] = (
            [[*part] * (many // 6) for part in found[name]] if name == "codes" else found[name] * (many // 6)
        )
    assert level
    found["cell"] = list(range(many))
    given |= {"cells": 100_000, "suppressed": many, "sensitive": many // 3, "pattern": list(range(many))}
    for name, cells in (("u", many // 3), ("m", 2 * many // 3), ("s", 100_000 - many)):
        given["table"]["statuses"][name]["cells"] = cells
    given["table"]["all"] = None
    document = table_document(given)
    drawn, rest, cut = section(document, "intervals").blocks
    assert len(drawn.table.rows) == len(rest.rows) == 2_000
    assert cut.text == "Of each kind the first 2,000 cells are listed, those that reach least of their level."


def test_the_page_is_made_again_from_json(protected, rounded, adjusted, tmp_path):
    for given in (protected, rounded, adjusted):
        path = tmp_path / "found.json"
        path.write_text(json.dumps(given), encoding="utf-8")
        made = report_of(path)
        assert made.document.headline == table_document(given).headline
        again = report_of(json.loads(made.to_json()))
        assert again.document == made.document
        assert Document.from_dict(made.to_dict()).about == made.document.about
        assert f"<h1>{made.document.title}</h1>" in again.to_html()
    assert report_of(path, audience="external").document.audience is Audience.EXTERNAL


# The command line


def test_the_commands_write_both(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table_files(Path())
    asked = ["--cells", "cells.csv", "--relations", "relations.csv"]
    pages = ["--report", "in.html", "--external-report", "out.html", "--json", "found.json"]
    printed = run(capsys, "tables", "suppress", *asked, *pages)
    assert printed.endswith("report      in.html\nexternal    out.html\n")
    assert "Both sensitive cells" in Path("in.html").read_text(encoding="utf-8")
    assert "6 of 25" in Path("out.html").read_text(encoding="utf-8")
    assert run(capsys, "report", "--from", "found.json", "--out", "again.html").startswith("Both sensitive")
    printed = run(capsys, "tables", "round", *asked, "--base", "5", *pages)
    assert printed.endswith("report      in.html\nexternal    out.html\n")
    write_table_files(Path(), status=RECTANGLE)
    assert main(["tables", "audit", *asked, *pages]) == 1
    assert capsys.readouterr().out.endswith("report      in.html\nexternal    out.html\n")
    assert "NOT protected" in Path("in.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("action", ["suppress", "audit", "round"])
def test_pages_are_checked_before_the_work(capsys, tmp_path, monkeypatch, action):
    monkeypatch.chdir(tmp_path)
    asked = [
        "tables",
        action,
        "--cells",
        "c",
        "--relations",
        "r",
        *(["--base", "5"] if action == "round" else []),
    ]
    message = "--report and --external-report both name r.html: give each a different file"
    refuse(capsys, message, *asked, "--report", "r.html", "--external-report", "r.html")
    message = "cannot write --report no/r.html: the folder no does not exist; create it first"
    refuse(capsys, message, *asked, "--report", "no/r.html")
