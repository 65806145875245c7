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


def of_roles(**roles):
    return {"attributes": [{"name": name, "role": role} for name, role in roles.items()]}


CONFIDENTIAL = dict.fromkeys(("grade", "debt", "note", "lost"), "confidential")
ROLES = of_roles(person="record-id", age="key", town="key", **CONFIDENTIAL)
ROLES["attributes"][2]["scale"] = "nominal"
ROLES["attributes"][3] |= {"scale": "ordinal", "categories": ["low", "high"]}
SCHEMA = Schema.from_dict(ROLES)


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
    whole = ORIGINAL.assign(debt=[5.0, 6.0, 7.0, 9.0])
    assert [each.name for each in released(task(masked=whole)) if each.differs] == ["debt"]


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


def test_codes_with_two_spellings_are_one_category_and_a_wrong_cell_is_told():
    schema = of_roles(age="key", code="confidential")
    schema["attributes"][1]["scale"] = "nominal"
    original = pd.DataFrame({"age": [1.0, 2.0], "code": ["1", "2"]})
    masked = pd.DataFrame({"age": [1.0, 3.0], "code": [1.0, 2.0]})
    found = released(task(original, masked, Schema.from_dict(schema)))
    assert (found[1].categories, found[1].is_masked) == (("1", "2"), False)
    schema["attributes"][1]["scale"] = "numeric"
    wrong = original.assign(code=["1", "x"])
    assert unreadable(task(wrong, wrong, Schema.from_dict(schema))) == (
        "original, column 'code', row 2: 'x' is not a number; fix it or choose other attributes"
    )
    assert unreadable(task()) is None


def test_changes_are_those_that_one_counts():
    roles = {
        "id": "record-id",
        **dict.fromkeys(("age", "sex", "left"), "key"),
        **dict.fromkeys(("town", "new", "gone"), "ignored"),
    }
    schema = of_roles(**roles)
    schema["attributes"][2]["scale"] = "nominal"
    found = ChangesOfColumns().take(pair_task(BEFORE, AFTER, schema=schema), Clock(None))
    of = {one.column: one for one in found.columns}
    assert list(of) == [*BEFORE.columns, "new"]
    assert [one.column for one in found.columns if one.compared] == ["age", "sex", "left"]
    assert (of["age"].changed, of["age"].missing, of["age"].role) == (1.0, 0.25, "key")
    assert of["age"].shift == pytest.approx(2.0 / np.std([10.0, 20.0, 30.0], ddof=1))
    assert (of["sex"].changed, of["sex"].missing, of["sex"].shift) == (0.5, 0.0, None)
    assert of["sex"].most_frequent == "f to m (2 records)"
    assert (of["left"].changed, of["left"].shift, of["town"].changed) == (0.0, 0.0, 0.0)
    assert of["id"].note == "names records"
    assert (of["gone"].note, of["new"].note) == ("in the original file only", "in the masked file only")
    assert of["gone"].changed is None
    assert found.unchanged == ("left",)
    assert [finding.key for finding in found.findings] == ["values_changed", "left_alone"]
    assert [finding.value for finding in found.findings] == [pytest.approx(0.5), 1.0]
    assert "2 of 4 columns were changed, most of all age (100.0 % of the values)." in found.paragraph
    assert "left exactly as they are: left." in found.paragraph
    frame = pd.DataFrame({"A": [1.0, 2.0, 3.0]})
    same = ChangesOfColumns().take(pair_task(frame, frame), Clock(None))
    assert same.paragraph == "nothing was changed in any of 1 columns."
    assert same.columns[0].shift == 0.0
