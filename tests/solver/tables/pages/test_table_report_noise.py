"""Reports of tables with noise by cell keys, and of coarser codes: what they say and refuse."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from table_pages import grid, section

from linkrisk import perturb_counts, recode_table
from linkrisk.solver.documents.document import Audience, CellState
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.pages.build import table_document


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
    how = {"most": 2, "variance": 1.0, "weight": "w", "record_key": "key"}
    result = perturb_counts(folder / "firms.csv", ["region"], **how)
    document = table_document(result.to_dict())
    assert "mean weight of its cell" in section(document, "changes").blocks[1].text
    assert result.to_dict()["table"]["all"]["value"] == result.cells["weighted"].tolist()
    outside = table_document(result.to_dict(), Audience.EXTERNAL)
    assert any("mean weight" in item for item in section(outside, "done").blocks[1].items)


def test_what_the_report_of_a_recoding_says(coarser):
    given = coarser.to_dict()
    document = table_document(given)
    first, last = coarser.effects[0], coarser.effects[-1]
    assert (document.title, document.about) == ("Coarser codes of firms.csv", "recoding")
    assert f"{first.sensitive} of {first.cells}" in document.headline.verdict
    said = f"Suppression costs {last.cost:g} with coarser codes; it costs {first.cost:g} as it is."
    assert document.headline.worst == said
    rows = section(document, "effects").blocks[0].rows
    assert [row[0] for row in rows] == [one.recoding for one in coarser.effects]
    assert [row[3] for row in rows] == [one.sensitive for one in coarser.effects]
    options = dict(section(document, "codes").blocks[0].options)
    assert options["size (4 codes, 3 afterwards)"][0].rows == [["small", "not big"], ["tiny", "not big"]]
    assert ["N1", "North"] in options["region (7 codes, 3 afterwards)"][0].rows
    states = [cell.state for line in grid(document).cells for cell in line]
    assert states.count(CellState.SENSITIVE) == last.sensitive


def test_every_cut_of_a_table_that_is_not_recoded(folder):
    trees = {"region": folder / "tree.csv"}
    result = recode_table(folder / "firms.csv", ["region", "size"], hierarchies=trees, rules=["frequency=6"])
    document = table_document(result.to_dict())
    assert document.headline.verdict.endswith("cells are sensitive; nothing is recoded.")
    assert document.headline.worst == ""
    assert [one.name for one in document.sections] == ["effects", "table", "making", "limits"]


# What it refuses


def test_counts_that_contradict_themselves(counts):
    for change, fault in (
        ({"cells": 21}, "they have 21 cells, and of 20 is said by how much they changed"),
        ({"changed": 1}, "1 cells changed, and by how much is said of"),
        ({"relations": 0}, "of 0 relations"),
        ({"largest_noise": 0}, "the largest noise is 0, and one cell has"),
    ):
        with pytest.raises(UsageError, match=f"contradict themselves, {fault}"):
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
