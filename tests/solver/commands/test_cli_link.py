"""`link`: what it prints and writes for every method, that `evaluate` counts the same again, and refusals."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_golden, check_refusals, run
from linker_cases import APART, TOGETHER, link_arguments, write_files
from small_files import NAMES, csv_text, noisy, survey

from linkrisk import evaluate
from linkrisk.errors import LinkriskError
from linkrisk.solver.linkage.registry import LINKERS


@pytest.fixture(autouse=True)
def _files(survey_folder):
    del survey_folder
    write_files()


MORE = {
    "prl-thresholds": [
        *link_arguments("prl"), "--compare", "age=within:2..10", "--false-link-rate", "0.01",
        "--false-non-link-rate", "0.1", "--one-to-one", "greedy", "--threshold", "2",
    ],
    "dbrl-masked-to-original": [
        *link_arguments("dbrl"), "--direction", "masked-to-original", "--weights", "age=2,income=1,hours=0",
    ],
    "dbrl-ties-share": [
        *link_arguments("dbrl"), "--masked", "grouped.csv", "--ties", "share", "--one-to-one", "greedy",
    ],
    "owa-probabilistic": [
        *link_arguments("owa"), "--quantifiers", "power:0.5,2", "--linkage", "probabilistic",
        "--normalisation", "ranging",
    ],
}  # fmt: skip


@pytest.mark.parametrize("method", LINKERS)
def test_every_method(method, capsys):
    argv = [*link_arguments(method), "--one-to-one", "hungarian"]
    printed = run(capsys, *argv, "--json", "link.json", "--table", "table.csv")
    check_golden(f"link-{method}", printed)
    written = json.loads(Path("link.json").read_text("utf-8"))
    assert written["method"] == method
    table = pd.read_csv("table.csv")
    assert (table["linked"].sum(), len(table)) == (written["linked"], written["records"])


@pytest.mark.parametrize("name", MORE)
def test_options(name, capsys):
    check_golden(f"link-{name}", run(capsys, *MORE[name]))


@pytest.mark.parametrize("method", LINKERS)
def test_evaluate_takes_what_link_wrote(method, capsys):
    argv = link_arguments(method)
    printed = run(capsys, *argv, "--one-to-one", "hungarian", "--json", "link.json")
    files = argv[argv.index("--original") :][:4]
    again = run(
        capsys, "evaluate", *files, "--parameters", "link.json", "--one-to-one", "--json", "again.json"
    )
    # Notes on the learning belong to the learning.
    assert again.split("note:")[0].split("wrote ")[0] == printed.split("note:")[0].split("wrote ")[0]
    first, second = (json.loads(Path(name).read_text("utf-8")) for name in ("link.json", "again.json"))
    for key in ("linked", "parameters", "records_table", "precision_recall", "one_to_one"):
        assert first[key] == second[key], key


def test_ids_and_records_without_partner(capsys):
    rows = [[at, *row] for at, row in enumerate(survey())]
    changed = [[at, *row] for at, row in enumerate(noisy(survey()))]
    names = ("person", *NAMES)
    Path("original.csv").write_text(csv_text(rows[:25], names), encoding="utf-8")
    Path("masked.csv").write_text(csv_text(changed[:4:-1], names), encoding="utf-8")
    argv = ["link", "--method", "prl", *TOGETHER, "--id", "person", "--json", "link.json"]
    printed = run(capsys, *argv)
    assert printed.startswith("original.csv and masked.csv: 20 records with a partner among 25 candidates\n")
    back = run(capsys, *argv, "--direction", "masked-to-original")
    assert back.startswith("original.csv and masked.csv: 20 records with a partner among 25 candidates\n")
    result = json.loads(Path("link.json").read_text("utf-8"))
    assert not result["bijection"]
    assert [row[0] for row in result["records_table"]["rows"]] == [str(at) for at in range(24, 4, -1)]


def test_blocking_by_a_column_that_is_not_compared(capsys):
    """Pairs in other blocks are impossible; the key itself speaks for no pair."""
    for name in ("original", "masked"):
        frame = pd.read_csv(f"{name}.csv")
        frame["half"] = ["first"] * 15 + ["second"] * 15
        frame.to_csv(f"{name}.csv", index=False)
    chosen = ["--attributes", "age,income", "--blocking", "half"]
    run(capsys, "link", "--method", "prl", *TOGETHER, *chosen, "--json", "link.json")
    result = json.loads(Path("link.json").read_text("utf-8"))
    assert result["attributes"] == ["age", "income"]
    assert result["parameters"]["compared_pairs"] == 2 * 15 * 15
    again = run(capsys, "evaluate", *TOGETHER, "--parameters", "link.json")
    assert f" {result['linked']} of 30 " in again.split("re-identified")[1].splitlines()[0]


@pytest.mark.parametrize("factor", [1e-290, 1e140])
def test_the_unit_of_an_attribute_does_not_matter(factor, capsys):
    def linked(name: str) -> int:
        run(capsys, "link", "--method", "prl", *TOGETHER, "--json", name)
        return json.loads(Path(name).read_text("utf-8"))["linked"]

    before = linked("before.json")
    for name in ("original", "masked"):
        frame = pd.read_csv(f"{name}.csv")
        frame["income"] *= factor
        frame.to_csv(f"{name}.csv", index=False)
    assert linked("after.json") == before


OUT = ["--json", "out.json", "--table", "out.csv"]


def write(text: str, name: str = "masked.csv") -> None:
    Path(name).write_text(text, encoding="utf-8")


USAGE = {
    "prl": [
        *("--threshold 1", "--training training.csv", "--nominal rent", "--nominal age --ordinal age"),
        *("--compare age=near", "--compare rent=equal", "--compare-by rank", "--alpha 1"),
    ],
    "dbrl": ["--weights age=-1,income=1,hours=1"],
    "owa": ["--quantifiers square", "--classes 1", "--nominal age"],
    "random": ["--compare-by rank"],
    "bayes": ["--training known.csv"],
}


def test_usage(capsys):
    def asked():
        for method, options in USAGE.items():
            yield from ([*link_arguments(method), *OUT, *words.split(" ")] for words in options)
        yield from (["link", *TOGETHER], ["link", "--method", "prl"])
        yield ["link", "--method", "prl", *TOGETHER, "--blocking", "town"]
        yield ["link", "--method", "prl", *APART, *OUT]
        run(capsys, *link_arguments("prl"), "--json", "link.json")
        yield ["evaluate", *TOGETHER, "--attributes", "age,income", *OUT, "--parameters", "link.json"]
        yield ["evaluate", "--parameters", "link.json"]
        write(json.dumps({"method": "best", "parameters": {}}), "best.json")
        yield ["evaluate", *TOGETHER, "--parameters", "best.json"]
        write(csv_text([[age, 7, hours] for age, _, hours in survey()]))
        yield "constant", [*link_arguments("dbrl"), *OUT]
        run(capsys, *link_arguments("prl"))
        rows = [[age, "many" if at == 3 else most, hours] for at, (age, most, hours) in enumerate(survey())]
        write(csv_text(rows))  # type: ignore[arg-type]
        yield "a word among numbers", [*link_arguments("prl"), *OUT]

    check_refusals(capsys, "link", asked())


BAD = (None, "x", -1, math.nan, 1e308, 10**30, True, [], [[1]], {"a": 1})


def paths(part: object, at: tuple = ()):
    yield at
    entries = part.items() if isinstance(part, dict) else ()
    for key, inner in enumerate(part[:2]) if isinstance(part, list) else entries:
        yield from paths(inner, (*at, key))


@pytest.mark.parametrize("method", LINKERS)
def test_no_parameters_make_a_traceback(method, capsys):
    """Every entry replaced by what does not belong there: understood, or refused in one line."""
    argv = link_arguments(method)
    run(capsys, *argv, "--json", "link.json")
    written = json.loads(Path("link.json").read_text("utf-8"))
    kept = (
        *("method", "parameters", "attributes", "original_attributes", "masked_attributes", "schema", "ties"),
    )
    written = {key: written[key] for key in kept if key in written}
    files = argv[argv.index("--original") :][1:4:2]
    refusals = []
    for turn, place in enumerate(list(paths(written))[1:]):
        # Another fifth of what is bad at each place in turn: neighbours are read by the same code.
        for bad in BAD[turn % 5 :: 5]:
            changed = copy.deepcopy(written)
            part = changed
            for key in place[:-1]:
                part = part[key]
            part[place[-1]] = bad
            try:
                evaluate(*files, parameters=changed)
            except LinkriskError as error:
                refusals.append(str(error))
    assert len(refusals) > 20
    assert not any("\n" in message for message in refusals)
