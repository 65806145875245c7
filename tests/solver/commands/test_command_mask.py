"""`mask` on the command line."""

from __future__ import annotations

import json
import os
import re
import threading
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import HOUSEHOLDS, TABLE, files, mask, mask_folder  # noqa: F401

from linkrisk.datasets.masking.microaggregation import Microaggregation
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.sequence import masked_in_order, planned
from linkrisk.solver.commands import program as cli

DATA = os.environ.get("LINKRISK_DATA")

pytestmark = pytest.mark.usefixtures("mask_folder")


def test_golden_output_and_file(capsys):
    code, out, err = mask(
        capsys,
        *("--input", "o.csv", "--method", "microaggregation", "--attributes", "age,income"),
        *("--k", "3", "--output", "m.csv"),
    )
    assert (code, err) == (0, "")
    assert out == (
        "o.csv: 6 records, 5 columns\n\n"
        "2 of 5 columns masked.\n\n"
        " method microaggregation (MDAV) of age, income with k = 3\n"
        " masked age, income\n"
        " as is id, code, note\n"
        "no seed: no random choices\n"
        "wrote m.csv\n"
    )
    assert Path("m.csv").read_text() == (
        "id,code,age,income,note\n"
        "r1,007,25.333333333333332,90.29166666666667,a\n"
        "r2,010,25.333333333333332,90.29166666666667,\n"
        'r3,011,25.333333333333332,90.29166666666667,"b, c"\n'
        "r4,012,52.666666666666664,390.1666666666667,NA\n"
        "r5,013,52.666666666666664,390.1666666666667,d\n"
        "r6,014,52.666666666666664,390.1666666666667,e\n"
    )


def test_what_is_missing_stays_and_what_too_few_have_is_withheld(capsys):
    Path("holes.csv").write_text("a,b\n1,5\n2,\n3,7\n,8\n,9\n1,\n2,\n7,\n")
    code, out, err = mask(
        capsys,
        "--input",
        "holes.csv",
        "--method",
        "microaggregation",
        "--output",
        "m.csv",
        "--record",
        "r.json",
    )
    assert (code, err) == (0, "")
    assert "\n withheld 4 of b: these values become missing\n" in out
    assert Path("m.csv").read_text() == "a,b\n" + 3 * f"{8 / 3!r},\n" + 2 * ",\n" + 3 * f"{8 / 3!r},\n"
    assert json.loads(Path("r.json").read_text())["withheld"] == {"b": 4}


def test_masking_shows_that_it_is_going_on(monkeypatch, capsys):
    from linkrisk.solver.masking import mask as command

    def masked(*arguments, **options):
        assert "progress" in {thread.name for thread in threading.enumerate()}
        return whole(*arguments, **options)

    whole = command.masked_in_order
    monkeypatch.setattr(command, "masked_in_order", masked)
    monkeypatch.delenv("LINKRISK_PROGRESS")
    argv = ("--input", "o.csv", "--method", "noise", "--percent", "10", "--output", "m.csv")
    code, _, err = mask(capsys, *argv)
    assert (code, err) == (0, "")  # nothing in a log of what takes no time


def test_a_masked_column_that_is_still_the_same_is_named(capsys):
    """It is as public as before, whatever it was masked with."""
    Path("one.csv").write_text("a,b\n1,2\n1,5\n1,9\n")
    argv = ("--input", "one.csv", "--method", "noise", "--percent", "50", "--output", "m.csv")
    code, out, _ = mask(capsys, *argv)
    assert code == 0
    assert " left a (as constant); to mask them anyway, name them with --attributes\n" in out
    code, out, _ = mask(capsys, *argv, "--attributes", "a,b")
    assert code == 0
    assert " masked a, b\n the same a: masking has not changed a single value\n as is nothing\n" in out


def test_groups_with_their_k(capsys):
    code, out, _ = mask(
        capsys,
        *("--input", "o.csv", "--method", "microaggregation", "--groups", "age:2"),
        *("--groups", "income", "--k", "3", "--output", "m.parquet"),
    )
    assert code == 0
    assert " method microaggregation (MDAV) of age with k = 2; of income with k = 3\n" in out
    masked = pd.read_parquet("m.parquet")
    assert masked["age"].nunique() == 3
    assert masked["income"].nunique() == 2
    assert masked["code"].to_list() == ["007", "010", "011", "012", "013", "014"]


@pytest.mark.parametrize(
    ("method", "description"),
    [
        (
            ("optimal-microaggregation", "--k", "2"),
            "optimal univariate microaggregation with k = 2, each attribute by itself, of age, income",
        ),
        (
            ("noise", "--percent", "10%"),
            "independent normal noise with 10 % of the standard deviation of age, income",
        ),
        (
            ("noise", "--percent", "2.5", "--correlated"),
            "correlated normal noise with 2.5 % of the standard deviation of age, income",
        ),
        (
            ("rank-swapping", "--percent", "40"),
            "rank swapping within 40 % of the records of age, income",
        ),
    ],
)
def test_every_method_from_the_command_line(capsys, method, description):
    arguments = ("--input", "o.csv", "--output", "m.csv", "--seed", "3", "--method", *method)
    code, out, _ = mask(capsys, *arguments)
    assert code == 0
    seed = (
        "no seed: no random choices"
        if method[0] == "optimal-microaggregation"
        else "seed 3: keep it secret, it undoes the masking"
    )
    assert f" method {description}\n" in out
    assert f"\n{seed}\nwrote m.csv\n" in out
    assert " left id (as id); to mask them anyway, name them with --attributes\n" in out
    first = Path("m.csv").read_bytes()
    mask(capsys, *arguments)
    assert Path("m.csv").read_bytes() == first


def test_named_data_and_a_protection(capsys):
    code, out, _ = mask(capsys, "--input", "iris", "--method", "M4-33", "--output", "m.csv")
    assert code == 0
    assert out.splitlines()[4] == (
        " method M4-33, microaggregation (MDAV) of sepal_length, sepal_width with k = 3; "
        "of petal_length, petal_width with k = 3"
    )
    assert len(pd.read_csv("m.csv")) == 150


def test_the_id_column_is_never_masked(capsys):
    common = ("--input", "o.csv", "--method", "noise", "--percent", "5", "--output", "m.csv")
    _, out, _ = mask(capsys, *common, "--id", "code")
    assert " masked age, income\n" in out
    assert [line.split(",")[1] for line in Path("m.csv").read_text().splitlines()[1:3]] == ["007", "010"]
    assert mask(capsys, *common, "--id", "code", "--attributes", "code") == (
        2,
        "",
        "error: 'code' is the id column and cannot be masked; leave it out\n",
    )
    assert mask(capsys, *common, "--id", "cod")[2] == (
        "error: o.csv has no column 'cod' (--id); did you mean 'code'?\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "noise"), "noise needs --percent"),
        (("--method", "noise", "--percent", "much"), "--percent: 'much' is not a finite number"),
        (
            ("--method", "noise", "--percent", "1e308"),
            "o.csv: percent is 1e+308, which makes values beyond 1e+150; choose a smaller percent",
        ),
        (
            (
                "--method",
                "noise percent=1e160 correlated",
                "--method",
                "microaggregation k=3 attributes=code",
            ),
            "o.csv: percent is 1e+160, which makes values beyond 1e+150; choose a smaller percent",
        ),
        (
            ("--method", "microaggregation", "--groups", "age:3", "--k", "4"),
            "--k has no effect where every one of --groups has its own k; leave --k out",
        ),
        (
            ("--method", "microaggregation", "--groups", "age:3", "--groups", "income,age:3"),
            "the attribute 'age' is given twice in --groups; give it once",
        ),
        (("--method", "M4-33", "--seed", "x"), "--seed: 'x' is not a whole number"),
        (
            ("--method", "microaggregation", "--output", "./o.csv"),
            "--output ./o.csv is the input file; give the masked file another name",
        ),
        (
            ("--method", "microaggregation", "--input", "irs"),
            "there is no data set named 'irs'; did you mean 'iris'?",
        ),
    ],
)
def test_bad_input_is_one_line_exit_code_2_and_no_file(capsys, arguments, message):
    # Given twice, the last --input or --output counts.
    code, out, err = mask(capsys, "--input", "o.csv", "--output", "m.csv", *arguments)
    assert (code, out) == (2, "")
    assert err == f"error: {message}\n"
    assert files() == ["h.csv", "o.csv"]
    assert Path("o.csv").read_text() == TABLE


@pytest.mark.parametrize(
    "method",
    [
        "pram matrix=code=used.csv",
        "weight-calibration attributes=w margins=code like=used.csv",
        "global-recoding 'hierarchy=code=used.csv'",
    ],
)
def test_what_a_method_reads_is_not_overwritten(method, capsys):
    Path("t.csv").write_text("code,w\nf,1\nm,2\nf,3\n", encoding="utf-8")
    Path("used.csv").write_text("code,f,m\nf,0.9,0.1\nm,0.2,0.8\n", encoding="utf-8")
    before = Path("used.csv").read_bytes()
    code, out, err = mask(capsys, "--input", "t.csv", "--method", method, "--output", "./used.csv")
    message = "error: --output ./used.csv would overwrite the --method file: give another name\n"
    assert (code, out, err) == (2, "", message)
    assert Path("used.csv").read_bytes() == before


def test_ids_and_weights_are_left_alone_unless_named(capsys):
    common = ("--input", "h.csv", "--method", "noise", "--percent", "5", "--seed", "1", "--output", "m.csv")
    _, out, _ = mask(capsys, *common)
    assert " masked age, income\n as is hhnum, weight, note\n" in out
    assert (
        " left hhnum (as id), weight (as weight); to mask them anyway, name them with --attributes\n" in out
    )
    original, masked = pd.read_csv("h.csv"), pd.read_csv("m.csv")
    same = (original == masked).all()
    assert same[same].index.tolist() == ["hhnum", "weight", "note"]
    assert not (original["age"] == masked["age"]).any()
    _, out, _ = mask(capsys, *common, "--attributes", "weight,age")
    assert " masked weight, age\n" in out
    assert "left " not in out
    assert not (pd.read_csv("m.csv")["weight"] == original["weight"]).any()


def test_columns_said_to_be_ids_and_weights_are_left_alone(capsys):
    Path("h.csv").write_text(HOUSEHOLDS.replace("hhnum,weight", "unit,w"))
    common = ("--input", "h.csv", "--method", "noise", "--percent", "5", "--seed", "1", "--output", "m.csv")
    assert " masked unit, w, age, income\n" in mask(capsys, *common)[1]
    out = mask(capsys, *common, "--id", "unit", "--weight", "w")[1]
    assert " masked age, income\n" in out
    assert " left unit (as id), w (as weight); " in out
    assert mask(capsys, *common, "--weight", "w", "--attributes", "age,w")[2] == (
        "error: 'w' is the weight column and cannot be masked; leave it out\n"
    )
    assert mask(capsys, *common, "--weight", "wage")[2] == (
        "error: h.csv has no column 'wage' (--weight); did you mean 'age'?\n"
    )


@pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)
@pytest.mark.parametrize(
    ("file", "left"),
    [
        ("muargus_samhh", "hhnum (as id), weight (as weight)"),
        ("rtauargus_indiv_dt", "WEIGHT (as weight)"),
        ("casc_tarragona", None),
        ("casc_census", None),
    ],
)
def test_real_files(capsys, file, left):
    path = f"{DATA}/{file}.csv"
    code, out, _ = mask(capsys, "--input", path, "--method", "noise percent=5", "--output", "m.csv")
    assert code == 0
    assert re.findall(r" left (.*);", out) == ([] if left is None else [left])
    original, masked = pd.read_csv(path), pd.read_csv("m.csv")
    numeric = original.select_dtypes("number").columns
    changed = [name for name in numeric if not (original[name] == masked[name]).all()]
    assert changed == [name for name in numeric if name not in ("hhnum", "weight", "WEIGHT")]


def test_missing_arguments(capsys):
    assert mask(capsys, "--input", "o.csv") == (
        2,
        "",
        "error: the following arguments are required: --method, --output "
        "(see `python -m solver mask --help`)\n",
    )


def test_help_explains_shared_parameters(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["mask", "--help"])
    assert caught.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "rank-swapping: window in percent of the records" in text
    assert "standard deviation of the noise in % of the attribute's" in text


def test_categories_are_masked_from_the_command_line(capsys):
    Path("schema.json").write_text('{"attributes": [{"name": "note", "scale": "nominal"}]}')
    Path("t.csv").write_text("id,age,town\n1,20,a\n2,25,b\n3,31,c\n4,46,a\n")
    code, out, _ = mask(
        capsys,
        *("--input", "t.csv", "--method", "top-coding", "--categories", "2", "--id", "id"),
        *("--schema", "schema.json", "--output", "m.csv"),
    )
    assert code == 0
    assert " method top coding of 2 categories of town\n" in out
    assert Path("m.csv").read_text() == "id,age,town\n1,20,a\n2,25,b\n3,31,b\n4,46,a\n"
    code, _, err = mask(
        capsys,
        *("--input", "t.csv", "--method", "pram", "--matrix", "town=nowhere.csv", "--output", "m.csv"),
    )
    assert code == 2
    assert err == "error: --matrix: nowhere.csv cannot be read: there is no such file\n"
    code, _, err = mask(
        capsys,
        *("--input", "t.csv", "--method", "top-coding", "--schema", "t.csv", "--output", "m.csv"),
    )
    assert code == 2
    assert err == (
        "error: --schema: t.csv: a schema is a .json or a .toml file; give it one of these names\n"
    )


def test_several_methods_in_order_each_on_its_own_attributes(capsys):
    code, out, err = mask(
        capsys,
        *("--input", "h.csv", "--output", "m.csv", "--seed", "4"),
        *("--method", "microaggregation k=5 attributes=income"),
        *("--method", "pram change=0.5"),
        *("--method", "noise percent=10"),
    )
    assert (code, err) == (0, "")
    assert out == (
        "h.csv: 60 records, 5 columns\n\n"
        "3 of 5 columns masked.\n\n"
        " method microaggregation (MDAV) of income with k = 5\n"
        " method PRAM with probability 0.5 of a change of note\n"
        " method independent normal noise with 10 % of the standard deviation of age\n"
        " masked age, income, note\n"
        " as is hhnum, weight\n"
        " left hhnum (as id), weight (as weight); to mask them anyway, name them with --attributes\n"
        "seed 4: keep it secret, it undoes the masking\n"
        "wrote m.csv\n"
    )
    original, masked = pd.read_csv("h.csv"), pd.read_csv("m.csv")
    grouped = Microaggregation(k=5, attributes=("income",)).apply(original)
    assert masked["income"].to_list() == grouped["income"].to_list()
    steps = planned([AdditiveNoise(percent=10, attributes=("age",))], original)
    alone = masked_in_order(steps, original, 4)
    # The third method does not draw the numbers that the first one would.
    assert (alone["age"] != masked["age"]).all()
    assert 0 < (masked["note"] != original["note"]).sum() < 60


def test_an_attribute_masked_twice_is_masked_in_order_and_said(capsys):
    _, out, _ = mask(
        capsys,
        *("--input", "o.csv", "--output", "m.csv", "--seed", "4"),
        *("--method", "noise percent=10 attributes=age,income"),
        *("--method", "optimal-microaggregation k=3 attributes=income"),
    )
    assert " twice income: noise, then optimal-microaggregation\n" in out
    masked = pd.read_csv("m.csv")
    assert masked["income"].nunique() == 2
    assert masked["age"].nunique() == 6


def test_one_method_may_be_given_with_its_parameters(capsys):
    common = ("--input", "o.csv", "--seed", "2", "--output")
    mask(capsys, *common, "a.csv", "--method", "noise", "--percent", "5", "--attributes", "age")
    mask(capsys, *common, "b.csv", "--method", "noise percent=5 attributes=age")
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()


def test_names_with_commas(capsys):
    Path("c.csv").write_text('"income, gross",home town:2,age\n1,2,3\n4,5,6\n7,8,9\n10,11,13\n')
    common = ("--input", "c.csv", "--output", "m.csv", "--method")
    expected = ' method microaggregation (MDAV) of "income, gross", age with k = 2\n'
    options = ("microaggregation", "--k", "2", "--attributes", '"income, gross",age')
    assert expected in mask(capsys, *common, *options)[1]
    spelled = "microaggregation k=2 attributes='\"income, gross\",age'"
    assert expected in mask(capsys, *common, spelled)[1]
    groups = ("microaggregation", "--groups", '"income, gross",age:2', "--groups", '"home town:2"')
    out = mask(capsys, *common, *groups)[1]
    assert 'of "income, gross", age with k = 2; of home town:2 with k = 3\n' in out
    _, _, err = mask(capsys, *common, "noise", "--percent", "1", "--attributes", "income, gross")
    assert err.startswith("error: c.csv has no column 'income' (attribute); did you mean ")


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["noise percnt=5"], "noise has no parameter 'percnt'; did you mean 'percent'?"),
        (["noise percent=much"], "noise, percent: 'much' is not a finite number"),
        (["noise percent"], "noise: percent takes a value"),
        (["noise percent=5 correlated=yes"], "noise: correlated takes no value"),
        (["noise percent=5 percent=6"], "noise: percent is given twice; give it once"),
        (["noise ", "noise percent=5"], "noise: needs percent"),
        (["noise percent=-5"], "noise: percent is -5; it must be above 0"),
        (["noise 'percent=5"], '"noise \'percent=5" cannot be read: no closing quotation'),
        (
            ["noise percent=5 attributes=age,income,code", "microaggregation k=3"],
            "o.csv: every attribute that microaggregation could mask is excluded or masked by another "
            "method; name those to mask with attributes=A,B",
        ),
        (
            ["noise percent=5", "rank-swapping percent=2 attributes=age"],
            "o.csv, column 'age': percent is 2, less than one of 6 values; it must be at least 16.7",
        ),
        (
            ["noise percent=5 attributes=id"],
            "o.csv, column 'id', row 1: 'r1' is not a number; fix it or choose other --attributes",
        ),
    ],
)
def test_bad_methods_are_one_line_exit_code_2_and_no_file(capsys, methods, message):
    arguments = [part for method in methods for part in ("--method", method)]
    code, out, err = mask(capsys, "--input", "o.csv", "--output", "m.csv", "--record", "r.json", *arguments)
    assert (code, out) == (2, "")
    assert err == f"error: {message}\n"
    assert files() == ["h.csv", "o.csv"]


@pytest.mark.parametrize("methods", [["noise percent=5"], ["noise", "pram change=0.1"]])
def test_an_option_beside_methods_that_hold_theirs_belongs_to_none(capsys, methods):
    arguments = [part for method in methods for part in ("--method", method)]
    code, _, err = mask(capsys, "--input", "o.csv", "--output", "m.csv", "--k", "3", *arguments)
    assert (code, err) == (
        2,
        "error: --k does not say which method it is for; write it into the method, as --method "
        "'noise k=...'\n",
    )


@pytest.mark.parametrize(
    ("content", "method", "message"),
    [
        ("a\n5\n", "microaggregation k=2", "f.csv: k is 2, but there is only 1 record; choose a smaller k"),
        (
            "a\n5\n",
            "rank-swapping percent=50",
            "f.csv, column 'a': there is only 1 value, and swapping needs two; choose other --attributes",
        ),
        (
            "a\nx\n",
            "noise percent=5",
            "f.csv has no numeric attribute to mask; name at least one with --attributes",
        ),
        (
            "id,wgt\n7,1.5\n9,2\n",
            "noise percent=5",
            "f.csv has no numeric attribute to mask besides 'id' (record-id), 'wgt' (weight); name at least "
            "one with --attributes",
        ),
        (
            "a\n5\n",
            "pram change=0.1",
            "f.csv has no attribute with categories to mask; name at least one with --attributes",
        ),
    ],
)
def test_files_that_cannot_be_masked(capsys, content, method, message):
    Path("f.csv").write_text(content)
    code, out, err = mask(capsys, "--input", "f.csv", "--output", "m.csv", "--method", method)
    assert (code, out, err) == (2, "", f"error: {message}\n")
    assert not Path("m.csv").exists()
