"""The site: every page is in its contents, the sum of pages and words is held, the reference is whole."""

from __future__ import annotations

import doctest
import io
import re
from importlib import import_module
from pathlib import Path

import pytest
import reference_pages

import linkrisk
from linkrisk.solver.options.operations import OPERATIONS

DOCS = Path(__file__).resolve().parent.parent / "docs"
MADE = {DOCS / "reference" / f"{name}.md" for name in ("api", "json", "options")}
PAGES = sorted(set(DOCS.rglob("*.md")) - MADE)

MOST_PAGES, MOST_WORDS = 45, 70_000
"""What a reader can be asked to find his way in: raised on purpose or not at all."""


def test_every_page_is_in_the_contents():
    contents = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = set(
        re.findall(r"^((?:start|tutorials|how-to|methods|reference|results)/[\w-]+)$", contents, re.M)
    )
    there = {page.relative_to(DOCS).with_suffix("").as_posix() for page in (*PAGES, *MADE)} - {"index"}
    assert listed == there


def test_the_pages_are_no_more_than_a_reader_can_hold():
    assert len(PAGES) <= MOST_PAGES
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in PAGES) <= MOST_WORDS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_begins_with_its_one_title(page):
    text = page.read_text(encoding="utf-8")
    assert re.match(r"(---\n.*?\n---\n+)?# \S", text, re.DOTALL)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert len(re.findall(r"^# ", prose, re.MULTILINE)) == 1


def test_the_reference_has_all_options_results_and_names():
    assert set(re.findall(r"^## `(.*)`$", reference_pages.options(), re.M)) == set(OPERATIONS)
    kinds = {path.stem for path in (DOCS / "schemas").glob("*.json")}
    assert set(re.findall(r"^## `(.*)`$", reference_pages.results(), re.M)) == kinds
    shown = set(re.findall(r"^\.\. auto\w+:: linkrisk\.(\w+)$", reference_pages.api(), re.M))
    assert shown == set(linkrisk.__all__) - set(reference_pages.MODULES)


PUBLIC = {
    f"linkrisk.{module}.{name}" if module else f"linkrisk.{name}"
    for module, names in {"": linkrisk.__all__, **reference_pages.offered()}.items()
    for name in names
    if name not in reference_pages.MODULES
}


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_the_example_of_everything_public_does_what_it_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home, _, last = name.rpartition(".")
    thing = getattr(import_module(home), last)
    (found,) = doctest.DocTestFinder(recurse=False).find(thing, name, globs={"__name__": "example"})
    assert found.examples
    report = io.StringIO()
    assert doctest.DocTestRunner().run(found, out=report.write).failed == 0, report.getvalue()
