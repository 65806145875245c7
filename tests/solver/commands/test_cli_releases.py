"""`risk` with several files: what it prints, and what it refuses."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from cli_runs import check_golden, run, without_seconds
from small_files import NAMES, csv_text, noisy, survey

pytestmark = pytest.mark.usefixtures("survey_folder")


def write(name, rows, names=NAMES, order=None):
    listed = [[100 + at, *row] for at, row in enumerate(rows)]
    if order is not None:
        random.Random(order).shuffle(listed)
    Path(name).write_text(csv_text(listed, ("id", *names)), "utf-8")


@pytest.fixture
def releases():
    """Two releases of the survey; in the second, three more persons."""
    rows = survey(33)
    write("all.csv", rows)
    write("r1.csv", noisy(rows[:30]), order=1)
    write("r2.csv", noisy(rows, seed=5), order=2)
    return ["--masked", "r1.csv", "--masked", "r2.csv", "--id", "id", "--time-limit", "none"]


@pytest.mark.parametrize("way", ["together", "apart"])
def test_two_releases(way, releases, capsys):
    argv = ["risk", "--original", "all.csv", *releases, "--releases", way, "--measures", "releases"]
    argv += ["--aggregator", "weighted-mean,choquet", "--json", "risk.json", "--table", "risk.csv"]
    check_golden(f"risk-releases-{way}", without_seconds(run(capsys, *argv)))
    read = json.loads(Path("risk.json").read_text("utf-8"))
    assert read["measures"]["releases"]["way"] == way
    assert "rise_choquet" in Path("risk.csv").read_text("utf-8")


def test_sources_and_versions(releases, capsys):
    rows = survey(33)
    write("a.csv", [row[:2] for row in rows], NAMES[:2])
    write("b.csv", [row[2:] for row in rows], NAMES[2:])
    argv = [*releases, "--measures", "releases", "--aggregator", "weighted-mean"]
    whole = run(capsys, "risk", "--original", "all.csv", *argv)
    joined = run(capsys, "risk", "--original", "a.csv", "--original", "b.csv", *argv)
    assert joined.splitlines()[0].startswith("a.csv with b.csv and r2.csv: 33 records, 3 attributes")
    assert joined.splitlines()[1:-1] == whole.splitlines()[1:-1]
    twice = run(capsys, "risk", "--original", "all.csv", "--original", "all.csv", "--versions", *argv)
    assert twice.splitlines()[:-1] == whole.splitlines()[:-1]
