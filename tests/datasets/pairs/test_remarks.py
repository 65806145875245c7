"""What is said about a pair that can be compared: the exact sentences."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.pairs.file_pair import make_file_pair

FRAME = pd.DataFrame(
    {
        "age": [20, 35, 50, 70],
        "income": [1.0, 3.0, 2.0, 9.0],
        "town": ["a", "b", "c", "a"],
        "sex": [1, 2, 1, 1],
    }
)
OLDER = FRAME.assign(age=[25, 35, 55, 65])


def notes(original: pd.DataFrame, masked: pd.DataFrame, **options: object) -> tuple[str, ...]:
    return make_file_pair(original, masked, nominal=["town"], **options).notes  # type: ignore[arg-type]


NOTHING = "nothing was masked: every record of masked has the values of its original in all compared columns"


def test_nothing_masked():
    assert notes(FRAME, FRAME) == (NOTHING,)
    assert notes(FRAME, FRAME.astype({"age": float})) == (NOTHING,)
    assert notes(FRAME, OLDER, attributes=["town", "sex"]) == (
        NOTHING,
        "columns that were released as they are, and are not compared: income; 4 of 4 records are alone with "
        "their values of them",
    )


def test_columns_left_as_they_are():
    assert notes(FRAME, OLDER) == (
        "columns income, town, sex were not masked: they are the same for every record of both files",
    )
    some = OLDER.assign(income=[2.0, 3.0, 2.0, 8.0], sex=[1, 1, 2, 1])
    assert notes(FRAME, some) == (
        "column town was not masked: it is the same for every record of both files",
    )
    wide = pd.DataFrame({f"c{at}": [1.0, 2.0, 3.0] for at in range(12)} | {"income, gross": [1.0, 2.0, 3.0]})
    assert make_file_pair(wide, wide.assign(c0=[3.0, 3.0, 2.0])).notes == (
        "columns c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, ... (12 in all) were not masked: they are the same "
        "for every record of both files",
    )


def test_partners_are_compared_and_not_rows():
    original = FRAME.assign(id=list("wxyz"))
    masked = OLDER.assign(id=list("wxyz")).iloc[[3, 1, 0]]
    assert notes(original, masked, id="id") == (
        "1 of the 4 records of original has no partner in masked by id: where each should "
        "have one, masked is not whole",
        "columns income, town, sex were not masked: they are the same for every record of both files",
    )


def test_records_without_a_partner_are_told_for_both_files():
    original = FRAME.assign(id=list("wxyz"))
    masked = OLDER.assign(income=[2.0, 3.0, 2.0, 8.0], sex=[1, 1, 2, 1], id=list("uvyz"))
    assert notes(original, masked, id="id")[:2] == (
        "2 of the 4 records of original have no partner in masked by id: where each should "
        "have one, masked is not whole",
        "2 of the 4 records of masked have no partner in original by id: where each should "
        "have one, original is not whole",
    )


def test_categories_of_the_masked_file_alone():
    one = OLDER.assign(income=[2.0, 3.0, 2.0, 8.0], sex=[1, 1, 2, 1], town=["a", "B", "c", "a"])
    assert notes(FRAME, one) == ("column town has a category that only masked has: 'B'",)
    many = pd.DataFrame({"town": ["a", "b", "c", "d", "e", "f"]})
    new = many["town"].str.upper().to_frame()
    assert notes(many, new) == (
        "column town has categories that only masked has: 'A', 'B', 'C', 'D', 'E', ... (6 in all)",
        "town cannot be compared: no category of the original is in the masked file, and no recoding "
        "shows; say with masking how it was masked, or leave it out with attributes",
    )
    fewer = pd.DataFrame({"town": ["a", "b", "c", "a", "a", "b"]})
    assert notes(many, fewer) == ()


@pytest.mark.parametrize("dtype", [bool, object])
def test_true_and_false_against_numbers(dtype):
    logical = pd.Series([True, False, True, True]).astype(dtype)
    masked = OLDER.assign(income=[2.0, 3.0, 2.0, 8.0], town=["a", "c", "c", "a"], sex=logical)
    assert notes(FRAME, masked) == (
        "column sex has True and False in masked and numbers in original: True counts as 1 and False as 0",
    )
    assert notes(masked, FRAME) == (
        "column town has a category that only masked has: 'b'",
        "column sex has True and False in original and numbers in masked: True counts as 1 and False as 0",
    )
    said = make_file_pair(FRAME, masked, nominal=["town", "sex"]).notes
    assert said == (
        "column sex has True and False in masked and numbers in original: as categories none of them are "
        "the same",
        "column sex has categories that only masked has: 'False', 'True'",
        "sex cannot be compared: no category of the original is in the masked file, and no recoding "
        "shows; say with masking how it was masked, or leave it out with attributes",
    )
    assert notes(masked, masked.assign(income=[1.0, 2.0, 3.0, 4.0], age=[1, 2, 3, 5])) == (
        "columns town, sex were not masked: they are the same for every record of both files",
    )


CUT = "not masked: except for digits that were cut off"


@pytest.mark.parametrize("written", ["{:.16g}", "{:.15g}", "{:.13g}", "{:.12g}"])
def test_a_column_written_with_fewer_digits_was_not_masked(written):
    random = np.random.default_rng(0)
    original = pd.DataFrame(random.normal(size=(30, 2)), columns=["A", "B"])
    masked = original + 0.5
    masked["A"] = original["A"].map(written.format).astype(float)
    said = (f"column A was {CUT} it is the same for every record of both files",)
    assert make_file_pair(original, masked).notes == said
    assert make_file_pair(masked, original).notes == ()  # nobody adds digits by writing a number
    both = masked.assign(B=original["B"].map(written.format).astype(float))
    assert make_file_pair(original, both).notes == (
        f"columns A, B were {CUT} they are the same for every record of both files",
    )
    masked.loc[7, "A"] *= 1 + 1e-14
    assert make_file_pair(original, masked).notes == ()


SECONDS = np.random.default_rng(1).integers(0, 10**6, 30)
TIMES = {
    "microseconds": 1_700_000_000_000_000 + SECONDS * 10**6,
    "nanoseconds": 1_700_000_000_000_000_001 + SECONDS * 10**9,
    "doubles": (1_700_000_000_000_000 + SECONDS * 10**6).astype(float),
}


@pytest.mark.parametrize("kind", TIMES)
@pytest.mark.parametrize("dtype", [np.int64, float])
@pytest.mark.parametrize("noise", [[2, -2], [0] * 29 + [1]])
def test_large_numbers_that_differ_a_little_are_not_the_same(kind, dtype, noise):
    """What is said of the columns of both files is true of each of their numbers."""
    original = pd.DataFrame({"t": TIMES[kind], "x": np.arange(30.0)})
    times = [int(time) + step for time, step in zip(TIMES[kind], np.resize(noise, 30).tolist(), strict=True)]
    masked = pd.DataFrame({"t": np.array(times, dtype=np.int64).astype(dtype), "x": np.arange(30.0) ** 2})
    assert make_file_pair(original, masked).notes == ()
    same = masked.assign(t=original["t"])
    assert make_file_pair(original, same).notes == (
        "column t was not masked: it is the same for every record of both files",
    )
