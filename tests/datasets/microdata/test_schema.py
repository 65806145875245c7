"""The schema: roles and scales, inferred, written down and read back."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.missing import MissingRange, overlapping
from linkrisk.datasets.microdata.schema import Attribute, Role, Scale, Schema
from linkrisk.datasets.microdata.schema_files import read_schema, to_toml, write_schema
from linkrisk.datasets.microdata.strict_json import AmbiguousError, parse

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


def _about(**entries: Any) -> dict[str, Any]:
    return {"attributes": [{"name": "a", **entries}]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, 'a schema needs a list under "attributes"'),
        ({"columns": [], "attributes": []}, "the schema has an unknown key 'columns'; it has a list under"),
        ({"attributes": [{"name": "a"}, {"role": "identifier"}]}, 'attribute 2 of the schema needs a "name"'),
        (_about(role="secret"), "attribute 'a' of the schema: unknown role 'secret'; use one of"),
        (_about(scale="ratio"), "attribute 'a' of the schema: unknown scale 'ratio'; use one of numeric,"),
        (_about(lable="x"), "attribute 'a' of the schema has an unknown key 'lable'; did you mean 'label'?"),
        (_about(zzz="x"), "attribute 'a' of the schema has an unknown key 'zzz'; there are: name, role,"),
        (_about(label=3), "attribute 'a' of the schema: label must be text, not 3"),
        (_about(scale="nominal", categories="x"), "attribute 'a' of the schema: categories must be a list"),
        (_about(scale="nominal", categories=[1.5]), "attribute 'a' of the schema: categories must be codes"),
        (_about(labels={"1": 2}), "attribute 'a' of the schema: labels must give each code a text"),
        (_about(missing="9"), "attribute 'a' of the schema: missing must be a list of codes, or of ranges"),
        (_about(missing=[{"since": 9}]), "attribute 'a' of the schema: a range of missing codes has from"),
        (_about(missing=[{"from": "9"}]), "attribute 'a' of the schema: missing, from must be a number,"),
        (_about(missing=[{"from": 9, "to": 1}]), "attribute 'a' of the schema: missing: no number is"),
        (_about(hierarchy="ages.csv"), "attribute 'a' of the schema: hierarchy names the file 'ages.csv';"),
        (_about(hierarchy=["1"]), "attribute 'a' of the schema: hierarchy must be a file name, or give"),
        (_about(hierarchy={"1": "x"}), "attribute 'a' of the schema: hierarchy, category '1' needs a list"),
        (_about(hierarchy={"1": [None]}), "attribute 'a' of the schema: hierarchy, levels of '1' must be"),
        (_about(hierarchy={}), "the hierarchy of 'a' has no category; list each with its levels"),
        (_about(hierarchy={"1": ["x"], "2": ["x", "y"]}), "the hierarchy of 'a' has categories of 1 and of"),
        (_about(hierarchy={"1": [], "2": []}), "the hierarchy of 'a' has no level above the categories;"),
        ({"attributes": [{"name": "a"}, {"name": "a"}]}, "the attribute 'a' is given twice in the schema;"),
    ],
)
def test_bad_descriptions(data: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        Schema.from_dict(data)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": ""}, "an attribute of the schema has no name; give it the name of its column"),
        ({"scale": Scale.NUMERIC, "categories": ("x",)}, "attribute 'a' is numeric and cannot have"),
        ({"categories": ("x",)}, "attribute 'a' has categories and no scale; say nominal or ordinal"),
        ({"scale": Scale.ORDINAL}, "attribute 'a' is ordinal; list its categories in ascending order"),
        ({"scale": Scale.NOMINAL, "categories": ("x", "x")}, "attribute 'a' lists a category twice; list"),
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
        ({"hierarchy": Hierarchy("b", (("1",), ("x",)))}, "attribute 'a' has the hierarchy of 'b'; give it"),
        (
            {"scale": Scale.NOMINAL, "categories": ("1", "2"), "hierarchy": Hierarchy("a", (("1",), ("x",)))},
            "attribute 'a': its hierarchy has no category '2'; add it there",
        ),
    ],
)
def test_bad_attributes(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        Attribute(**{"name": "a", **arguments})
    assert message in str(caught.value)


def test_unknown_names() -> None:
    with pytest.raises(DataError) as caught:
        Schema.from_frame(FRAME, confidential=["ilness"])
    assert str(caught.value) == "the table has no column 'ilness'; did you mean 'illness'?"
    with pytest.raises(DataError) as caught:
        Schema.from_frame(FRAME)["aage"]
    assert str(caught.value) == "the schema has no attribute 'aage'; did you mean 'age'?"


# Schema files: written and read again as JSON and TOML, and every way in which they can be wrong


TEXTS = st.text(max_size=8)
NAMES = st.text(min_size=1, max_size=8)
ENDS = st.floats(allow_nan=False, allow_infinity=False)
RANGES = st.one_of(
    ENDS.map(lambda low: MissingRange(low=low)),
    ENDS.map(lambda high: MissingRange(high=high)),
    st.tuples(ENDS, ENDS).map(lambda ends: MissingRange(min(ends), max(ends))),
)
MISSING = st.lists(st.one_of(TEXTS, RANGES), max_size=3).map(tuple)


@st.composite
def hierarchies(draw: st.DrawFn, name: str, codes: list[str]) -> Hierarchy:
    """One with two levels above the codes, the second of one group only."""
    groups = [draw(TEXTS) for _ in codes]
    top = draw(TEXTS)
    return Hierarchy(name, (tuple(codes), tuple(groups), (top,) * len(codes)))


@st.composite
def attributes(draw: st.DrawFn, name: str) -> Attribute:
    scale = draw(st.sampled_from([None, *Scale]))
    missing = draw(MISSING)
    codes = draw(st.lists(TEXTS, unique=True, min_size=1, max_size=4))
    declared = set(overlapping(codes, missing))
    codes = [code for code in codes if code not in declared]
    listed = scale is Scale.ORDINAL or (scale is Scale.NOMINAL and draw(st.booleans()))
    if listed and not codes:
        codes, missing = ["x"], ()
    hierarchy = draw(hierarchies(name, codes)) if codes and draw(st.booleans()) else None
    return Attribute(
        name,
        draw(st.sampled_from([None, *Role])),
        scale,
        tuple(codes) if listed else None,
        label=draw(TEXTS),
        labels={code: draw(TEXTS) for code in codes},
        missing=missing,
        hierarchy=hierarchy,
    )


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(NAMES, unique=True, max_size=3))
    return Schema(tuple(draw(attributes(name)) for name in names))


@pytest.mark.parametrize("suffix", [".json", ".toml"])
@settings(max_examples=50)
@given(schema=schemas(), comment=TEXTS)
def test_a_written_schema_reads_the_same(tmp_path_factory, suffix, schema, comment):
    path = tmp_path_factory.mktemp("schemas") / f"s{suffix}"
    write_schema(schema, path, dict.fromkeys(schema.names, comment))
    assert read_schema(path) == schema
    assert Schema.from_dict(schema.to_dict()) == schema


def test_toml_is_easy_to_read_and_to_correct() -> None:
    schema = Schema(
        (
            Attribute("name", Role.IDENTIFIER, Scale.TEXT),
            Attribute(
                "sex",
                Role.KEY,
                Scale.NOMINAL,
                label='"Sex"',
                labels={"1": "male", "2": "female"},
                missing=("9", MissingRange(97.0, 99.0)),
            ),
        )
    )
    text = to_toml(schema, {"name": "holds text\nthat never repeats"})
    assert (
        text
        == """# holds text that never repeats
[[attributes]]
name = "name"
role = "identifier"
scale = "text"

[[attributes]]
name = "sex"
role = "key"
scale = "nominal"
label = "\\"Sex\\""
missing = ["9", { from = 97.0, to = 99.0 }]
[attributes.labels]
"1" = "male"
"2" = "female"
"""
    )
    assert tomllib.loads(text) == schema.to_dict()
    assert to_toml(Schema(()), {}) == "attributes = []\n"


def test_a_hierarchy_may_be_in_a_file_beside_the_schema(tmp_path, monkeypatch):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "ages.csv").write_text("code,group,all\n01,young,*\n02,old,*\n")
    (tmp_path / "project" / "s.toml").write_text('[[attributes]]\nname = "age"\nhierarchy = "ages.csv"\n')
    monkeypatch.chdir(tmp_path)
    expected = Hierarchy("age", (("01", "02"), ("young", "old"), ("*", "*")))
    assert read_schema("project/s.toml")["age"].hierarchy == expected
    (tmp_path / "project" / "ages.csv").unlink()
    with pytest.raises(DataError) as caught:
        read_schema("project/s.toml")
    assert str(caught.value) == ("project/s.toml: project/ages.csv cannot be read: there is no such file")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.json", None, "s.json cannot be read: no such file or directory"),
        ("s.toml", None, "s.toml cannot be read: no such file or directory"),
        (
            "s.yaml",
            None,
            "s.yaml: a schema is a .json or a .toml file, or a codebook of DDI (.xml); give it one of these "
            "names",
        ),
        ("s.json", '{"attributes":\n [}', "s.json is not valid JSON (at line 2, column 3); a schema is a"),
        ("s.json", "[" * 100_000, "s.json is not valid JSON; a schema is a JSON object with a list of"),
        (
            "s.json",
            '{"attributes": [NaN]}',
            "s.json cannot be used: NaN is not a JSON number; fix",
        ),
        ("s.toml", '[[attributes]]\nname = "a"\nrole = ', "s.toml is not valid TOML: Invalid value (at end"),
        ("s.toml", '[[attributes]]\nname = "a"\nname = "b"\n', "s.toml is not valid TOML: Cannot overwrite"),
        ("s.toml", b"\xff", "s.toml is not valid TOML: it is not text in UTF-8; fix the schema"),
        (
            "s.toml",
            '[[attributes]]\nname = "a"\nscale = "nominal"\ncategories = [1979-05-27]',
            "s.toml: attribute 'a' of the schema: categories must be codes as text, such as '1979-05-27', "
            "not datetime.date(1979, 5, 27)",
        ),
        ("s.toml", '[[attributes]]\nname = "a"\nscale = "ordinal"\n', "s.toml: attribute 'a' is ordinal;"),
    ],
)
def test_bad_schema_files(tmp_path, monkeypatch, name, text, message):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError) as caught:
        read_schema(name)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [("s.json", '{"attributes": [{"name": "a"}]}'), ("s.toml", '[[attributes]]\nname = "a"\n')],
)
def test_a_byte_order_mark_does_not_matter(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8-sig")
    assert read_schema(tmp_path / name) == Schema((Attribute("a"),))


# JSON that has one meaning is read as it is; what has none, or two, is refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 1}', 'the key "a" is twice in an object'),
        ('[{"b": {"a": 1, "c": 2, "a": 3}}]', 'the key "a" is twice in an object'),
        ('{"a": 1, "\\u0061": 2}', 'the key "a" is twice in an object'),
        ("[NaN]", "NaN is not a JSON number"),
        ("Infinity", "Infinity is not a JSON number"),
        ("1e999", "the number 1e999 is too large"),
    ],
)
def test_what_is_ambiguous(text, message):
    with pytest.raises(AmbiguousError) as caught:
        parse(text.encode())
    assert str(caught.value) == message
