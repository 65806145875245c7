"""`mask` on the command line: what it prints and refuses, the seed of a file, and the record of its owner."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import stat
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_golden, check_refusals, files, mask, mask_folder  # noqa: F401
from format_cases import WRITTEN, there_and_back

import linkrisk
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.microaggregation import Microaggregation
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.sequence import masked_in_order, planned
from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.formats.delimited import DelimitedDialect
from linkrisk.datasets.microdata.formats.registry import read_file
from linkrisk.datasets.microdata.missing import MissingRange

pytestmark = pytest.mark.usefixtures("mask_folder")


def test_golden_output_and_file(capsys):
    code, out, err = mask(
        capsys,
        *("--input", "o.csv", "--method", "microaggregation", "--attributes", "age,income"),
        *("--k", "3", "--output", "m.csv"),
    )
    assert (code, err) == (0, "")
    check_golden("mask", f"{out}\n{Path('m.csv').read_text()}")


def test_what_is_missing_stays_and_what_too_few_have_is_withheld(capsys):
    Path("holes.csv").write_text("a,b\n1,5\n2,\n3,7\n,8\n,9\n1,\n2,\n7,\n")
    given = ("--method", "microaggregation", "--output", "m.csv", "--record", "r.json")
    code, out, err = mask(capsys, "--input", "holes.csv", *given)
    assert (code, err) == (0, "")
    assert "\n withheld 4 of b: these values become missing\n" in out
    assert Path("m.csv").read_text() == "a,b\n" + 3 * f"{8 / 3!r},\n" + 2 * ",\n" + 3 * f"{8 / 3!r},\n"
    assert json.loads(Path("r.json").read_text())["withheld"] == {"b": 4}


def test_the_id_column_is_never_masked(capsys):
    common = ("--input", "o.csv", "--method", "noise", "--percent", "5", "--output", "m.csv")
    _, out, _ = mask(capsys, *common, "--id", "code")
    assert " masked age, income\n" in out
    assert [line.split(",")[1] for line in Path("m.csv").read_text().splitlines()[1:3]] == ["007", "010"]


REFUSED = """
--method noise
--method noise --percent much
--method noise --percent 1e308
--method noise --percent 5 --id code --attributes code
--method noise --percent 5 --id cod
--method microaggregation --groups age:3 --k 4
--method microaggregation --groups age:3 --groups income,age:3
--method M4-33 --seed x
--method microaggregation --output ./o.csv
--method 'noise percnt=5'
--method 'noise percent'
--method 'noise percent=5 correlated=yes'
--method 'noise percent=5 percent=6'
--method 'noise ' --method 'noise percent=5'
--method "noise 'percent=5"
--method 'noise percent=5 attributes=age,income,code' --method 'microaggregation k=3'
--method 'noise percent=5' --record no/r.json
--method 'noise percent=5' --record r.json
--method 'noise percent=5' --record ./m.csv
--input one.csv --method 'microaggregation k=2'
--input one.csv --method 'rank-swapping percent=50'
--input t.csv --method 'pram matrix=code=used.csv' --output ./used.csv
--input t.csv --method 'weight-calibration attributes=w margins=code like=used.csv' --output ./used.csv
--input in.rda --method 'noise percent=5' --output in.asc
--input absent.csv --method 'noise percent=5' --output out.sas7bdat
--input names.csv --method noise --percent 10 --attributes none --output out.sav
"""
"""The last: names that do not fit are refused before work finds that the method has no such column."""


def test_what_is_refused(capsys):
    """Given twice, the last --input or --output counts."""
    texts = {"one.csv": "a\n5\n", "t.csv": "code,w\nf,1\nm,2\nf,3\n", "r.json": "{}"}
    texts |= {"used.csv": "code,f,m\nf,0.9,0.1\nm,0.2,0.8\n", "names.csv": "in come,age\n1,2\n2,3\n3,4\n"}
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
    made("in.rda")
    given = ["mask", "--input", "o.csv", "--output", "m.csv"]
    asked = ((line, [*given, *shlex.split(line)]) for line in REFUSED.strip().splitlines())
    check_refusals(capsys, "mask", asked)


def test_several_methods_in_order_each_on_its_own_attributes(capsys):
    code, out, err = mask(
        capsys,
        *("--input", "h.csv", "--output", "m.csv", "--seed", "4"),
        *("--method", "microaggregation k=5 attributes=income"),
        *("--method", "pram change=0.5"),
        *("--method", "noise percent=10"),
    )
    assert (code, err) == (0, "")
    check_golden("mask-several", out)
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


def _seed_printed(out):
    found = re.search(r"^seed (\d+): keep it secret, it undoes the masking$", out, flags=re.MULTILINE)
    assert found is not None
    return int(found[1])


def test_every_file_has_a_seed_of_its_own_that_makes_it_again(capsys):
    methods = ("--method", "noise percent=5", "--method", "pram change=0.9 attributes=code")
    common = ("--input", "o.csv", *methods)
    seeds = [_seed_printed(mask(capsys, *common, "--output", f"{name}.csv")[1]) for name in "ab"]
    assert len({Path(f"{name}.csv").read_bytes() for name in "ab"}) == 2
    assert min(seeds) > 2**64
    mask(capsys, *common, "--output", "again.csv", "--seed", str(seeds[0]))
    assert Path("again.csv").read_bytes() == Path("a.csv").read_bytes()
    assert str(seeds[0]) not in Path("a.csv").read_text()


def test_the_record_is_the_owners_and_has_the_seed_that_is_not_printed(capsys):
    methods = ("--method", "noise percent=5 correlated", "--method", "pram change=1 attributes=note")
    common = ("--input", "o.csv", *methods)
    code, out, _ = mask(capsys, *common, "--output", "m.csv", "--record", "owner.json")
    assert code == 0
    assert "seed in owner.json: keep it secret, it undoes the masking\n" in out
    assert out.endswith("wrote m.csv\nwrote owner.json\n")
    assert stat.S_IMODE(Path("owner.json").stat().st_mode) == 0o600
    record = json.loads(Path("owner.json").read_text())
    seed = record.pop("seed")
    assert isinstance(seed, str)
    assert seed not in out
    assert record.pop("linkrisk")
    for of, name in (("input", "o.csv"), ("output", "m.csv")):
        assert record[of].pop("sha256") == hashlib.sha256(Path(name).read_bytes()).hexdigest()
    check_golden("mask-record", json.dumps(record, indent=1) + "\n")
    mask(capsys, *common, "--output", "again.csv", "--seed", seed)
    assert Path("again.csv").read_bytes() == Path("m.csv").read_bytes()


def test_a_record_of_every_kind_of_parameter(capsys):
    Path("schema.json").write_text('{"attributes": [{"name": "age", "scale": "nominal"}]}')
    Path("matrix.csv").write_text("code,7,8\n7,0.25,0.75\n8,0,1\n")
    Path("tree.csv").write_text("age,band\n20,a\n21,b\n")
    Path("t.csv").write_text("code,age,x,y\n7,20,1,5\n8,21,2,6\n7,20,3,7\n8,20,9,1\n")
    code, _, err = mask(
        capsys,
        *("--input", "t.csv", "--output", "m.csv", "--record", "r.json", "--seed", "0"),
        *("--method", "pram matrix=code=matrix.csv schema=schema.json"),
        *("--method", "global-recoding hierarchy=age=tree.csv"),
        *("--method", "microaggregation groups=x,y:2"),
    )
    assert (code, err) == (0, "")
    record = json.loads(Path("r.json").read_text())
    pram, recoding, grouping = (step["parameters"] for step in record["methods"])
    assert pram["matrix"] == [
        {"attribute": "code", "categories": ["7", "8"], "probability": [[0.25, 0.75], [0.0, 1.0]]}
    ]
    assert pram["schema"]["attributes"][0]["name"] == "age"
    assert recoding["hierarchy"] == [{"attribute": "age", "levels": [["20", "21"], ["a", "b"]]}]
    assert grouping == {"groups": [{"attributes": ["x", "y"], "k": 2}]}
    assert record["seed"] == "0"


def test_masked_file_and_record_are_written_both_or_none():
    with pytest.raises(DataError, match="no does not exist"):
        linkrisk.mask("o.csv", "noise percent=5").write("no/m.csv", "r.json")
    assert files() == ["h.csv", "o.csv"]


AGE = ColumnNotes("Alter", {"99": "keine Angabe"}, ("99", MissingRange(-9, -1)), "numeric")
SEX = ColumnNotes("Geschlecht", {"1": "Frau", "2": "Mann"}, ("9",), "nominal")

FRAME = pd.DataFrame(
    {
        "plz": ["007", "080", "012", "013", "014", "015"],
        "sex": [1, 2, 2, 1, 1, 2],
        "age": [20.5, 25.25, 31.0, 46.0, 52.0, 99.0],
        "ort": ["Köln", "Ulm", "Köln", "Bonn", "Ulm", "Köln"],
    }
)

NOISE = ("--method", "noise", "--percent", "10", "--attributes", "age", "--seed", "1")


def made(name):
    """A file with labels, missing codes and measures, as far as its format holds them."""
    return there_and_back(StoredFile(FRAME, columns={"age": AGE, "sex": SEX}), Path(name))


@pytest.mark.parametrize("suffix", WRITTEN)
def test_a_file_comes_back_in_the_format_it_came_in(suffix, capsys):
    before = made(f"in{suffix}")
    code, out, err = mask(capsys, "--input", f"in{suffix}", "--output", "out", *NOISE)
    assert (code, err) == (0, "")
    assert out.endswith(f"wrote out{suffix}\n")
    after = read_file(f"out{suffix}")
    assert list(after.frame.columns) == list(FRAME.columns)
    pd.testing.assert_frame_equal(after.frame.drop(columns="age"), before.frame.drop(columns="age"))
    # A code that the file itself declares missing is not a value to mask.
    kept = before.frame["age"].eq(99.0) & bool(before.notes("age").missing)
    assert after.frame["age"].eq(before.frame["age"]).equals(kept)
    assert after.dialect == before.dialect
    assert after.notes("sex") == before.notes("sex")
    assert after.notes("age").label == before.notes("age").label
    assert after.notes("age").missing == before.notes("age").missing
    if suffix in (".sav", ".parquet"):
        assert (after.notes("sex").label, after.notes("sex").measure) == ("Geschlecht", "nominal")
        assert after.notes("age").value_labels == {"99": "keine Angabe"}


def test_what_is_lost_is_said_first(capsys):
    made("in.sav")
    _, out, _ = mask(capsys, "--input", "in.sav", "--output", "out.csv", *NOISE)
    assert out.startswith(
        "note: variable labels are lost (columns sex, age)\n"
        "note: value labels are lost (columns sex, age)\n"
        "note: declared missing codes are lost (columns sex, age)\n"
        "note: levels of measurement are lost (columns sex, age)\n"
        "note: settings that only SPSS knows are lost (columns plz, sex, age and 1 more)\n"
        "in.sav: 6 records, 4 columns\n"
    )


def test_a_delimited_file_keeps_its_dialect_and_its_cells(capsys):
    Path("in.csv").write_bytes("plz;ort;lohn\n007;Köln;1,50\n080;NA;2,5\n012;;3\n".encode("cp1252"))
    code, out, _ = mask(
        capsys, "--input", "in.csv", "--output", "out.csv", "--method", "rank-swapping", "--percent", "100",
        "--attributes", "lohn", "--seed", "3",
    )  # fmt: skip
    assert code == 0
    assert out.startswith("note: read with ';' between columns, ',' as decimal sign, Windows-1252\nin.csv: ")
    lines = Path("out.csv").read_bytes().decode("cp1252").splitlines()
    assert lines[0] == "plz;ort;lohn"
    assert [line.rpartition(";")[0] for line in lines[1:]] == ["007;Köln", "080;NA", "012;"]
    assert sorted(line.rpartition(";")[2] for line in lines[1:]) == ["1,50", "2,5", "3"]
    assert read_file("out.csv").dialect == DelimitedDialect(";", "cp1252", ",", "\n", ".csv")


def test_values_that_the_file_had_are_written_as_it_writes_them(capsys):
    rows = ["FALSE,1.50,3", "TRUE,2.5,", "TRUE,,4", ",2.5,3", "FALSE,10,5.0", "TRUE,2.50,5"]
    Path("in.csv").write_text("\n".join(["yes,price,code", *rows]) + "\n", encoding="utf-8")
    methods = ("--method", "pram change=0.9 attributes=yes,code", "--method", "rank-swapping percent=100")
    code, *_ = mask(capsys, "--input", "in.csv", "--output", "out.csv", *methods, "--seed", "7")
    assert code == 0
    before = [row.split(",") for row in rows]
    after = [row.split(",") for row in Path("out.csv").read_text(encoding="utf-8").splitlines()[1:]]
    assert before != after
    for column, texts in enumerate([{"TRUE", "FALSE", ""}, {"1.50", "2.5", "10", ""}, {"3", "4", "5.0", ""}]):
        assert {row[column] for row in after} <= texts  # 5 and 5.0 are one value, which is written in one way
