"""Several sources joined by id: what one intruder knows who has them all."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.tables import load_table
from linkrisk.datasets.pairs.several_files import joined_sources


def table(name, **columns):
    return load_table(pd.DataFrame(columns), name)


def test_every_record_of_any_source_with_all_that_is_said_of_it():
    register = table("register", id=[3, 1, 2], age=[30, 10, 20])
    survey = table("survey", id=["2", "4"], income=[2.5, 4.5], town=["b", "d"])
    joined = joined_sources([register, survey], "id")
    assert joined.source == "register with survey"
    assert joined.frame["id"].tolist() == ["3", "1", "2", "4"]
    np.testing.assert_array_equal(joined.frame["age"], [30, 10, 20, np.nan])
    np.testing.assert_array_equal(joined.frame["income"], [np.nan, np.nan, 2.5, 4.5])
    assert joined.frame["town"].dropna().to_dict() == {2: "b", 3: "d"}
    assert joined.remarks == ("3 of 4 records are not in every source",)


def test_sources_that_say_the_same_fill_each_other():
    first = table("first", id=[1, 2, 3], age=[10, np.nan, 30], code=["7", "x", None])
    second = table("second", id=[3, 2, 1], age=[30, 20, 10], code=[None, "x", 7])
    joined = joined_sources([first, second], "id").frame
    assert joined["age"].tolist() == [10, 20, 30]
    assert joined["code"].tolist()[:2] == ["7", "x"]
    assert joined["code"].isna().tolist() == [False, False, True]


def test_the_order_of_sources_changes_nothing_but_order():
    first = table("first", id=[1, 2], age=[10, 20])
    second = table("second", id=[2, 3], age=[20, 30], hours=[5, 6])
    joined = [joined_sources(each, "id").frame.set_index("id") for each in ([first, second], [second, first])]
    pd.testing.assert_frame_equal(joined[0], joined[1].loc[joined[0].index, joined[0].columns])


def test_one_source_stays_as_it_is():
    own = table("own", id=["a", "b"], age=[1, 2])
    pd.testing.assert_frame_equal(joined_sources([own], "id").frame, own.frame, check_dtype=False)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            {"id": [2, 1], "age": [20, 11]},
            "first and second disagree on column 'age' of record '1': '10' and '11'; correct one of them, "
            "rename the column if it is another attribute, or give versions of one file with versions=True",
        ),
        ({"key": [1], "age": [1]}, "second has no column 'id' (id); there are: key, age"),
        (
            {"id": [1, 1], "age": [1, 2]},
            "second, column 'id': the id '1' is in rows 1 and 2; ids must be unique",
        ),
        (
            {"id": [1, None], "age": [1, 2]},
            "second, column 'id', row 2: missing id; fill it in or drop the record",
        ),
    ],
)
def test_what_is_refused(second, message):
    with pytest.raises(DataError) as caught:
        joined_sources([table("first", id=[1, 2], age=[10, 20]), table("second", **second)], "id")
    assert str(caught.value) == message
