"""Reports of tables with noise by cell keys, and of coarser codes: inside, outside, what is refused."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import refuse, run
from report_cases import leaves
from table_pages import grid, section, texts

from linkrisk import perturb_counts, perturb_sums, recode_table, report
from linkrisk.solver.documents.document import Audience, CellState
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.pages.build import table_document
from linkrisk.solver.tables.pages.outside import for_external

TREE = "code,parent\nN1,North\nN2,North\nS1,South\nS2,South\nNorth,Total\nSouth,Total\n"


def firms() -> pd.DataFrame:
    """Sixty firms whose turnover occurs nowhere by chance."""
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "region": rng.choice(["N1", "N2", "S1", "S2"], 60),
            "size": rng.choice(["big", "small", "tiny"], 60, p=[0.2, 0.4, 0.4]),
            "turnover": 70001 + 1013 * np.arange(60),
            "key": rng.random(60),
            "w": rng.choice([1.0, 2.0], 60),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("noisy")
    firms().to_csv(folder / "firms.csv", index=False)
    (folder / "tree.csv").write_text(TREE)
    (folder / "sizes.csv").write_text("code,becomes\nsmall,not big\ntiny,not big\n")
    return folder


@pytest.fixture(scope="module")
def counts(folder):
    return perturb_counts(
        folder / "firms.csv", ["region", "size"], most=3, variance=1.5, small=1, record_key="key"
    )


@pytest.fixture(scope="module")
def sums(folder):
    return perturb_sums(
        folder / "firms.csv",
        ["region", "size"],
        response="turnover",
        noise="most=10,variance=3",
        share=0.12,
        factors=(1.0, 0.5),
        rules=["p=30"],
        extra=1.25,
        record_key="key",
    )


@pytest.fixture(scope="module")
def coarser(folder):
    return recode_table(
        folder / "firms.csv",
        ["region", "size"],
        hierarchies={"region": folder / "tree.csv"},
        recode={"size": folder / "sizes.csv"},
        cut={"region": 1},
        rules=["frequency=6"],
        suppress=True,
    )


def test_what_the_report_of_counts_says(counts):
    given = counts.to_dict()
    document = table_document(given)
    assert (document.title, document.about) == ("Counts with noise, of firms.csv", "noise")
    assert document.headline.verdict.startswith(f"{given['changed']} of 20 (")
    assert "at most." in document.headline.verdict
    rows = section(document, "changes").blocks[0].rows
    assert sum(row[1] for row in rows) == 20
    assert [row[0] for row in rows] == list(range(-3, 4))
    assert sum(row[3] for row in rows) == pytest.approx(1.0)
    assert sum(row[0] * row[3] for row in rows) == pytest.approx(0.0, abs=1e-6)
    utility = section(document, "utility").blocks[0].rows
    assert utility[0][1:] == [given["changes"][one]["mean"] for one in ("absolute", "relative", "roots")]
    asked = {one.words: one.value for one in section(document, "making").blocks[0].numbers}
    assert (asked["Largest noise"], asked["Record keys"]) == ("3", "the column key")
    assert asked["Small counts"] == "1 never appears"
    at = int(np.argmax(counts.cells["noise"].to_numpy()))
    drawn = [cell for line in grid(document).cells for cell in line]
    assert sum(cell.state is CellState.UP for cell in drawn) == int((counts.cells["noise"] > 0).sum())
    assert f"was {counts.cells['value'][at]}" in {cell.note for cell in drawn}


def test_weighted_counts_move_by_the_mean_weight(folder):
    result = perturb_counts(
        folder / "firms.csv", ["region"], most=2, variance=1.0, weight="w", record_key="key"
    )
    document = table_document(result.to_dict())
    assert "mean weight of its cell" in section(document, "changes").blocks[1].text
    assert result.to_dict()["table"]["all"]["value"] == result.cells["weighted"].tolist()
    outside = table_document(result.to_dict(), Audience.EXTERNAL)
    assert any("mean weight" in item for item in section(outside, "done").blocks[1].items)


def test_what_the_report_of_sums_says(sums):
    given = sums.to_dict()
    document = table_document(given)
    assert document.title == "Sums with noise, of firms.csv"
    assert f"{given['sensitive']} cells are sensitive by the rules." in document.headline.reasons
    changes = section(document, "changes").blocks[0].rows
    assert sum(row[1] for row in changes) == 20
    asked = {one.words: one.value for one in section(document, "making").blocks[0].numbers}
    assert asked["A noise of 1 is"] == "12.0 % of it"
    assert (asked["Rule"], asked["More noise of sensitive cells"]) == ("p=30", "1.25")
    assert asked["In proportion to"] == "the largest contributions of a cell"


def test_what_the_report_of_a_recoding_says(coarser):
    given = coarser.to_dict()
    document = table_document(given)
    first, last = coarser.effects[0], coarser.effects[-1]
    assert (document.title, document.about) == ("Coarser codes of firms.csv", "recoding")
    assert f"{first.sensitive} of {first.cells}" in document.headline.verdict
    assert document.headline.worst == (
        f"Suppression costs {last.cost:g} with coarser codes; it costs {first.cost:g} as it is."
    )
    rows = section(document, "effects").blocks[0].rows
    assert [row[0] for row in rows] == [one.recoding for one in coarser.effects]
    assert [row[3] for row in rows] == [one.sensitive for one in coarser.effects]
    options = dict(section(document, "codes").blocks[0].options)
    assert options["size (4 codes, 3 afterwards)"][0].rows == [["small", "not big"], ["tiny", "not big"]]
    assert ["N1", "North"] in options["region (7 codes, 3 afterwards)"][0].rows
    states = [cell.state for line in grid(document).cells for cell in line]
    assert states.count(CellState.SENSITIVE) == last.sensitive


def test_every_cut_of_a_table_that_is_not_recoded(folder):
    result = recode_table(
        folder / "firms.csv",
        ["region", "size"],
        hierarchies={"region": folder / "tree.csv"},
        rules=["frequency=6"],
    )
    document = table_document(result.to_dict())
    assert document.headline.verdict.endswith("cells are sensitive; nothing is recoded.")
    assert document.headline.worst == ""
    assert [one.name for one in document.sections] == ["effects", "table", "making", "limits"]


@pytest.mark.parametrize("name", ["counts", "sums", "coarser"])
def test_the_page_is_made_again_from_json(request, name, tmp_path):
    result = request.getfixturevalue(name)
    (tmp_path / "found.json").write_text(result.to_json(), encoding="utf-8")
    made = report(tmp_path / "found.json")
    assert made.document.headline == table_document(result.to_dict()).headline
    assert f"<h1>{made.document.title}</h1>" in made.to_html()


# Readers outside


def test_nothing_of_sums_is_outside(sums):
    inside, outside = texts(sums.to_html()), texts(sums.to_html(external=True))
    values = {str(round(one)) for one in (*sums.cells["value"], *firms()["turnover"]) if one}
    assert any(one in inside for one in values)
    for secret in (*values, "p=30", "1.25", "12.0", "0.5", "firms.csv", "key", "seed", "ensitive"):
        assert secret not in outside.replace("Cell-key", "").replace("cell keys", "").replace("keys", "")


def test_outside_only_what_users_need_of_counts(counts):
    kept = for_external(counts.to_dict())
    assert set(kept) == {
        *("cells", "relations", "not_adding_up", "small", "variance", "weighted"),
        *("protection", "variables", "table"),
    }
    cells = counts.to_dict()["table"]["all"]
    assert kept["table"]["all"]["shown"] == cells["became"] != cells["value"]
    said = texts(counts.to_html(external=True))
    assert "standard deviation 1.22 at most" in said
    assert "Counts of 1 do not appear" in said


def test_outside_the_codes_of_a_recoding(coarser):
    kept = for_external(coarser.to_dict())
    assert set(kept) == {"cells", "relations", "recodings", "protection", "variables"}
    numbers = {leaf for leaf in leaves(kept) if isinstance(leaf, int | float)}
    assert numbers == {9, coarser.to_dict()["relations"]}
    said = texts(coarser.to_html(external=True))
    assert "not big" in said
    assert "frequency" not in said


@pytest.mark.parametrize("name", ["counts", "sums", "coarser"])
def test_what_is_new_stays_inside(request, name):
    given = {**request.getfixturevalue(name).to_dict(), "invented": "ZQXJ", "name": "ZQXJ", "rules": ["ZQXJ"]}
    assert "ZQXJ" in table_document(given).to_json()
    assert "ZQXJ" not in table_document(given, Audience.EXTERNAL).to_json()


# What it refuses


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"cells": 21}, "they have 21 cells, and of 20 is said by how much they changed"),
        ({"changed": 1}, "1 cells changed, and by how much is said of"),
        ({"relations": 0}, "of 0 relations"),
        ({"largest_noise": 0}, "the largest noise is 0, and one cell has"),
    ],
)
def test_counts_that_contradict_themselves(counts, change, fault):
    with pytest.raises(UsageError, match=f"contradict themselves, {re.escape(fault)}"):
        table_document({**counts.to_dict(), **change})


@pytest.mark.parametrize(
    ("at", "change", "fault"),
    [
        (0, {"sensitive": 99}, "as it is has 20 cells, of which 99 are sensitive"),
        (1, {"bound": 1e9}, r"the cost of size by .* is .*, and none is less than 1e\+09"),
        (-1, {"cells": 7}, "the table has 9 cells, and 7 with all recodings"),
    ],
)
def test_recodings_that_contradict_themselves(coarser, at, change, fault):
    given = copy.deepcopy(coarser.to_dict())
    given["effects"][0]["cells"] = 20 if at == 0 else given["effects"][0]["cells"]
    given["effects"][at] |= change
    with pytest.raises(UsageError, match=fault):
        table_document(given)


# The command line


@pytest.mark.parametrize(
    ("action", "more"),
    [
        ("perturb-counts", ["--most", "2", "--variance", "1"]),
        ("perturb-sums", ["--response", "turnover", "--noise", "most=2,variance=1", "--share", "0.1"]),
        ("recode", ["--recode", "size=sizes.csv", "--rule", "frequency=6"]),
    ],
)
def test_the_commands_write_both(capsys, folder, monkeypatch, action, more):
    monkeypatch.chdir(folder)
    asked = ["tables", action, "--input", "firms.csv", "--by", "region,size", *more]
    pages = ["--report", "in.html", "--external-report", "out.html", "--json", "found.json"]
    assert run(capsys, *asked, *pages).endswith("report      in.html\nexternal    out.html\n")
    assert "Confidential." in Path("in.html").read_text(encoding="utf-8")
    assert "For readers outside" in Path("out.html").read_text(encoding="utf-8")
    kind = json.loads(Path("found.json").read_text(encoding="utf-8"))["protection"]
    assert kind == {"perturb-counts": "counts", "perturb-sums": "sums", "recode": "recoding"}[action]
    run(capsys, "report", "--saved", "found.json", "--output", "again.html")
    message = "--report firms.csv would overwrite the --input file: give another name"
    refuse(capsys, message, *asked, "--report", "firms.csv")
    message = "--report and --external-report both name r.html: give each a different file"
    refuse(capsys, message, *asked, "--report", "r.html", "--external-report", "r.html")
