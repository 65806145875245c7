"""What the report of a table refuses: results that contradict themselves, JSON that is none."""

from __future__ import annotations

import copy
import re

import pytest

from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.pages.build import table_document

# What it refuses


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"cells": 26}, "they have 26 cells and 25 statuses"),
        (
            {"suppressed": 7},
            "of 7 suppressed cells 2 are sensitive, and by status 2 and 4 with them",
        ),
        ({"pattern": [1]}, "6 cells are suppressed and 1 are named"),
        ({"protected": False}, "the verdict is not that of the cells that are short of a level"),
        ({"bound": 70.0}, "the cost is 69 and none is less than 70"),
        ({"bound": 60.0}, "the status is optimal, the cost 69 and its bound 60"),
        ({"status": "feasible"}, "the status is feasible, the cost 69 and its bound 69"),
    ],
)
def test_results_that_contradict_themselves(protected, change, fault):
    with pytest.raises(
        UsageError, match=re.escape(f"these results contradict themselves, {fault}: give the")
    ):
        table_document({**protected, **change})


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        (
            "high",
            12.0,
            r"1 × 3 counts as protected, and its interval, 7 to 12, is short of a level around 10",
        ),
        ("low", 11.0, r"the value of 1 × 3 is outside of its interval, 11 to 13"),
        ("upper_level", 30.0, r"1 × 3 counts as protected, and its interval, 7 to 13, is short of a level"),
    ],
)
def test_intervals_that_contradict_the_verdict(protected, name, value, fault):
    given = copy.deepcopy(protected)
    found = given["table"]["intervals"]
    found[name][found["cell"].index(8)] = value
    with pytest.raises(UsageError, match=fault):
        table_document(given)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"changed": 3}, "3 cells changed, and by how much is said of 14"),
        ({"largest_change": 9.0}, "the largest change is 9, and one cell changed by 3"),
        ({"rounded": [7.0]}, "a rounded value is no multiple of 5"),
        ({"bound": 20.0}, "the status is optimal, the cost 28 and its bound 20"),
    ],
)
def test_roundings_that_contradict_themselves(rounded, change, fault):
    with pytest.raises(UsageError, match=re.escape(f"contradict themselves, {fault}: give the")):
        table_document({**rounded, **change})


def test_adjustments_that_contradict_themselves(adjusted):
    given = copy.deepcopy(adjusted)
    given["table"]["sensitive"]["became"][0] = 11.0
    with pytest.raises(UsageError, match="1 × 3 is nearer to its value, 10, than its level: give the"):
        table_document(given)
    with pytest.raises(UsageError, match="they have 26 cells, and of 25 is said by how much they changed"):
        table_document({**adjusted, "cells": 26})


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"table": None}, "a part is not what it should be"),
        ({"table": {}}, "they lack 'statuses'"),
        ({"protection": "magic"}, "they lack 'magic'"),
    ],
)
def test_json_that_cannot_be_shown(protected, change, what):
    with pytest.raises(UsageError, match=f"^these results cannot be shown, {what}: give what `tables supp"):
        table_document({**protected, **change})


# The page
