"""Pages of figures: each says what made it, and none is silently older than what it reports on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import d11_table2 as table2
import figures
import pytest
from figures import Stamp, stamps

from linkrisk.datasets.masking.microaggregation import PROTECTIONS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *(DOCS / "figures").glob("*.txt")])
STAMPS = [(page.name, stamp) for page in PAGES for stamp in stamps(page.read_text(encoding="utf-8"))]
RECORD = json.loads((DOCS / "figures" / "d11_table2.json").read_text(encoding="utf-8"))

with_data = pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_where_a_script_is_run_its_figures_are_stamped(page):
    """In each section, for each script whose command it shows; every stamp is read."""
    text = page.read_text(encoding="utf-8")
    for section in re.split(r"^## ", text, flags=re.MULTILINE):
        named = set(
            re.findall(r"python (scripts/[\w/]+\.py)", figures.STAMP.sub("", " ".join(section.split())))
        )
        stamped = {re.search(r"scripts/[\w/]+\.py", stamp.command)[0] for stamp in stamps(section)}
        assert named <= stamped
        assert len(stamps(section)) == section.count("*Figures:")


@pytest.mark.parametrize(
    ("page", "stamp"), STAMPS, ids=[f"{page}-{at}" for at, (page, _) in enumerate(STAMPS)]
)
def test_no_figures_are_silently_older_than_what_they_report_on(page, stamp):
    """Raise a generation of `scripts/figures.py`, and this names the pages to measure again."""
    del page
    assert set(stamp.subjects) <= set(figures.GENERATIONS)
    assert all(generation <= figures.GENERATIONS[name] for name, generation in stamp.subjects.items())
    assert bool(stamp.outdated) == bool(stamp.older), f"{stamp.outdated} has changed: measure again"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert stamp.version == project["version"] or stamp.older
    assert (ROOT / re.search(r"scripts/[\w/]+\.py", stamp.command)[0]).exists()
    asked = ["git", "log", "-1", "--format=%ad", "--date=short", stamp.code]
    shown = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    if shown.returncode != 0:
        pytest.skip("needs the git history, which this copy of the project does not have")
    assert shown.stdout.strip() == stamp.date


def test_whoever_changes_the_code_has_asked_whether_figures_are_others():
    """If they are, raise the generation in `scripts/figures.py`; then `python scripts/figures.py --seen`."""
    assert set(figures.CODE) == set(figures.GENERATIONS)
    assert all((figures.HOUSE / name).exists() for names in figures.CODE.values() for name in names)
    assert figures.changed() == []


def test_a_change_of_code_is_noticed_and_one_of_words_is_not(monkeypatch, tmp_path):
    monkeypatch.setattr(figures, "HOUSE", tmp_path)
    monkeypatch.setattr(figures, "SEEN", tmp_path / "code.json")
    monkeypatch.setattr(figures, "GENERATIONS", {"masking": 1})
    file = tmp_path / "datasets" / "masking" / "noise.py"
    file.parent.mkdir(parents=True)
    file.write_text('"""Noise."""\n\n\ndef noise(x):\n    """Add."""\n    return x + 1\n')
    figures.see()
    file.write_text('"""A word."""\ndef noise(x):\n    # why\n    return x + 1\n')
    assert figures.changed() == []
    file.write_text("def noise(x):\n    return x + 2\n")
    assert figures.changed() == ["masking"]


def test_a_stamp_says_what_is_outdated(monkeypatch):
    monkeypatch.setattr(figures, "GENERATIONS", {"exact engine": 3, "masking": 1})
    made = Stamp("python scripts/x.py", "0.1.0", "0123abc", "2026-01-31", {"exact engine": 2, "masking": 1})
    assert made.outdated == ["exact engine"]
    assert stamps(f"Words.\n\n{made}\n".replace("; ", ";\n")) == [made]
    told = made._replace(older="the last line is from before")
    assert stamps(str(told)) == [told]


# ---------------------------------------------------------------- Table 2 of D11.2


def test_table_2_is_that_of_its_record():
    page = (DOCS / "results" / "reproductions.md").read_text(encoding="utf-8")
    assert "\n".join(table2.table(RECORD["draws"], RECORD["records"])) in page
    assert stamps(RECORD["stamp"])[0] in stamps(page)


def test_the_record_is_a_set_of_intervals():
    assert list(RECORD["draws"]) == list(table2.PUBLISHED) == list(PROTECTIONS)
    for draws in RECORD["draws"].values():
        assert len(draws) == 10
        for counts in draws:
            assert len(counts) == 2 * len(table2.COLUMNS)
            assert all(
                low <= high <= RECORD["records"] for low, high in zip(counts[::2], counts[1::2], strict=True)
            )


@with_data
@pytest.mark.parametrize(("name", "seed"), [("M4-33", 0), ("M4-82", 9)])
def test_cells_of_table_2_are_those_of_today(name, seed):
    """Proven counts and baselines: another figure means that masking, linkage or the record is wrong."""
    result = table2.worst_case(name, "weighted-mean", seed, RECORD["records"], RECORD["direction"], None)
    counts = RECORD["draws"][name][seed]
    baselines = [result.details["baselines"][key] for key in table2.BASELINES]
    assert [counts[0], counts[2]] == baselines
    assert counts[4:6] == [result.linked, result.linked_upper_bound]
