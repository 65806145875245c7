"""`suppress` of households: what members lose together, another order with other numbers, heads."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import refuse, run
from people_of_suppression import ASKED, HOMES, PEOPLE

from linkrisk import suppress
from linkrisk.datasets.errors import DataError
from linkrisk.solver.run.errors import UsageError


@pytest.fixture(autouse=True)
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")


# What is taken


def test_variables_of_a_household_go_from_all_members():
    asked = {"keys": ["street", "sex", "age"], "tables": [["street"]]}
    alone = suppress(HOMES, **asked)
    assert alone.table["street"].isna().tolist() == [False] * 6 + [True]
    rare = suppress(HOMES, **asked, threshold=2, household="home", household_keys=["street"])
    assert rare.table["street"].isna().tolist() == [True, True] + [False] * 4 + [True]
    # Of one member something has to go; taking the street would cost the other member's as well.
    mixed = HOMES.assign(sex=["f", "m", "f", "m", "f", "f", "f"])
    together = suppress(
        mixed,
        keys=["street", "sex"],
        tables=[["street", "sex"]],
        household="home",
        household_keys=["street"],
    )
    assert together.proven
    lost = together.table.groupby(mixed["home"])["street"].agg(lambda one: one.isna().nunique())
    assert (lost == 1).all()


# Another order


def test_whole_households_come_in_another_order_with_other_numbers(capsys):
    homes = HOMES.assign(id=range(101, 108), home=["h7", "h7", "h2", "h2", "h9", "h9", "h1"])
    homes.to_csv("homes.csv", index=False)
    asked = {"keys": ["street", "sex", "age"], "k": 2, "household": "home", "household_keys": ["street"]}
    result = suppress("homes.csv", **asked)
    seen, mixed = set(), False
    for seed in range(12):
        result.write("safe.csv", shuffle=True, seed=seed)
        written = pd.read_csv("safe.csv")
        seen.add(tuple(written["home"]))
        order = written["id"].tolist()
        assert sorted(order) == list(range(101, 108))
        assert [one for one, _ in groupby(written["home"])] == list(dict.fromkeys(written["home"]))
        mixed = mixed or order.index(102) < order.index(101)  # members of one household
        expected = result.table.set_index("id").loc[order].reset_index()
        pd.testing.assert_frame_equal(written[list(expected)], expected, check_dtype=False)
    assert len(seen) > 1
    assert mixed
    result.write("safe.csv", shuffle=True, renumber=["id", "home"])
    written = pd.read_csv("safe.csv")
    assert written["id"].tolist() == list(range(1, 8))
    assert written["home"].drop_duplicates().tolist() == [1, 2, 3, 4]
    run(capsys, *ASKED, "--k", "2", "--output", "other.csv", "--shuffle", "--renumber", "id")
    assert pd.read_csv("other.csv")["id"].tolist() == list(range(1, 9))


def test_what_cannot_be_renumbered(capsys):
    refuse(
        capsys,
        "--shuffle and --renumber are for --output: say what to write, or leave them out",
        *ASKED,
        "--shuffle",
    )
    result = suppress("people.csv", keys=["town"], k=2)
    with pytest.raises(UsageError, match="'town' is a key variable"):
        result.write("safe.csv", renumber=["town"])
    with pytest.raises(DataError, match="there is no column 'ids'; there are id, town"):
        result.write("safe.csv", renumber=["ids"])
    frame = pd.DataFrame({"id": [1, None], "a": [1, 1]})
    with pytest.raises(DataError, match="column 'id' has no value in row 2"):
        suppress(frame, keys=["a"], k=2).write("safe.csv", renumber=["id"])
    assert not Path("safe.csv").exists()


# Heads of households


def test_every_household_has_a_head():
    """Only that it is so is checked; what is taken is the same."""
    frame = HOMES.assign(relation=[1, 2, 1, 3, 2, 1, 1])
    asked = {"keys": ["street", "sex"], "k": 2, "household": "home", "household_keys": ["street"]}
    with_head = suppress(frame, head="relation=1", **asked)
    assert with_head.table.equals(suppress(frame, **asked).table)
    assert with_head.details["head"] == "relation=1"


@pytest.mark.parametrize(
    ("relation", "head", "error", "message"),
    [
        (
            [1, 2, 2, 3, 2, 1, 1],
            "relation=1",
            DataError,
            "household 2 \\(row 3\\) has no head: members whose",
        ),
        (
            [1, 2, 1, 3, 1, 1, 1],
            "relation=1",
            DataError,
            "household 3 \\(row 5\\) has 2 heads: members whose",
        ),
        ([1] * 7, "relation", UsageError, "write COLUMN=VALUE, such as relation=1"),
        ([1] * 7, "role=1", UsageError, "there is no column 'role'"),
    ],
)
def test_households_without_a_head(relation, head, error, message):
    frame = HOMES.assign(relation=relation)
    with pytest.raises(error, match=message):
        suppress(frame, keys=["street", "sex"], k=2, household="home", household_keys=["street"], head=head)


def test_heads_are_of_households():
    with pytest.raises(UsageError, match="there are no households; say in which column"):
        suppress(HOMES, keys=["street", "sex"], k=2, head="sex=f")
