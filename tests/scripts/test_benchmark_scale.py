"""The benchmark of large files, on small ones."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
import scale
from growth_picture import growth_picture
from scale_cases import NOMINAL, make_files

with_data = pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)


@with_data
@pytest.mark.parametrize("case", ["M6-385", "noise", "mixed"])
def test_every_case_has_two_files_of_the_size_asked_for(tmp_path: Path, case: str) -> None:
    original, masked = (pd.read_parquet(path) for path in make_files(tmp_path, case, 60))
    assert original.shape == masked.shape == (60, 6)
    assert list(original) == list(masked)
    assert not original.equals(masked)
    assert (case == "mixed") == set(NOMINAL).issubset(original)


def test_the_picture_has_two_lines_for_each_case_and_one_of_quadratic_growth() -> None:
    points = [(1_000, 0.5, 200.0), (10_000, 1.0, 300.0)]
    root = ElementTree.fromstring(growth_picture({"even": points, "odd": points}))
    lines = [
        path
        for path in root.iter("{http://www.w3.org/2000/svg}path")
        if path.get("aria-roledescription") == "line mark"
    ]
    assert len(lines) == 5
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"1,000", "records", "even", "odd", "seconds", "megabytes"} <= set(texts)


@with_data
@pytest.mark.slow
def test_threads_and_workers_count_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed", reason="needs Dask: pip install 'linkrisk[dask]'")
    given = ["", "--part", "dask", "--records", "500", "--folder", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", given)
    scale.main()
    *runs, last = capsys.readouterr().out.splitlines()
    assert [run.split()[0] for run in runs] == ["threads", "dask"] * 2
    assert len({run.split()[2] for run in runs}) == 1
    assert last.startswith("dask/threads, the best of each: ")


@with_data
@pytest.mark.slow
def test_growth_is_measured_and_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "growth.svg"
    monkeypatch.setattr(
        sys,
        "argv",
        ["", "--part", "growth", "--cases", "M6-385", "--records", "500,1000", "--picture", str(picture)],
    )
    scale.main()
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert picture.read_text(encoding="utf-8").startswith("<svg")
