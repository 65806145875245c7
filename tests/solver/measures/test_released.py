"""What measures read of both files: scales, categories, missing values, records that are in one file only."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.roles import Scale
from linkrisk.datasets.microdata.schema import Role, Schema
from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.solver.measures.released import released, unreadable

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
