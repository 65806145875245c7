"""Protocols of steps: the same file again, undone step by step, and what cannot be used refused."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_golden, check_refused_calls, contents, refuse, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linkrisk import mask, run_protocol, suppress
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.number_text import reading
from linkrisk.datasets.microdata.strict_json import headed
from linkrisk.solver.run.errors import UsageError

PEOPLE = """id,town,sex,trade,pay
01,Urk,f,smith,10
02,Urk,f,nurse,12
03,Urk,f,nurse,31
04,Urk,m,smith,17
05,Urk,m,smith,12
06,Delft,f,smith,15
07,Delft,f,smith,18
08,Delft,m,nurse,90
"""
NOISE = '[[step]]\ncommand = "mask"\nmethod = "noise percent=20 attributes=pay"\nseed = 7\n'
PRAM = '[[step]]\ncommand = "mask"\nmethod = ["pram theta=0.7 attributes=trade"]\nseed = "11"\n'
SUPPRESS = '[[step]]\ncommand = "suppress"\nkeys = ["town", "sex", "trade"]\nk = 2\n'
SHUFFLED = f'{SUPPRESS}problem = "recount"\nshuffle = true\norder_seed = 3\nrenumber = ["id"]\n'
AGES = range(30, 60, 5)
METADATA = """id 1 1 9
  <RECODABLE>
sex 2 1 9
  <RECODABLE>
  <CODELIST> "sexes.cdl"
age 3 3 999
  <RECODABLE>
"""
INPUT = '[input]\nfile = "people.csv"\n'


@pytest.fixture(autouse=True)
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")


def written(*steps, head=INPUT, name="steps.toml"):
    Path(name).write_text("\n".join((head, *steps)), encoding="utf-8")
    return name


def test_what_is_printed(capsys):
    written(NOISE, PRAM, SHUFFLED)
    check_golden(
        "run-protocol",
        run(capsys, "run-protocol", "steps.toml", "--output", "safe.csv", "--json", "done.json"),
    )
    found = json.loads(Path("done.json").read_text(encoding="utf-8"))
    assert [step["command"] for step in found["steps"]] == ["mask", "mask", "suppress"]
    assert found["repeatable"]
    assert "seed" not in Path("done.json").read_text(encoding="utf-8")


def test_a_protocol_is_its_commands_one_after_the_other():
    run_protocol(written(NOISE, PRAM, SHUFFLED), "safe.csv")
    mask("people.csv", "noise percent=20 attributes=pay", seed=7).write("one.csv")
    mask("one.csv", "pram theta=0.7 attributes=trade", seed=11).write("two.csv")
    last = suppress("two.csv", keys=["town", "sex", "trade"], k=2, problem="recount")
    last.write("three.csv", shuffle=True, seed=3, renumber=["id"])
    assert Path("safe.csv").read_bytes() == Path("three.csv").read_bytes()


MADE: dict[tuple[str, ...], bytes] = {}
"""What steps make, which are done but once."""


def made_by(*steps):
    if steps not in MADE:
        run_protocol(written(*steps, name="fewer.toml"), "fewer.csv")
        MADE[steps] = Path("fewer.csv").read_bytes()
    return MADE[steps]


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.sampled_from([NOISE, PRAM, SUPPRESS, SHUFFLED]), min_size=1, max_size=4))
def test_steps_are_undone_one_by_one(steps):
    """Undoing is as if the last steps had never been; undoing all gives the bytes of the input."""
    path = written(*steps)
    for undo in range(len(steps)):
        run_protocol(path, "undone.csv", undo=undo)
        assert Path("undone.csv").read_bytes() == made_by(*steps[: len(steps) - undo])
    run_protocol(path, "undone.csv", undo=len(steps))
    assert Path("undone.csv").read_bytes() == Path("people.csv").read_bytes()


@pytest.mark.parametrize("suffix", [".csv", ".sav", ".xlsx"])
def test_the_same_protocol_gives_the_same_file(suffix):
    pd.read_csv("people.csv").to_parquet("people.parquet")
    run_protocol(written(NOISE, SHUFFLED, head='[input]\nfile = "people.parquet"\n'), f"one{suffix}")
    run_protocol("steps.toml", f"two{suffix}")
    assert Path(f"one{suffix}").read_bytes() == Path(f"two{suffix}").read_bytes()


def test_a_record_has_the_seeds_that_were_drawn():
    unseeded = [step.replace("seed = 7\n", "").replace("order_seed = 3\n", "") for step in (NOISE, SHUFFLED)]
    first = run_protocol(written(*unseeded), "safe.csv", record="kept.toml")
    assert not first.repeatable
    again = run_protocol("kept.toml", "again.csv")
    assert again.repeatable
    assert Path("again.csv").read_bytes() == Path("safe.csv").read_bytes()
    for name in ("kept.toml", "kept.answer2.json"):
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600


def test_a_record_in_another_folder_names_files_as_seen_from_there(tmp_path, monkeypatch):
    Path("trades.grc").write_text("1:smith,nurse\n", encoding="utf-8")
    recode = '[[step]]\ncommand = "mask"\nmethod = "recode file=trade=trades.grc"\n'
    Path("kept").mkdir()
    run_protocol(written(recode, SUPPRESS), "safe.csv", record="kept/steps.toml")
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    run_protocol(tmp_path / "kept" / "steps.toml", "again.csv")
    assert Path("again.csv").read_bytes() == (tmp_path / "safe.csv").read_bytes()


def test_commands_add_their_steps(capsys):
    def safe(*argv):
        run(capsys, *argv, "--protocol", "made.toml")

    safe("mask", "--input", "people.csv", "--method", "noise", "--percent", "5", "--output", "one.csv")
    safe("mask", "--input", "one.csv", "--method", "rank-swapping percent=30", "--output", "two.csv")
    keys = ["--keys", "town,sex,trade", "--dimension", "2", "--threshold", "1=2,2=1"]
    safe("suppress", "--input", "two.csv", *keys, "--ghost", "town=pay", "--shuffle", "--output", "three.csv")
    for undo, name in enumerate(["three.csv", "two.csv", "one.csv", "people.csv"]):
        run_protocol("made.toml", "again.csv", undo=undo)
        assert Path("again.csv").read_bytes() == Path(name).read_bytes()


def test_a_step_goes_on_where_the_last_one_ended(capsys):
    command = ["mask", "--method", "noise percent=5", "--protocol", "made.toml"]
    run(capsys, *command, "--input", "people.csv", "--output", "one.csv")
    refuse(
        capsys,
        "people.csv is not the file that the last step of made.toml wrote; go on with that one",
        *command,
        *["--input", "people.csv", "--output", "two.csv"],
    )
    gone = ["--input", "gone.csv", "--output", "two.csv"]
    refuse(capsys, "gone.csv cannot be read: there is no such file", *command, *gone)
    assert not Path("two.csv").exists()


def test_another_file_after_a_step_is_noticed():
    run_protocol(written(NOISE, PRAM), "safe.csv", record="kept.toml")
    kept = Path("kept.toml").read_text(encoding="utf-8")
    Path("other.toml").write_text(kept.replace("seed = 7", "seed = 8"), encoding="utf-8")
    with pytest.raises(DataError, match="step 1: the file after step 1 is not the file"):
        run_protocol("other.toml", "again.csv")


def test_another_input_or_answer_is_noticed():
    def changed():
        run_protocol(written(SHUFFLED), "safe.csv", record="kept.toml")
        for records in (9, 8):
            answer = headed("suppression-answer", {"records": records, "levels": {}, "taken": {}})
            Path("kept.answer1.json").write_text(json.dumps(answer), encoding="utf-8")
            yield f"{records} records"
        Path("people.csv").write_text(PEOPLE.replace("Urk", "Ens"), encoding="utf-8")
        yield "another input"

    check_refused_calls("again", lambda _: run_protocol("kept.toml", "again.csv"), changed())
    assert not Path("again.csv").exists()


def test_bad_protocols():
    def refused(content):
        Path("steps.toml").write_text(content, encoding="utf-8")
        run_protocol("steps.toml", "safe.csv", record="kept.toml")

    before = contents()
    check_refused_calls(
        "protocols",
        refused,
        [
            *("", INPUT, f"{INPUT}colour = 1\n{NOISE}", "[input\n", f"{INPUT}[[step]]\n"),
            *(f'{INPUT}[[step]]\ncommand = "mask"\n', f"{INPUT}{NOISE}\n[steps]\n"),
            *(f"{INPUT}{SUPPRESS}kk = 3\n", f'{INPUT}{NOISE}sha256 = "12"\n'),
            *(f"{INPUT}{NOISE}{NOISE.replace('pay', 'wage')}", '[input]\nfile = "none.csv"\n' + NOISE),
        ],
    )
    assert {name: text for name, text in contents().items() if name != "steps.toml"} == before


def test_what_cannot_be_undone():
    path = written(NOISE)
    cases = [("safe.csv", -1), ("safe.csv", 2), ("safe.sav", 1), ("people.csv", 0)]
    check_refused_calls("undone", lambda case: run_protocol(path, case[0], undo=case[1]), cases)


def test_what_a_protocol_names_is_not_overwritten(capsys):
    for name, text in (("towns.csv", "Urk,*\nDelft,*\n"), ("more.csv", PEOPLE)):
        Path(name).write_text(text, encoding="utf-8")
    methods = [
        "global-recoding hierarchy=town=towns.csv",
        "weight-calibration attributes=pay margins=sex like=more.csv",
    ]
    steps = [f'[[step]]\ncommand = "mask"\nmethod = "{method}"\n' for method in methods]
    asked = ["run-protocol", written(*steps), "--output", "safe.csv"]
    for name in ("towns.csv", "more.csv", "people.csv"):
        message = f"--json {name} would overwrite an input file: give another name"
        refuse(capsys, message, *asked, "--json", name)
    with pytest.raises(UsageError, match=r"more\.csv is a file that the protocol names"):
        run_protocol("steps.toml", "more.csv")


def test_files_of_argus_with_their_metadata():
    """What is written beside a file belongs to it: metadata, and code lists by their names."""
    lines = [f"{at}{sex}{age:3d}" for at, (sex, age) in enumerate(zip("mfmmff", AGES, strict=True))]
    Path("in.asc").write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path("sexes.cdl").write_text("f,female\nm,male\n", encoding="utf-8")
    Path("in.rda").write_text(METADATA, encoding="utf-8")
    step = '[[step]]\ncommand = "suppress"\nkeys = ["sex", "age"]\nk = 2\n'
    run_protocol(written(step, step.replace("2", "3"), head='[input]\nfile = "in.asc"\n'), "safe.asc")
    suppress("in.asc", keys=["sex", "age"], k=2).write("one.asc")
    suppress("one.asc", keys=["sex", "age"], k=3).write("hand.asc")
    assert Path("safe.asc").read_bytes() == Path("hand.asc").read_bytes()
    assert Path("safe.rda").read_text().replace("safe", "hand") == Path("hand.rda").read_text()
    assert Path("safe_sex.cdl").read_bytes() == Path("hand_sex.cdl").read_bytes()
    Path("back").mkdir()
    run_protocol("steps.toml", "back/again.asc", undo=2)
    assert Path("back/again.asc").read_bytes() == Path("in.asc").read_bytes()
    assert Path("back/again.rda").read_bytes() == Path("in.rda").read_bytes()
    assert Path("back/sexes.cdl").read_bytes() == Path("sexes.cdl").read_bytes()


def test_signs_in_numbers_are_kept_with_the_protocol(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{at};{at + 1}.250,5;{'ab'[at % 2]}\n" for at in range(8))
    Path("a.csv").write_text(f"age;pay;town\n{rows}", encoding="utf-8")
    Path("p.toml").write_text(f'[input]\nfile = "a.csv"\n{NOISE}', encoding="utf-8")
    with pytest.raises(DataError, match=r"decimal=',' thousands='\.' reads it as a number"):
        run_protocol("p.toml", "safe.csv")
    with reading(",", "."):
        run_protocol("p.toml", "safe.csv", record="kept.toml")
    assert 'decimal = ","\nthousands = "."\n' in Path("kept.toml").read_text(encoding="utf-8")
    run_protocol("kept.toml", "again.csv")
    assert Path("safe.csv").read_bytes() == Path("again.csv").read_bytes()
    Path("p.toml").write_text(f'[input]\nfile = "a.csv"\ndecimal = ";"\n{NOISE}', encoding="utf-8")
    with pytest.raises(DataError, match="decimal is ';'; give "):
        run_protocol("p.toml", "safe.csv")
