"""`link --pass`: what it prints and writes, clerical review and back, and everything that is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_golden, refuse, run
from linker_cases import persons

from linkrisk import link
from linkrisk.solver.linkage.probabilistic.blocking import parse_pass
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.linkage.registry import make_linker
from linkrisk.solver.run.errors import UsageError

FILES = ["link", "--original", "a.csv", "--masked", "b.csv", "--method", "prl", "--id", "id"]
COLUMNS = [
    "--nominal", "surname,name,town,born", "--compare", "surname=jaro-winkler:0.92,0.8",
    "--compare", "name=jaro-winkler:0.9", "--compare", "age=within:0,2",
]  # fmt: skip
PASSES = ["--pass", "soundex(surname),town", "--pass", "year(born),name[:2]"]
ARGV = [*FILES, *COLUMNS, *PASSES]
BAND = ["--clerical-band", "0.05,0.8"]


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, second = persons(120, seed=1)
    first.assign(id=[f"p{at}" for at in range(120)]).to_csv("a.csv", index=False)
    second.assign(id=[f"p{at}" for at in range(120)])[5:].sample(frac=1.0, random_state=0).to_csv(
        "b.csv", index=False
    )


def test_what_is_printed_and_written(capsys):
    argv = [*ARGV, *BAND, "--one-to-one", "greedy"]
    check_golden("link-passes", run(capsys, *argv, "--json", "link.json", "--links", "links.csv"))
    written = json.loads(Path("link.json").read_text("utf-8"))
    links = pd.read_csv("links.csv")
    found = written["passes"]
    assert [one["keys"] for one in found["passes"]] == ["soundex(surname),town", "year(born),name[:2]"]
    assert found["linked"] == len(links) == sum(one["linked"] for one in found["passes"])
    assert found["right"] == (links["original"] == links["masked"]).sum()
    assert links.columns.tolist() == ["pass", "original", "masked", "weight", "probability"]
    assert (links["weight"].diff().dropna() <= 0).all()
    assert written["one_to_one"]["claimed"] == len(links)
    assert written["parameters"]["passes"] == ["soundex(surname),town", "year(born),name[:2]"]


@pytest.mark.parametrize(
    "more",
    [["--linked-leave"], ["--frequency-weights"], ["--direction", "masked-to-original"], ["--ties", "share"]],
)
def test_options(more, capsys):
    printed = run(capsys, *ARGV, *more, "--json", "link.json")
    assert "linked in passes" in printed
    again = run(capsys, "evaluate", *FILES[1:5], "--id", "id", "--parameters", "link.json")
    assert f"{again}wrote link.json\n".splitlines()[2:] == printed.splitlines()[2:]


@pytest.mark.parametrize("direction", ["original-to-masked", "masked-to-original"])
def test_clerical_pairs_are_written_decided_and_read_back(direction, capsys):
    argv = [*ARGV, *BAND, "--one-to-one", "greedy", "--direction", direction]
    run(capsys, *argv, "--clerical", "clerical.csv", "--links", "before.csv")
    pairs = pd.read_csv("clerical.csv")
    assert pairs.columns.tolist()[:5] == ["pass", "original", "masked", "weight", "probability"]
    assert pairs.columns.tolist()[5:7] == ["surname_original", "surname_masked"]
    assert pairs.columns[-1] == "decision"
    assert pairs["decision"].isna().all()
    assert pairs["probability"].between(0.05, 0.8).all()
    first = pd.read_csv("a.csv").set_index("id")
    for row in pairs.itertuples():
        assert row.surname_original == first["surname"][row.original] or pd.isna(row.surname_original)
    right = pairs["original"] == pairs["masked"]
    assert right.any()
    pairs["decision"] = pairs["decision"].astype(object)
    pairs.loc[right, "decision"] = "link"
    pairs.loc[~right, "decision"] = " Non-Link"
    pairs.to_csv("decided.csv", index=False)
    printed = run(
        capsys, *argv, "--decisions", "decided.csv", "--links", "after.csv", "--clerical", "left.csv"
    )
    assert f"decided by people {len(pairs)} pairs" in " ".join(printed.split())
    links = [
        set(map(tuple, pd.read_csv(name)[["original", "masked"]].to_numpy()))
        for name in ("before.csv", "after.csv")
    ]
    decided = set(map(tuple, pairs.loc[right, ["original", "masked"]].to_numpy()))
    assert decided <= links[1]
    assert not decided & links[0]
    left = set(map(tuple, pd.read_csv("left.csv")[["original", "masked"]].to_numpy()))
    assert not left & set(map(tuple, pairs[["original", "masked"]].to_numpy()))
    # What was written is read back as it is: nothing is decided yet.
    assert "decided by people" not in run(capsys, *argv, "--decisions", "clerical.csv")


def linked(**options):
    parameters = {
        "passes": ["soundex(surname),town"],
        "clerical_band": "0.05,0.8",
        "compare": ["age=within:0,2"],
    }
    nominal = ["surname", "name", "town", "born"]
    return link("a.csv", "b.csv", method="prl", id="id", nominal=nominal, parameters=parameters, **options)


def test_from_python():
    result = linked()
    passes = result.passes
    assert passes is not None
    assert len(passes.links) == passes.reports[0].linked
    assert passes.precision == passes.reports[0].right / len(passes.links)
    assert result.to_dict()["passes"] == passes.to_dict()
    decided = passes.clerical.assign(decision="link")
    again = linked(decisions=decided).passes
    assert len(again.links) == len(passes.links) + len(decided)
    assert not len(again.clerical)


def test_settings_given_as_text_are_those_of_the_command_line():
    assert make_linker(
        "prl", {"passes": ["a[:3],b"], "clerical_band": "0.2,0.9", "blocking": ()}
    ) == Probabilistic(passes=(parse_pass("a[:3],b"),), clerical_band=(0.2, 0.9))
    with pytest.raises(UsageError) as error:
        make_linker("prl", {"passes": ["f(a)"]})
    assert str(error.value).startswith("passes: unknown function 'f' in pass 'f(a)'; use one of soundex")


REFUSED = {
    "unknown column": (
        [*FILES, *COLUMNS, "--pass", "zip"],
        "a.csv has no column 'zip' (key); there are: surname, name, town, age, born, id",
    ),
    "unknown function": (
        [*FILES, "--pass", "soundx(surname)"],
        "--pass: unknown function 'soundx' in pass 'soundx(surname)'; use one of soundex, metaphone, nysiis, "
        "lower, year, month, day",
    ),
    "band": (
        [*ARGV, "--clerical-band", "0.5"],
        "--clerical-band: '0.5' is not a band; write two match probabilities like 0.5,0.9",
    ),
    "threshold": (
        [*ARGV, "--one-to-one", "greedy", "--threshold", "3"],
        "passes link from the upper end of --clerical-band, or as the error rates say: leave --threshold out",
    ),
    "another method": (
        [*FILES[:5], "--method", "dbrl", "--id", "id", "--pass", "town"],
        "dbrl takes no --pass; it takes --weights, --differences, --standardisation, --masking, --missing",
    ),
    "links without passes": (
        [*FILES, *COLUMNS, "--links", "out.csv"],
        "--links lists pairs of passes: give --pass too, or leave it out",
    ),
    "clerical without passes": (
        [*FILES, *COLUMNS, "--clerical", "out.csv"],
        "--clerical lists pairs of passes: give --pass too, or leave it out",
    ),
    "decisions without passes": (
        [*FILES, *COLUMNS, "--decisions", "a.csv"],
        "--decisions is about pairs of passes: give --method prl with --pass, or leave it out",
    ),
    "no table": (
        [*ARGV, "--clerical", "a.csv"],
        "--clerical a.csv would overwrite the --original file: give another name",
    ),
    "the same file": (
        [*ARGV, "--clerical", "x.csv", "--links", "x.csv"],
        "--links and --clerical both name x.csv: give each a different file",
    ),
    "over the decisions": (
        [*ARGV, "--clerical", "b.csv", "--decisions", "b.csv"],
        "--clerical b.csv would overwrite the --decisions file: give another name",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, capsys):
    argv, message = REFUSED[name]
    refuse(capsys, message, *argv)


DECISIONS = {
    "no column": (
        "original,masked\np1,p1\n",
        "decisions.csv has no column 'decision'; decisions need the columns original, masked, decision, as "
        "--clerical writes them",
    ),
    "word": (
        "original,masked,decision\np7,p7,\np8,p8,yes\n",
        "decisions.csv, row 2: the decision 'yes' is neither 'link' nor 'non-link'; write one of them, or "
        "nothing where it is open",
    ),
    "record": (
        "original,masked,decision\np8,p1,non-link\n",
        "decisions.csv, row 1: 'p1' is no record of the masked file; use the labels that --clerical writes",
    ),
    "no record": (
        "original,masked,decision\n,p8,non-link\n",
        "decisions.csv, row 1: '' is no record of the original file; use the labels that --clerical writes",
    ),
    "both": (
        "original,masked,decision\np8,p9,link\np9,p9,non-link\np8,p9,non-link\n",
        "decisions.csv, row 3: the pair was decided otherwise in a row before; leave one of the two out",
    ),
    "empty": ("", "decisions.csv is empty; it needs a header and records"),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_decisions_that_cannot_be_read(name, capsys):
    text, message = DECISIONS[name]
    Path("decisions.csv").write_text(text, encoding="utf-8")
    refuse(capsys, message, *ARGV, "--decisions", "decisions.csv")
