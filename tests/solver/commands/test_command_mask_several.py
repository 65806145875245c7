"""`mask` with several methods in one call, each with its parameters in one text."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from mask_runs import files, mask, mask_folder  # noqa: F401

from linkrisk.datasets.masking.microaggregation import Microaggregation
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.sequence import masked_in_order, planned

pytestmark = pytest.mark.usefixtures("mask_folder")


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
