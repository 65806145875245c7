"""The experiments of Domingo-Ferrer and Torra (2002): groups, rules for ties, tables, what must hold."""

from __future__ import annotations

import os
from dataclasses import replace

import domingo_torra as script
import linkers
import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.schema import Scale
from linkrisk.solver.linkage.judging import judge
from linkrisk.solver.linkage.linker import LearnedLinker, Truth

with_data = pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)

SIZES = {"a": 3, "b": 9, "c": 2, "d": 7, "e": 12, "f": 4, "g": 5, "h": 8, "i": 6, "j": 10, "k": 2}


def drawn(records=60):
    """A survey of categories, each of which occurs."""
    chance = np.random.default_rng(0)
    columns = {name: chance.permutation(np.resize(np.arange(size), records)) for name, size in SIZES.items()}
    return script.survey_of(pd.DataFrame(columns), ("e", "i", "k"))


class Fixed(LearnedLinker):
    """Scores as they are."""

    def __init__(self, scores):
        self.parameters = {}
        self.table = np.array(scores, dtype=float)

    def scores(self, rows):
        return self.table[rows]


def test_groups_by_number_of_categories():
    data = drawn()
    assert data.groups == {
        "s": ("g", "f", "a", "c"),
        "m": ("h", "d", "i"),
        "u": ("h", "d", "i", "e", "j", "b"),
        "o": ("e", "i"),
        "l": ("e", "j", "b"),
    }
    assert "k" not in data.frame
    assert data.schema["e"].categories == tuple(str(at) for at in range(12))
    assert {name: data.schema[name].scale for name in "ei"} == dict.fromkeys("ei", Scale.ORDINAL)
    plain = script.without_order(data.schema)
    assert plain.select(scale=Scale.NOMINAL) == plain.names == data.schema.names
    assert [row.categories for row in plain.attributes] == [row.categories for row in data.schema.attributes]


def test_ties_count_by_three_rules():
    scores = [
        [5, 5, 5, 1],  # one of three nearest
        [9, 4, 0, 0],  # another is nearer
        [0, 0, 3, 2],  # the nearest
        [-np.inf] * 4,  # cannot be anybody
    ]
    found = script.Links.of(judge(Fixed(scores), Truth.of(np.arange(4), 4)))
    assert found == script.Links(nearest=2, expected=pytest.approx(1 + 1 / 3), strict=1)


def test_all_records_of_one_masked_record_show_how_the_paper_counts():
    """Once everything has become one record, only the originals that equal it are counted, all of them.

    That is what Table 2 shows at p = 8: the same 3 for bottom coding and global recoding, 42 for top coding.
    """
    data = drawn(600)
    masking = script.METHODS["Top"].paper_parameter(9)
    masked = replace(masking, attributes=data.groups["s"], schema=data.schema).apply(data.frame)
    names = list(data.groups["s"])
    assert len(masked[names].drop_duplicates()) == 1
    same = int((data.frame[names] == masked[names]).all(axis=1).sum())
    found = list(script.experiments(data, parameters=(9,), linkers=("DBRL",)))
    (links,) = (each.links for each in found if (each.group, each.method) == ("s", "Top"))
    assert same > 1
    assert (links.nearest, links.expected, links.strict) == (same, pytest.approx(1.0), 0)


def test_every_experiment_is_made_once_and_knowing_the_masking_never_hurts():
    data = drawn()
    found = script.as_table(script.experiments(data, parameters=(1, 4)))
    assert len(found) == 3 * 4 * 2 * 5
    keys = ["group", "method", "p"]
    assert not found.duplicated([*keys, "linker"]).any()
    assert (found.strict <= found.expected + 1e-9).all()
    assert (found.expected <= found.nearest + 1e-9).all()
    assert found.nearest.between(0, 60).all()
    by_linker = found.pivot(index=keys, columns="linker", values=["nearest", "expected", "strict"])
    for rule in ("nearest", "expected", "strict"):
        assert (by_linker[rule]["aware"] >= by_linker[rule]["DBRL"] - 1e-9).all()
    # With PRAM everything can become everything: there is nothing to know.
    pram = by_linker[by_linker.index.get_level_values("method") == "PRAM"]
    assert (pram["nearest"]["aware"] == pram["nearest"]["DBRL"]).all()
    assert (by_linker["nearest"]["aware"] > by_linker["nearest"]["DBRL"]).any()


def test_draws_differ_only_for_pram():
    data = drawn()
    first, second = (
        script.as_table(script.experiments(data, parameters=(9,), linkers=("DBRL",), draw=draw))
        for draw in (0, 1)
    )
    differs = (first.nearest != second.nearest) | (first.expected != second.expected)
    assert set(first.method[differs]) == {"PRAM"}


def test_a_method_as_text_says_what_was_done():
    texts = [script.as_text(kind.paper_parameter(3)) for kind in script.METHODS.values()]
    assert texts == [
        "bottom-coding categories=4",
        "global-recoding categories=4",
        "pram theta=0.3",
        "top-coding categories=4",
    ]


def test_the_published_tables_have_the_published_means():
    """The text has 593.06, which is cut, and 579.32, which is 0.04 more than its tables."""
    table = script.published()
    assert len(table) == 2 * 180
    total = table.groupby("linker").nearest.sum()
    assert total["DBRL"] == 106_752
    assert int(100 * total["DBRL"] / 180) / 100 == script.STATED["DBRL"]
    assert total["PRL"] == 104_271
    assert total["PRL"] / 180 == pytest.approx(script.STATED["PRL"], abs=0.04)


def test_averages_and_conclusions_are_printed():
    links = {"DBRL": 50, "PRL": 46, "aware": 60}
    table = pd.DataFrame(
        [
            {"group": "s", "method": method, "p": 1, "linker": linker, "nearest": number + (method == "PRAM")}
            | {"expected": number / 2, "strict": number // 4}
            for method in ("Top", "PRAM")
            for linker, number in links.items()
        ]
    )
    rows = list(script.averages(table))[3:]
    assert rows[1] == "| DBRL | 50.50 [593.06] | 25.00 | 12.00 |"
    (row,) = list(script.averages_by("group", table, script.published()))[3:]
    assert row == "| s | 46.5 [597.6] | 50.5 [400.2] | 60.5 |"
    assert [line.rpartition(": ")[2] for line in script.conclusions(table) if line] == ["holds"] * 3
    table.loc[table.linker == "PRL", "nearest"] = 99
    assert [line.rpartition(": ")[2] for line in script.conclusions(table) if line] == ["does not hold"] * 3


def test_missing_data_are_said(monkeypatch):
    def unreachable(name):
        raise DataError(f"{name}: no connection")

    monkeypatch.setattr(script, "load", unreachable)
    assert list(linkers.category_experiments()) == [
        "german-credit: left out: german-credit: no connection",
        "adult: left out: adult: no connection",
    ]


@with_data
@pytest.mark.parametrize(
    ("name", "few", "many"),
    [
        (
            "german-credit",
            ("checking_status", "installment_rate", "personal_status_sex", "residence_since"),
            ("age", "duration_months", "purpose"),
        ),
        ("adult", ("workclass", "relationship", "race", "sex"), ("age", "hours-per-week", "native-country")),
    ],
)
def test_the_groups_of_the_page(name, few, many):
    data = script.survey(name)
    assert len(data.frame) == 1000
    assert (data.groups["s"], data.groups["l"]) == (few, many)
    assert set(data.groups["o"]) == set(script.SOURCES[name].ordered)


@with_data
def test_adult_on_a_small_part():
    """What the paper concludes, on three parameters and 200 records; and the tables of the script."""
    data = script.survey("adult", 200)
    table = script.as_table(script.experiments(data, parameters=(1, 5, 9)))
    means = table.groupby("linker").nearest.mean()
    assert means["aware"] > max(means["DBRL"], means["PRL"])
    pram = table[table.method == "PRAM"].groupby("linker").nearest.mean()
    assert pram["DBRL"] > pram["PRL"]
    lines = "\n".join(script.experiment_tables(table)).splitlines()
    assert [line for line in lines if line.startswith("Group")] == [f"Group '{group}'" for group in "smuol"]
    assert sum(line.startswith(("| 1 |", "| 5 |", "| 9 |")) for line in lines) == 15
