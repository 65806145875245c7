"""The JSON of every result fits its schema, which is published with the pages, and nothing else does."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import jsonschema
import numpy as np
import pandas as pd
import pytest
from cli_runs import check_refused_calls
from fit_runs import frames
from small_files import TABLE, batch, write_batch_files
from small_tables import write_table_files

import linkrisk
from linkrisk.datasets.microdata.strict_json import kind_of
from linkrisk.solver.charts.theme import worst_said
from linkrisk.solver.commands.program import main
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


WEIGHTED = {"attributes": [{"name": "w", "role": "weight"}, {"name": "s", "role": "stratum"}]}
PEOPLE = pd.DataFrame(
    [("A", "x", 1.0), ("A", "x", 2.0), ("A", "y", 1.0), ("B", "x", 3.0), ("B", "x", 1.0), ("B", "y", 4.0)]
    * 2,
    columns=["town", "trade", "w"],
)
FIRMS = pd.DataFrame(
    {"region": list("NNNSSSSN") * 3, "size": list("aabbabab") * 3, "sales": np.arange(24.0) ** 2 + 1}
)


def _surveyed() -> tuple[pd.DataFrame, pd.DataFrame]:
    original, masked = frames(3)
    more = {"w": [1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0], "s": list("nnnssss"), "c": list("xyxyxyx")}
    return original.assign(**more), masked.assign(**more)


def _categories() -> list[pd.DataFrame]:
    return [one.drop(columns=["w", "s"]) for one in _surveyed()]


def _fits() -> Iterator[Any]:
    yield linkrisk.fit(*frames(1, twins=True), aggregator="choquet", certificate=True)
    yield linkrisk.fit(*frames(1), aggregator="weighted-mean,owa", ties="share", work_limit=1.0)
    yield linkrisk.fit(
        *_surveyed(), schema=WEIGHTED, aggregator="weighted-mean", engine="milp", attributes=["A", "B"]
    )
    yield linkrisk.fit(*_categories(), aggregator="weighted-mean", nominal=["c"], masking=["pram change=0.2"])
    yield linkrisk.fit(*frames(1, n=60), aggregator="weighted-mean,owa", sample=20)


def _evaluations() -> Iterator[Any]:
    for pair, more in ((frames(1), {"one_to_one": True}), (_surveyed(), {"schema": WEIGHTED})):
        yield linkrisk.evaluate(
            *pair,
            parameters={
                "aggregator": "weighted-mean",
                "parameters": {"weights": {"A": 0.5, "B": 0.5, "C": 0.0}},
            },
            attributes=["A", "B", "C"],
            **more,
        )


def _links() -> Iterator[Any]:
    for method in ("dbrl", "prl", "random"):
        yield linkrisk.link(*frames(1), method=method, one_to_one="hungarian")
    original, masked = frames(1)
    yield linkrisk.link(original[["A", "B"]], masked[["C"]], method="bayes", training=frames(2, n=40)[0])
    yield linkrisk.link(*_categories(), method="prl", nominal=["c"], parameters={"passes": ("c",)})
    yield linkrisk.evaluate(*frames(1), parameters=linkrisk.link(*frames(2), method="prl").to_dict())
    yield linkrisk.find_links(*_categories(), nominal=["c"], parameters={"passes": ("c",)})
    yield linkrisk.compare(*frames(1), aggregator="weighted-mean", backends=["exact", "highs"])


def _risks() -> Iterator[Any]:
    original, masked = _surveyed()
    schema = {
        "attributes": [*WEIGHTED["attributes"], {"name": "c", "role": "confidential", "scale": "nominal"}]
    }
    yield linkrisk.risk(original, masked, schema=schema, aggregator="weighted-mean,owa")
    yield linkrisk.risk(*frames(1, n=12), aggregator="owa", measures=["held-out", "uniqueness"])


def _reports() -> Iterator[Any]:
    made = linkrisk.report(*frames(1), aggregator="owa", measures="worst-case,uniqueness")
    yield made
    yield made.risk


def _sweeps() -> Iterator[Any]:
    yield linkrisk.sweep(
        frames(1, n=12)[0],
        ["noise percent=50", "microaggregation k=100"],
        aggregator="owa",
        measures="worst-case,information-loss",
        workers=1,
        work_limit=1.0,
    )


def _verifications() -> Iterator[Any]:
    pair = frames(1)
    yield linkrisk.verify(linkrisk.fit(*pair, aggregator="owa", certificate=True), *pair)
    weighted = _surveyed()
    made = linkrisk.fit(*weighted, schema=WEIGHTED, aggregator="owa", certificate=True, attributes=["A", "B"])
    yield linkrisk.verify(made, *weighted, schema=WEIGHTED)
    exact = linkrisk.suppress_table(**write_table_files(Path()), exact=True)
    exact.write_internal("i.jj")
    exact.write_certificate("proof.json")
    yield linkrisk.verify("proof.json", tables="i.jj")


def _maskings() -> Iterator[Any]:
    yield linkrisk.mask(
        frames(1)[0], ["noise percent=5 attributes=A", "rounding base=1 attributes=B"], seed=1
    )


def _suppressions() -> Iterator[Any]:
    yield linkrisk.suppress(PEOPLE, keys=["town", "trade"], k=3)
    yield linkrisk.suppress(PEOPLE, keys=["town", "trade"], tables=[["town"], ["town", "trade"]], threshold=3)
    yield linkrisk.unsafe(PEOPLE, keys=["town", "trade"], k=3)


def _suppressed() -> Iterator[Any]:
    files = write_table_files(Path())
    yield linkrisk.suppress_table(**files, exact=True)
    made = linkrisk.make_table(FIRMS, by=["region", "size"], response="sales", rules=["p=20"])
    yield made
    made.write("c.csv", "r.csv", "k.csv")
    yield linkrisk.suppress_table("c.csv", "r.csv", contributors="k.csv", insiders="contributors")
    result = linkrisk.suppress_table(**files, method="modular")
    yield result
    result.write_internal("i.jj")
    yield linkrisk.audit_table(tables="i.jj")


def _changed() -> Iterator[Any]:
    files = write_table_files(Path())
    yield linkrisk.round_table(**files, base=5)
    yield linkrisk.adjust_table(**files)
    yield linkrisk.perturb_counts(FIRMS, by=["region", "size"], most=2, variance=1.0)
    yield linkrisk.perturb_sums(
        FIRMS, by=["region", "size"], response="sales", share=0.1, noise="most=10,variance=3"
    )
    yield linkrisk.compare_table(**files, backends=["exact", "highs"])
    yield linkrisk.recode_table(FIRMS, by=["region", "size"], response="sales", rules=["p=20"])


def _steps() -> Iterator[Any]:
    write_batch_files()
    yield linkrisk.run_batch(batch(TABLE + '<SUPPRESS> OPT(1,5)\n<WRITETABLE> (1,1,,"safe.csv")\n'))
    PEOPLE.to_csv("people.csv", index=False)
    linkrisk.mask("people.csv", "pram change=0.2 attributes=town", seed=1)
    Path("steps.toml").write_text(
        '[input]\nfile = "people.csv"\n\n[[step]]\ncommand = "suppress"\nkeys = ["town", "trade"]\nk = 3\n'
    )
    yield linkrisk.run_protocol("steps.toml", "safe.csv")
    yield linkrisk.describe(_surveyed()[0])
    yield linkrisk.describe(PEOPLE)


def _written() -> Iterator[Any]:
    """Records and answers that commands write beside their results, and what they print of public data."""
    PEOPLE.assign(name=[f"n{at}" for at in range(len(PEOPLE))]).to_csv("people.csv", index=False)
    for words in (
        "mask --method noise+percent=5+attributes=w --output m.csv --record r.json",
        "tables make --by town --response w --rule p=20 --cells c.csv --relations e.csv --record t.json",
        "suppress --keys town,trade --k 3 --output s.csv --write-answer a.json",
    ):
        command = [word.replace("+", " ") for word in words.split()]
        assert main([*command, "--input", "people.csv"]) == 0
    for name in ("r", "t", "a"):
        yield json.loads(Path(f"{name}.json").read_text(encoding="utf-8"))
    for asked in (["list"], ["show", "wdbc"]):
        with redirect_stdout(StringIO()) as printed:
            main(["datasets", *asked, "--json"])
        yield json.loads(printed.getvalue())


EVERY: tuple[Callable[[], Iterator[Any]], ...] = (
    *(_fits, _evaluations, _links, _risks, _reports, _sweeps, _verifications, _maskings, _suppressions),
    *(_suppressed, _changed, _steps, _written),
)


@pytest.mark.parametrize("make", EVERY, ids=lambda make: make.__name__.strip("_"))
def test_every_json_fits_its_schema(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for result in make():
        found = result if isinstance(result, dict) else json.loads(result.to_json())
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
    found = json.loads(linkrisk.fit(*frames(1), aggregator="owa").to_json())
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
