"""What passes are expected to lose, where the true links are not known, against what they do lose."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from pass_cases import linker, task
from persons import draw_persons
from prl_cases import compare, task_of

from linkrisk.solver.linkage.linker import Truth
from linkrisk.solver.linkage.probabilistic.decisions import (
    _shares_of_cells,
    decide,
    expected_losses,
    shared_columns,
)
from linkrisk.solver.linkage.result import report_passes

TEXTS = ("given_name", "surname", "suburb", "postcode", "date_of_birth")
PERSONS = 2000


@functools.cache
def persons_drawn():
    """Two files of the same persons as a task, and whose record in the second each of the first is."""
    first, second = draw_persons(PERSONS, 1)
    place = {name: row for row, name in enumerate(second["rec_id"])}
    partner = np.array([place[name] for name in first["rec_id"]])
    files = [frame.drop(columns="rec_id").replace("", None) for frame in (first, second)]
    return task_of(*files, TEXTS), partner


@functools.cache
def learned_by(passes):
    """What is learned does not depend on how it is decided."""
    own, _ = persons_drawn()
    return linker(*passes, compare=compare(*(f"{name}=jaro-winkler:0.9" for name in TEXTS))).learn(own)


def expected_and_true(passes, one_to_one):
    """The losses that are expected, and those there are."""
    own, partner = persons_drawn()
    learned = learned_by(passes)
    found = decide(learned, one_to_one)
    reports = report_passes(learned, found, Truth.of(partner, PERSONS))
    missed = 1.0 - sum(report.right for report in reports) / PERSONS
    return expected_losses(learned, own, found), reports, missed


@pytest.mark.parametrize("one_to_one", [None, "greedy"])
@pytest.mark.parametrize(
    "passes",
    [
        ("date_of_birth", "postcode,given_name[:2]", "suburb[:4],surname[:2]"),
        ("year(date_of_birth),surname", "soundex(given_name),postcode"),
        ("date_of_birth,surname", "year(date_of_birth),given_name", "surname[:3],suburb"),
    ],
)
def test_what_is_expected_is_near_what_is_lost(passes, one_to_one):
    expected, reports, missed = expected_and_true(passes, one_to_one)
    assert expected is not None
    assert expected.lost == pytest.approx([one.lost for one in reports], abs=0.03)
    assert expected.lost_so_far == pytest.approx([one.lost_so_far for one in reports], abs=0.03)
    assert expected.missed == pytest.approx(missed, abs=0.04)
    assert expected.missed >= expected.lost_so_far[-1]
    assert expected.lost_so_far[0] == expected.lost[0]


def test_what_a_shared_column_loses_cannot_be_known():
    own = task(60, 3)
    for passes in (("surname",), ("surname,town", "soundex(surname),age")):
        learned = linker(*passes).learn(own)
        assert shared_columns(learned.files.joined.passes) == ("surname",)
        assert expected_losses(learned, own, decide(learned)) is None


def test_shares_of_unseen_cells_are_those_of_capture_and_recapture():
    # Two passes of one key each: Lincoln and Petersen's 60 * 50 / 30 matches, of which 80 were seen.
    weight, seen = np.array([0.0, 20.0, 30.0, 30.0]), np.array([False, True, True, True])
    share = _shares_of_cells(weight, seen, (2, 2))
    assert share == pytest.approx([0.2, 0.2, 0.3, 0.3], abs=1e-6)
    # Whatever stands in a cell that cannot be seen does not count.
    assert _shares_of_cells(np.array([7.0, 20.0, 30.0, 30.0]), seen, (2, 2)) == pytest.approx(share)
    # No match that both have seen: there may be any number of others.
    assert _shares_of_cells(np.array([0.0, 5.0, 5.0, 0.0]), seen, (2, 2)) is None
    assert _shares_of_cells(np.zeros(4), seen, (2, 2)) is None


def test_independent_keys_of_any_number_are_found_again():
    chance = np.random.default_rng(0)
    margins = [chance.dirichlet([1.0, 3.0]), chance.dirichlet([1.0, 1.0, 1.0, 4.0]), chance.dirichlet([1, 2])]
    share = np.multiply.outer(np.multiply.outer(margins[0], margins[1]), margins[2]).ravel()
    cells = np.arange(16)
    bits = [(cells >> at) & 1 == 1 for at in range(4)]
    seen = (bits[3] & bits[1]) | (bits[0] & bits[2]) | (bits[3] & bits[0])
    found = _shares_of_cells(np.where(seen, 1e4 * share, 0.0), seen, (2, 4, 2))
    assert found == pytest.approx(share, abs=1e-5)
