"""Columns that say who is who and were not named: what the errors offer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from datasets.errors import DataError
from datasets.file_pair import make_file_pair

RECORDS = 40
CURE = "both files have the same values in column 'id': align the records with --id id"


def people() -> pd.DataFrame:
    random = np.random.default_rng(3)
    age = random.integers(18, 90, RECORDS)
    return pd.DataFrame(
        {
            "id": [f"P{number}" for number in random.permutation(RECORDS)],
            "age": age,
            "income": 400.0 * age + random.normal(0, 3000, RECORDS),
        }
    )


def noisy(frame: pd.DataFrame) -> pd.DataFrame:
    random = np.random.default_rng(4)
    return frame.assign(income=frame["income"] + random.normal(0, 4000, len(frame)))


def shuffled(frame: pd.DataFrame) -> pd.DataFrame:
    order = np.random.default_rng(5).permutation(len(frame))
    return frame.iloc[order].reset_index(drop=True)


def message(original: object, masked: object, **options: object) -> str:
    with pytest.raises(DataError) as caught:
        make_file_pair(original, masked, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def not_a_number(cell: str, column: str = "id") -> str:
    return (
        f"original, column {column!r}, row 1: {cell!r} is not a number; mend it or choose other --attributes"
    )


@pytest.mark.parametrize("change", [shuffled, lambda frame: frame, lambda frame: frame.iloc[3:]])
def test_an_id_of_text_among_the_attributes_is_offered(change):
    original = people()
    masked = change(noisy(original))
    first = original["id"][0]
    assert message(original, masked) == f"{not_a_number(first)}; {CURE}"
    assert make_file_pair(original, masked, id_column="id").attributes == ("age", "income")


def test_the_column_that_is_no_number_need_not_be_the_id():
    original = people()
    original.insert(0, "town", ["A", "B"] * (RECORDS // 2))
    masked = shuffled(noisy(original))
    assert message(original, masked) == f"{not_a_number('A', 'town')}; {CURE}"


def test_ids_written_differently_and_then_alike():
    original = people()
    masked = shuffled(noisy(original))
    masked["id"] = masked["id"].str.removeprefix("P").astype(int)
    first = original["id"][0]
    assert message(original, masked) == f"{not_a_number(first)}; {CURE}"
    assert message(original, masked, id_column="id").endswith("write the ids alike in both files")


def test_a_name_that_a_shell_would_split_is_quoted():
    original = people().rename(columns={"id": "the id"})
    assert message(original, shuffled(original)).endswith(
        "in column 'the id': align the records with --id 'the id'"
    )


def test_no_id_is_offered_where_none_is_shared_or_the_user_has_chosen():
    original = people()
    masked = shuffled(noisy(original))
    line = not_a_number(original["id"][0])
    twice = masked.assign(id=[masked["id"][1], *masked["id"][1:]])
    others = masked.assign(id="Q" + masked["age"].astype(str) + masked["id"])
    lacking = masked.assign(id=[None, *masked["id"][1:]])
    for frame in (twice, others, lacking):
        assert message(original, frame) == line
    assert message(original, masked, attributes=["id", "age"]) == line
    assert message(original, masked, row_by_row=True) == line
    # A number that is wrongly written makes no id of its column.
    spelled = original.drop(columns="id").astype(str)
    spelled.loc[0, "income"] = "1.234,5"
    assert message(spelled, spelled) == not_a_number("1.234,5", "income")
