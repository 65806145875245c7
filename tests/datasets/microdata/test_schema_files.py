"""Schema files: written and read again as JSON and TOML, and every way in which they can be wrong."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.missing import MissingRange, overlapping
from linkrisk.datasets.microdata.schema import Attribute, Role, Scale, Schema
from linkrisk.datasets.microdata.schema_files import read_schema, to_toml, write_schema

TEXT = st.text(max_size=8)
NAMES = st.text(min_size=1, max_size=8)
ENDS = st.floats(allow_nan=False, allow_infinity=False)
RANGES = st.one_of(
    ENDS.map(lambda low: MissingRange(low=low)),
    ENDS.map(lambda high: MissingRange(high=high)),
    st.tuples(ENDS, ENDS).map(lambda ends: MissingRange(min(ends), max(ends))),
)
MISSING = st.lists(st.one_of(TEXT, RANGES), max_size=3).map(tuple)


@st.composite
def hierarchies(draw: st.DrawFn, name: str, codes: list[str]) -> Hierarchy:
    """One with two levels above the codes, the second of one group only."""
    groups = [draw(TEXT) for _ in codes]
    top = draw(TEXT)
    return Hierarchy(name, (tuple(codes), tuple(groups), (top,) * len(codes)))


@st.composite
def attributes(draw: st.DrawFn, name: str) -> Attribute:
    scale = draw(st.sampled_from([None, *Scale]))
    missing = draw(MISSING)
    codes = draw(st.lists(TEXT, unique=True, min_size=1, max_size=4))
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
        label=draw(TEXT),
        labels={code: draw(TEXT) for code in codes},
        missing=missing,
        hierarchy=hierarchy,
    )


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(NAMES, unique=True, max_size=3))
    return Schema(tuple(draw(attributes(name)) for name in names))


@pytest.mark.parametrize("suffix", [".json", ".toml"])
@given(schema=schemas(), comment=TEXT)
def test_a_written_schema_reads_the_same(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, schema: Schema, comment: str
) -> None:
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


def test_a_hierarchy_may_be_in_a_file_beside_the_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        ("s.yaml", None, "s.yaml: a schema is a .json or a .toml file; give it one of these names"),
        (
            "s.json",
            '{"attributes":\n [}',
            "s.json is not valid JSON (at line 2, column 3); a schema is a JSON object with a list of "
            "attributes",
        ),
        ("s.json", "[]", 's.json is not a schema: a schema is a JSON object with a list under "attributes"'),
        (
            "s.json",
            "[" * 100_000,
            "s.json is not valid JSON; a schema is a JSON object with a list of attributes",
        ),
        ("s.json", "{}", 's.json: a schema needs a list under "attributes"'),
        (
            "s.json",
            '{"attributes": [{"name": "a", "scale": "nominal", "scale": "ordinal"}]}',
            's.json cannot be used: the key "scale" is twice in an object; fix the schema',
        ),
        (
            "s.json",
            '{"attributes": [{"name": "a", "scale": "nominal", "categories": [1, NaN]}]}',
            "s.json cannot be used: NaN is not a JSON number; fix the schema",
        ),
        (
            "s.toml",
            '[[attributes]]\nname = "a"\nrole = ',
            "s.toml is not valid TOML: Invalid value (at end of document); fix the schema",
        ),
        (
            "s.toml",
            '[[attributes]]\nname = "a"\nname = "b"\n',
            "s.toml is not valid TOML: Cannot overwrite a value (at line 3, column 11); fix the schema",
        ),
        ("s.toml", b"\xff", "s.toml is not valid TOML: it is not text in UTF-8; fix the schema"),
        (
            "s.toml",
            '[[attributes]]\nname = "a"\nscale = "nominal"\ncategories = [1979-05-27]',
            "s.toml: attribute 'a' of the schema: categories must be codes as text, such as '1979-05-27', "
            "not datetime.date(1979, 5, 27)",
        ),
        (
            "s.toml",
            '[[attributes]]\nname = "a"\nscale = "ordinal"\n',
            "s.toml: attribute 'a' is ordinal; list its categories in ascending order",
        ),
    ],
)
def test_bad_schema_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: Any, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError) as caught:
        read_schema(name)
    assert str(caught.value) == message


def test_a_schema_is_written_under_a_name_that_can_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a schema is a"):
        write_schema(Schema(()), tmp_path / "s.yaml")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [("s.json", '{"attributes": [{"name": "a"}]}'), ("s.toml", '[[attributes]]\nname = "a"\n')],
)
def test_a_byte_order_mark_does_not_matter(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8-sig")
    assert read_schema(tmp_path / name) == Schema((Attribute("a"),))
