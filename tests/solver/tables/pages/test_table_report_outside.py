"""The page of a table, made again from JSON and by commands; nothing in it helps an intruder outside."""

from __future__ import annotations

import copy
import json
import re
from html import unescape
from pathlib import Path

import pytest
from cli_runs import refuse, run
from report_cases import leaves
from small_tables import ASKED, write_table_files
from table_pages import INNER, RECTANGLE, noisy_firms, section, texts

from linkrisk import adjust_table, report, round_table, suppress_table
from linkrisk.solver.commands.program import main
from linkrisk.solver.documents.document import Audience, Document
from linkrisk.solver.tables.pages.build import table_document
from linkrisk.solver.tables.pages.outside import for_external


def test_it_loads_nothing_and_says_what_it_is(secret):
    inside, outside = secret.to_html(), secret.to_html(external=True)
    for page in (inside, outside):
        assert "default-src 'none'" in unescape(page)
        markup = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
        assert not re.search(r"(?:src|href)=\"(?!#)", markup)
    assert len(outside) < 100_000
    assert "Confidential." in inside
    assert "do not publish" not in outside
    assert "For readers outside" in outside


@pytest.mark.parametrize("external", [False, True])
def test_codes_are_never_markup(tmp_path, external):
    evil = "<script>alert(1)</script>"
    files = write_table_files(tmp_path, rows=[evil, "<b>", "c", "d"], names=("<i>", "column"))
    page = suppress_table(**files).to_html(external=external)
    assert "<script>alert" not in page
    assert "<i>" not in page
    assert "&lt;i&gt;" in page


def test_a_large_table_still_gives_a_page(protected):
    given, many = copy.deepcopy(protected), 12_000
    found = given["table"]["intervals"]
    times = many // 6
    for name, each in found.items():
        found[name] = [[*part] * times for part in each] if name == "codes" else each * times
    found["cell"] = list(range(many))
    given |= {"cells": 100_000, "suppressed": many, "sensitive": many // 3, "pattern": list(range(many))}
    for name, cells in (("u", many // 3), ("m", 2 * many // 3), ("s", 100_000 - many)):
        given["table"]["statuses"][name]["cells"] = cells
    given["table"]["all"] = None
    document = table_document(given)
    drawn, rest, cut = section(document, "intervals").blocks
    assert len(drawn.table.rows) == len(rest.rows) == 2_000
    assert cut.text == "Of each kind the first 2,000 cells are listed, those that reach least of their level."


KINDS = ["protected", "rounded", "adjusted", "counts", "sums", "coarser"]


def json_of(request, name):
    given = request.getfixturevalue(name)
    return given if isinstance(given, dict) else given.to_dict()


@pytest.mark.parametrize("name", KINDS)
def test_the_page_is_made_again_from_json(request, name, tmp_path):
    given, path = json_of(request, name), tmp_path / "found.json"
    path.write_text(json.dumps(given), encoding="utf-8")
    made = report(path)
    assert made.document.headline == table_document(given).headline
    again = report(json.loads(made.to_json()))
    assert again.document == made.document
    assert Document.from_dict(made.to_dict()).about == made.document.about
    assert f"<h1>{made.document.title}</h1>" in again.to_html()
    assert report(path, audience="external").document.audience is Audience.EXTERNAL


MICRODATA = ["--input", "firms.csv", "--by", "region,size"]
NOISE = ["--response", "turnover", "--noise", "most=2,variance=1", "--share", "0.1"]


@pytest.mark.parametrize(
    ("action", "asked", "kind"),
    [
        ("suppress", ASKED, "suppression"),
        ("round", [*ASKED, "--base", "5"], "rounding"),
        ("audit", ASKED, "suppression"),
        ("perturb-counts", [*MICRODATA, "--most", "2", "--variance", "1"], "counts"),
        ("perturb-sums", [*MICRODATA, *NOISE], "sums"),
        ("recode", [*MICRODATA, "--recode", "size=sizes.csv", "--rule", "frequency=6"], "recoding"),
    ],
)
def test_the_commands_write_both(capsys, folder, monkeypatch, action, asked, kind):
    monkeypatch.chdir(folder)
    failed = action == "audit"
    write_table_files(folder, status=RECTANGLE if failed else {})
    message = "--report and --external-report both name r.html: give each a different file"
    refuse(capsys, message, "tables", action, *asked, "--report", "r.html", "--external-report", "r.html")
    pages = ["--report", "in.html", "--external-report", "out.html", "--json", "found.json"]
    assert main(["tables", action, *asked, *pages]) == int(failed)
    assert capsys.readouterr().out.endswith("report      in.html\nexternal    out.html\n")
    inside, outside = (Path(name).read_text(encoding="utf-8") for name in ("in.html", "out.html"))
    assert "Confidential." in inside
    assert ("NOT protected" in inside) == failed
    assert "For readers outside" in outside
    assert json.loads(Path("found.json").read_text(encoding="utf-8"))["protection"] == kind
    assert run(capsys, "report", "--saved", "found.json", "--output", "again.html")


@pytest.mark.parametrize("name", KINDS)
def test_what_is_new_stays_inside(request, name):
    given = {**json_of(request, name), "invented": "ZQXJ", "name": "ZQXJ", "rules": ["ZQXJ"]}
    given["backend"] = "ZQXJ"
    given["table"] = {**given.get("table", {}), "invented": "ZQXJ"}
    assert "ZQXJ" in table_document(given).to_json()
    assert "ZQXJ" not in table_document(given, Audience.EXTERNAL).to_json()


def test_nothing_of_sums_is_outside(sums):
    inside, outside = texts(sums.to_html()), texts(sums.to_html(external=True))
    values = {str(round(one)) for one in (*sums.cells["value"], *noisy_firms()["turnover"]) if one}
    assert any(one in inside for one in values)
    for secret in (*values, "p=30", "1.25", "12.0", "0.5", "firms.csv", "key", "seed", "ensitive"):
        assert secret not in outside.replace("Cell-key", "").replace("cell keys", "").replace("keys", "")


def test_outside_only_what_users_need_of_counts(counts):
    kept = for_external(counts.to_dict())
    assert set(kept) == {
        *("cells", "relations", "not_adding_up", "small", "variance", "weighted"),
        *("protection", "variables", "table"),
    }
    cells = counts.to_dict()["table"]["all"]
    assert kept["table"]["all"]["shown"] == cells["became"] != cells["value"]
    said = texts(counts.to_html(external=True))
    assert "standard deviation 1.22 at most" in said
    assert "Counts of 1 do not appear" in said


def test_outside_the_codes_of_a_recoding(coarser):
    kept = for_external(coarser.to_dict())
    assert set(kept) == {"cells", "relations", "recodings", "protection", "variables"}
    numbers = {leaf for leaf in leaves(kept) if isinstance(leaf, int | float)}
    assert numbers == {9, coarser.to_dict()["relations"]}
    said = texts(coarser.to_html(external=True))
    assert "not big" in said
    assert "frequency" not in said


def test_nothing_that_helps_an_intruder_is_outside(secret):
    inside, outside = texts(secret.to_html()), texts(secret.to_html(external=True))
    found = secret.to_dict()["table"]["intervals"]
    names = ("value", "low", "high", "lower_level", "upper_level")
    numbers = {round(number) for name in names for number in found[name] if number >= 1000}
    assert numbers >= {70001, 91081, 4321, 5432}
    for number in numbers:
        assert str(number) not in outside, number
    assert "70001" in inside
    assert "4321" in inside
    for words in ("987654", "cells.csv", "cost", "proven", "exact", "ensitive", "secondary", "seed"):
        assert words in inside.replace("secondary", "secondary") or words in ("secondary", "seed"), words
        assert words not in outside, words


def test_values_that_were_changed_are_not_outside(tmp_path):
    files = write_table_files(tmp_path, INNER, {(1, 1): 4321.0, (2, 3): 5432.0})
    inner = {number for line in INNER for number in line}
    for result, column, name in (
        (round_table(**files, base=10), "rounded", "multiple of 10"),
        (adjust_table(**files), "adjusted", "Controlled tabular adjustment"),
    ):
        assert "70001" in texts(result.to_html())
        outside, published = texts(result.to_html(external=True)), set(result.cells[column])
        before = inner | set(result.cells["value"]) | {4321, 5432}
        assert len(before - published) >= 4
        assert not any(str(value) in outside for value in before - published)
        assert all(
            f"{value:,}" in outside or f"{value:g}" in outside or str(value) in outside for value in published
        )
        assert name in outside


def test_outside_only_what_can_be_counted_in_the_published_table(protected):
    kept = for_external(protected)
    assert kept["loss"]["row"] == [["T", 5, 0], ["1", 5, 2], ["2", 5, 0], ["3", 5, 2], ["4", 5, 2]]
    rest = {name: part for name, part in kept.items() if name != "table"}
    numbers = {leaf for leaf in leaves(rest) if isinstance(leaf, int | float)}
    assert numbers <= {25, 10, 6, 5, 4, 3, 2, 1, 0}
    parts = "cells relations suppressed protected protection variables loss from least none_beside"
    assert set(rest) == {*parts.split()}
    cells = protected["table"]["all"]
    pairs = zip(cells["value"], cells["status"], strict=True)
    assert kept["table"]["all"]["shown"] == [None if status in "um" else value for value, status in pairs]
    assert set(kept["table"]["all"]) == {"codes", "shown"}


@pytest.mark.parametrize(
    ("looked", "said"),
    [
        ({"who": ["singletons"]}, "and nothing more, or by respondents who are alone in a cell."),
        (
            {"who": ["contributors", "coalitions"], "in_part": True},
            "the office expects to tell one another, as far as any suppression could keep it from these.",
        ),
        (
            {"who": [], "left_out": "a reason"},
            "alone in a cell, and subtract what they know, were not looked at.",
        ),
    ],
)
def test_from_whom_it_is_protected(protected, looked, said):
    whom = {"left_out": None, "in_part": False, **looked}
    document = table_document({**protected, "from": whom}, Audience.EXTERNAL)
    assert document.headline.worst.endswith(said)


def test_a_table_that_failed_is_not_for_readers_outside(failed):
    assert not failed["protected"]
    assert "table" not in for_external(failed)
    head = table_document(failed, Audience.EXTERNAL).headline
    assert (head.answer, head.verdict) == ("above", "This table is not protected, and must not be published.")
