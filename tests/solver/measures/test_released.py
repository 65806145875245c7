"""What measures read of both files, and what was changed, column by column."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from measure_runs import pair_task

from linkrisk.datasets.microdata.roles import Scale
from linkrisk.datasets.microdata.schema import Role, Schema
from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.solver.measures.released import ChangesOfColumns, released, unreadable
from linkrisk.solver.run.clock import Clock

ORIGINAL = pd.DataFrame(
    {
        "person": [1, 2, 3, 4],
        "age": [20.0, 30.0, np.nan, 50.0],
        "town": ["x", "y", "x", "y"],
        "grade": ["low", "high", "low", None],
        "debt": [5.0, 6.0, 7.0, 8.0],
        "note": ["a", "b", "c", "d"],
        "lost": [1.0, 2.0, 3.0, 4.0],
    }
)
MASKED = pd.DataFrame(
    {
        "person": [4, 2, 3],
        "age": [50.0, 35.0, 45.0],
        "town": ["y", "y", "x"],
        "grade": ["high", "high", "low"],
        "debt": [8.0, 6.0, 7.0],
        "note": ["d", "b", "e"],
    }
)
SCHEMA = Schema.from_dict(
    {
        "attributes": [
            {"name": "person", "role": "record-id"},
            {"name": "age", "role": "key"},
            {"name": "town", "role": "key", "scale": "nominal"},
            {"name": "grade", "role": "confidential", "scale": "ordinal", "categories": ["low", "high"]},
            {"name": "debt", "role": "confidential"},
            {"name": "note", "role": "confidential"},
            {"name": "lost", "role": "confidential"},
        ]
    }
)


def task(original=ORIGINAL, masked=MASKED, schema=SCHEMA):
    files = make_file_pair(original, masked, schema=schema)
    return SimpleNamespace(files=files, schema=schema, confidential=schema.select(role=Role.CONFIDENTIAL))


def test_compared_attributes_first_then_the_confidential_ones_of_both_files():
    found = {each.name: each for each in released(task())}
    assert list(found) == ["age", "town", "grade", "debt", "note"]
    assert [each.scale for each in found.values()] == [
        Scale.NUMERIC, Scale.NOMINAL, Scale.ORDINAL, Scale.NUMERIC, Scale.NOMINAL
    ]  # fmt: skip
    assert found["grade"].categories == ("low", "high")
    np.testing.assert_array_equal(found["grade"].original, [0.0, 1.0, 0.0, np.nan])
    np.testing.assert_array_equal(found["town"].masked, [1.0, 1.0, 0.0])
    assert found["note"].categories == ("a", "b", "c", "d", "e")


def test_partners_are_compared_and_other_records_make_distributions_differ():
    found = {each.name: each for each in released(task())}
    before, after = found["age"].paired
    np.testing.assert_array_equal(before, [30.0, np.nan, 50.0])
    np.testing.assert_array_equal(after, [35.0, 45.0, 50.0])
    # The last person has no grade in the original file, but in the masked one.
    assert [each.is_masked for each in found.values()] == [True, False, True, False, True]
    assert all(each.differs for each in found.values())


def test_the_same_records_differ_only_where_they_are_masked():
    whole = ORIGINAL.assign(debt=[5.0, 6.0, 7.0, 9.0])
    assert [each.name for each in released(task(masked=whole)) if each.differs] == ["debt"]


def test_codes_with_two_spellings_are_one_category():
    schema = {"attributes": [{"name": "age", "role": "key"}, {"name": "code", "role": "confidential"}]}
    schema["attributes"][1]["scale"] = "nominal"
    original = pd.DataFrame({"age": [1.0, 2.0], "code": ["1", "2"]})
    masked = pd.DataFrame({"age": [1.0, 3.0], "code": [1.0, 2.0]})
    found = released(task(original, masked, Schema.from_dict(schema)))
    assert (found[1].categories, found[1].is_masked) == (("1", "2"), False)


def test_a_wrong_cell_of_a_confidential_attribute_is_told():
    schema = Schema.from_dict(
        {
            "attributes": [
                {"name": "age", "role": "key"},
                {"name": "debt", "role": "confidential", "scale": "numeric"},
            ]
        }
    )
    original = pd.DataFrame({"age": [1.0, 2.0], "debt": ["1", "x"]})
    assert unreadable(task(original, original, schema)) == (
        "original, column 'debt', row 2: 'x' is not a number; fix it or choose other attributes"
    )
    assert unreadable(task()) is None


BEFORE = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "age": [10.0, 20.0, 30.0, 40.0],
        "sex": ["m", "f", "f", "m"],
        "town": ["X", "X", "X", "Z"],
        "left": [1.0, 2.0, 3.0, 4.0],
        "gone": [1.0, 1.0, 2.0, 3.0],
    }
)
AFTER = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "age": [12.0, 22.0, 32.0, np.nan],
        "sex": ["m", "m", "m", "m"],
        "town": ["X", "X", "X", "Z"],
        "left": [1.0, 2.0, 3.0, 4.0],
        "new": [0.0, 0.0, 0.0, 1.0],
    }
)
DECLARED = {
    "attributes": [
        {"name": "id", "role": "record-id"},
        {"name": "age", "role": "key"},
        {"name": "sex", "role": "key", "scale": "nominal"},
        {"name": "left", "role": "key"},
        {"name": "town", "role": "ignored"},
        {"name": "new", "role": "ignored"},
        {"name": "gone", "role": "ignored"},
    ]
}


@pytest.fixture(scope="module")
def found():
    task = pair_task(BEFORE, AFTER, schema=DECLARED)
    return ChangesOfColumns().take(task, Clock(None))


def test_every_column_of_both_files_is_listed_once(found):
    names = [one.column for one in found.columns]
    assert names == [*BEFORE.columns, "new"]
    compared = [one.column for one in found.columns if one.compared]
    assert compared == ["age", "sex", "left"]


def test_changes_are_those_that_one_counts(found):
    of = {one.column: one for one in found.columns}
    deviation = np.std([10.0, 20.0, 30.0], ddof=1)
    assert (of["age"].changed, of["age"].missing) == (1.0, 0.25)
    assert of["age"].shift == pytest.approx(2.0 / deviation)
    assert (of["sex"].changed, of["sex"].missing, of["sex"].shift) == (0.5, 0.0, None)
    assert of["sex"].most_frequent == "f to m (2 records)"
    assert (of["left"].changed, of["left"].shift) == (0.0, 0.0)
    assert of["town"].changed == 0.0
    assert of["id"].note == "names records"
    assert (of["gone"].note, of["new"].note) == ("in the original file only", "in the masked file only")
    assert of["gone"].changed is None
    assert of["age"].role == "key"


def test_what_was_left_as_it_is_is_named(found):
    assert found.unchanged == ("left",)
    assert [finding.key for finding in found.findings] == ["values_changed", "left_alone"]
    assert found.findings[0].value == pytest.approx(0.5)
    assert found.findings[1].value == 1.0
    assert "2 of 4 columns were changed, most of all age (100.0 % of the values)." in found.paragraph
    assert "left exactly as they are: left." in found.paragraph


def test_nothing_changed():
    frame = pd.DataFrame({"A": [1.0, 2.0, 3.0]})
    same = ChangesOfColumns().take(pair_task(frame, frame), Clock(None))
    assert same.paragraph == "nothing was changed in any of 1 columns."
    assert same.columns[0].shift == 0.0
