"""Masking methods by separate options and by one text, and a schema that belongs to the file."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import refuse, run

from linkrisk.datasets.masking.microaggregation import PROTECTIONS
from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.options.option import options_of
from linkrisk.solver.commands.program import main
from linkrisk.solver.linkage.parameters import own_settings
from linkrisk.solver.linkage.registry import LINKERS

NUMBERS = {"attributes": "n1,n2"}
GIVEN: dict[str, list[dict[str, str]]] = {
    "microaggregation": [{"groups": "n1,n2:3"}, {"k": "4", **NUMBERS}],
    "optimal-microaggregation": [{"k": "3", **NUMBERS}],
    "noise": [{"percent": "5", "correlated": "", **NUMBERS}],
    "rank-swapping": [{"percent": "20", **NUMBERS}],
    "rounding": [{"base": "10", "positive": "", **NUMBERS}],
    "weight-calibration": [{"like": "file.csv", "margins": "place,sex", "attributes": "times"}],
    "record-swapping": [
        {"household": "house", "hierarchy": "area,place", "risk": "sex", "percent": "30", "k": "2"}
    ],
    "top-coding": [{"categories": "2", **NUMBERS}],
    "bottom-coding": [{"categories": "2", **NUMBERS}],
    "global-recoding": [
        {"hierarchy": "place=places.csv", "level": "1"},
        {"categories": "2", "label": "others", "attributes": "place"},
        {"hierarchy": "place=places.csv\nsex=sexes.csv"},
    ],
    "recode": [{"file": "n3=n3.grc"}, {"digits": "2", "attributes": "code"}],
    "pram": [{"change": "0.3", "attributes": "place"}, {"matrix": "sex=matrix.csv"}],
    "local-suppression": [{"k": "2", "attributes": "place,sex", "importance": "sex", "count": "output"}],
    **{name: [{"attributes": "n1,n2,n3,n4,n5,n6"[: 3 * one.width - 1]}] for name, one in PROTECTIONS.items()},
}
"""Parameters of each method; a value that is given twice has two lines, and a flag none."""

SCHEMA = {
    "attributes": [
        {"name": "place", "role": "key", "scale": "nominal", "hierarchy": "places.csv"},
        {"name": "n1", "role": "key", "missing": [999]},
        {"name": "n2", "role": "key", "scale": "numeric"},
        {"name": "house", "role": "household"},
    ]
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    codes = [f"p{at}" for at in range(4)]
    place = rng.integers(0, 4, 12).repeat(2)
    frame = pd.DataFrame(
        {
            "house": np.arange(12).repeat(2),
            "area": np.where(place < 2, "a", "b"),
            "place": [codes[at] for at in place],
            "sex": rng.choice(["f", "m"], 24),
            "code": rng.choice(["0071", "0102", "0103"], 24),
            "times": rng.integers(1, 5, 24),
            **{f"n{at}": rng.integers(10, 90, 24) for at in range(1, 7)},
        }
    )
    frame.to_csv("file.csv", index=False)
    pd.DataFrame({"place": codes, "of": ["a", "a", "b", "b"]}).to_csv("places.csv", index=False)
    Path("sexes.csv").write_text("sex,all\nf,*\nm,*\n", encoding="utf-8")
    Path("matrix.csv").write_text("sex,f,m\nf,0.7,0.3\nm,0.4,0.6\n", encoding="utf-8")
    Path("n3.grc").write_text("1: -49\n2: 50-\n", encoding="utf-8")
    Path("schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")


def masked(method):
    for path in (Path("masked.csv"), Path("record.json")):
        path.unlink(missing_ok=True)
    given = ["--input", "file.csv", "--seed", "7", "--output", "masked.csv", "--record", "record.json"]
    assert main(["mask", *given, *method]) == 0
    return pd.read_csv("masked.csv"), json.loads(Path("record.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("method", METHODS)
def test_options_and_text_say_the_same(method, capsys):
    for parameters in GIVEN[method]:
        words, options = [method], ["--method", method]
        for name, value in parameters.items():
            for one in value.split("\n") if value else [None]:
                words.append(name if one is None else shlex.quote(f"{name}={one}"))
                options += [f"--{name}"] if one is None else [f"--{name}", one]
        by_options, by_text = masked(options), masked(["--method", " ".join(words)])
        pd.testing.assert_frame_equal(by_options[0], by_text[0])
        assert by_options[1] == by_text[1]
        assert by_options[1]["masked"]
    capsys.readouterr()


def test_shared_options_are_read_as_each_method_reads_them():
    """Of all methods and linkers: whichever declares an option first, the others keep their own reading."""
    for entry in METHODS.values():
        for name, option in options_of(entry.kind).items():
            assert entry.parameters[name] == option
    for name in LINKERS:
        assert own_settings(name) == options_of(LINKERS[name])


def test_an_option_that_a_method_takes_once_is_refused_twice(capsys):
    twice = ["--hierarchy", "area", "--hierarchy", "place"]
    given = ["--household", "house", "--risk", "sex", "--percent", "10", *twice, "--output", "masked.csv"]
    message = "--hierarchy is given twice; give it once"
    refuse(capsys, message, "mask", "--input", "file.csv", "--method", "record-swapping", *given)


def test_a_schema_belongs_to_the_file_whatever_the_methods(capsys):
    """It says what columns are to each of several methods, and which hierarchies they have."""
    schema = ["--schema", "schema.json"]
    several = ["--method", "noise percent=5", "--method", "global-recoding level=1"]
    found, record = masked([*several, *schema])
    assert set(found["place"]) == {"a", "b"}
    own = [f"{text} schema=schema.json" for text in several[1::2]]
    again = masked(["--method", own[0], "--method", own[1]])
    pd.testing.assert_frame_equal(found, again[0])
    assert record == again[1]
    assert [step["attributes"] for step in record["methods"]] == [["n1", "n2"], ["place"]]
    capsys.readouterr()


def test_a_protocol_keeps_the_schema_of_all_methods(capsys):
    steps = ["--method", "noise percent=5", "--method", "rounding base=10", "--schema", "schema.json"]
    given = ["mask", "--input", "file.csv", *steps, "--seed", "3", "--output", "masked.csv"]
    run(capsys, *given, "--protocol", "steps.toml")
    run(capsys, "run-protocol", "steps.toml", "--output", "again.csv")
    assert Path("again.csv").read_bytes() == Path("masked.csv").read_bytes()
