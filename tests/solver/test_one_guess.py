"""What is known of a file holds in every command: labels, leading zeros, ids, weights, codes for no value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from linkrisk import describe, fit, link, mask
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.rank_swapping import RankSwapping
from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.formats.registry import read_file, writable_format
from linkrisk.datasets.microdata.roles import CATEGORICAL
from linkrisk.datasets.microdata.schema import Role, Schema
from linkrisk.datasets.microdata.tables import load_table
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.datasets.pairs.categorical import INFERRED
from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.solver.certificates.operations.verify import verify
from linkrisk.solver.commands.program import main
from linkrisk.solver.suppression.operations.key_variables import KeyVariables
from linkrisk.solver.suppression.operations.unsafe import unsafe

RECORDS = 60
SEX = {"1": "male", "2": "female"}
REGION = {"1": "north", "2": "east", "3": "south"}


def survey(folder: Path, suffix: str) -> Path:
    random = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "HHNR": [10 * (at // 2) + 3 for at in range(RECORDS)],
            "PID": [100 + 7 * at for at in random.permutation(RECORDS)],
            "sex": random.integers(1, 3, RECORDS),
            "region": random.integers(1, 4, RECORDS),
            "plz": [("0870", "4011", " ")[at % 3] for at in range(RECORDS)],
            "age": random.integers(18, 80, RECORDS),
            "income": random.normal(3000.0, 500.0, RECORDS).round(2),
            "Gewicht": random.uniform(50.0, 300.0, RECORDS).round(1),
        }
    )
    notes = {
        "sex": ColumnNotes("Sex", SEX),
        "region": ColumnNotes("Region", REGION),
        "PID": ColumnNotes("Personennummer"),
    }
    path = folder / f"survey{suffix}"
    write_all(writable_format(path).write(StoredFile(frame, columns=notes), path))
    return path


@pytest.mark.parametrize("suffix", [".sav", ".parquet"])
def test_noise_leaves_codes_ids_and_weights_of_a_labelled_file_alone(tmp_path: Path, suffix: str) -> None:
    path = survey(tmp_path, suffix)
    table = load_table(str(path), "survey")
    guessed = describe(table).schema
    result = mask(str(path), "noise", parameters={"percent": 10.0}, seed=1)
    assert result.masked == ("age", "income")
    assert result.left_alone == {
        "HHNR": "id",
        "PID": "id",
        "sex": "categories",
        "region": "categories",
        "Gewicht": "weight",
    }
    result.write(tmp_path / f"masked{suffix}")
    written = read_file(tmp_path / f"masked{suffix}")
    assert dict(written.notes("sex").value_labels) == SEX
    assert written.frame["region"].to_list() == table.frame["region"].to_list()
    # The others agree with what describe has written down.
    codes = {each.name for each in guessed.attributes if each.scale in CATEGORICAL and each.role is Role.KEY}
    assert codes == {"sex", "region", "plz"}
    assert mask(str(path), "pram change=0.1", seed=1).masked == ("sex", "region", "plz")
    assert KeyVariables.read(str(path), None, None).names == ("sex", "region", "plz", "age", "income")
    assert mask(str(path), AdditiveNoise(percent=10.0, schema=guessed), seed=1).masked == result.masked
    pair = make_file_pair(str(path), str(tmp_path / f"masked{suffix}"))
    assert pair.attributes == ("sex", "region", "plz", "age", "income")
    assert set(pair.categorical) == codes
    assert pair.notes[0] == (
        "not compared: HHNR (the household number by its name), PID (the record id by its name), "
        "Gewicht (the sampling weight by its name); attributes or schema compares them"
    )


def test_what_is_said_comes_before_what_is_guessed(tmp_path: Path) -> None:
    path = survey(tmp_path, ".sav")
    named = mask(str(path), "noise percent=10 attributes=sex,PID", seed=1)
    assert named.masked == ("PID", "sex")
    schema = Schema.from_dict({"attributes": [{"name": "sex", "scale": "numeric", "role": "key"}]})
    assert mask(str(path), AdditiveNoise(percent=10.0, schema=schema), seed=1).masked == ("sex",)
    pair = make_file_pair(str(path), str(path), attributes=["sex", "Gewicht"], ordinal=["sex"])
    assert pair.attributes == ("sex", "Gewicht")
    assert pair.categorical["sex"].scale == "ordinal"
    declared = Schema.from_dict({"attributes": [{"name": "region", "scale": "numeric"}]})
    pair = make_file_pair(str(path), str(path), attributes=["sex", "region"], schema=declared)
    assert set(pair.categorical) == {"sex"}


def _labels(result: Any, folder: Path, name: str) -> dict[str, str]:
    result.write(folder / "m.sav")
    return dict(read_file(folder / "m.sav").notes(name).value_labels)


def test_recodings_make_labels(tmp_path: Path) -> None:
    path = survey(tmp_path, ".sav")
    grouped = mask(str(path), "recode breaks=18,30,65 attributes=age")
    ages = read_file(path).frame["age"].to_numpy()
    expected = np.where(ages < 30, 18, np.where(ages < 65, 30, 65))
    assert grouped.table["age"].to_list() == expected.tolist()
    assert grouped.labels == {"age": {"18": "18 to under 30", "30": "30 to under 65", "65": "65 and more"}}
    assert _labels(grouped, tmp_path, "age") == grouped.labels["age"]
    named = mask(str(path), "recode breaks=18,65 labels=adult,old attributes=age")
    assert _labels(named, tmp_path, "age") == {"18": "adult", "65": "old"}


def test_an_old_label_is_not_that_of_a_new_code_that_is_spelled_alike(tmp_path: Path) -> None:
    """Code 2 was east and becomes south: its label stayed east."""
    path = survey(tmp_path, ".sav")
    (tmp_path / "r.grc").write_text("1: 1 - 2\n2: 3\n", encoding="utf-8")
    recoded = mask(str(path), f"recode file=region={tmp_path / 'r.grc'}")
    assert _labels(recoded, tmp_path, "region") == {"1": "north, east", "2": "south"}
    (tmp_path / "r.grc").write_text("1: 1-2\n2: 3\n<CODELIST> r.cdl\n", encoding="utf-8")
    (tmp_path / "r.cdl").write_text('1,"not south"\n2,"south"\n', encoding="utf-8")
    recoded = mask(str(path), f"recode file=region={tmp_path / 'r.grc'}")
    assert _labels(recoded, tmp_path, "region") == {"1": "not south", "2": "south"}


def test_unsafe_combinations_are_told_in_the_words_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = survey(tmp_path, ".sav")
    assert main(["unsafe", "--input", str(path), "--keys", "sex,region", "--k", "50"]) == 0
    printed = capsys.readouterr().out
    assert "Sex: female (2)" in printed
    assert "Region: south (3)" in printed
    schema = {"attributes": [{"name": "sex", "label": "Geschlecht", "labels": {"2": "weiblich"}}]}
    result = unsafe(str(path), keys=["sex", "plz"], k=50, schema=Schema.from_dict(schema))
    assert result.to_dict()["labels"] == {
        "sex": {"label": "Geschlecht", "codes": {"1": "male", "2": "weiblich"}}
    }


def test_what_describe_ignores_is_left_out_by_all_commands_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A constant that nobody asked for was masked by one command and refused by the next."""
    random = np.random.default_rng(3)
    original = pd.DataFrame(
        {
            "size": 3,
            "income": random.normal(3000.0, 500.0, RECORDS).round(2),
            "zip": [f"{at % 40:04d}" if at % 2 else f" {at % 40}" for at in range(RECORDS)],
            "amount": [f"1.{at:03d},5" for at in range(RECORDS)],
            "gone": np.nan,
        }
    )
    masked = original.assign(
        income=original["income"] + random.normal(0.0, 300.0, RECORDS), size=random.normal(3.0, 1.0, RECORDS)
    )
    files = [str(tmp_path / name) for name in ("o.csv", "m.csv")]
    for frame, path in zip((original, masked), files, strict=True):
        frame.to_csv(path, index=False)
    table = load_table(files[0], "o")
    ignored = set(describe(table.frame).schema.select(role=Role.IGNORED))
    assert ignored == {"size", "zip", "amount", "gone"}
    said = (
        "not compared: size (ignored, as it is the same for all records), zip (ignored, as it cannot be "
        "compared as it is), amount (ignored, as it cannot be compared as it is), gone (ignored, as it has "
        "no value); attributes or schema compares them"
    )
    pair = make_file_pair(*files)
    assert pair.attributes == ("income",)
    assert said in pair.notes
    found = link(*files, method="dbrl").to_dict()
    assert found["attributes"] == ["income"]
    assert said in found["notes"]
    result = mask(files[0], "noise percent=5", seed=1)
    assert result.masked == ("income",)
    assert (result.left_alone["size"], result.left_alone["gone"]) == ("constant", "constant")
    assert KeyVariables.read(files[0], None, None).names == ("income",)
    assert main(["fit", "--original", files[0], "--masked", files[1], "--time-limit", "1"]) == 0
    printed = said.replace("attributes or schema", "--attributes or --schema")
    assert printed in capsys.readouterr().out
    # A schema that says nothing of them changes nothing; what somebody asks for is refused as it was.
    some = Schema.from_dict({"attributes": [{"name": "income", "missing": ["-9"]}]})
    assert make_file_pair(*files, schema=some).attributes == ("income",)
    with pytest.raises(DataError, match="constant attributes cannot be compared: size"):
        make_file_pair(*files, attributes=["income", "size"])
    assert make_file_pair(*files, nominal=["amount"]).attributes == ("income", "amount")


def test_a_gap_beside_one_category_tells_records_apart() -> None:
    frame = pd.DataFrame({"retired": ["yes", None] * 20, "bonus": [1.0, None] * 20, "age": range(40)})
    roles = {one.name: one.role for one in describe(frame).schema.attributes}
    assert roles["retired"] is Role.KEY
    assert roles["bonus"] is Role.IGNORED
    assert make_file_pair(frame, frame).attributes == ("retired", "age")


def test_text_of_many_values_that_became_few_is_compared_by_its_recoding() -> None:
    """Leaving it out would flatter: whoever knows the codes recodes what he knows."""
    jobs = [f"job {at % 30}" for at in range(50)]
    original = pd.DataFrame({"job": jobs, "age": np.random.default_rng(2).integers(18, 80, 50)})
    masked = original.assign(job=[f"group {int(job.split()[1]) // 8}" for job in jobs])
    pair = make_file_pair(original, masked)
    assert pair.attributes == ("job", "age")
    assert pair.categorical["job"].masking == INFERRED


def test_the_id_that_describe_names_is_the_one_that_is_advised() -> None:
    values = [f"1.{at:03d},5" for at in range(RECORDS)]
    original = pd.DataFrame(
        {"amount": values, "id": range(1, RECORDS + 1), "age": [at % 7 for at in range(RECORDS)]}
    )
    masked = original.iloc[::-1].reset_index(drop=True)
    with pytest.raises(DataError, match="align the records with id='id' "):
        make_file_pair(original, masked)


def test_names_with_line_breaks_keep_their_line_in_all_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random = np.random.default_rng(5)
    names = ["wage\nin euros", "a\tb", "key\nid"]
    original = pd.DataFrame({name: random.normal(10.0, 3.0, 30) for name in names[:2]})
    original[names[2]] = range(30)
    masked = original.assign(**{"a\tb": original["a\tb"] + random.normal(0.0, 1.0, 30)})
    files = [str(tmp_path / name) for name in ("o.csv", "m.csv", "turned.csv")]
    for frame, path in zip((original, masked, masked[::-1]), files, strict=True):
        frame.to_csv(path, index=False)
    pair = ["--original", files[0], "--masked", files[1]]
    fit = str(tmp_path / "f.json")
    for argv in (
        ["describe", files[0]],
        ["fit", *pair, "--time-limit", "1", "--json", fit],
        ["evaluate", "--parameters", fit],
        ["mask", "--input", files[0], "--method", "noise percent=5", "--output", str(tmp_path / "n.csv")],
        ["unsafe", "--input", files[0], "--keys", r"$'a\tb'"],
    ):
        assert main(argv) == 0
        out = capsys.readouterr().out
        assert r"$'a\tb'" in out or argv[0] == "evaluate"
        assert "\t" not in out
        assert not any(line.startswith(("in euros", "id")) for line in out.splitlines())
    assert main(["fit", "--original", files[0], "--masked", files[2]]) == 2
    assert r"align the records with --id $'key\nid' (" in capsys.readouterr().err


NOTE = "values with a code that the file itself declares missing count as missing: income, status"
STEPS = ["noise percent=10 attributes=age,income", "pram change=0.9 attributes=status"]


@pytest.fixture
def coded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """An SPSS file in which -1 is no income and 9 no status; and the same with these left empty."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {"age": rng.integers(20, 70, 60), "income": rng.integers(300, 3000, 60)}, dtype=float
    )
    table["status"] = rng.integers(1, 5, 60).astype(float)
    table.loc[[3, 9], "income"], table.loc[[5, 7, 20], "status"] = -1.0, 9.0
    codes = {"income": [-1], "status": [9]}
    pyreadstat.write_sav(table, "o.sav", missing_ranges=codes, variable_measure={"status": "nominal"})
    return table


def known(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(
        income=table["income"].where(table["income"] != -1.0),
        status=table["status"].where(table["status"] != 9.0),
    )


def test_masking_keeps_them(coded: pd.DataFrame) -> None:
    mask("o.sav", STEPS, seed=3).write("m.sav")
    masked, meta = pyreadstat.read_sav("m.sav", user_missing=True)
    assert meta.missing_ranges == {"income": [{"lo": -1.0, "hi": -1.0}], "status": [{"lo": 9.0, "hi": 9.0}]}
    for name, code in (("income", -1.0), ("status", 9.0)):
        assert (masked[name] == code).equals(coded[name] == code)
    expected = mask(known(coded), STEPS, seed=3).table
    pd.testing.assert_frame_equal(known(masked), expected, check_dtype=False)


def test_they_are_compared_as_missing_values(coded: pd.DataFrame) -> None:
    masked = mask("o.sav", STEPS, seed=3).table
    result = fit("o.sav", masked, nominal=["status"], certificate=True)
    same = fit(known(coded), known(masked), nominal=["status"])
    assert (result.interval, result.parameters) == (same.interval, same.parameters)
    assert f"o.sav: {NOTE}" in result.details["notes"]
    assert verify(result, "o.sav", masked).linked == result.linked
    found = link("o.sav", masked, method="prl", nominal=["status"])
    assert found.to_dict()["notes"].count(f"o.sav: {NOTE}") == 1
    assert found.linked == link(known(coded), known(masked), method="prl", nominal=["status"]).linked


def test_a_column_of_numbers_with_declared_text_is_masked() -> None:
    """Once taken for text and left as it was."""
    values = [str(value) for value in range(30)]
    values[4] = "?"
    schema = {"attributes": [{"name": "a", "missing": ["?"]}]}
    found = mask(
        pd.DataFrame({"a": values}), RankSwapping(percent=20, schema=Schema.from_dict(schema)), seed=1
    )
    assert found.masked == ("a",)
    assert found.table["a"][4] == "?"
    assert sum(found.table["a"].astype(str) != pd.Series(values)) > 10


def test_a_word_among_numbers_is_named_and_does_not_leave_the_column_as_it_is() -> None:
    frame = pd.DataFrame({"a": ["1", "2", "three", "4"], "b": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(
        DataError, match=r"column 'a', row 3: 'three' is not a number; fix it or choose other"
    ):
        mask(frame, "noise percent=10")
