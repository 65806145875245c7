"""The schema: roles and scales, inferred, written down and read back."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.missing import MissingRange
from linkrisk.datasets.microdata.schema import Attribute, Role, Scale, Schema

FRAME = pd.DataFrame(
    {
        "person_id": [3, 1, 2],
        "age": [30, 40, 30],
        "town": ["b", "a", "b"],
        "grade": pd.Categorical(["low", "high", "low"], categories=["low", "high"], ordered=True),
        "colour": pd.Categorical(["red", "red", "blue"]),
        "illness": ["x", "y", None],
    }
)


def test_inference_from_a_table() -> None:
    schema = Schema.from_frame(FRAME, confidential=["illness"])
    assert schema.attributes == (
        Attribute("person_id", Role.RECORD_ID, Scale.NUMERIC),
        Attribute("age", Role.KEY, Scale.NUMERIC),
        Attribute("town", Role.KEY, Scale.NOMINAL, ("a", "b")),
        Attribute("grade", Role.KEY, Scale.ORDINAL, ("low", "high")),
        Attribute("colour", Role.KEY, Scale.NOMINAL, ("blue", "red")),
        Attribute("illness", Role.CONFIDENTIAL, Scale.NOMINAL, ("x", "y")),
    )


def test_selection_by_role_and_scale() -> None:
    schema = Schema.from_frame(FRAME, identifiers=["town"], confidential=["age"])
    assert schema.select() == schema.names
    assert schema.select(role=Role.IDENTIFIER) == ("town",)
    assert schema.select(role=Role.RECORD_ID) == ("person_id",)
    assert schema.select(scale=Scale.NUMERIC) == ("person_id", "age")
    assert schema.select(role=Role.CONFIDENTIAL, scale=Scale.NUMERIC) == ("age",)
    assert schema["grade"].categories == ("low", "high")


def test_an_id_column_with_repeated_values_is_no_identifier() -> None:
    schema = Schema.from_frame(pd.DataFrame({"id": [1, 1, 2], "record": [1, 2, 3]}))
    assert schema.select(role=Role.RECORD_ID) == ("record",)


def test_json_round_trip() -> None:
    schema = Schema.from_frame(FRAME, confidential=["illness"])
    written = json.dumps(schema.to_dict())
    assert Schema.from_dict(json.loads(written)) == schema
    assert json.loads(written)["attributes"][3] == {
        "name": "grade",
        "role": "key",
        "scale": "ordinal",
        "categories": ["low", "high"],
    }


def test_what_is_not_declared_is_left_open() -> None:
    assert Schema.from_dict({"attributes": [{"name": "a"}]}).attributes == (Attribute("a"),)
    assert Schema((Attribute("a"),)).to_dict() == {"attributes": [{"name": "a"}]}
    assert (Attribute("a").role, Attribute("a").scale) == (None, None)


AGE = {
    "name": "age",
    "role": "key",
    "scale": "ordinal",
    "label": "Age in years",
    "categories": ["1", "2", "3"],
    "labels": {"1": "young", "3": "old", "9": "no answer"},
    "missing": ["9", {"from": 97.0}],
    "hierarchy": {"1": ["1-2", "*"], "2": ["1-2", "*"], "3": ["3", "*"]},
}


def test_everything_that_an_attribute_can_have() -> None:
    schema = Schema.from_dict({"attributes": [AGE]})
    age = schema["age"]
    assert (age.role, age.scale, age.label) == (Role.KEY, Scale.ORDINAL, "Age in years")
    assert age.labels == {"1": "young", "3": "old", "9": "no answer"}
    assert age.missing == ("9", MissingRange(low=97.0))
    assert age.hierarchy is not None
    assert age.hierarchy.levels == (("1", "2", "3"), ("1-2", "1-2", "3"), ("*", "*", "*"))
    assert schema.hierarchies == (age.hierarchy,)
    assert schema.to_dict() == {"attributes": [AGE]}


def test_numbers_are_codes_too() -> None:
    row = {"name": "a", "scale": "nominal", "categories": [1, "02"], "missing": [9]}
    made = Schema.from_dict({"attributes": [row]})["a"]
    assert (made.categories, made.missing) == (("1", "02"), ("9",))


def _about(**entries: Any) -> dict[str, Any]:
    return {"attributes": [{"name": "a", **entries}]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, 'a schema needs a list under "attributes"'),
        (
            {"columns": [], "attributes": []},
            "the schema has an unknown key 'columns'; it has a list under \"attributes\" only",
        ),
        ({"attributes": ["a"]}, 'attribute 1 of the schema needs a "name"'),
        ({"attributes": [{"name": "a"}, {"role": "identifier"}]}, 'attribute 2 of the schema needs a "name"'),
        (
            _about(role="secret"),
            "attribute 'a' of the schema: unknown role 'secret'; use one of identifier, key, confidential, "
            "weight, household, stratum, record-id, ignored",
        ),
        (
            _about(scale="ratio"),
            "attribute 'a' of the schema: unknown scale 'ratio'; use one of numeric, date, ordinal, nominal, "
            "text",
        ),
        (_about(lable="x"), "attribute 'a' of the schema has an unknown key 'lable'; did you mean 'label'?"),
        (
            _about(zzz="x"),
            "attribute 'a' of the schema has an unknown key 'zzz'; there are: name, role, scale, form, "
            "label, categories, labels, missing, hierarchy",
        ),
        (_about(label=3), "attribute 'a' of the schema: label must be text, not 3"),
        (
            _about(scale="nominal", categories="x"),
            "attribute 'a' of the schema: categories must be a list of codes",
        ),
        (
            _about(scale="nominal", categories=[1.5]),
            "attribute 'a' of the schema: categories must be codes as text, such as '1.5', not 1.5",
        ),
        (_about(labels=["x"]), "attribute 'a' of the schema: labels must give each code a text"),
        (_about(labels={"1": 2}), "attribute 'a' of the schema: labels must give each code a text"),
        (
            _about(missing="9"),
            "attribute 'a' of the schema: missing must be a list of codes, or of ranges such as "
            '{"from": 97}',
        ),
        (
            _about(missing=[True]),
            "attribute 'a' of the schema: missing must be codes as text, such as 'True', not True",
        ),
        (
            _about(missing=[{"since": 9}]),
            "attribute 'a' of the schema: a range of missing codes has from and to, not 'since'",
        ),
        (
            _about(missing=[{"from": "9"}]),
            "attribute 'a' of the schema: missing, from must be a number, not '9'",
        ),
        (
            _about(missing=[{}]),
            "attribute 'a' of the schema: missing: a range of missing codes needs at least one end",
        ),
        (
            _about(missing=[{"from": 9, "to": 1}]),
            "attribute 'a' of the schema: missing: no number is between 9 and 1; give the smaller end first",
        ),
        (
            _about(hierarchy="ages.csv"),
            "attribute 'a' of the schema: hierarchy names the file 'ages.csv'; only a schema file "
            "can do that",
        ),
        (
            _about(hierarchy=["1"]),
            "attribute 'a' of the schema: hierarchy must be a file name, or give each category a list of "
            "levels",
        ),
        (
            _about(hierarchy={"1": "x"}),
            "attribute 'a' of the schema: hierarchy, category '1' needs a list of levels",
        ),
        (
            _about(hierarchy={"1": [None]}),
            "attribute 'a' of the schema: hierarchy, levels of '1' must be codes as text, such as 'None', "
            "not None",
        ),
        (_about(hierarchy={}), "the hierarchy of 'a' has no category; list each with its levels"),
        (
            _about(hierarchy={"1": ["x"], "2": ["x", "y"]}),
            "the hierarchy of 'a' has categories of 1 and of 2 levels; give each the same number",
        ),
        (
            _about(hierarchy={"1": [], "2": []}),
            "the hierarchy of 'a' has no level above the categories; give one column per level",
        ),
        (
            {"attributes": [{"name": "a"}, {"name": "a"}]},
            "the attribute 'a' is given twice in the schema; give it once",
        ),
    ],
)
def test_bad_descriptions(data: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        Schema.from_dict(data)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": ""}, "an attribute of the schema has no name; give it the name of its column"),
        (
            {"scale": Scale.NUMERIC, "categories": ("x",)},
            "attribute 'a' is numeric and cannot have categories; leave them out",
        ),
        (
            {"scale": Scale.TEXT, "categories": ("x",)},
            "attribute 'a' is text and cannot have categories; leave them out",
        ),
        ({"categories": ("x",)}, "attribute 'a' has categories and no scale; say nominal or ordinal"),
        ({"scale": Scale.ORDINAL}, "attribute 'a' is ordinal; list its categories in ascending order"),
        (
            {"scale": Scale.NOMINAL, "categories": ("x", "x")},
            "attribute 'a' lists a category twice; list each once",
        ),
        (
            {"scale": Scale.NOMINAL, "categories": ("x", "9"), "missing": ("9",)},
            "attribute 'a' lists '9' as a category and as missing; choose one",
        ),
        (
            {"scale": Scale.NOMINAL, "categories": ("1", "98"), "missing": (MissingRange(97, 99),)},
            "attribute 'a' lists '98' as a category and as missing; choose one",
        ),
        (
            {"scale": Scale.NOMINAL, "categories": ("1",), "labels": {"2": "two"}},
            "attribute 'a' has a label for '2', which is not a category; list it or remove it",
        ),
        (
            {"hierarchy": Hierarchy("b", (("1",), ("x",)))},
            "attribute 'a' has the hierarchy of 'b'; give it its own",
        ),
        (
            {
                "scale": Scale.NOMINAL,
                "categories": ("1", "2"),
                "hierarchy": Hierarchy("a", (("1",), ("x",))),
            },
            "attribute 'a': its hierarchy has no category '2'; add it there",
        ),
    ],
)
def test_bad_attributes(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        Attribute(**{"name": "a", **arguments})
    assert str(caught.value) == message


def test_unknown_names() -> None:
    with pytest.raises(DataError) as caught:
        Schema.from_frame(FRAME, confidential=["ilness"])
    assert str(caught.value) == "the table has no column 'ilness'; did you mean 'illness'?"
    with pytest.raises(DataError) as caught:
        Schema.from_frame(FRAME)["aage"]
    assert str(caught.value) == "the schema has no attribute 'aage'; did you mean 'age'?"
