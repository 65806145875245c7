"""The schema: roles and scales, inferred, written down and read back."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
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
        Attribute("person_id", Role.IDENTIFIER),
        Attribute("age"),
        Attribute("town", scale=Scale.NOMINAL, categories=("a", "b")),
        Attribute("grade", scale=Scale.ORDINAL, categories=("low", "high")),
        Attribute("colour", scale=Scale.NOMINAL, categories=("blue", "red")),
        Attribute("illness", Role.CONFIDENTIAL, Scale.NOMINAL, ("x", "y")),
    )


def test_selection_by_role_and_scale() -> None:
    schema = Schema.from_frame(FRAME, identifiers=["town"], confidential=["age"])
    assert schema.select() == schema.names
    assert schema.select(role=Role.IDENTIFIER) == ("person_id", "town")
    assert schema.select(scale=Scale.NUMERIC) == ("person_id", "age")
    assert schema.select(role=Role.CONFIDENTIAL, scale=Scale.NUMERIC) == ("age",)
    assert schema["grade"].categories == ("low", "high")


def test_an_id_column_with_repeated_values_is_no_identifier() -> None:
    schema = Schema.from_frame(pd.DataFrame({"id": [1, 1, 2], "record": [1, 2, 3]}))
    assert schema.select(role=Role.IDENTIFIER) == ("record",)


def test_json_round_trip() -> None:
    schema = Schema.from_frame(FRAME, confidential=["illness"])
    written = json.dumps(schema.to_dict())
    assert Schema.from_dict(json.loads(written)) == schema
    assert json.loads(written)["attributes"][3] == {
        "name": "grade",
        "role": "quasi-identifier",
        "scale": "ordinal",
        "categories": ["low", "high"],
    }


def test_role_and_scale_have_defaults_in_json() -> None:
    assert Schema.from_dict({"attributes": [{"name": "a"}]}).attributes == (Attribute("a"),)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, 'a schema needs a list under "attributes"'),
        ({"attributes": ["a"]}, 'attribute 1 of the schema needs a "name"'),
        ({"attributes": [{"name": "a"}, {"role": "identifier"}]}, 'attribute 2 of the schema needs a "name"'),
        (
            {"attributes": [{"name": "a", "role": "secret"}]},
            "attribute 'a' of the schema: unknown role 'secret'; use one of identifier, quasi-identifier, "
            "confidential, weight",
        ),
        (
            {"attributes": [{"name": "a", "scale": "ratio"}]},
            "attribute 'a' of the schema: unknown scale 'ratio'; use one of numeric, ordinal, nominal",
        ),
        (
            {"attributes": [{"name": "a", "kind": "x"}]},
            "attribute 'a' of the schema has an unknown entry 'kind'; take it out",
        ),
        (
            {"attributes": [{"name": "a", "scale": "nominal", "categories": "x"}]},
            "attribute 'a' of the schema: categories must be a list of text",
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
        (("",), "an attribute of the schema has no name; give it the name of its column"),
        (
            ("a", Role.CONFIDENTIAL, Scale.NUMERIC, ("x",)),
            "attribute 'a' is numeric and cannot have categories; leave them out",
        ),
        (
            ("a", Role.CONFIDENTIAL, Scale.ORDINAL),
            "attribute 'a' is ordinal; list its categories in ascending order",
        ),
        (
            ("a", Role.CONFIDENTIAL, Scale.NOMINAL, ("x", "x")),
            "attribute 'a' lists a category twice; list each once",
        ),
    ],
)
def test_bad_attributes(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(DataError) as caught:
        Attribute(*arguments)
    assert str(caught.value) == message


def test_unknown_names() -> None:
    with pytest.raises(DataError) as caught:
        Schema.from_frame(FRAME, confidential=["ilness"])
    assert str(caught.value) == "the table has no column 'ilness'; did you mean 'illness'?"
    with pytest.raises(DataError) as caught:
        Schema.from_frame(FRAME)["aage"]
    assert str(caught.value) == "the schema has no attribute 'aage'; did you mean 'age'?"
