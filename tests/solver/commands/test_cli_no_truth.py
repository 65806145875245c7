"""`find-links`: files of which nobody knows which record is which."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_golden, refuse, run
from linker_cases import persons

from linkrisk import find_links
from linkrisk.solver.linkage.distance_based import DistanceBased
from linkrisk.solver.run.errors import UsageError

FILES = ["link", "--original", "a.csv", "--masked", "b.csv", "--method", "prl"]
COLUMNS = [
    "--nominal", "surname,name,town,born", "--compare", "surname=jaro-winkler:0.92,0.8",
    "--compare", "name=jaro-winkler:0.9", "--compare", "age=within:0,2",
]  # fmt: skip
PASSES = ["--pass", "soundex(surname),town", "--pass", "year(born),name[:2]"]
BAND = ["--clerical-band", "0.05,0.8", "--one-to-one", "hungarian"]
FIND = ["find-links", *FILES[1:]]
ARGV = [*FIND, *COLUMNS, *PASSES, *BAND]
NAMED = ["--original-id", "number", "--masked-id", "case"]
OF_TRUTH = {"right", "lost", "lost_so_far", "precision", "recall", "records", "linked_upper_bound",
            "one_to_one", "records_table", "precision_recall", "most_probable_claim"}  # fmt: skip


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, second = persons(120, seed=1)
    first.assign(number=[f"p{at}" for at in range(120)]).to_csv("a.csv", index=False)
    second.assign(case=[f"{at:03}" for at in range(120)])[5:].sample(frac=1.0, random_state=0).to_csv(
        "b.csv", index=False
    )


def words(found):
    """All keys of a JSON, and all its values that are no object or list."""
    if isinstance(found, dict):
        return set(found).union(*map(words, found.values()))
    return set().union(*map(words, found)) if isinstance(found, list) else set()


def test_what_is_printed_and_written(capsys):
    argv = [*ARGV, *NAMED, "--json", "link.json", "--links", "links.csv", "--clerical", "clerical.csv"]
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
    assert "link.json" in contents_of(".")


def contents_of(folder):
    return {path.name for path in Path(folder).iterdir()}


def test_the_links_are_those_of_files_with_known_partners(capsys):
    frames = pd.read_csv("a.csv", dtype=str), pd.read_csv("b.csv", dtype=str)
    frames[0].assign(id=frames[0].pop("number").str[1:]).to_csv("c.csv", index=False)
    frames[1].assign(id=frames[1].pop("case").astype(int)).to_csv("d.csv", index=False)
    known = ["link", "--original", "c.csv", "--masked", "d.csv", "--method", "prl", "--id", "id"]
    run(capsys, *known, *COLUMNS, *PASSES, *BAND, "--links", "known.csv")
    run(capsys, *ARGV, *NAMED, "--links", "links.csv")
    one, other = pd.read_csv("known.csv"), pd.read_csv("links.csv")
    assert one["masked"].tolist() == other["masked"].tolist()
    assert one["weight"].tolist() == other["weight"].tolist()


def test_records_are_called_by_their_rows(capsys):
    run(capsys, *ARGV, "--direction", "masked-to-original", "--links", "rows.csv")
    run(capsys, *ARGV, "--direction", "masked-to-original", *NAMED, "--links", "named.csv")
    rows, named = pd.read_csv("rows.csv"), pd.read_csv("named.csv", dtype=str)
    names = pd.read_csv("a.csv")["number"], pd.read_csv("b.csv", dtype=str)["case"]
    for side, column in zip(("original", "masked"), names, strict=True):
        assert column[rows[side] - 1].tolist() == named[side].tolist()


def test_decisions_are_read_back(capsys):
    run(capsys, *ARGV, *NAMED, "--clerical", "clerical.csv")
    pairs = pd.read_csv("clerical.csv", dtype=str)
    pairs.assign(decision="non-link").to_csv("decided.csv", index=False)
    printed = run(capsys, *ARGV, *NAMED, "--decisions", "decided.csv")
    assert f"decided by people {len(pairs)} pairs" in " ".join(printed.split())


def test_what_is_learned_serves_other_files(capsys):
    run(capsys, *ARGV, "--json", "link.json")
    first, second = persons(60, seed=4)
    first.to_csv("c.csv", index=False)
    second.to_csv("d.csv", index=False)
    argv = ["--original", "c.csv", "--masked", "d.csv", "--row-by-row", "--parameters", "link.json"]
    assert "linked in passes" in run(capsys, "evaluate", *argv)


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


def test_from_python():
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
    with pytest.raises(UsageError) as error:
        find_links("a.csv", "b.csv", method=DistanceBased(), parameters={"weights": ()})
    assert str(error.value) == "parameters are for a method given by its name; this linker has its own"


REFUSED = {
    "lengths": (
        [*FILES, *COLUMNS, *PASSES],
        "a.csv has 120 records and b.csv has 115: name the column that identifies them in both with --id, or "
        "take `find-links` if nobody knows which record is which",
    ),
    "another method": (
        [*FIND[:5], "--method", "dbrl"],
        "dbrl is judged by the true links and says nothing without them: give --method prl with --pass, or "
        "take `link`, which knows the true links",
    ),
    "no passes": (
        [*FIND, *COLUMNS],
        "prl is judged by the true links and says nothing without them: give --method prl with --pass, or "
        "take `link`, which knows the true links",
    ),
    **{
        option: (
            [*ARGV, f"--{option}"],
            f"unknown option '--{option}' (see `python -m solver find-links --help`)",
        )
        for option in ("row-by-row", "no-curve", "table", "training")
    },
    "names": (
        [*FILES, *COLUMNS, *PASSES, "--masked-id", "case"],
        "unknown option '--masked-id': did you mean '--masked'? (see `python -m solver link --help`)",
    ),
    "unknown name": (
        [*ARGV, "--masked-id", "code"],
        "b.csv has no column 'code' (--masked-id); there are: surname, name, town, age, born, case",
    ),
    "missing name": (
        [*ARGV, "--original-id", "town"],
        "a.csv, column 'town', row 28: missing id; fill it in or drop the record",
    ),
    "compared name": (
        [*ARGV, "--attributes", "surname,case", "--masked-id", "case"],
        "'case' is both the id column and an attribute: leave it out of the attributes",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, capsys):
    argv, message = REFUSED[name]
    refuse(capsys, message, *argv)
