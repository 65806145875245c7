"""`mask --drop --shuffle --renumber`: what a release does not have, and the record that says who is who."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import check_refusals, check_refused_calls, refuse, run, squeezed

from linkrisk import run_protocol
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.schema_files import read_schema
from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.datasets.pairs.released_columns import ColumnLeftIn

N = 40
SCHEMA = """
[[attributes]]
name = "no"
role = "record-id"
[[attributes]]
name = "home"
role = "household"
[[attributes]]
name = "firm"
role = "identifier"
[[attributes]]
name = "boss"
role = "identifier"
[[attributes]]
name = "turnover"
role = "key"
scale = "numeric"
"""
METHOD = ("--method", "noise percent=20 schema=firms.toml")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    firms().to_csv("firms.csv", index=False)
    Path("firms.toml").write_text(SCHEMA)


def firms():
    return pd.DataFrame(
        {
            "no": range(1, N + 1),
            "home": np.arange(N) // 4 + 1,
            "firm": [f"Firm {at:03d}" for at in range(N)],
            "boss": [f"Boss {at:03d}" for at in range(N)],
            "turnover": np.random.default_rng(3).normal(50, 9, N).round(1),
        }
    )


def schema():
    return read_schema("firms.toml")


def test_identifiers_of_the_schema_are_dropped_and_that_is_said(capsys):
    said = squeezed(run(capsys, "mask", "--input", "firms.csv", *METHOD, "--output", "out.csv"))
    assert "\n dropped firm, boss\n" in said
    assert "\n as is no, home\n" in said
    released = pd.read_csv("out.csv")
    assert list(released.columns) == ["no", "home", "turnover"]
    assert make_file_pair(firms(), released, schema=schema()).left_in.identifiers == ()


def test_they_can_be_kept_and_that_is_said_too(capsys):
    given = ("mask", "--input", "firms.csv", *METHOD)
    said = squeezed(run(capsys, *given, "--drop", "none", "--output", "out.csv"))
    assert "\n names firm, boss: left in, and name the records; --drop leaves them out\n" in said
    left = make_file_pair(firms(), pd.read_csv("out.csv"), schema=schema()).left_in
    assert left.identifiers == (ColumnLeftIn("firm", N), ColumnLeftIn("boss", N))
    said = squeezed(run(capsys, *given, "--drop", "boss,no", "--output", "two.csv"))
    assert "\n dropped boss, no\n" in said
    assert "\n names firm: left in" in said
    assert list(pd.read_csv("two.csv").columns) == ["home", "firm", "turnover"]


def test_a_record_keeps_who_is_who_and_nothing_else_tells_it(capsys):
    options = ("--shuffle", "--renumber", "no,home", "--record", "kept.json", "--output", "out.csv")
    said = squeezed(run(capsys, "mask", "--input", "firms.csv", *METHOD, *options))
    assert "\n numbered no, home: anew, no number as before\n order random\n" in said
    assert said.endswith("the order is random: --id kept.json knows who is who\n")
    released, order = pd.read_csv("out.csv"), np.array(json.loads(Path("kept.json").read_text())["order"]) - 1
    assert sorted(order) == list(range(N))
    assert list(order) != list(range(N))
    before = firms().iloc[order].reset_index(drop=True)
    assert np.corrcoef(before["turnover"], released["turnover"])[0, 1] > 0.9
    for name, first in (("no", 101), ("home", 101)):  # by its order, and no number as it was
        assert pd.factorize(before[name])[0].tolist() == (released[name] - first).tolist()
    assert (released["home"].diff().abs() <= 1)[1:].all()  # households are together
    pair = make_file_pair("firms.csv", "out.csv", schema=schema(), id="kept.json")
    assert pair.alignment == "masking record"
    assert order[pair.partner].tolist() == list(range(N))
    assert pair.left_in.numbers == ()
    with pytest.raises(DataError, match="no id in common in column 'no'"):
        make_file_pair("firms.csv", "out.csv", schema=schema())


def test_without_chance_in_the_method_the_order_has_a_seed(capsys):
    def made(name, *options):
        method = ("--method", "rounding base=5 attributes=turnover")
        run(capsys, "mask", "--input", "firms.csv", *method, *options, "--shuffle", "--output", name)
        return pd.read_csv(name)

    assert made("a.csv", "--seed", "4").equals(made("b.csv", "--seed", "4"))
    assert not made("a.csv", "--seed", "4").equals(made("c.csv", "--seed", "5"))
    assert "undone" not in run(capsys, "mask", "--input", "firms.csv", *METHOD, "--output", "d.csv")
    said = squeezed(run(capsys, "mask", "--input", "firms.csv", *METHOD, "--shuffle", "--output", "e.csv"))
    assert "\n undone by no, home, as they were; --renumber makes new ones\n" in said


def test_a_step_of_a_protocol_does_it_again(capsys):
    options = ("--shuffle", "--renumber", "no,home", "--drop", "firm")
    files = ("--protocol", "steps.toml", "--output", "out.csv")
    run(capsys, "mask", "--input", "firms.csv", *METHOD, *options, *files)
    run_protocol("steps.toml", "again.csv")
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()
    Path("steps.toml").write_text(
        '[input]\nfile = "firms.csv"\n[[step]]\ncommand = "mask"\ndrop = []\nshuffle = true\n'
        'method = "noise percent=20 schema=firms.toml"\n'
    )
    run_protocol("steps.toml", "kept.csv", record="record.toml")
    assert list(pd.read_csv("kept.csv").columns) == list(firms().columns)
    run_protocol("record.toml", "same.csv")
    assert Path("same.csv").read_bytes() == Path("kept.csv").read_bytes()


def test_what_cannot_be_done(capsys):
    given = ["mask", "--input", "firms.csv", *METHOD, "--output", "out.csv"]
    options = (["--drop", "turnover"], ["--drop", "no", "--renumber", "no"])
    check_refusals(capsys, "mask-release", ([*given, *more] for more in options))


def test_what_is_no_record_of_an_order():
    def refused(content):
        Path("kept.json").write_text(content)
        make_file_pair(firms(), firms(), id="kept.json", attributes=["turnover"])

    contents = ('{"order": [1, "2"]}', "nothing", '{"order": [1, 1]}', '{"order": [2, 1]}')
    check_refused_calls("order", refused, contents)


ORDERS = (
    "--id names one record of maskings, and there are 2 releases, each with an order of its own: name one "
    "record for each, in the order of the releases, joined by commas"
)


def two_releases(capsys):
    """Two maskings of one file, each shuffled on its own."""
    for seed, name in enumerate("ab"):
        kept = ("--seed", str(seed), "--shuffle", "--record", f"{name}.json", "--output", f"{name}.csv")
        run(capsys, "mask", "--input", "firms.csv", *METHOD, *kept, "--drop", "no,home,firm,boss")


def risk_of(names):
    files = [word for name in names for word in ("--masked", f"{name}.csv")]
    search = ("--aggregator", "weighted-mean", "--time-limit", "none", "--measures", "worst-case,releases")
    return ["risk", "--original", "firms.csv", *files, "--attributes", "turnover", *search]


def test_each_of_several_releases_has_a_record_of_its_own(capsys):
    two_releases(capsys)
    refuse(capsys, ORDERS, *risk_of("ab"), "--id", "a.json")
    low = []
    for names in ("a", "b", "ab"):
        records = ",".join(f"{name}.json" for name in names)
        run(capsys, *risk_of(names), "--id", records, "--json", "risk.json")
        low.append(json.loads(Path("risk.json").read_text())["verdict"]["low"])
    assert min(low) > 0.1, "who is who is right in both"
    assert low[2] >= max(low) - 1e-9, "an intruder may leave a release out"


def test_a_record_of_another_masking_is_spoken_of(capsys):
    two_releases(capsys)
    notes = [
        " ".join(make_file_pair("firms.csv", name, attributes=["turnover"], id="a.json").notes)
        for name in ("a.csv", "b.csv")
    ]
    assert ["is not what the masking of a.json has written" in said for said in notes] == [False, True]
