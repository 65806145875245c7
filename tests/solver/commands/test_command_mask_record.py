"""`mask`: a seed of its own for every file, and the record that only its owner keeps."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from pathlib import Path

import pytest
from cli_runs import TABLE, files, mask, mask_folder  # noqa: F401

import linkrisk
from linkrisk.datasets.errors import DataError

pytestmark = pytest.mark.usefixtures("mask_folder")


def _seed_printed(out):
    found = re.search(r"^seed (\d+): keep it secret, it undoes the masking$", out, flags=re.MULTILINE)
    assert found is not None
    return int(found[1])


def test_every_file_has_a_seed_of_its_own_that_makes_it_again(capsys):
    common = (
        "--input",
        "o.csv",
        "--method",
        "noise percent=5",
        "--method",
        "pram change=0.9 attributes=code",
    )
    seeds = [_seed_printed(mask(capsys, *common, "--output", f"{name}.csv")[1]) for name in "ab"]
    assert len({Path(f"{name}.csv").read_bytes() for name in "ab"}) == 2
    assert min(seeds) > 2**64
    mask(capsys, *common, "--output", "again.csv", "--seed", str(seeds[0]))
    assert Path("again.csv").read_bytes() == Path("a.csv").read_bytes()
    assert str(seeds[0]) not in Path("a.csv").read_text()


def test_the_record_is_the_owners_and_has_the_seed_that_is_not_printed(capsys):
    common = (
        "--input",
        "o.csv",
        "--method",
        "noise percent=5 correlated",
        "--method",
        "pram change=1 attributes=note",
    )
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
    assert record == {
        "format": "linkrisk-masking",
        "version": 1,
        "input": {"name": "o.csv", "sha256": hashlib.sha256(TABLE.encode()).hexdigest()},
        "output": {"name": "m.csv", "sha256": hashlib.sha256(Path("m.csv").read_bytes()).hexdigest()},
        "name": "o.csv",
        "records": 6,
        "columns": 5,
        "methods": [
            {
                "method": "noise",
                "parameters": {"percent": 5.0, "correlated": True},
                "attributes": ["age", "income"],
                "said": "correlated normal noise with 5 % of the standard deviation of age, income",
            },
            {
                "method": "pram",
                "parameters": {"change": 1.0},
                "attributes": ["note"],
                "said": "PRAM with probability 1 of a change of note",
            },
        ],
        "masked": ["age", "income", "note"],
        "unchanged": [],
        "as_is": ["id", "code"],
        "left_alone": {"id": "id"},
        "withheld": {},
        "identifiers": [],
    }
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


def test_masked_file_and_record_are_written_both_or_none(capsys):
    common = ("--input", "o.csv", "--method", "noise percent=5")
    code, _, err = mask(capsys, *common, "--output", "no/m.csv", "--record", "r.json")
    assert (code, err) == (
        2,
        "error: cannot write --output no/m.csv: the folder no does not exist; create it first\n",
    )
    code, _, err = mask(capsys, *common, "--output", "m.csv", "--record", "no/r.json")
    assert (code, err) == (
        2,
        "error: cannot write --record no/r.json: the folder no does not exist; create it first\n",
    )
    with pytest.raises(DataError, match="no does not exist"):
        linkrisk.mask("o.csv", "noise percent=5").write("no/m.csv", "r.json")
    assert files() == ["h.csv", "o.csv"]
    Path("r.json").write_text("{}")
    code, _, err = mask(capsys, *common, "--output", "m.csv", "--record", "r.json")
    assert (code, err) == (
        2,
        "error: r.json exists and may be the only copy of a seed; give this record another name\n",
    )
    code, _, err = mask(capsys, *common, "--output", "m.csv", "--record", "./m.csv")
    assert (code, err) == (
        2,
        "error: --record ./m.csv is the masked file; give the record another name\n",
    )
    assert files() == ["h.csv", "o.csv", "r.json"]
