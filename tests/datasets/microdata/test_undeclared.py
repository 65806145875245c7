"""Columns of which nobody said what they are: numbers, few categories, or to be declared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from linkrisk.datasets.errors import NotANumberError
from linkrisk.datasets.microdata.roles import Scale
from linkrisk.datasets.microdata.scale_inference import MOST_CATEGORIES, category_notes, undeclared_scale
from linkrisk.datasets.microdata.tables import Table

NUMBERS = [1.0, 2.5, 3.0, 4.0]
WORDS = ["a", "b", "a", "b"]


def tables(*columns: Any) -> list[Table]:
    names = ("original", "masked", "training")
    return [Table(pd.DataFrame({"x": column}), name) for name, column in zip(names, columns, strict=False)]


@pytest.mark.parametrize(
    ("columns", "scale"),
    [
        ((NUMBERS, NUMBERS), Scale.NUMERIC),
        ((NUMBERS, [str(value) for value in NUMBERS]), Scale.NUMERIC),
        ((["1", "2", "3", "x"], ["1", "2", "3", "4"]), Scale.NUMERIC),  # a typing error, to be named later
        (([True, False, True, False], NUMBERS), Scale.NUMERIC),
        (([None] * 4, NUMBERS), Scale.NUMERIC),
        (([None] * 4, [None] * 4), Scale.NUMERIC),
        ((WORDS, WORDS), Scale.NOMINAL),
        ((WORDS, ["a", None, "a", None]), Scale.NOMINAL),
        ((WORDS, WORDS, WORDS), Scale.NOMINAL),
        ((["01", "02", "01", "02"], ["01", "01", "01", "01"]), Scale.NOMINAL),
        ((["01", "02", "01", "02"], WORDS), Scale.NOMINAL),
        # Codes that the other file has as numbers are compared as numbers.
        ((["01", "02", "01", "02"], [1, 2, 1, 2]), Scale.NUMERIC),
        ((["0", "0.5", "1", "10"], ["+1", "0", "1", "1e3"]), Scale.NUMERIC),
        ((pd.Categorical(["a", "b", "a", "b"]), pd.Categorical(["a", "a", "a", "b"])), Scale.NOMINAL),
    ],
)
def test_what_the_values_say(columns: Any, scale: Scale) -> None:
    assert undeclared_scale("x", tables(*columns)) is scale


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            (["a", "b", "c", "a"], WORDS),
            "original, column 'x', row 1: 'a' is not a number, and with 3 different values in 4 records the "
            "column is not treated as categorical; declare it with nominal or schema, or choose other "
            "attributes",
        ),
        (
            (WORDS, [None, "a", "b", "c"]),
            "masked, column 'x', row 2: 'a' is not a number, and with 3 different values in 3 records the "
            "column is not treated as categorical; declare it with nominal or schema, or choose other "
            "attributes",
        ),
        (
            (["001", "002", "003", "003"], ["001"] * 4),
            "original, column 'x', row 1: '001' is not a number, and with 3 different values in 4 records "
            "the column is not treated as categorical; declare it with nominal or schema, or choose "
            "other attributes",
        ),
        (
            (NUMBERS, ["1", "w" * 50, "x", "y"]),
            f"masked, column 'x', row 2: '{'w' * 37}...' is not a number, and original has numbers there; "
            "fix it, choose other attributes, or compare categories with nominal",
        ),
    ],
)
def test_what_has_to_be_declared(columns: Any, message: str) -> None:
    with pytest.raises(NotANumberError) as caught:
        undeclared_scale("x", tables(*columns))
    assert str(caught.value) == message


def test_there_is_a_largest_number_of_categories() -> None:
    most = [f"c{at}" for at in range(MOST_CATEGORIES)] * 2
    assert undeclared_scale("x", tables(most, most)) is Scale.NOMINAL
    with pytest.raises(
        NotANumberError, match="with more than 2000 different values the column is not treated"
    ):
        undeclared_scale("x", tables([*most, "d", "d"], most))


def test_the_note_counts_the_categories_of_all_files() -> None:
    found = (Scale.NOMINAL, tables(WORDS, ["a", "c", "c", "a"]))
    assert category_notes({}) == ()
    assert category_notes({"x": found}) == (
        "column x holds text and is compared as nominal (3 categories); declare it with nominal, ordinal "
        "or schema",
    )
    renamed = [replace(one, frame=one.frame.rename(columns={"x": "y"})) for one in found[1]]
    assert category_notes({"x": found, "y": (Scale.NOMINAL, renamed)}) == (
        "columns that are compared as categories: x (text, nominal, 3 categories), y (text, nominal, 3 "
        "categories); declare them with nominal, ordinal or schema",
    )
