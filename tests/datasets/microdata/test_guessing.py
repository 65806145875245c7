"""The first guess of a schema, and what is said of the columns beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.microdata.column_descriptions import Frequency, described_columns, guesses
from linkrisk.datasets.microdata.formats.base import ColumnNotes
from linkrisk.datasets.microdata.missing import MissingRange
from linkrisk.datasets.microdata.schema import Attribute, Role, Scale

RECORDS = 40
NUMBERS = [7.5 * at for at in range(RECORDS)]


def guess(values: Any, name: str = "x", **notes: Any) -> Attribute:
    return only(values, name, **notes).attribute


def only(values: Any, name: str = "x", **notes: Any) -> Any:
    """The guess of one column beside another."""
    frame = pd.DataFrame({name: values, "income": NUMBERS[: len(values)]})
    return guesses(frame, {name: ColumnNotes(**notes)} if notes else {})[0]


@pytest.mark.parametrize(
    ("values", "scale", "why"),
    [
        (NUMBERS, Scale.NUMERIC, "holds numbers"),
        ([at * at for at in range(RECORDS)], Scale.NUMERIC, "holds whole numbers"),
        (
            [at % 5 for at in range(RECORDS)],
            Scale.NUMERIC,
            "holds whole numbers, few of them different: nominal or ordinal if these are codes",
        ),
        (["1", "2", "3", "n.a."] * 10, Scale.NUMERIC, "holds numbers, except for 10 cells"),
        (["a", "b"] * 20, Scale.NOMINAL, "holds text with few different values"),
        (["01", "02"] * 20, Scale.NOMINAL, "holds codes with leading zeros"),
        ([f"w{at // 1.5}" for at in range(RECORDS)], Scale.TEXT, "holds text with many different values"),
        ([True, False] * 20, Scale.NOMINAL, "holds logical values"),
        (pd.date_range("2024-01-01", periods=RECORDS), Scale.DATE, "holds dates"),
        (pd.Categorical(["a", "b"] * 20), Scale.NOMINAL, "has categories"),
        (
            pd.Categorical(["lo", "hi"] * 20, categories=["lo", "hi"], ordered=True),
            Scale.ORDINAL,
            "has ordered categories",
        ),
    ],
)
def test_scale_by_the_values(values: Any, scale: Scale, why: str) -> None:
    found = only(values)
    assert (found.attribute.scale, found.why_scale) == (scale, why)


@pytest.mark.parametrize(
    ("name", "values", "role", "why"),
    [
        (
            "person_id",
            range(100, 140),
            Role.RECORD_ID,
            "has the name of a record id, and no value occurs twice",
        ),
        ("x", [f"p{at}" for at in range(40)], Role.IDENTIFIER, "holds text that never repeats"),
        ("hhid", [at // 3 for at in range(40)], Role.HOUSEHOLD, "has the name of a household number, which"),
        ("weight", NUMBERS, Role.WEIGHT, "has the name of a sampling weight, and no negative value"),
        ("stratum", ["n", "s"] * 20, Role.STRATUM, "has the name of a stratum, and few different values"),
        ("x", [3] * 40, Role.IGNORED, "is the same for all records"),
        ("x", [None] * 40, Role.IGNORED, "has no value"),
        ("x", [f"w{at // 1.5}" for at in range(40)], Role.IGNORED, "cannot be compared as it is"),
        ("x", ["a", "b"] * 20, Role.KEY, "can be compared"),
        ("x", NUMBERS, Role.KEY, "can be compared"),
    ],
)
def test_role_by_name_and_values(name: str, values: Any, role: Role, why: str) -> None:
    found = only(values, name)
    assert found.attribute.role is role
    assert found.why_role.startswith(why)


def test_one_column_of_a_role_only() -> None:
    frame = pd.DataFrame(
        {
            "hh_weight": NUMBERS,
            "person_weight": NUMBERS,
            "id": range(RECORDS),
            "line": range(RECORDS),
            "stratum": ["n", "s"] * 20,
            "strata": ["n", "s"] * 20,
        }
    )
    found = guesses(frame)
    assert [each.attribute.role for each in found] == [
        *(Role.WEIGHT, Role.IGNORED, Role.RECORD_ID, Role.IDENTIFIER, Role.STRATUM, Role.IGNORED)
    ]
    assert found[1].why_role == (
        "has the name of a sampling weight, and no negative value; 'hh_weight' is the sampling weight already"
    )


def test_what_the_file_says_of_a_column() -> None:
    labels = {"1": "male", "2": "female", "9": "no answer"}
    made = guess([1, 2, 9, 1], label="Sex", value_labels=labels, missing=("9",))
    assert made == Attribute("x", Role.KEY, Scale.NOMINAL, label="Sex", labels=labels, missing=("9",))
    assert only([1, 2], value_labels=labels).why_scale == "has a label for every code"
    # Labels of some values only are those of special ones.
    assert guess([1, 2, 3, 9], value_labels={"9": "none"}, missing=("9",)).scale is Scale.NUMERIC


def test_an_ordinal_column_lists_its_codes() -> None:
    labels = {"1": "low", "3": "high", "9": "unknown"}
    made = guess(
        [3, 1, 2, 9, 97], measure="ordinal", value_labels=labels, missing=("9", MissingRange(97.0, 99.0))
    )
    assert (made.scale, made.categories) == (Scale.ORDINAL, ("1", "2", "3"))
    assert made.labels == labels
    assert guess(["a", "b", "a", "b"], measure="ordinal").scale is Scale.NOMINAL
    assert guess([1, 2, 1, 2], measure="nominal").scale is Scale.NOMINAL
    assert guess(["a", "b", "a", "b"], measure="numeric").scale is Scale.NOMINAL
    ordered = pd.Categorical(["lo", "hi"], categories=["lo", "none", "hi"], ordered=True)
    assert guess(ordered, missing=("none",)).categories == ("lo", "hi")


@pytest.mark.parametrize(("word", "role"), [("weight", Role.WEIGHT), ("household_id", Role.HOUSEHOLD)])
def test_a_role_that_the_file_marks(word: str, role: Role) -> None:
    found = only(NUMBERS, settings={f"argus.{word}": ""})
    assert (found.attribute.role, found.why_role) == (role, "is marked so in the file")


def test_counts_and_values() -> None:
    frame = pd.DataFrame(
        {
            "age": [20, 30, np.nan, 99],
            "town": ["b", "a", "b", "a"],
            "id": [4, 3, 2, 1],
            "note": ["w", "x", "y", "z"],
            "far": [1.0, np.inf, 2.0, 3.0],
        }
    )
    notes = {"age": ColumnNotes(missing=("99",)), "town": ColumnNotes(value_labels={"a": "Aha"})}
    age, town, number, note, far = described_columns(frame, notes)
    assert (age.different, age.empty, age.coded_missing, age.missing) == (2, 1, 1, 2)
    assert (age.lowest, age.highest, age.frequent) == (20.0, 30.0, ())
    assert town.frequent == (Frequency("a", "Aha", 2), Frequency("b", "", 2))
    assert (town.lowest, town.highest) == (None, None)
    assert (far.lowest, far.highest) == (1.0, 3.0)
    for hidden in (number, note):
        assert (hidden.lowest, hidden.highest, hidden.frequent) == (None, None, ())


def test_only_the_most_frequent_categories_are_named() -> None:
    towns = [name for at, name in enumerate("abcdefg") for _ in range(at + 2)]
    (town,) = described_columns(pd.DataFrame({"town": towns}))
    assert [each.code for each in town.frequent] == ["g", "f", "e", "d", "c"]
    assert town.different == 7
