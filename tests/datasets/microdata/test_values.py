"""Blanks around cells make no other value, cells of blanks are missing, and leading zeros stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.datasets.microdata.column_descriptions import described_columns
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.formats.registry import read_file, writable_format
from linkrisk.datasets.microdata.missing import Missing, MissingRange, is_declared_missing, without_codes
from linkrisk.datasets.microdata.roles import Scale
from linkrisk.datasets.microdata.tables import load_table
from linkrisk.datasets.microdata.values import in_natural_order, without_blanks
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
def test_blanks_around_cells_of_text_files_and_their_header(tmp_path, text, columns):
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


# Names of categories in order


@pytest.mark.parametrize(
    "names",
    [
        ["c1", "c2", "c10"],
        ["0-9", "10-49", "50-249", "250+"],
        ["-5", "0.25", "0.5", "2", "10"],  # numbers, where all are
        ["01.9", "01.10", "01.10a", "2"],
        ["a", "a1b2", "a1b10", "a02", "a2", "b"],
        ["", "7", "x"],
        ["x" + "0" * 5000 + "1", "x2", "x" + "9" * 5000],  # more digits than an int is made of
    ],
)
def test_numbers_in_text_are_in_order_of_size(names):
    assert in_natural_order(reversed(names)) == tuple(names)


@given(st.lists(st.text("ab019.- ", max_size=5), unique=True))
def test_natural_order_is_one_order(names):
    found = in_natural_order(names)
    assert sorted(found) == sorted(names)
    assert in_natural_order(reversed(found)) == found


# Declared missing codes: which cells have one


@pytest.mark.parametrize(
    ("column", "missing", "expected"),
    [
        ([1, 99, 9], ("99",), [False, True, False]),
        ([1.0, 99.0, np.nan], ("99",), [False, True, False]),
        (["09", "9"], ("9",), [False, True]),
        (["99", "100", "x"], (MissingRange(97.0, 99.0),), [True, False, False]),
        ([96, 97, 98, 99, 100], (MissingRange(97.0, 99.0),), [False, True, True, True, False]),
        ([-5, -1, 0], (MissingRange(high=-1.0),), [True, True, False]),
        ([1, 2, 3], (MissingRange(low=3.0), "1"), [True, False, True]),
        ([True, False], ("True",), [True, False]),
    ],
)
def test_cells_with_a_code(column: list[Any], missing: Missing, expected: list[bool]) -> None:
    series = pd.Series(column)
    assert is_declared_missing(series, missing).tolist() == expected
    cleaned = without_codes(series, missing)
    assert cleaned.isna().tolist() == [
        is_code or is_missing for is_code, is_missing in zip(expected, series.isna(), strict=True)
    ]
    left = ~np.array(expected) & series.notna().to_numpy()
    assert cleaned[left].tolist() == series[left].tolist()
