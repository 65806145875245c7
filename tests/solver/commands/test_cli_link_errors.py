"""`link` and `evaluate` with requests, files or parameters that cannot be used: one line, nothing else."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path

import pytest
from cli_runs import refuse, run
from linker_cases import TOGETHER, link_arguments, write_files
from small_files import csv_text, survey

from linkrisk import evaluate
from linkrisk.errors import LinkriskError
from linkrisk.solver.linkage.registry import LINKERS

OUT = ["--json", "out.json", "--table", "out.csv"]


@pytest.fixture(autouse=True)
def _files(survey_folder):
    del survey_folder
    write_files()


def write(text: str, name: str = "masked.csv") -> None:
    Path(name).write_text(text, encoding="utf-8")


USAGE = {
    "prl": {
        "--threshold 1": "--threshold is about one-to-one links; give --one-to-one, or leave --threshold out",
        "--nominal rent": "--nominal: 'rent' is not among the attributes to compare",
        "--nominal age --ordinal age": "'age' is both in --nominal and in --ordinal; choose one",
        "--compare age=near": "--compare: unknown comparison 'near' in 'age=near'; use one of equal, within, "
        "deviations, range, jaro-winkler, levenshtein",
        "--compare rent=equal": "there is a comparison for 'rent', which is not among the attributes age, "
        "income, hours",
        "--compare-by rank": "prl takes no --compare-by; it takes --compare, --blocking, --match-share, "
        "--estimate-share, "
        "--fixed-u, --prior, --false-link-rate, --false-non-link-rate, --pass, --linked-leave, "
        "--clerical-band, --frequency-weights, --tolerance, --most-iterations",
        "--alpha 1": "unknown option '--alpha': did you mean '--pass'? (see `python -m solver link --help`)",
    },
    "dbrl": {
        "--weights age=-1,income=1,hours=1": "the weight of 'age' is -1; it must be at least 0",
    },
    "owa": {
        "--quantifiers square": "--quantifiers: there is no quantifier family 'square'; use one of power, "
        "sigmoid, threshold, or points:0 0 ... 1 1",
        "--classes 1": "--classes is 1; give 2 to 10000, or 0 for numbers as they are",
        "--nominal age": "attribute 'age' is nominal and has no order that a representative could use; leave "
        "it out or declare it ordinal",
    },
    "random": {"--compare-by rank": "random takes no --compare-by; it takes no settings"},
    "bayes": {
        "--training known.csv": "known.csv has no column 'hours' (attribute); there are: age, income",
    },
}  # fmt: skip


@pytest.mark.parametrize(("method", "words"), [(name, words) for name in USAGE for words in USAGE[name]])
def test_usage(method, words, capsys):
    refuse(capsys, USAGE[method][words], *link_arguments(method), *OUT, *words.split(" "))


def test_no_method_and_no_files(capsys):
    see = " (see `python -m solver link --help`)"
    refuse(capsys, "the following arguments are required: --method" + see, "link", *TOGETHER)
    refuse(
        capsys, "the following arguments are required: --original, --masked" + see, "link", "--method", "prl"
    )


def test_a_word_among_numbers(capsys):
    rows = [[age, "many" if at == 3 else income, hours] for at, (age, income, hours) in enumerate(survey())]
    write(csv_text(rows))  # type: ignore[arg-type]
    message = (
        "masked.csv, column 'income', row 4: 'many' is not a finite number; fix it, or compare the column as "
        "a category with --nominal"
    )
    refuse(capsys, message, *link_arguments("prl"), *OUT)


# What `evaluate` is given

BAD = (None, "x", -1, math.nan, 1e308, 10**30, True, [], [[1]], {"a": 1})


def paths(part: object, at: tuple = ()):
    """The place of every entry, of long lists the first two."""
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
        "method",
        "parameters",
        "attributes",
        "original_attributes",
        "masked_attributes",
        "schema",
        "ties",
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


def test_parameters_of_other_files(capsys):
    run(capsys, *link_arguments("prl"), "--json", "link.json")
    message = (
        "the parameters are those of attributes age, income, hours, not of age, income; name the same ones"
    )
    given = [*TOGETHER, "--attributes", "age,income", *OUT, "--parameters", "link.json"]
    refuse(capsys, message, "evaluate", *given)
    message = (
        "link.json is of original.csv and masked.csv, and does not say where these files are: give "
        "--original and --masked"
    )
    refuse(capsys, message, "evaluate", "--parameters", "link.json")
    write(json.dumps({"method": "best", "parameters": {}}), "best.json")
    message = f"unknown method 'best': choose one of {', '.join(LINKERS)}"
    refuse(capsys, message, "evaluate", *TOGETHER, "--parameters", "best.json")
