"""What a masked file has of the original besides the attributes that are compared."""

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


def test_several_columns_may_be_identifiers() -> None:
    original = firms(firm=NAMES, boss=[name[::-1] for name in NAMES], vat=range(900, 900 + N))
    roles = dict.fromkeys(("firm", "boss", "vat"), Role.IDENTIFIER)
    assert [one.column for one in found(original, masked(original), roles).identifiers] == [
        "firm",
        "boss",
        "vat",
    ]


def test_names_given_to_others_name_nobody() -> None:
    """Of a permutation one value stays in its place on average."""
    original = firms(firm=NAMES)
    moved = np.roll(NAMES, 1)
    moved[5] = NAMES[5]
    released = masked(original).assign(firm=moved)
    assert found(original, released, {"firm": Role.IDENTIFIER}, row_by_row=True) == LeftIn(N)


def test_names_of_some_records_are_enough() -> None:
    original = firms(firm=NAMES)
    some = pd.Series(NAMES).where(np.arange(N) < 12)
    left = found(original, masked(original).assign(firm=some), {"firm": Role.IDENTIFIER})
    assert left.identifiers == (ColumnLeftIn("firm", 12),)


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


def test_a_column_that_was_masked_is_not_unchanged() -> None:
    original = firms(age=[20 + at for at in range(N)])
    changed = masked(original).assign(age=original["age"].where(np.arange(N) >= 2, 99))
    assert found(original, changed) == LeftIn(N)


@settings(max_examples=40)
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
