"""The page itself: loads nothing, holds large tables, is made again from JSON and by the commands."""

from __future__ import annotations

import copy
import json
import re
from html import unescape
from pathlib import Path

import pytest
from cli_runs import refuse, run
from table_files import write_table_files
from table_pages import RECTANGLE, section

from linkrisk import report, suppress_table
from linkrisk.solver.commands.program import main
from linkrisk.solver.documents.document import Audience, Document
from linkrisk.solver.tables.pages.build import table_document


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
    page = suppress_table(**files).to_html(external=external)
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
        made = report(path)
        assert made.document.headline == table_document(given).headline
        again = report(json.loads(made.to_json()))
        assert again.document == made.document
        assert Document.from_dict(made.to_dict()).about == made.document.about
        assert f"<h1>{made.document.title}</h1>" in again.to_html()
    assert report(path, audience="external").document.audience is Audience.EXTERNAL


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
    assert run(capsys, "report", "--saved", "found.json", "--output", "again.html").startswith(
        "Both sensitive"
    )
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
