"""What is said about a pair that can be compared: the exact sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema import Attribute, Schema
from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.datasets.pairs.released_columns import ColumnLeftIn, LeftIn

FRAME = pd.DataFrame({"age": [20, 35, 50, 70], "income": [1.0, 3.0, 2.0, 9.0], "town": list("abca")})
FRAME["sex"] = [1, 2, 1, 1]
OLDER = FRAME.assign(age=[25, 35, 55, 65])


def notes(original: pd.DataFrame, masked: pd.DataFrame, **options: object) -> tuple[str, ...]:
    return make_file_pair(original, masked, nominal=["town"], **options).notes  # type: ignore[arg-type]


NOT_COMPARED = (
    "cannot be compared: no category of the original is in the masked file, and no recoding shows; say with "
    "masking how it was masked, or leave it out with attributes"
)
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
    said = "not masked: they are the same for every record of both files"
    assert notes(FRAME, OLDER) == (f"columns income, town, sex were {said}",)
    some = OLDER.assign(income=[2.0, 3.0, 2.0, 8.0], sex=[1, 1, 2, 1])
    assert notes(FRAME, some) == (
        "column town was not masked: it is the same for every record of both files",
    )
    wide = pd.DataFrame({f"c{at}": [1.0, 2.0, 3.0] for at in range(12)} | {"income, gross": [1.0, 2.0, 3.0]})
    assert make_file_pair(wide, wide.assign(c0=[3.0, 3.0, 2.0])).notes == (
        f"columns c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, ... (12 in all) were {said}",
    )


def test_partners_are_compared_and_not_rows():
    original = FRAME.assign(id=list("wxyz"))
    masked = OLDER.assign(id=list("wxyz")).iloc[[3, 1, 0]]
    assert notes(original, masked, id="id") == (
        "1 of the 4 records of original has no partner in masked by id: where each should "
        "have one, masked is not whole",
        "columns income, town, sex were not masked: they are the same for every record of both files",
    )


def test_categories_of_the_masked_file_alone():
    one = OLDER.assign(income=[2.0, 3.0, 2.0, 8.0], sex=[1, 1, 2, 1], town=["a", "B", "c", "a"])
    assert notes(FRAME, one) == ("column town has a category that only masked has: 'B'",)
    many = pd.DataFrame({"town": ["a", "b", "c", "d", "e", "f"]})
    new = many["town"].str.upper().to_frame()
    assert notes(many, new) == (
        "column town has categories that only masked has: 'A', 'B', 'C', 'D', 'E', ... (6 in all)",
        f"town {NOT_COMPARED}",
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
        f"sex {NOT_COMPARED}",
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


# What a masked file has of the original besides the attributes that are compared


N = 30
NAMES = [f"Firm {at:04d} Ltd" for at in range(N)]


def firms(**columns: object) -> pd.DataFrame:
    draw = np.random.default_rng(1)
    return pd.DataFrame({"turnover": draw.normal(size=N).round(2), **columns})


def masked(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(turnover=frame["turnover"] + 3.0)


def found(
    original: pd.DataFrame, released: pd.DataFrame, roles: dict[str, Role] | None = None, **options: object
) -> LeftIn:
    schema = Schema(tuple(Attribute(name, role) for name, role in (roles or {}).items()))
    attributes = options.pop("attributes", ["turnover"])
    left = make_file_pair(original, released, attributes=attributes, schema=schema, **options).left_in  # type: ignore[arg-type]
    return replace(left, order=None)  # many columns here are in order: tests of that are with known releases


@pytest.mark.parametrize("roles", [None, {"firm": Role.IGNORED}, {"firm": Role.IDENTIFIER}], ids=str)
def test_names_are_named_whatever_a_schema_says_of_them(roles: dict[str, Role] | None) -> None:
    original = firms(line=range(1, N + 1), firm=NAMES)
    assert found(original, masked(original), roles) == LeftIn(N, (ColumnLeftIn("firm", N),), ("line",))


def test_names_given_to_others_name_nobody() -> None:
    """Of a permutation one value stays in its place on average."""
    original = firms(firm=NAMES)
    moved = np.roll(NAMES, 1)
    moved[5] = NAMES[5]
    released = masked(original).assign(firm=moved)
    assert found(original, released, {"firm": Role.IDENTIFIER}, row_by_row=True) == LeftIn(N)


def test_a_number_of_records_is_no_name_and_a_name_that_aligns_is_one() -> None:
    original = firms(no=range(1, N + 1), firm=NAMES)
    assert found(original, masked(original), id="no").numbers == ("no",)
    assert found(original, masked(original), id="firm").identifiers == (ColumnLeftIn("firm", N),)


@pytest.mark.parametrize("role", [Role.CONFIDENTIAL, Role.WEIGHT])
def test_what_a_schema_says_that_no_intruder_knows(role: Role) -> None:
    original = firms(income=np.arange(1, N + 1) / 7)
    assert found(original, masked(original), {"income": role}) == LeftIn(N)


def test_unchanged_columns_and_whom_they_tell() -> None:
    birth = [f"19{50 + at % 29}-01-01" for at in range(N)]  # the first and the last have the same
    original = firms(birth=birth, sex=["m", *["f"] * (N - 1)], town="here")
    left = found(original, masked(original), {"birth": Role.IGNORED})
    assert left == LeftIn(N, (), (), (ColumnLeftIn("birth", N - 2), ColumnLeftIn("sex", 1)), N)
    assert left.notes == (
        "columns that were released as they are, and are not compared: birth, sex; 30 of 30 records are "
        "alone with their values of them",
    )


@settings(max_examples=12)
@given(
    st.lists(
        st.tuples(*[st.sampled_from([None, "a", "b", "c"])] * 2, st.integers(0, 3)), min_size=3, max_size=9
    )
)
def test_the_count_is_that_of_a_plain_attack(rows: list[tuple[str | None, str | None, int]]) -> None:
    """Who knows the unchanged columns of somebody, and finds one record that has them, has found him."""
    original = pd.DataFrame(rows, columns=["x", "y", "z"]).assign(v=np.arange(len(rows), dtype=float))
    released = original.assign(v=original["v"] + 0.25)
    left = found(original, released, attributes=["v"])
    names = [one.column for one in left.unchanged]
    for columns, count in [*(([one.column], one.records) for one in left.unchanged), (names, left.unique)]:
        keys = [tuple(row) for row in released[columns].itertuples(index=False)]
        alone = [key for key in keys if keys.count(key) == 1 and not any(pd.isna(part) for part in key)]
        assert count == (len(alone) if columns else 0)


def people(**columns: object) -> pd.DataFrame:
    draw = np.random.default_rng(4)
    town = [f"T{at}" for at in draw.integers(0, 30, 90)]
    return pd.DataFrame(
        {"v": draw.normal(size=90), "age": draw.integers(20, 80, 90), "town": town, **columns}
    )


def test_a_column_under_another_name_is_still_that_column() -> None:
    original = people(Name=[f"Person {at * 7919}" for at in range(90)])
    released = original.rename(columns={"age": "X1", "Name": "label"}).drop(columns="town").assign(v=1.5)
    released["v"] += original["v"]
    left = make_file_pair(original, released, attributes=["v"]).left_in
    assert left.identifiers == (ColumnLeftIn("label", 90, "Name"),)
    alone = int((original["age"].value_counts() == 1).sum())
    assert left.unchanged == (ColumnLeftIn("X1", alone, "age"),)
    assert "X1 (age in the original)" in " ".join(left.notes)


@pytest.mark.parametrize(
    ("name", "masking"),
    [
        ("age", lambda column: column // 10 * 10),
        ("age", lambda column: (column // 10 * 10).map("{0} or so".format)),
        ("age", lambda column: column + np.random.default_rng(2).normal(0.0, 5.0, 90)),
        ("age", lambda column: -column * 3.0),
        ("town", lambda column: column.map(lambda text: str(int(text[1:]) * 37 % 101 + 500))),
        ("town", lambda column: column.where(np.arange(90) % 4 > 0, "T1")),
    ],
    ids=["groups", "groups as text", "noise", "another scale", "other codes", "changed for some"],
)
@pytest.mark.parametrize("called", ["", "X1"])
def test_a_masked_column_that_is_not_compared_is_seen(name: str, masking: object, called: str) -> None:
    """It goes with the column that it was made of, whatever it is called; values given to others do not."""
    original = people()
    made = masking(original[name])  # type: ignore[operator]
    released = pd.DataFrame({"v": original["v"] + 1.5, called or name: made})
    left = make_file_pair(original, released, attributes=["v"]).left_in
    assert [(one.column, one.original) for one in left.masked] == [(called or name, name if called else "")]
    assert not left.unchanged
    shuffled = released.assign(**{called or name: made.sample(frac=1.0, random_state=3).to_numpy()})
    assert make_file_pair(original, shuffled, attributes=["v"], row_by_row=True).left_in == LeftIn(90)


def test_whom_a_rounded_column_tells() -> None:
    """Who looks for the nearest amount finds whoever is alone with it, and nearer than the next."""
    original = people(income=np.random.default_rng(7).normal(30_000.0, 9_000.0, 90).round(2))
    released = original.assign(v=original["v"] + 1.5, income=original["income"].round(-2))[["v", "income"]]
    (one,) = make_file_pair(original, released, attributes=["v"]).left_in.masked
    apart = (original["income"].to_numpy()[:, None] - released["income"].to_numpy()[None]).__abs__()
    strictly = (apart <= apart.diagonal()[:, None]).sum(axis=1) == 1
    assert one.records >= strictly.sum() > 45


def test_a_copy_of_what_is_compared_says_nothing_more() -> None:
    original = people()
    released = original[["v"]].assign(w=original["v"])
    assert make_file_pair(original, released, attributes=["v"]).left_in == LeftIn(90)
