"""Categorical attributes of a file pair: scales, common categories, known masking, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.pram import Pram
from linkrisk.datasets.masking.recoding import TopCoding
from linkrisk.datasets.masking.registry import categorical_method
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
    assert made.original_values.tolist() == [
        [20, 0, 0, 0],
        [35, 1, 2, 1],
        [50, 2, 1, 2],
        [70, 1, 0, 0],
    ]
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


def test_categories_may_be_constant() -> None:
    same = MASKED.assign(town="a")
    made = make_file_pair(ORIGINAL, same, attributes=["age", "town"], nominal=["town"])
    assert made.attributes == ("age", "town")
    alone = make_file_pair(ORIGINAL, same, attributes=["town"], nominal=["town"])
    assert alone.attributes == ("town",)


def test_known_masking_says_what_is_possible() -> None:
    made = pair(
        schema=SCHEMA,
        ordinal=["level"],
        masking=["top-coding categories=2 attributes=level", "global-recoding categories=1 label=other"
                 " attributes=town"],
    )  # fmt: skip
    assert made.categorical["level"].possible is not None
    assert made.categorical["level"].possible.tolist() == [
        [True, False, False],
        [False, True, False],
        [False, True, False],
    ]
    town = made.categorical["town"]
    assert town.categories == ("a", "b", "c", "other")
    assert town.possible is not None
    assert np.argwhere(town.possible).tolist() == [[0, 0], [1, 1], [2, 3]]
    assert made.categorical["size"].possible is None
    assert made.masking[0] == "top-coding categories=2 attributes=level"


def test_masking_follows_the_order_of_the_schema() -> None:
    """By their letters huge would be the lowest size; by the schema it is the highest."""
    made = pair(schema=Schema((SIZE,)), masking=["top-coding categories=2"], attributes=["age", "size"])
    size = made.categorical["size"]
    assert size.possible is not None
    assert np.argwhere(size.possible).tolist() == [[0, 0], [1, 1], [2, 1]]


def test_methods_as_text() -> None:
    assert categorical_method("top-coding categories=3 attributes=a,b") == TopCoding(
        categories=3, attributes=("a", "b")
    )
    assert categorical_method("pram theta=0.5 invariant") == Pram(theta=0.5, invariant=True)


BAD: list[tuple[dict[str, Any], str]] = [
    (
        {"attributes": ["size"]},
        "original, column 'size', row 1: 'small' is not a number, and with 3 different values in 4 records "
        "the column is not treated as categorical; declare it with nominal or schema, or choose other "
        "attributes",
    ),
    (
        {"ordinal": ["size"], "nominal": ["town"]},
        "the ordinal attribute 'size' has categories in words ('huge', for example), whose order is not "
        "known; list them in ascending order in schema",
    ),
    ({"nominal": ["city"]}, "nominal: 'city' is not among the attributes to compare"),
    ({"nominal": ["town"], "ordinal": ["town"]}, "'town' is both in nominal and in ordinal; choose one"),
    ({"nominal": ["town", "town"]}, "the attribute 'town' is given twice in nominal; give it once"),
    ({"nominal": "town"}, "nominal is the text 'town'; give a list of column names"),
    (
        {
            "schema": Schema((SIZE, Attribute("town", scale=Scale.NOMINAL, categories=("a", "b", "c")))),
        },
        "masked, column 'town', row 3: 'other' is not a category; there are: a, b, c; fix the cell or list "
        "the category in the schema",
    ),
    (
        {"schema": SCHEMA, "masking": ["top-coding categories=2 attributes=age"]},
        "masking: 'age' is not a categorical attribute that is compared; name those that are with "
        "attributes=A,B (recodings "
        "of numbers and dates show in the files by themselves)",
    ),
    ({"schema": SCHEMA, "masking": "pram"}, "masking is the text 'pram'; give a list of methods"),
    (
        {"schema": SCHEMA, "masking": ["topcoding categories=2"]},
        "there is no masking method 'topcoding'; did you mean 'top-coding'?",
    ),
    (
        {"schema": SCHEMA, "masking": ["top-coding category=2"]},
        "top-coding has no parameter 'category'; did you mean 'categories'?",
    ),
    ({"schema": SCHEMA, "masking": ["top-coding categories"]}, "top-coding: categories takes a value"),
    (
        {"schema": SCHEMA, "masking": ["pram change=0.5 invariant=yes"]},
        "pram: invariant takes no value",
    ),
    (
        {"schema": SCHEMA, "masking": [""]},
        "the masking method is empty; write for example: top-coding categories=3",
    ),
    (
        {"schema": SCHEMA, "masking": ["pram 'change=1"]},
        '"pram \'change=1" cannot be read: no closing quotation',
    ),
    (
        {"schema": SCHEMA, "masking": ["noise percent=3"]},
        "noise does not recode categories; the methods that do are top-coding, bottom-coding, "
        "global-recoding, recode, pram",
    ),
    (
        {"schema": SCHEMA, "masking": ["pram change=0.5", "top-coding categories=2"]},
        "two masking methods are given for 'size'; give one",
    ),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_bad_requests(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        pair(**options)
    assert str(caught.value) == message


def test_missing_categories_and_too_many() -> None:
    gap = ORIGINAL.assign(town=["a", None, "c", "a"])
    made = make_file_pair(gap, MASKED, schema=SCHEMA)
    town, size = made.attributes.index("town"), len(made.categorical["town"].categories)
    assert made.original_values[1, town] == size
    often = made.categorical["town"].frequencies
    assert often is not None
    assert (often[0].sum(), often[1].sum()) == (3, 4)
    with pytest.raises(DataError) as caught:
        make_file_pair(gap.assign(town=None), MASKED, schema=SCHEMA)
    assert str(caught.value) == (
        "original, column 'town' has no value at all and cannot be compared; choose other attributes"
    )
    many = pd.DataFrame({"x": [f"c{row}" for row in range(2001)]})
    with pytest.raises(DataError) as caught:
        make_file_pair(many, many, nominal=["x"])
    assert str(caught.value) == (
        "'x' has 2001 categories, more than 2000; leave it out, or compare it as a number"
    )
