"""`link --pass` and `find-links`: what they print and write, clerical review and back, and refusals."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_golden, check_refusals, run
from linker_cases import persons

from linkrisk import find_links, link

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
    [["--linked-leave", "--ties", "share"], ["--frequency-weights", "--direction", "masked-to-original"]],
)
def test_options(more, capsys):
    printed = run(capsys, *ARGV, *more, "--json", "link.json")
    assert "linked in passes" in printed
    again = run(capsys, "evaluate", *FILES[1:5], "--id", "id", "--parameters", "link.json")
    assert f"{again}wrote link.json\n".splitlines()[2:] == printed.splitlines()[2:]


def test_clerical_pairs_are_written_decided_and_read_back(capsys):
    argv = [*ARGV, *BAND, "--one-to-one", "greedy", "--direction", "masked-to-original"]
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


def test_what_is_refused(capsys):
    without = [*FILES, *COLUMNS]
    asked = [
        *([*ARGV, "--clerical-band", "0.5"], [*ARGV, "--one-to-one", "greedy", "--threshold", "3"]),
        *([*without, "--links", "out.csv"], [*without, "--clerical", "out.csv"]),
        [*without, "--decisions", "a.csv"],
    ]

    def decided():
        for text in DECISIONS:
            Path("decisions.csv").write_text(f"original,masked{text}", encoding="utf-8")
            yield text.strip().replace("\n", " | "), [*ARGV, "--decisions", "decisions.csv"]

    check_refusals(capsys, "passes", chain(asked, decided()))


DECISIONS = [
    *("\np1,p1\n", ",decision\np7,p7,\np8,p8,yes\n", ",decision\np8,p1,non-link\n"),
    ",decision\np8,p9,link\np9,p9,non-link\np8,p9,non-link\n",
]


# Files of which nobody knows which record is which: `find-links`


UNKNOWN = ["link", "--original", "a.csv", "--masked", "b.csv", "--method", "prl"]
JUDGED = ["--clerical-band", "0.05,0.8", "--one-to-one", "hungarian"]
FIND = ["find-links", *UNKNOWN[1:]]
FIND_ALL = [*FIND, *COLUMNS, *PASSES, *JUDGED]
NAMED = ["--original-id", "number", "--masked-id", "case"]

OF_TRUTH = {"right", "lost", "lost_so_far", "precision", "recall", "records", "linked_upper_bound",
            "one_to_one", "records_table", "precision_recall", "most_probable_claim"}  # fmt: skip


@pytest.fixture
def unknown(_files):
    first, second = persons(120, seed=1)
    first.assign(number=[f"p{at}" for at in range(120)]).to_csv("a.csv", index=False)
    second.assign(case=[f"{at:03}" for at in range(120)])[5:].sample(frac=1.0, random_state=0).to_csv(
        "b.csv", index=False
    )


def words(found):
    if isinstance(found, dict):
        return set(found).union(*map(words, found.values()))
    return set().union(*map(words, found)) if isinstance(found, list) else set()


@pytest.mark.usefixtures("unknown")
def test_what_is_found_is_printed_and_written(capsys):
    argv = [*FIND_ALL, *NAMED, "--json", "link.json", "--links", "links.csv", "--clerical", "clerical.csv"]
    check_golden("find-links", run(capsys, *argv))
    written = json.loads(Path("link.json").read_text("utf-8"))
    links = pd.read_csv("links.csv", dtype=str)
    found = written["passes"]
    assert found["linked"] == len(links) == sum(one["linked"] for one in found["passes"])
    assert not words({name: part for name, part in written.items() if name != "parameters"}) & OF_TRUTH
    assert (written["queries"], written["candidates"], written["alignment"]) == (120, 115, "unknown")
    assert written["matching"] == "hungarian"
    assert 0 < found["passes"][0]["estimated_lost"] < 1
    assert found["estimated_missed"] >= found["passes"][-1]["estimated_lost_so_far"] > 0
    # The persons are the same in both files, and their names say so to us alone.
    assert (links["original"].str[1:].astype(int) == links["masked"].astype(int)).mean() > 0.95
    assert set(links["masked"].str.len()) == {3}


@pytest.mark.usefixtures("unknown")
def test_the_links_are_those_of_files_with_known_partners(capsys):
    frames = pd.read_csv("a.csv", dtype=str), pd.read_csv("b.csv", dtype=str)
    frames[0].assign(id=frames[0].pop("number").str[1:]).to_csv("c.csv", index=False)
    frames[1].assign(id=frames[1].pop("case").astype(int)).to_csv("d.csv", index=False)
    known = ["link", "--original", "c.csv", "--masked", "d.csv", "--method", "prl", "--id", "id"]
    run(capsys, *known, *COLUMNS, *PASSES, *JUDGED, "--links", "known.csv")
    run(capsys, *FIND_ALL, *NAMED, "--links", "links.csv")
    one, other = pd.read_csv("known.csv"), pd.read_csv("links.csv")
    assert one["masked"].tolist() == other["masked"].tolist()
    assert one["weight"].tolist() == other["weight"].tolist()


@pytest.mark.usefixtures("unknown")
def test_records_are_called_by_their_rows(capsys):
    run(capsys, *FIND_ALL, "--direction", "masked-to-original", "--links", "rows.csv")
    run(capsys, *FIND_ALL, "--direction", "masked-to-original", *NAMED, "--links", "named.csv")
    rows, named = pd.read_csv("rows.csv"), pd.read_csv("named.csv", dtype=str)
    names = pd.read_csv("a.csv")["number"], pd.read_csv("b.csv", dtype=str)["case"]
    for side, column in zip(("original", "masked"), names, strict=True):
        assert column[rows[side] - 1].tolist() == named[side].tolist()


@pytest.mark.usefixtures("unknown")
def test_a_share_that_cannot_be_estimated_is_not_told(capsys):
    printed = run(capsys, *FIND, *COLUMNS, *PASSES[:2], "--json", "link.json")
    assert "expected to be missed  - of all links" in printed
    assert printed.splitlines()[-2] == (
        "note: the share of links that are missed cannot be estimated: every pass needs surname, town; add "
        "one that does not"
    )
    found = json.loads(Path("link.json").read_text("utf-8"))["passes"]
    assert found["estimated_missed"] is None
    assert found["passes"][0]["estimated_lost"] is None


@pytest.mark.usefixtures("unknown")
def test_links_are_found_from_python():
    parameters = {"passes": ["soundex(surname),town", "year(born),name[:2]"], "clerical_band": "0.05,0.8"}
    nominal = ["surname", "name", "town", "born"]
    found = find_links("a.csv", "b.csv", masked_id="case", nominal=nominal, parameters=parameters)
    assert (
        repr(found) == f"FoundLinks(prl, original-to-masked: {len(found.links)} links of 120 and 115 records)"
    )
    assert found.passes.precision is None
    assert found.passes.recall is None
    assert found.passes.right is None
    assert found.links["masked"].str.len().eq(3).all()
    assert found.clerical["decision"].isna().all()
    assert json.loads(found.to_json())["passes"]["linked"] == len(found.links)
    schema = {"attributes": [{"name": "case", "role": "record-id"}]}
    again = find_links("a.csv", "b.csv", nominal=nominal, parameters=parameters, schema=schema)
    assert again.links["masked"].tolist() == found.links["masked"].tolist()


@pytest.mark.usefixtures("unknown")
def test_what_cannot_be_found(capsys):
    options = (["--row-by-row"], ["--training"], ["--masked-id", "code"])
    asked = [[*UNKNOWN, *COLUMNS, *PASSES], [*FIND[:5], "--method", "dbrl"]]
    check_refusals(capsys, "find-links", [*asked, *([*FIND_ALL, *one] for one in options)])
