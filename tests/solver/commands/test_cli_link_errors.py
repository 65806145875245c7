"""`link` and `evaluate` with requests, files or parameters that cannot be used: one line, nothing else."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_runs import refuse, run
from linker_cases import APART, TOGETHER, link_arguments, write_files
from small_files import NAMES, csv_text, noisy, survey

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


def write_cell(cell: object) -> None:
    """Write the masked file with another income in its fourth record."""
    rows: list[list[object]] = [list(answers) for answers in noisy(survey())]
    rows[3][1] = cell
    write(csv_text(rows))  # type: ignore[arg-type]


def write_ids(name: str, ids: list[object]) -> None:
    rows = [[key, *row] for key, row in zip(ids, survey(), strict=False)]
    write(csv_text(rows, ("id", *NAMES)), name)  # type: ignore[arg-type]


Spoil = Callable[[], object]

FILES: dict[str, tuple[Spoil, str]] = {
    "missing": (lambda: Path("masked.csv").unlink(), "masked.csv cannot be read: there is no such file"),
    "empty": (lambda: write(""), "masked.csv is empty; it needs a header and records"),
    "header only": (lambda: write("age,income\n"), "masked.csv has no records, only column names"),
    "one record": (
        lambda: write("age,income\n1,2\n"),
        "masked.csv has fewer than two records; linkage needs at least two",
    ),
    "duplicate column": (
        lambda: write("age,age\n1,2\n3,4\n"),
        "masked.csv: the column name 'age' is twice in the header; rename one",
    ),
    "unequal lengths": (
        lambda: write(csv_text(survey()[:20])),
        "original.csv has 30 records and masked.csv has 20; name the column that identifies the records "
        "with --id",
    ),
    "text": (
        lambda: write_cell("many"),
        "masked.csv, column 'income', row 4: 'many' is not a finite number; fix it, or compare the column as "
        "a category with --nominal",
    ),
    "infinity": (
        lambda: write_cell(math.inf),
        "masked.csv, column 'income', row 4: 'inf' is not a finite number; fix it, or compare the column as "
        "a category with --nominal",
    ),
    "too large": (
        lambda: write_cell(1e200),
        "masked.csv, column 'income', row 4: 1e+200 is too large to be squared; give the attribute in "
        "another unit",
    ),
}


@pytest.mark.parametrize("case", FILES)
@pytest.mark.parametrize("method", ["dbrl", "prl"])
def test_files(method, case, capsys):
    spoil, message = FILES[case]
    spoil()
    refuse(capsys, message, *link_arguments(method), *OUT)


def test_files_of_distances(capsys):
    """What only distances cannot do without."""
    write(csv_text([[age, 7, hours] for age, _, hours in survey()]))
    message = "masked.csv: 'income' is constant and cannot be compared; leave it out"
    refuse(capsys, message, *link_arguments("dbrl"), *OUT)
    run(capsys, *link_arguments("prl"))


def test_files_with_nothing_in_common(capsys):
    message = "known.csv has no attribute in common with the other file: nothing can be compared"
    refuse(capsys, message, "link", "--method", "prl", *APART, *OUT)
    write("age,income\n" + "1,\n" * 30)
    message = "masked.csv has no value of attribute 'income'; leave it out"
    refuse(capsys, message, *link_arguments("prl"), *OUT)


def test_ids(capsys):
    argv = [*link_arguments("prl"), "--id", "id", *OUT]
    refuse(capsys, "original.csv has no column 'id' (--id); there are: age, income, hours", *argv)
    write_ids("original.csv", [1, 2, 3])
    write_ids("masked.csv", [1, 2, 2])
    message = "masked.csv, column 'id': the id '2' is in rows 2 and 3; ids must be unique"
    refuse(capsys, message, *argv)
    write_ids("masked.csv", [7, 8, 9])
    message = (
        "original.csv and masked.csv have no id in common in column 'id' (for example '1' and '7'); write "
        "the ids alike in both files"
    )
    refuse(capsys, message, *argv)
    write_ids("masked.csv", [1, 2, 3])
    message = "'id' is both the id column and an attribute: leave it out of the attributes"
    refuse(capsys, message, *argv, "--attributes", "id,age")


USAGE = {
    "prl": {
        "--threshold 1": "--threshold is about one-to-one links; give --one-to-one, or leave --threshold out",
        "--training training.csv": "prl learns from the two files alone: leave --training out",
        "--attributes age,age": "the attribute 'age' is given twice in the attributes; give it once",
        "--attributes wage": "original.csv has no column 'wage' (attribute); did you mean 'age'?",
        "--original-attributes age": "prl compares attributes that both files have: name "
        "them with --attributes",
        "--nominal rent": "--nominal: 'rent' is not among the attributes to compare",
        "--nominal age --ordinal age": "'age' is both in --nominal and in --ordinal; choose one",
        "--schema no.json": "no.json cannot be read: no such file or directory",
        "--schema masked.csv": "masked.csv: a schema is a .json or a .toml file; give it one of these names",
        "--blocking town": "original.csv has no column 'town' (key); there are: age, income, hours",
        "--compare age=near": "--compare: unknown comparison 'near' in 'age=near'; use one of equal, within, "
        "deviations, range, jaro-winkler, levenshtein",
        "--compare rent=equal": "there is a comparison for 'rent', which is not among the attributes age, "
        "income, hours",
        "--match-share 2": "the share of matches is 2; it must be between 0 and 1",
        "--false-link-rate 0.1": "thresholds need both error rates: of false links and of false non-links",
        "--prior -1": "the prior is -1 pairs; it must be finite and not negative",
        "--most-iterations 0": "EM needs at least one iteration, not 0",
        "--compare-by rank": "prl takes no --compare-by; it takes --compare, --blocking, --match-share, "
        "--estimate-share, "
        "--fixed-u, --prior, --false-link-rate, --false-non-link-rate, --pass, --linked-leave, "
        "--clerical-band, --frequency-weights, --tolerance, --most-iterations",
        "--json no/out.json": "cannot write --json no/out.json: the folder no does not exist; create "
        "it first",
        "--json masked.csv": "--json masked.csv would overwrite the --masked file: give another name",
        "--table out.html": "cannot write --table out.html: end the name in .csv, .tsv, .tab, .txt, "
        ".parquet, .pq, .feather, .arrow, .xlsx, .sav, .zsav, .dta, .xpt, .rds, .rdata, .rda, .asc or .dat",
        "--alpha 1": "unknown option '--alpha': did you mean '--pass'? (see `python -m solver link --help`)",
    },
    "dbrl": {
        "--weights age=1": "weights are given for age, but the attributes are age, income, hours: give each "
        "one weight",
        "--weights age=-1,income=1,hours=1": "the weight of 'age' is -1; it must be at least 0",
        "--weights age=0,income=0,hours=0": "all weights are zero: give at least one attribute a weight",
        "--weights age": "--weights: 'age' is no pair; write NAME=NUMBER, separated by commas",
        "--differences signed": "unknown --differences 'signed': choose one of squared, absolute",
        "--standardisation both": "unknown --standardisation 'both': choose one of own, original, "
        "pooled, none",
    },
    "owa": {
        "--quantifiers square": "--quantifiers: there is no quantifier family 'square'; use one of power, "
        "sigmoid, threshold, or points:0 0 ... 1 1",
        "--linkage exact": "unknown --linkage 'exact': choose one of distance, probabilistic",
        "--classes 1": "--classes is 1; give 2 to 10000, or 0 for numbers as they are",
        "--attributes age": "owa compares files without attributes in common: name those of each file with "
        "--original-attributes and --masked-attributes",
        "--original-attributes rent": "known.csv has no column 'rent' (attribute); there are: age, income",
        "--nominal age": "attribute 'age' is nominal and has no order that a representative could use; leave "
        "it out or declare it ordinal",
    },
    "pca": {"--compare-by size": "unknown --compare-by 'size': choose one of rank, score"},
    "random": {"--compare-by rank": "random takes no --compare-by; it takes no settings"},
    "bayes": {
        "--training no.csv": "no.csv cannot be read: there is no such file",
        "--training known.csv": "known.csv has no column 'hours' (attribute); there are: age, income",
        "--classes 1": "classes is 1; a numeric attribute needs at least 2",
        "--prior-weight 0": "prior_weight is 0; it must be above 0",
    },
}  # fmt: skip


@pytest.mark.parametrize(("method", "words"), [(name, words) for name in USAGE for words in USAGE[name]])
def test_usage(method, words, capsys):
    refuse(capsys, USAGE[method][words], *link_arguments(method), *OUT, *words.split(" "))


def test_no_training(capsys):
    message = (
        "bayes learns from records of which all attributes are known: give training records (--training)"
    )
    refuse(capsys, message, "link", "--method", "bayes", *APART, *OUT)


def test_no_method_and_no_files(capsys):
    see = " (see `python -m solver link --help`)"
    refuse(capsys, "the following arguments are required: --method" + see, "link", *TOGETHER)
    refuse(
        capsys, "the following arguments are required: --original, --masked" + see, "link", "--method", "prl"
    )


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


def test_parameters_that_cannot_be_read(capsys):
    write('{"method": "prl",\n', "half.json")
    argv = ["evaluate", *TOGETHER, *OUT, "--parameters"]
    give = "give the file that `fit --json` or `link --json` wrote"
    refuse(capsys, f"half.json is not valid JSON (line 2, column 1); {give}", *argv, "half.json")
    message = f"nowhere.json cannot be read: no such file or directory; {give}"
    refuse(capsys, message, *argv, "nowhere.json")


def test_parameters_of_other_files(capsys):
    run(capsys, *link_arguments("prl"), "--json", "link.json")
    message = "known.csv has no column 'hours' (attribute); there are: age, income"
    refuse(capsys, message, "evaluate", *APART, *OUT, "--parameters", "link.json")
    message = (
        "the parameters are those of attributes age, income, hours, not of age, income; name the same ones"
    )
    refuse(
        capsys,
        message,
        "evaluate",
        *TOGETHER,
        "--attributes",
        "age,income",
        *OUT,
        "--parameters",
        "link.json",
    )
    message = (
        "link.json is of original.csv and masked.csv, and does not say where these files are: give "
        "--original and --masked"
    )
    refuse(capsys, message, "evaluate", "--parameters", "link.json")
    message = "link.json is the result of a linker, which takes no aggregator: leave it out"
    refuse(capsys, message, "evaluate", *TOGETHER, "--parameters", "link.json", "--aggregator", "owa")
    write(json.dumps({"method": "best", "parameters": {}}), "best.json")
    message = f"unknown method 'best': choose one of {', '.join(LINKERS)}"
    refuse(capsys, message, "evaluate", *TOGETHER, "--parameters", "best.json")
