"""What the roles of a schema do to a pair of files: what is compared, who is who, weights and strata."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.missing import MissingRange
from linkrisk.datasets.microdata.schema import Attribute, Role, Scale, Schema
from linkrisk.datasets.pairs.file_pair import FilePair, make_file_pair
from linkrisk.datasets.pairs.survey_design import by_stratum

ORIGINAL = pd.DataFrame(
    {
        "person": [11, 12, 13, 14],
        "name": ["Ada", "Bo", "Cy", "Di"],
        "age": [20, 35, 50, 70],
        "income": [10.0, 12.0, 9.0, 30.0],
        "house": [1, 1, 2, 2],
        "illness": [1, 2, 1, 3],
        "weight": [100.5, 200.0, 50.0, 25.0],
        "stratum": ["n", "s", "s", None],
        "note": ["x", "y", "z", "w"],
    }
)
MASKED = ORIGINAL.drop(columns="name").assign(age=[20, 36, 50, 71], income=[10.0, 12.0, 10.0, 30.0])
SHUFFLED = MASKED.iloc[[2, 0, 3, 1]].reset_index(drop=True)

ROLES = {
    "person": Role.RECORD_ID, "name": Role.IDENTIFIER, "house": Role.HOUSEHOLD, "weight": Role.WEIGHT,
    "stratum": Role.STRATUM, "note": Role.IGNORED,
}  # fmt: skip


def schema(**more: Attribute | Role | None) -> Schema:
    """The roles above, with others in their place, or other attributes."""
    made = {name: Attribute(name, role) for name, role in ROLES.items()}
    for name, value in more.items():
        made[name] = value if isinstance(value, Attribute) else Attribute(name, value)
    return Schema(tuple(made.values()))


def pair(**options: Any) -> FilePair:
    return make_file_pair(ORIGINAL, SHUFFLED, **{"schema": schema(), **options})


def message(original: pd.DataFrame = ORIGINAL, masked: pd.DataFrame = SHUFFLED, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        make_file_pair(original, masked, **{"schema": schema(), **options})
    return str(caught.value)


def test_without_key_variables_all_columns_without_a_role_are_compared() -> None:
    assert pair().attributes == ("age", "income", "illness")
    assert pair(schema=schema(illness=Role.CONFIDENTIAL)).attributes == ("age", "income")
    text = Attribute("age", None, Scale.TEXT)
    assert pair(schema=schema(age=text)).attributes == ("income", "illness")
    # Key variables are compared, and nothing else.
    keys = schema(age=Role.KEY, illness=Role.KEY)
    assert pair(schema=keys).attributes == ("age", "illness")
    assert pair(schema=keys, attributes=["income", "age"]).attributes == ("income", "age")
    # A confidential column may be compared by whoever wants to.
    chosen = pair(schema=schema(illness=Role.CONFIDENTIAL), attributes=["illness", "age"])
    assert chosen.attributes == ("illness", "age")


WHAT = {
    "person": "the record id", "name": "a direct identifier", "house": "the household number",
    "weight": "the sampling weight", "stratum": "the stratum", "note": "ignored",
}  # fmt: skip


def test_what_is_never_compared_is_refused_by_name() -> None:
    for name, what in WHAT.items():
        assert message(masked=MASKED.assign(name="x"), attributes=["age", name], row_by_row=True) == (
            f"{name!r} is {what} in the schema, and never compared; take it out of attributes, or give it "
            "another role"
        )
    text = schema(note=Attribute("note", None, Scale.TEXT))
    assert message(schema=text, attributes=["note", "age"]) == (
        "'note' is free text in the schema, which cannot be compared; take it out of attributes, or call "
        "it nominal in the schema"
    )
    key = schema(note=Attribute("note", Role.KEY, Scale.TEXT))
    assert message(schema=key).startswith("'note' is free text in the schema")
    for name in ("person", "weight", "stratum"):
        assert message(schema=schema(illness=ROLES[name])) == (
            f"the schema calls both {name!r} and 'illness' {WHAT[name]}; set the role of one of them to "
            "ignored"
        )


def test_columns_that_a_file_lacks_are_named() -> None:
    assert message(schema=schema(age=Role.KEY, size=Role.KEY, name=Role.KEY)) == (
        "original does not have these key variables of the schema: size; choose common columns with "
        "attributes"
    )
    assert message(schema=schema(name=Role.KEY, age=Role.KEY)) == (
        "masked does not have these key variables of the schema: name; choose common columns with attributes"
    )
    assert message(masked=SHUFFLED.drop(columns="age"), schema=schema(age=None)) == (
        "masked does not have columns that original has: age; choose common columns with attributes"
    )
    # A direct identifier that nobody declares is left out as where there is no schema.
    found = pair(schema=schema(name=None))
    assert "not compared: name (a direct identifier by its name)" in " ".join(found.notes)


def test_the_record_id_says_who_is_who() -> None:
    made = pair()
    assert made.alignment == "id person"
    assert made.partner.tolist() == [1, 3, 0, 2]
    assert made.original_labels == ("11", "12", "13", "14")
    assert made.notes[0].startswith("records were aligned by column person, the record id of the schema; row")
    # What the user says comes first.
    rows = make_file_pair(ORIGINAL, MASKED, schema=schema(), row_by_row=True)
    assert (rows.alignment, rows.partner.tolist()) == ("row by row", [0, 1, 2, 3])
    other = make_file_pair(
        ORIGINAL.assign(key=[4, 3, 2, 1]), MASKED.assign(key=[1, 2, 3, 4]), schema=schema(), id="key"
    )
    assert (other.alignment, other.partner.tolist()) == ("id key", [3, 2, 1, 0])
    assert not any("record id of the schema" in note for made in (rows, other) for note in made.notes)


def test_missing_codes_are_missing_values() -> None:
    coded = schema(illness=Attribute("illness", missing=("3",)))
    made = pair(schema=coded)
    ages = pair(schema=schema(age=Attribute("age", missing=(MissingRange(60.0, 80.0),))))
    for one, name in ((made, "illness"), (ages, "age")):
        assert np.isnan(one.original_values[:, one.attributes.index(name)]).tolist() == [False] * 3 + [True]
    assert not any("stands for" in note for note in (*made.notes, *ages.notes))
    assert pair(schema=coded, attributes=["age", "income"]).attributes == ("age", "income")


# Weights and strata


def test_weights_and_strata_are_those_of_the_original_records() -> None:
    design = pair().design
    assert (design.weight_column, design.stratum_column) == ("weight", "stratum")
    assert design.weight.tolist() == [100.5, 200.0, 50.0, 25.0]
    assert design.stratum == ("n", "s", "s", "(missing)")
    assert design.notes == ()
    # The masked file has them where the original does not.
    bare = ORIGINAL.drop(columns=["weight", "stratum"])
    design = make_file_pair(bare, SHUFFLED.iloc[:3], schema=schema()).design
    np.testing.assert_array_equal(design.weight, [100.5, np.nan, 50.0, 25.0])
    assert design.stratum == ("n", "(missing)", "s", "(missing)")


def test_a_schema_without_such_columns_and_files_without_them() -> None:
    plain = make_file_pair(ORIGINAL, SHUFFLED, schema=schema(weight=None, stratum=Role.IGNORED)).design
    assert (plain.weight, plain.stratum, plain.notes) == (None, None, ())
    without = [frame.drop(columns=["weight", "stratum"]) for frame in (ORIGINAL, SHUFFLED)]
    made = make_file_pair(*without, schema=schema())
    assert (made.design.weight, made.design.stratum) == (None, None)
    assert made.design.notes == (
        "neither file has column weight, the sampling weight of the schema: all records count alike",
        "neither file has column stratum, the stratum of the schema: nothing is counted by stratum",
    )
    assert set(made.design.notes) <= set(made.notes)


@pytest.mark.parametrize(
    ("weight", "found"), [(0.0, "0"), (-1.5, "-1.5"), (None, "missing")], ids=["zero", "negative", "missing"]
)
def test_weights_are_above_zero(weight: float | None, found: str) -> None:
    wrong = ORIGINAL.assign(weight=[100.0, weight, 1.0, 0.0])
    assert message(wrong) == (
        f"original, column 'weight', row 2: the sampling weight is {found}; weights must be finite numbers "
        "above 0"
    )


def test_strata_are_counted_in_their_order() -> None:
    linked = np.array([True, False, True, True])
    assert by_stratum(("10", "9", "10", "9"), linked) == {
        "9": {"records": 2, "linked": 1},
        "10": {"records": 2, "linked": 2},
    }
