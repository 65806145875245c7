"""Releases side by side: one file pair with the attributes of all of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import load_table
from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.datasets.pairs.several_files import check_alike, joined_sources, same_files, side_by_side

ORIGINAL = pd.DataFrame({"id": list("abcd"), "A": [1.0, 2.0, 3.0, 5.0], "B": [4.0, 1.0, 2.0, 8.0]})
FIRST = pd.DataFrame({"id": list("abc"), "A": [1.5, 2.5, 3.5], "B": [4.0, 1.0, 2.5]})
SECOND = pd.DataFrame({"id": list("dba"), "A": [5.0, 2.0, 1.0], "B": [8.5, 1.5, 4.5]})


def pair(masked, original=ORIGINAL, **options):
    return make_file_pair(original, masked, id="id", **options)


def test_attributes_side_by_side_and_what_is_not_released_missing():
    joined = side_by_side([pair(FIRST), pair(SECOND)])
    assert joined.attributes == ("A", "B", "A (release 2)", "B (release 2)")
    assert joined.original_labels == ("a", "b", "c", "d")
    assert joined.masked_labels == ("a", "b", "c", "d")
    assert joined.partner.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(joined.original_values[:, :2], ORIGINAL[["A", "B"]])
    np.testing.assert_array_equal(joined.original_values[:, 2:], ORIGINAL[["A", "B"]])
    nan = np.nan
    expected = [[1.5, 4.0, 1.0, 4.5], [2.5, 1.0, 2.0, 1.5], [3.5, 2.5, nan, nan], [nan, nan, 5.0, 8.5]]
    np.testing.assert_array_equal(joined.masked_values, expected)


def test_what_says_nothing_new_is_left_out():
    again = FIRST.assign(B=[4.0, 1.0, 2.0])
    joined = side_by_side([pair(FIRST), pair(again), pair(FIRST)])
    assert joined.attributes == ("A", "B", "B (release 2)")
    same = side_by_side([pair(FIRST), pair(FIRST.iloc[::-1])])
    assert same_files(same, side_by_side([pair(FIRST)]))
    assert not same_files(joined, same)


def test_versions_of_the_original_stand_side_by_side_too():
    newer = ORIGINAL.assign(A=[1.0, 2.0, 3.0, 6.0])
    joined = side_by_side([pair(FIRST), pair(FIRST, newer)])
    assert joined.attributes == ("A", "B", "A (release 2)")
    assert joined.original_values[:, 2].tolist() == [1.0, 2.0, 3.0, 6.0]


def test_categories_keep_their_scale_and_are_counted_again():
    town = {"original": list("xyxz"), "first": list("xyy"), "second": list("zyx")}
    original = ORIGINAL.assign(B=town["original"])
    first, second = FIRST.assign(B=town["first"]), SECOND.assign(B=town["second"])
    pairs = [pair(each, original, nominal=["B"]) for each in (first, second)]
    joined = side_by_side(pairs)
    assert list(joined.categorical) == ["B", "B (release 2)"]
    again = joined.categorical["B (release 2)"]
    assert (again.name, again.categories) == ("B (release 2)", ("x", "y", "z"))
    counted = [list(each) for each in again.frequencies]
    assert counted == [[2, 1, 1], [1, 1, 1]]
    missing = len(again.categories)
    assert joined.masked_values[:, 3].tolist() == [0, 1, missing, 2]
    assert all(one.categorical["B"].frequencies is None for one in pairs)


def test_weights_and_strata_go_with_the_persons():
    roles = [{"name": "w", "role": "weight"}, {"name": "s", "role": "stratum"}]
    schema = Schema.from_dict({"attributes": roles})
    original = ORIGINAL.assign(w=[1.0, 2.0, 3.0, 4.0], s=list("uuvv"))
    pairs = [pair(each, original, schema=schema) for each in (FIRST, SECOND)]
    design = side_by_side(pairs).design
    assert design.weight.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert design.stratum == ("u", "u", "v", "v")
    assert (design.weight_column, design.stratum_column) == ("w", "s")


def test_releases_that_are_aligned_in_different_ways():
    by_row = make_file_pair(ORIGINAL, ORIGINAL.assign(A=[1, 2, 3, 4]), row_by_row=True, attributes=["A", "B"])
    with pytest.raises(DataError) as caught:
        check_alike([pair(FIRST), by_row])
    assert str(caught.value) == (
        "releases are aligned in different ways, id id (original and masked) and row by row (original and "
        "masked), so it is not known who is in both; name the column that identifies the records of all "
        "files with id"
    )


# Several sources joined by id: what one intruder knows who has them all


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


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"id": [2, 1], "age": [20, 11]}, "first and second disagree on column 'age' of record '1': '10'"),
        ({"key": [1], "age": [1]}, "second has no column 'id' (id); there are: key, age"),
        ({"id": [1, 1], "age": [1, 2]}, "second, column 'id': the id '1' is in rows 1 and 2; ids must be"),
        ({"id": [1, None], "age": [1, 2]}, "second, column 'id', row 2: missing id; fill it in or drop the"),
    ],
)
def test_what_is_refused(second, message):
    with pytest.raises(DataError) as caught:
        joined_sources([table("first", id=[1, 2], age=[10, 20]), table("second", **second)], "id")
    assert message in str(caught.value)
