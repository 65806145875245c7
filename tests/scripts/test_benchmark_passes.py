"""The benchmark of passes: the persons that it draws, and what it prints."""

from __future__ import annotations

import json

import numpy as np
from passes import PASSES, figures, linked, splink_line
from persons import CHANGED, LACKING, MANY, draw_persons


def test_persons_have_as_many_errors_as_they_should():
    first, second = draw_persons(4000, 3)
    again = draw_persons(4000, 3)
    assert first.equals(again[0])
    assert second.equals(again[1])
    assert sorted(first["rec_id"]) == sorted(second["rec_id"])
    assert first["rec_id"].tolist() != second["rec_id"].tolist()
    twin = second.set_index("rec_id").loc[first["rec_id"]].reset_index()
    differ = (first != twin).drop(columns="rec_id")
    expected = sum((at + 1) * share for at, share in enumerate(MANY))
    # What a first file lacks differs too, and some errors hit another attribute as well.
    assert expected * 0.9 < differ.to_numpy().sum(axis=1).mean() < expected + sum(LACKING.values()) + 0.3
    assert list(differ.columns) == list(CHANGED)
    assert (differ.mean() > 0.02).all()


def test_figures_of_a_few_persons():
    lines = list(figures(400, 2, {}, process=False))
    assert lines[0].startswith("400 x 400 persons, seed 2: ")
    assert lines[1].startswith("  peak memory ")
    assert [line.split()[0] for line in lines[2:5]] == list(PASSES)
    right = float(lines[6].split("recall ")[1])
    assert right > 0.93


def test_modes_of_passes():
    together, leave = (linked(300, 4, {"linked_leave": mode}).passes for mode in (False, True))
    assert np.isclose(together.recall, leave.recall, atol=0.02)
    assert together.precision > 0.98


def test_another_linker_beside_ours(tmp_path):
    """What an interpreter with Splink writes is what is printed; it gets the script and three files."""
    found = {"version": "9", "duckdb": "8", "seconds": 7.2, "processor_seconds": 6.1, "peak_mb": 1234.5,
             "linked": 5000, "precision": 0.99999, "recall": 0.4}  # fmt: skip
    (tmp_path / "found.json").write_text(json.dumps(found), encoding="utf-8")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\ntest -f "$1" && cp "{tmp_path}/found.json" "$5"\n', encoding="utf-8")
    python.chmod(0o755)
    assert splink_line(str(python), [tmp_path / "first.csv", tmp_path / "second.csv"]) == (
        "  Splink 9 on DuckDB 8: 7 s (6 s of processor time), peak memory 1,234 MB; 5,000 links: precision "
        "1.0000, recall 0.4000"
    )
