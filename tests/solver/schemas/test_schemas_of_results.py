"""The JSON of every result fits its schema, which is published with the pages, and nothing else does."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import jsonschema
import pytest
from cli_runs import check_refused_calls
from every_result import EVERY, as_read
from fit_runs import frames

import linkrisk
from linkrisk.datasets.microdata.strict_json import kind_of
from linkrisk.solver.charts.theme import worst_said
from linkrisk.solver.schemas.keys import (
    KINDS,
    content_schema,
    file_schema,
    key,
    outside,
    read,
    schema_of,
    wrong,
)
from linkrisk.solver.schemas.reading import (
    Interval,
    held_out_of,
    learned_options,
    tolerated_of,
    upper_end,
    worst_cases,
)

FOLDER = Path(__file__).parents[3] / "docs" / "schemas"


@pytest.mark.parametrize("kind", KINDS)
def test_the_published_schema_is_that_of_today(kind):
    schema = file_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    path = FOLDER / f"{kind}.json"
    text = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("LINKRISK_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("make", EVERY, ids=lambda make: make.__name__.strip("_"))
def test_every_json_fits_its_schema(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for result in make():
        found = as_read(result)
        kind = kind_of(found)
        validator = jsonschema.Draft202012Validator(file_schema(kind))
        complaints = [
            f"{list(one.absolute_path)}: {one.message[:300]}" for one in validator.iter_errors(found)
        ]
        assert complaints == []
        content = {name: value for name, value in found.items() if name not in ("format", "version")}
        assert wrong(content_schema(kind), content) is None
        for spoilt in ({**found, "invented": 1}, {**found, "format": "linkrisk-other"}):
            assert not validator.is_valid(spoilt) or kind == "measure"


class Part(TypedDict):
    number: Annotated[int, key(public=True)]
    secret: int


@pytest.mark.parametrize("hint", [str, str | None, Any, list[str], Literal["a"] | str, Part | None], ids=str)
def test_a_key_that_may_hold_any_text_cannot_be_public(hint):
    with pytest.raises(TypeError, match="public, but may hold any text: a name"):
        schema_of(Annotated[hint, key("a name", public=True)])


@pytest.mark.parametrize("kind", KINDS)
def test_every_public_key_holds_numbers_flags_or_names_of_a_list(kind):
    """Over all schemas: no way to any other text leads through public keys alone."""

    def public(schema):
        if "$ref" in schema:
            schema = named[schema["$ref"].rpartition("/")[2]]
        if "properties" in schema:
            for one in schema["properties"].values():
                if one.get("public"):
                    yield from public(one)
        elif "items" in schema:
            yield from public(schema["items"])
        else:
            yield schema

    schema = content_schema(kind)
    named = schema.get("$defs", {})
    for root in schema.get("anyOf", [schema]):
        for leaf in public(root):
            allowed = {"integer", "number", "boolean", "null"}
            assert "enum" in leaf or set(kinds(leaf)) <= allowed


def kinds(schema):
    return [schema["type"]] if isinstance(schema["type"], str) else schema["type"]


class Whole(TypedDict):
    part: Annotated[Part, key(public=True)]
    parts: Annotated[list[Part], key(public=True)]
    hidden: Part
    name: Annotated[Literal["a", "b"], key(public=True)]


def test_outside_is_what_is_marked_and_holds_what_it_should():
    part = {"number": 1, "secret": 2, "new": 3}
    given = {"part": part, "parts": [part, "x"], "hidden": part, "name": "c", "new": "n"}
    kept = outside(schema_of(Whole), given)
    assert kept == {"part": {"number": 1}, "parts": [{"number": 1}, {}], "name": None}
    assert outside(schema_of(Part), {"number": True}) == {"number": None}
    assert outside(schema_of(Part), {"number": float("nan")}) == {"number": None}
    assert outside(schema_of(Part), {"number": "7"}) == {"number": None}
    assert outside(schema_of(Part), "text") == {}


def test_what_is_read_is_what_was_written():
    found = as_read(linkrisk.fit(*frames(1), aggregator="owa"))
    assert read({**found, "new": 1}, ["fit"], "give a fit") == "fit"

    def refused(given):
        read({**found, **given} if given and "format" not in given else given, ["fit"], "give a fit")

    check_refused_calls(
        "no-fit",
        refused,
        [
            *({}, {"format": "linkrisk-risk", "version": 1}, {"format": "linkrisk-fit", "version": 2}),
            *({"linked": "all"}, {"tied": {"records": 1}}, {"trace": [[0.0, 1, "x"]]}),
        ],
    )


FIT = {"aggregator": "owa", "records": 40, "linked": 10, "linked_upper_bound": 20, "parameters": {}}


@pytest.mark.parametrize(
    ("worst", "said", "upper"),
    [
        (Interval(10, 20, 40), "25.0 to 50.0 %", 0.5),
        (Interval(10, 10, 40, comparable=False), "25.0 %", 0.25),
        (Interval(10, 40, 40), "25.0 % or more, no bound in time", None),
        (Interval(10, 20, 40, confidence=0.95), "25.0 to 50.0 %, 95 % sure", 0.5),
        (None, "no result", None),
    ],
)
def test_a_worst_case_in_words(worst, said, upper):
    assert worst_said(worst) == said
    assert worst is None or worst.upper == upper


def test_the_worst_case_of_every_family():
    nothing = {"aggregator": "choquet", "reason": "too many attributes"}
    found = worst_cases({"worst_case": {"families": [FIT, nothing]}})
    assert found == {"owa": Interval(10, 20, 40), "choquet": None}
    assert worst_cases(FIT) == {"owa": Interval(10, 20, 40)}
    assert worst_cases({"runs": [], "families": [FIT]}) == {}
    assert (upper_end(0.2, 0.3), upper_end(0.2, 1.0), upper_end(None, None)) == (0.3, None, None)


def test_what_is_read_of_a_masking_of_a_sweep():
    rates = {"held_out_equal_weights": 0.9, "held_out_owa": 0.4, "held_out_choquet": None, "one_to_one": 0.8}
    found = [{"key": key, "value": value} for key, value in rates.items()]
    assert held_out_of({"findings": {"held-out": found}}) == 0.4
    assert held_out_of({"findings": {"held-out": found[:1]}}) == 0.9
    assert held_out_of({"findings": {}}) is None
    assert tolerated_of({"runs": [{"verdict": None}, {"verdict": {"tolerated": 0.05}}]}) == 0.05
    assert tolerated_of({"runs": []}) is None


def test_options_under_which_parameters_were_learned():
    categories = {"name": "region", "scale": "nominal", "categories": ["north", "south"]}
    learned = {
        **FIT, "ties": None, "direction": "original-to-masked", "attributes": ["region", "age"],
        "schema": {"attributes": [categories]}, "aggregator_options": {"k_additive": 2}, "new": 1,
    }  # fmt: skip
    found = learned_options(learned)
    scales = {row["name"]: (row["scale"], "categories" in row) for row in found.pop("schema")["attributes"]}
    assert scales == {"region": ("nominal", False), "age": ("numeric", False)}
    assert found == {
        "aggregator": "owa",
        "direction": "original-to-masked",
        "attributes": ["region", "age"],
        "k_additive": 2,
    }
    assert learned_options({"parameters": {}}) == {}
    assert learned_options({"parameters": {}, "precision_recall": None}) == {"curve": False}


def test_what_was_learned_has_to_be_of_its_kind():
    check_refused_calls(
        "not-learned",
        learned_options,
        [
            *({}, {"parameters": {"blocking": "age"}}, {"parameters": {"passes": [1]}}),
            *({"parameters": {}, "attributes": ["a", 1]}, {"parameters": {}, "ties": "any"}),
        ],
    )
