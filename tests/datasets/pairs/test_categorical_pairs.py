"""Categorical attributes of a file pair: scales, common categories, known masking, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.number_text import MISSING_MARKS
from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.datasets.pairs.file_pair import FilePair, make_file_pair

ORIGINAL = pd.DataFrame(
    {
        "age": [20, 35, 50, 70],
        "level": [1, 2, 10, 2],
        "size": ["small", "huge", "large", "small"],
        "town": ["a", "b", "c", "a"],
    }
)
MASKED = ORIGINAL.assign(level=[1, 2, 2, 2], town=["a", "b", "other", "a"])
SIZE = Attribute("size", scale=Scale.ORDINAL, categories=("small", "large", "huge"))
SCHEMA = Schema((SIZE, Attribute("town", scale=Scale.NOMINAL)))


def pair(**options: Any) -> FilePair:
    return make_file_pair(ORIGINAL, MASKED, **options)


def test_categories_of_both_files_in_one_list() -> None:
    made = pair(schema=SCHEMA, ordinal=["level"])
    assert made.attributes == ("age", "level", "size", "town")
    found = {name: (kind.scale, kind.categories) for name, kind in made.categorical.items()}
    assert found == {
        "level": (Scale.ORDINAL, ("1", "2", "10")),
        "size": (Scale.ORDINAL, ("small", "large", "huge")),
        "town": (Scale.NOMINAL, ("a", "b", "c", "other")),
    }
    assert made.original_values.tolist() == [[20, 0, 0, 0], [35, 1, 2, 1], [50, 2, 1, 2], [70, 1, 0, 0]]
    assert made.masked_values[:, 1].tolist() == [0, 1, 1, 1]
    assert made.masked_values[:, 3].tolist() == [0, 1, 3, 0]
    assert all(kind.possible is None for kind in made.categorical.values())


def test_lists_come_before_the_schema() -> None:
    made = pair(schema=SCHEMA, nominal=["size"], attributes=["age", "size"])
    assert made.categorical["size"].scale is Scale.NOMINAL
    assert made.categorical["size"].categories == SIZE.categories


def test_ordered_columns_tell_their_order() -> None:
    kind = pd.CategoricalDtype(["low", "high"], ordered=True)
    frame = pd.DataFrame({"x": pd.Series(["high", "low", "high"], dtype=kind)})
    assert make_file_pair(frame, frame, ordinal=["x"]).categorical["x"].categories == ("low", "high")


def test_known_masking_says_what_is_possible() -> None:
    made = pair(
        schema=SCHEMA,
        ordinal=["level"],
        masking=["top-coding categories=2 attributes=level", "global-recoding categories=1 label=other"
                 " attributes=town"],
    )  # fmt: skip
    assert np.argwhere(made.categorical["level"].possible).tolist() == [[0, 0], [1, 1], [2, 1]]
    town = made.categorical["town"]
    assert town.categories == ("a", "b", "c", "other")
    assert np.argwhere(town.possible).tolist() == [[0, 0], [1, 1], [2, 3]]
    assert made.categorical["size"].possible is None
    assert made.masking[0] == "top-coding categories=2 attributes=level"


def test_masking_follows_the_order_of_the_schema() -> None:
    """By their letters huge would be the lowest size; by the schema it is the highest."""
    made = pair(schema=Schema((SIZE,)), masking=["top-coding categories=2"], attributes=["age", "size"])
    assert np.argwhere(made.categorical["size"].possible).tolist() == [[0, 0], [1, 1], [2, 1]]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"attributes": ["size"]}, "original, column 'size', row 1: 'small' is not a number, and with 3"),
    ({"ordinal": ["size"], "nominal": ["town"]}, "attribute 'size' has categories in words ('huge', for"),
    ({"nominal": ["city"]}, "nominal: 'city' is not among the attributes to compare"),
    ({"nominal": ["town"], "ordinal": ["town"]}, "'town' is both in nominal and in ordinal; choose one"),
    ({"nominal": "town"}, "nominal is the text 'town'; give a list of column names"),
    (
        {"schema": Schema((SIZE, Attribute("town", scale=Scale.NOMINAL, categories=("a", "b", "c"))))},
        "masked, column 'town', row 3: 'other' is not a category; there are: a, b, c; fix the cell or list "
        "the category in the schema",
    ),
    ({"schema": SCHEMA, "masking": ["top-coding categories=2 attributes=age"]}, "'age' is not a categorical"),
    ({"schema": SCHEMA, "masking": ["pram 'change=1"]}, '"pram \'change=1" cannot be read: no closing'),
    ({"schema": SCHEMA, "masking": ["noise percent=3"]}, "noise does not recode categories; the methods"),
    (
        {"schema": SCHEMA, "masking": ["pram change=0.5", "top-coding categories=2"]},
        "two masking methods are",
    ),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_bad_requests(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        pair(**options)
    assert message in str(caught.value)


def test_missing_categories_and_too_many() -> None:
    gap = ORIGINAL.assign(town=["a", None, "c", "a"])
    made = make_file_pair(gap, MASKED, schema=SCHEMA)
    town, size = made.attributes.index("town"), len(made.categorical["town"].categories)
    assert made.original_values[1, town] == size
    often = made.categorical["town"].frequencies
    assert (often[0].sum(), often[1].sum()) == (3, 4)
    with pytest.raises(DataError, match="original, column 'town' has no value at all and cannot be compared"):
        make_file_pair(gap.assign(town=None), MASKED, schema=SCHEMA)
    many = pd.DataFrame({"x": [f"c{row}" for row in range(2001)]})
    with pytest.raises(DataError, match="'x' has 2001 categories, more than 2000; leave it out, or compare"):
        make_file_pair(many, many, nominal=["x"])


# Names of categories in two files: NA is one, 007 stays 007, and 7 in the other file is the same


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
    with pytest.raises(DataError, match=r"attribute 'code' has categories in words \('NA', for"):
        paired(tmp_path, ["1", "NA", "2"], ["1", "2", "2"], ordinal=["code"])


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


def test_the_schema_has_the_last_word_on_spelling(tmp_path):
    schema = Schema((Attribute("code", scale=Scale.ORDINAL, categories=("1", "2", "3")),))
    pair = paired(tmp_path, ["1.0", "2.0", "03"], ["1", "3", "2"], schema=schema)
    assert codes(pair) == (["1", "2", "3"], ["1", "3", "2"])
