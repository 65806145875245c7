"""File pairs of every format: the same pair whatever its files are, and what was detected is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from format_cases import WRITTEN, there_and_back
from table_pairs import make_table_pair

from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.formats.delimited import DelimitedDialect
from linkrisk.datasets.microdata.tables import load_table
from linkrisk.datasets.pairs.file_pair import make_file_pair

ORIGINAL = pd.DataFrame({"id": ["007", "008", "009", "010"], "x": [1.5, 2.25, 3.5, 9.0], "y": [4, 3, 9, 1]})
MASKED = ORIGINAL.assign(x=[1.75, 2.0, 3.25, 8.5]).iloc[::-1].reset_index(drop=True)


@pytest.mark.parametrize("suffix", WRITTEN)
def test_the_same_pair_from_files_of_every_format(suffix: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}{suffix}" for name in ("original", "masked")]
    for path, frame in zip(paths, (ORIGINAL, MASKED), strict=True):
        there_and_back(StoredFile(frame), path)
    pair = make_file_pair(*paths, id="id", attributes=["x", "y"])
    assert pair.partner.tolist() == [3, 2, 1, 0]
    assert pair.original_values.tolist() == ORIGINAL[["x", "y"]].to_numpy(dtype=float).tolist()
    assert pair.masked_values.tolist() == MASKED[["x", "y"]].to_numpy(dtype=float).tolist()


def test_what_was_detected_is_said_for_each_file(tmp_path: Path) -> None:
    paths = [tmp_path / "o.csv", tmp_path / "m.csv"]
    dialects = (DelimitedDialect(";", decimal=","), DelimitedDialect())
    for path, frame, dialect in zip(paths, (ORIGINAL, ORIGINAL), dialects, strict=True):
        there_and_back(StoredFile(frame, dialect=dialect), path)
    pair = make_table_pair(*paths, id="id")
    assert pair.notes == (f"{paths[0]}: read with ';' between columns, ',' as decimal sign",)


def test_a_table_has_what_its_file_says(tmp_path: Path) -> None:
    notes = {"x": ColumnNotes("income", {"9": "refused"}, ("9",), "numeric")}
    path = tmp_path / "o.parquet"
    there_and_back(StoredFile(ORIGINAL, columns=notes), path)
    table = load_table(path, "original")
    assert (table.notes, table.remarks, table.path) == (notes, (), path)
    bare = load_table(ORIGINAL, "original")
    assert (bare.notes, bare.remarks, bare.path) == ({}, (), None)


def test_what_stands_in_a_missing_cell_of_a_text_file(tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    path.write_text("a;b\n1;NA\n2;\n3;4\n")
    table = load_table(path, "original")
    assert np.isnan(table.frame["b"].to_numpy()[:2]).all()
    assert [table.written({"b": row}) for row in range(3)] == [{"b": "NA"}, {"b": ""}, {"b": "4"}]
