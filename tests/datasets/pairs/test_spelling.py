"""Names of categories in two files: NA is one, 007 stays 007, and 7 in the other file is the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.number_text import MISSING_MARKS
from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.datasets.pairs.file_pair import FilePair, make_file_pair


def files(folder: Path, original: str, masked: str) -> tuple[Path, Path]:
    paths = folder / "o.csv", folder / "m.csv"
    for path, text in zip(paths, (original, masked), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def column(cells: list[str]) -> str:
    return "code,x\n" + "".join(f"{cell},{at}\n" for at, cell in enumerate(cells))


def paired(folder: Path, original: list[str], masked: list[str], **options: object) -> FilePair:
    options = options or {"nominal": ["code"]}
    return make_file_pair(*files(folder, column(original), column(masked)), **options)  # type: ignore[arg-type]


def codes(pair: FilePair) -> tuple[list[str], list[str]]:
    names = pair.categorical["code"].categories
    at = pair.attributes.index("code")
    values = (pair.original_values, pair.masked_values)
    first, second = ([names[int(code)] for code in matrix[:, at]] for matrix in values)
    return first, second


@pytest.mark.parametrize("mark", MISSING_MARKS)
def test_a_mark_is_a_category_where_categories_are_compared(mark, tmp_path):
    pair = paired(tmp_path, ["a", mark, "b"], [mark, "a", "b"])
    assert codes(pair) == (["a", mark, "b"], [mark, "a", "b"])


def test_by_ordinal_and_schema(tmp_path):
    schema = Schema((Attribute("code", scale=Scale.ORDINAL, categories=("none", "NA", "all")),))
    pair = paired(tmp_path, ["none", "NA", "all"], ["NA", "NA", "all"], schema=schema)
    assert pair.masked_values[:, pair.attributes.index("code")].tolist() == [1.0, 1.0, 2.0]
    with pytest.raises(DataError) as caught:
        paired(tmp_path, ["1", "NA", "2"], ["1", "2", "2"], ordinal=["code"])
    assert str(caught.value) == (
        "the ordinal attribute 'code' has categories in words ('NA', for example), whose order is not known; "
        "list them in ascending order in schema"
    )


def test_an_empty_cell_is_missing(tmp_path):
    pair = paired(tmp_path, ["a", "NA", "b"], ["a", "", "b"])
    column = pair.attributes.index("code")
    assert pair.categorical["code"].categories == ("NA", "a", "b")
    assert pair.original_values[:, column].tolist() == [1, 0, 2]
    assert pair.masked_values[:, column].tolist() == [1, 3, 2]


@pytest.mark.parametrize("mark", MISSING_MARKS)
def test_in_numbers_a_mark_is_missing_and_said(mark, tmp_path):
    paths = files(tmp_path, "y,x\n1,2\n3,4\n5,6\n", f"y,x\n1,2\n3,4\n{mark},6\n")
    pair = make_file_pair(*paths)
    assert np.isnan(pair.masked_values[2, 0])
    assert pair.notes[-1] == (
        f"{paths[1]}, column 'y', row 3: {mark!r} means a missing value here; name the column in nominal "
        "if it is a category"
    )


def test_in_numbers_an_empty_cell_is_missing(tmp_path):
    paths = files(tmp_path, 'y,"x\nz"\n1,2\n3,4\n5,6\n', 'y,"x\nz"\n1,2\n,4\n5,7\n')
    pair = make_file_pair(*paths)
    assert np.isnan(pair.masked_values[:, 0]).tolist() == [False, True, False]
    assert not any("stands for" in note for note in pair.notes)


@pytest.mark.parametrize(
    ("original", "masked", "read"),
    [
        (["007", "010", "11"], ["007", "11", "010"], ["007", "11", "010"]),
        (["007", "010", "11"], ["7", "11", "10"], ["007", "11", "010"]),
        (["007", "010", "11"], ["7.0", "11.0", "10.0"], ["007", "11", "010"]),
        (["7", "10", "11"], ["007", "011", "010"], ["7", "11", "10"]),
        (["True", "False", "True"], ["TRUE", "FALSE", "FALSE"], ["True", "False", "False"]),
        (["007", "7", "8"], ["7", "007", "8"], ["7", "007", "8"]),
        (["7", "8", "9"], ["7", "007", "8"], ["7", "007", "8"]),
        (["7.5", "1E5", "A"], ["7.50", "100000", "a"], ["7.5", "1E5", "a"]),
    ],
)
def test_one_spelling_for_what_can_only_be_the_same(original, masked, read, tmp_path):
    pair = paired(tmp_path, original, masked)
    assert codes(pair) == (original, read)
    frames = [pd.DataFrame({"code": cells, "x": [0, 1, 2]}) for cells in (original, masked)]
    assert codes(make_file_pair(*frames, nominal=["code"])) == (original, read)


def test_text_against_numbers_in_frames():
    original = pd.DataFrame({"code": ["007", "010", "011"], "x": [0, 1, 2]})
    masked = pd.DataFrame({"code": [10, 7, 11], "x": [0, 1, 2]})
    assert codes(make_file_pair(original, masked, nominal=["code"]))[1] == ["010", "007", "011"]
    typed = masked.astype({"code": "category"})
    assert codes(make_file_pair(original, typed, nominal=["code"]))[1] == ["010", "007", "011"]


def test_the_schema_has_the_last_word_on_spelling(tmp_path):
    schema = Schema((Attribute("code", scale=Scale.ORDINAL, categories=("1", "2", "3")),))
    pair = paired(tmp_path, ["1.0", "2.0", "03"], ["1", "3", "2"], schema=schema)
    assert codes(pair) == (["1", "2", "3"], ["1", "3", "2"])
