"""File pairs: truth tables, kinds of input, and the exact line for every pair that cannot be compared."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from format_cases import WRITTEN, there_and_back
from table_pairs import make_table_pair

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.formats.delimited import DelimitedDialect
from linkrisk.datasets.microdata.tables import load_table
from linkrisk.datasets.pairs.file_pair import make_file_pair

GOOD = {"a": [1.0, 2.0, 3.0], "b": [5.0, 4.0, 4.5]}


def _message(original: Any, masked: Any, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        make_file_pair(original, masked, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_records_align_row_by_row_and_columns_by_name() -> None:
    pair = make_file_pair(pd.DataFrame(GOOD), pd.DataFrame({"b": [1.0, 2.0, 3.0], "a": [7.0, 8.0, 9.0]}))
    assert pair.attributes == ("a", "b")
    assert pair.partner.tolist() == [0, 1, 2]
    assert pair.partner.dtype == np.intp
    assert pair.original_labels == pair.masked_labels == ("1", "2", "3")
    assert pair.original_values.tolist() == [[1.0, 5.0], [2.0, 4.0], [3.0, 4.5]]
    assert pair.masked_values.tolist() == [[7.0, 1.0], [8.0, 2.0], [9.0, 3.0]]
    assert pair.masked_values.dtype == np.float64
    assert repr(pair) == (
        "FilePair('original and masked': 3 original and 3 masked records, 3 of them partners, "
        "attributes a, b)"
    )


@pytest.mark.parametrize(
    ("original_ids", "masked_ids", "partner"),
    [
        ([1, 2, 3], [3, 1, 2], [1, 2, 0]),
        ([1, 2, 3], ["3", "1", "9"], [1, -1, 0]),
        ([1.0, 2.0, 3.0], ["1", "2.0", " 3 "], [0, 1, 2]),
        (["x", "y", "z"], ["y", "q", "r"], [-1, 0, -1]),
        (["007", "7", "8"], ["7", "8", "9"], [-1, 0, 1]),
        ([Decimal("1"), "b", 3], [3, 1.0, "b"], [1, 2, 0]),
        ([2**60, 2**60 + 1, 5], [str(2**60 + 1), "6", "7"], [-1, 0, -1]),
    ],
)
def test_truth_by_id(original_ids: list[Any], masked_ids: list[Any], partner: list[int]) -> None:
    original = pd.DataFrame({"who": original_ids, **GOOD})
    masked = pd.DataFrame({"who": masked_ids, **GOOD})
    assert make_file_pair(original, masked, id="who").partner.tolist() == partner


def test_ids_in_files_keep_leading_zeros(tmp_path: Path) -> None:
    (tmp_path / "o.csv").write_text("id,a\n007,1\n7,2\n8,3\n")
    (tmp_path / "m.csv").write_text("id,a\n7,1\n007,2\n08,3\n")
    pair = make_file_pair(tmp_path / "o.csv", str(tmp_path / "m.csv"), id="id")
    assert pair.partner.tolist() == [1, 0, -1]
    assert pair.name == f"{tmp_path}/o.csv and {tmp_path}/m.csv"


@pytest.mark.parametrize("kind", ["polars", "arrow"])
def test_every_kind_of_table_makes_the_same_pair(kind: str) -> None:
    frame = pd.DataFrame({"id": ["u", "v", "w"], **GOOD})

    def convert() -> Any:
        if kind == "polars":
            return pl.DataFrame({name: frame[name].to_list() for name in frame})
        return pl.DataFrame({name: frame[name].to_list() for name in frame}).to_arrow()

    pair = make_file_pair(convert(), convert(), id="id")
    assert pair.original_values.tolist() == frame[["a", "b"]].to_numpy().tolist()
    assert pair.partner.tolist() == [0, 1, 2]
    assert isinstance(pair.original, pd.DataFrame)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([True, False, True]),
        pd.Series(["1", "0", "1.0"]),
        pd.Series([Decimal("1"), Decimal("0"), 1], dtype=object),
        pd.Series([1, 0, 1], dtype="Int64"),
        pd.Series([1, 0, 1], dtype="category"),
        pd.Series([True, False, True], dtype=object),
        pd.Series([1, 0, 1], dtype="float32"),
    ],
)
def test_what_counts_as_a_number(column: pd.Series) -> None:
    frame = pd.DataFrame({"x": column})
    assert make_file_pair(frame, frame).original_values.ravel().tolist() == [1.0, 0.0, 1.0]


FIX = "is not a number; fix it or choose other attributes"
THERE = (
    "is not a number, and original has numbers there; fix it, choose other attributes, or compare categories "
    "with nominal"
)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([None, None, None], " has no value at all and cannot be compared; choose other attributes"),
        (["1", "x", "3"], f", row 2: 'x' {FIX}"),
        (["1", "2", "1,5"], f", row 3: '1,5' {FIX}; decimal=',' reads it as a number"),
        (["w" * 50, "2", "3"], f", row 1: '{'w' * 37}...' {FIX}"),
        ([datetime.date(2024, 5, 1)] * 3, f", row 1: '2024-05-01' {THERE}"),
        (pd.to_datetime(["2024-05-01"] * 3), f", row 1: '2024-05-01 00:00:00' {THERE}"),
        ([1j, 2.0, 3.0], f", row 1: '1j' {FIX}"),
        ([1.0, 2.0, np.inf], ", row 3: infinite value; give finite numbers"),
        ([1.0, -np.inf, 2.0], ", row 2: infinite value; give finite numbers"),
        ([1, -1e151, 2], ", row 2: -1e+151 is too large to be squared; give the attribute in another unit"),
    ],
)
def test_cells_that_are_no_numbers(cells: Any, message: str) -> None:
    bad = pd.DataFrame({"a": GOOD["a"], "b": cells})
    message = "masked, column 'b'" + message.replace("'1j'", f"'{bad['b'].iloc[0]}'")
    asked = {"attributes": ["a", "b"]}  # what nobody asks for is left out where it tells nothing
    assert _message(pd.DataFrame(GOOD), bad, **asked) == message
    turned = message.replace("original has", "masked has").replace("masked, column", "original, column")
    assert _message(bad, pd.DataFrame(GOOD), **asked) == turned


FIRST = ", ".join([*(f"c{at}" for at in range(12)), "..."])
WIDE = pd.DataFrame({f"c{number}": [1.0, 2.0] for number in range(20)})
TAXES = pd.DataFrame({"income": [1.0, 2.0], "taxes": [2.0, 1.0]})
PLAIN = pd.DataFrame(GOOD)


def with_ids(*ids: Any) -> pd.DataFrame:
    return pd.DataFrame({"id": list(ids), **GOOD})


XYZ = with_ids("x", "y", "z")


@pytest.mark.parametrize(
    ("original", "masked", "options", "said"),
    [
        (TAXES, TAXES, {"attributes": ["incme"]}, "original has no column 'incme' (attribute); did you mean"),
        (TAXES, TAXES, {"attributes": ["zzz"]}, "original has no column 'zzz' (attribute); there are:"),
        (TAXES, TAXES[["income"]], {"attributes": ["taxes"]}, "masked has no column 'taxes' (attribute);"),
        (TAXES, TAXES, {"attributes": ["taxes", "income", "taxes"]}, "the attribute 'taxes' is given twice"),
        (TAXES, TAXES, {"attributes": []}, "no attribute is left to compare; name at least one with"),
        (TAXES, TAXES, {"attributes": "income"}, "the attributes are the text 'income'; give a list of"),
        (WIDE, WIDE, {"attributes": ["z"]}, f"original has no column 'z' (attribute); there are: {FIRST}"),
        (PLAIN, PLAIN[["b"]], {}, "masked does not have columns that original has: a; choose common columns"),
        (PLAIN[["b"]], PLAIN, {}, "original does not have columns that masked has: a; choose common columns"),
        (PLAIN, PLAIN[:2], {}, "original has 3 records and masked has 2; name the column that identifies"),
        (XYZ, PLAIN, {"id": "id"}, "masked has no column 'id' (id); there are: a, b"),
        (XYZ, XYZ, {"id": "ids"}, "original has no column 'ids' (id); did you mean 'id'?"),
        (XYZ, XYZ, {"id": "id", "attributes": ["a", "id"]}, "'id' is both the id column and an attribute;"),
        (XYZ, with_ids(*"xyx"), {"id": "id"}, "masked, column 'id': the id 'x' is in rows 1 and 3; ids must"),
        (with_ids("1", 1.0, 2), XYZ, {"id": "id"}, "original, column 'id': the id '1' is in rows 1 and 2;"),
        (XYZ, with_ids("x", None, "y"), {"id": "id"}, "masked, column 'id', row 2: missing id; fill it in"),
        (XYZ, with_ids(*"pqr"), {"id": "id"}, "original and masked have no id in common in column 'id' (for"),
        (PLAIN[:1], PLAIN[:1], {}, "original has fewer than two records; linkage needs at least two"),
        (PLAIN[:2], PLAIN[:1], {}, "masked has fewer than two records; linkage needs at least two"),
        (PLAIN, [[1, 2]], {}, "masked is a list; give a file name or a table (pandas, polars, pyarrow,"),
        (PLAIN.set_axis(["a", "a"], axis=1), PLAIN, {}, "original has two columns named 'a'; rename one of"),
    ],
)
def test_files_that_make_no_pair(original, masked, options, said):
    assert _message(original, masked, **options).startswith(said)


def test_constant_attributes() -> None:
    original = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [5.0, 5.0, 5.0], "c": [1.0, 2.0, 4.0]})
    masked = original.assign(b=[1.0, 2.0, 3.0], c=0.1 + 0.2)
    masked.loc[1, "c"] = 0.3  # differs from 0.1 + 0.2 in the last digit only
    assert _message(original, masked, attributes=["a", "b"]) == (
        "original: constant attributes cannot be compared: b; leave them out with drop_constant=True or "
        "attributes"
    )
    made = make_file_pair(original.drop(columns="c"), masked.drop(columns="c"))
    assert made.attributes == ("a",)
    assert made.notes[0] == (
        "not compared: b (ignored, as it is the same for all records); attributes or schema compares them"
    )
    assert _message(original, masked, attributes=["a", "c"]) == (
        "masked: attributes that are constant except for the last digits cannot be compared: c; subtract "
        "what all values have in common, or leave them out with drop_constant=True or attributes"
    )
    assert make_file_pair(original, masked, drop_constant=True).attributes == ("a",)
    assert _message(original, masked, attributes=["b", "c"], drop_constant=True) == (
        "every attribute is constant in one of the files; nothing is left to compare"
    )


@pytest.mark.parametrize("close", [[1e9, 1e9 + 1e-7, 1e9], [1.7e15, 1.7e15 + 2, 1.7e15 + 1]])
def test_differences_in_the_last_digits_alone(close: list[float]) -> None:
    frame = pd.DataFrame({"a": GOOD["a"], "b": close})
    said = (
        "original: attributes that are constant except for the last digits cannot be compared: b; subtract "
    )
    assert _message(frame, frame).startswith(said)
    assert make_file_pair(frame, frame, drop_constant=True).attributes == ("a",)
    frame["b"] -= close[0]
    assert make_file_pair(frame, frame).attributes == ("a", "b")


@pytest.mark.parametrize("unit", [1e-140, 1e-200, 1e-290])
def test_small_values_are_not_constant(unit: float) -> None:
    frame = pd.DataFrame({"a": GOOD["a"], "b": [0.0, unit, 0.0]})
    assert make_file_pair(frame, frame, drop_constant=True).attributes == ("a", "b")
    frame["b"] = [0.0, 1e-301, 0.0]
    assert "differ by at most 1e-301, too little to be standardised" in _message(frame, frame)


# File pairs of every format: the same pair whatever its files are, and what was detected is said


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


def test_what_stands_in_a_missing_cell_of_a_text_file(tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    path.write_text("a;b\n1;NA\n2;\n3;4\n")
    table = load_table(path, "original")
    assert np.isnan(table.frame["b"].to_numpy()[:2]).all()
    assert [table.written({"b": row}) for row in range(3)] == [{"b": "NA"}, {"b": ""}, {"b": "4"}]
