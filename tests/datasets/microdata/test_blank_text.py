"""Blanks around cells make no other value, cells of blanks are missing, and leading zeros stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pytest

from linkrisk.datasets.microdata.column_descriptions import described_columns
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.formats.registry import read_file, writable_format
from linkrisk.datasets.microdata.roles import Scale
from linkrisk.datasets.microdata.tables import load_table
from linkrisk.datasets.microdata.values import without_blanks
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.solver.masking.mask import mask


def _written(folder: Path, suffix: str, **columns: list[Any]) -> Path:
    path = folder / f"t{suffix}"
    write_all(writable_format(path).write(StoredFile(pd.DataFrame(columns)), path))
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx", ".parquet", ".feather", ".sav", ".dta", ".xpt"])
def test_codes_with_leading_zeros_beside_blank_text_are_categories(tmp_path: Path, suffix: str) -> None:
    path = _written(tmp_path, suffix, id=[1, 2, 3, 4, 5, 6], b=["007", " 010", "", "007 ", "010", " "])
    table = load_table(str(path), "t")
    assert [None if pd.isna(cell) else cell for cell in table.frame["b"]] == [
        "007", "010", None, "007", "010", None,
    ]  # fmt: skip
    found = described_columns(table.frame, table.notes)[1]
    assert (found.attribute.scale, found.different, found.missing) == (Scale.NOMINAL, 2, 2)
    assert {each.code for each in found.frequent} == {"007", "010"}


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (
            "id, postcode, sex\n1, 0870, m\n2, 4011, f\n3, , f\n4, 0870, \n",
            {"id": [1, 2, 3, 4], "postcode": ["0870", "4011", None, "0870"], "sex": ["m", "f", "f", None]},
        ),
        ("id,zip\n1, 0501\n2, 0501\n3, 501\n", {"id": [1, 2, 3], "zip": ["0501", "0501", "501"]}),
        ('a, b\n1, "x, y"\n2 ,"  z " \n', {"a": [1, 2], "b": ["x, y", "z"]}),
        ("a,b\n 1 ,NA \n 2, 5\n", {"a": [1, 2], "b": [None, 5.0]}),
        ("a\tb\n1\t 2 \n\u00a03\t\n", {"a": [1, 3], "b": [2.0, None]}),
    ],
)
def test_blanks_around_cells_of_text_files_and_their_header(
    tmp_path: Path, text: str, columns: dict[str, list[Any]]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    frame = load_table(str(path), "t").frame
    assert list(frame.columns) == list(columns)
    for name, cells in columns.items():
        assert [None if pd.isna(cell) else cell for cell in frame[name]] == cells


def test_frames_of_every_type_of_text_are_read_likewise() -> None:
    cells = [" a", "b ", "", "a", None]
    kinds: tuple[Any, ...] = (object, "str", "string", "category", pd.ArrowDtype(pyarrow.string()))
    for kind in kinds:
        made = without_blanks(pd.DataFrame({"x": pd.Series(cells, dtype=kind)}))["x"]
        assert [None if pd.isna(cell) else cell for cell in made] == ["a", "b", None, "a", None]
    mixed = without_blanks(pd.DataFrame({"x": pd.Series([1, " ", 2.5], dtype=object)}))["x"]
    assert mixed.dtype == np.float64
    same = pd.DataFrame({"x": ["a", "b"], "n": [1.0, 2.0]})
    assert without_blanks(same) is same


def test_an_ordered_category_keeps_its_order() -> None:
    kind = pd.CategoricalDtype(["lo ", " hi", "hi"], ordered=True)
    made = without_blanks(pd.DataFrame({"x": pd.Series(["hi", "lo ", " hi"], dtype=kind)}))["x"]
    assert list(made.cat.categories) == ["lo", "hi"]
    assert made.cat.ordered
    assert made.to_list() == ["hi", "lo", "hi"]


def test_columns_that_are_not_masked_keep_their_blanks(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0, 8.0], "t": ["a ", "", "a", " b"]})
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    result = mask(str(path), "noise", parameters={"percent": 5.0, "attributes": ("x",)}, seed=1)
    result.write(tmp_path / "m.parquet")
    assert read_file(tmp_path / "m.parquet").frame["t"].to_list() == frame["t"].to_list()
    recoded = mask(str(path), "pram change=1e-9 attributes=t", seed=1)
    assert recoded.unchanged == ("t",)
    assert not recoded.withheld
