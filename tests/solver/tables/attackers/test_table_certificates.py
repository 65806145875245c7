"""Certificates of tables: decided as plain programs decide, checked in fractions, forgeries rejected."""

from __future__ import annotations

import copy
import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import random_pattern, random_table
from small_tables import frames_of, plain_short

from linkrisk import audit_table, open_table, verify
from linkrisk.formulations.tables.exact import exact
from linkrisk.solver.certificates.core.claims import MalformedError, RejectedError
from linkrisk.solver.certificates.core.tables import check_table
from linkrisk.solver.certificates.operations.verify import exact_table
from linkrisk.solver.certificates.writing.table import certificate_bytes, table_certificate
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.attackers.certified import certify

SHAPES = [((4, 4), (5, 5)), ((6, 3), (4, 2)), ((3, 3), (3, 3), (2, 2)), ((4, 2), (3, 3), (2, 2))]


@settings(max_examples=25, deadline=None)
@given(
    shape=st.sampled_from(SHAPES),
    seed=st.integers(0, 10_000),
    share=st.floats(0.2, 0.9),
    decimals=st.integers(0, 2),
)
def test_every_level_is_decided_and_checked(shape, seed, share, decimals):
    generator = np.random.default_rng(seed)
    table = random_table(generator, shape, decimals=decimals)
    suppressed = random_pattern(generator, table, share)
    found = certify(table, suppressed)
    assert not found.undecided
    assert sorted({one.cell for one in found.missed}) == plain_short(table, suppressed, close=1e-9)
    content = json.loads(json.dumps(table_certificate(suppressed, found)))
    verdict = check_table(exact_table(open_table(*frames_of(table, suppressed))), content, "proof.json")
    assert verdict.protected == found.protected
    assert verdict.missed == len(found.missed)
    assert verdict.undecided == 0
    assert verdict.met == len(table.demands) - len(found.missed)


def worked():
    """A table of which some levels are met and others missed, by bounds."""
    generator = np.random.default_rng(1)
    table = random_table(generator, ((4, 4), (4, 4)), share=0.3)
    suppressed = random_pattern(generator, table, 0.45)
    found = certify(table, suppressed)
    return open_table(*frames_of(table, suppressed)), table_certificate(suppressed, found), found


def test_a_level_that_is_missed_by_less_than_an_optimiser_can_tell():
    """10 lies between 7 and 13; a level of 3.0000001 is none of it, and one of 3 is met just so."""
    cells = pd.DataFrame(
        {
            "value": [20.0, 10.0, 10.0],
            "status": ["s", "u", "m"],
            "upper_protection": [0.0, 3.0000001, 0.0],
            "lower_bound": [0.0, 0.0, 7.0],
            "upper_bound": [99.0, 99.0, 99.0],
        }
    )
    terms = pd.DataFrame({"relation": [0, 0, 0], "cell": [0, 1, 2], "coefficient": [-1, 1, 1]})
    assert audit_table(cells, terms).protected
    exactly = audit_table(cells, terms, exact=True)
    assert not exactly.protected
    said = {"protected": False, "missed": [1], "undecided": [], "witnesses": 0, "levels_missed": 1}
    assert exactly.to_dict()["exact"] == {**said, "levels_undecided": 0, "whole": False}
    assert audit_table(cells.assign(upper_protection=[0.0, 3.0, 0.0]), terms, exact=True).protected


def test_decimals_are_what_the_files_say():
    assert exact(0.1) == Fraction(1, 10)
    cells = pd.DataFrame(
        {"value": [0.3, 0.1, 0.2], "status": ["s", "u", "m"], "lower_protection": [0.0, 0.1, 0.0]}
    )
    terms = pd.DataFrame({"relation": [0, 0, 0], "cell": [0, 1, 2], "coefficient": [-1, 1, 1]})
    result = audit_table(cells, terms, exact=True)
    assert result.protected
    certificate = table_certificate(result.suppressed, result.certified)
    assert certificate["witnesses"] == [[[1, 2], ["-1/10", "1/10"]]]
    assert check_table(exact_table(result.table), certificate, "proof.json").defect == 0


def shift(certificate):
    certificate["witnesses"][0][1][0] += 1


def lengthen(certificate):
    certificate["witnesses"][0][1] = [1000 * one for one in certificate["witnesses"][0][1]]


def move_published(certificate):
    certificate["witnesses"][1][0][0] = next(at for at in range(25) if at not in certificate["suppressed"])


def weaken_bounds(certificate):
    certificate["bounds"] = [[cell, sign, [], []] for cell, sign, *_ in certificate["bounds"]]


def unknown_relation(certificate):
    certificate["bounds"][0][2:] = [[999], [1]]


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (shift, "witness 0 breaks relation [0-9]+ .*: its terms sum to -?1"),
        (lengthen, "witness 0 moves cell [0-9]+ beyond its bounds"),
        (move_published, "witness 1 moves cell [0-9]+, which is published"),
        (lambda one: one.update(protected=True, missed=[]), "cell [0-9]+ is short of a level, and the"),
        (lambda one: one.update(witnesses=[]), "cell [0-9]+: nothing proves its level of [0-9/]+; witnesses"),
        (lambda one: one["suppressed"].pop(), "the certificate is about other suppressed cells: cell [0-9]+"),
        (weaken_bounds, "cell [0-9]+: nothing proves its level of [0-9/]+; witnesses reach [0-9/]+"),
        (
            lambda one: one["missed"].append(one["witnesses"][0][0][0]),
            "cell [0-9]+ is not proven to be short of a level, and the certificate says",
        ),
        (unknown_relation, "bound 0 uses relation 999, which is not there"),
    ],
)
def test_forgeries_are_rejected(forge, message):
    stored, certificate, _ = worked()
    forged = copy.deepcopy(certificate)
    forge(forged)
    with pytest.raises(RejectedError, match=message) as found:
        check_table(exact_table(stored), forged, "proof.json")
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "other", "proof.json is no certificate of a table; give what `tables audit"),
        ("suppressed", "all", "proof.json, suppressed must be a list"),
        ("witnesses", [[[1, 1], [2, 2]]], r"proof.json, witnesses\[0\] must hold a number for each"),
        ("witnesses", [[[7], ["1/0"]]], r"proof.json, witnesses\[0\]\[1\]\[0\]: '1/0' is no fraction"),
        ("witnesses", [[[7], [0.5]]], r"proof.json, witnesses\[0\]\[1\]\[0\]: '0.5' is no fraction"),
        ("bounds", [[1, 1]], r"proof.json, bounds\[0\] must hold 4 items, not 2"),
        ("protected", "yes", "proof.json, protected must be true or false"),
    ],
)
def test_files_that_are_no_certificates(key, value, message):
    stored, certificate, _ = worked()
    with pytest.raises(MalformedError, match=message):
        check_table(exact_table(stored), {**certificate, key: value}, "proof.json")


def test_files_compressed_or_not(tmp_path):
    stored, certificate, found = worked()
    for name in ("proof.json", "proof.json.gz"):
        path = tmp_path / name
        path.write_bytes(certificate_bytes(certificate, path))
        answer = verify(path, cells=stored)
        assert not answer  # it proves that the table is not protected
        assert answer.rejected is None
        assert answer.to_dict()["missed"] == len(found.missed)
    (tmp_path / "cut.gz").write_bytes((tmp_path / "proof.json.gz").read_bytes()[:-20])
    with pytest.raises(UsageError, match=r"cut\.gz is not a whole gzip file; give the file that"):
        verify(tmp_path / "cut.gz", cells=stored)


def test_without_time_nothing_is_claimed():
    generator = np.random.default_rng(5)
    table = random_table(generator, ((5, 5), (5, 5)))
    clock = Clock(None)
    clock.stop()
    found = certify(table, ~table.fixed, clock)
    assert set(found.undecided) == set(table.demands)
    assert not found.protected
    stored = open_table(*frames_of(table, ~table.fixed))
    verdict = check_table(exact_table(stored), table_certificate(~table.fixed, found), "proof.json")
    assert verdict.undecided == len(table.demands)


# Certificates and the levels and bounds of a table: what `verify` takes them to be, and what it refuses


TERMS = pd.DataFrame({"relation": [0, 0, 0], "cell": [0, 1, 2], "coefficient": [-1, 1, 1]})


def hidden(value, levels, status=("u", "u", "m"), sliding=(0.0, 0.0, 0.0)):
    low, high = levels
    frame = pd.DataFrame({"value": value, "status": status, "lower_protection": low})
    return frame.assign(upper_protection=high, sliding_protection=sliding)


HONEST = {
    "the total": hidden([10.0, 4.0, 6.0], ([3.0, 1.0, 0.0], [3.0, 1.0, 0.0])),
    "below 0": hidden([-10.0, -4.0, -6.0], ([3.0, 1.0, 0.0], [3.0, 1.0, 0.0])),
    "a wide interval": hidden([10.0, 4.0, 6.0], ([0.0] * 3, [0.0] * 3), sliding=[11.0, 1.0, 0.0]),
    "decimals": hidden([0.1, 0.04, 0.06], ([0.0, 0.01, 0.0], [0.2, 0.01, 0.0])),
}


@pytest.mark.parametrize("cells", HONEST.values(), ids=HONEST.keys())
def test_a_level_that_reaches_beyond_the_largest_value(cells, tmp_path):
    found = audit_table(cells, TERMS, exact=True)
    assert found.protected
    found.write_certificate(tmp_path / "proof.json")
    answer = verify(tmp_path / "proof.json", cells=cells, relations=TERMS)
    assert answer
    assert answer.rejected is None


WITHOUT = {
    "cell 1 is sensitive, and has no protection level": hidden(
        [10.0, 4.0, 6.0], ([0.0] * 3, [0.0] * 3), ("s", "u", "m")
    ),
    "a protection level of cell 1 is below 0": hidden(
        [10.0, 4.0, 6.0], ([0.0, 1.0, 0.0], [0.0, -1.0, 0.0]), ("s", "u", "m")
    ),
    "cell 1 has a protection level, but no cell is sensitive": hidden(
        [10.0, 4.0, 6.0], ([0.0, 1.0, 0.0], [0.0, 1.0, 0.0]), ("s", "m", "m")
    ),
}


@pytest.mark.parametrize(("why", "cells"), WITHOUT.items(), ids=WITHOUT.keys())
def test_what_asks_for_nothing_is_not_proven_to_be_protected(why, cells, tmp_path):
    proof = {"suppressed": [1, 2], "protected": True, "missed": [], "undecided": [], "witnesses": []}
    proof |= {"format": "linkrisk table certificate 1", "bounds": []}
    (tmp_path / "proof.json").write_text(json.dumps(proof))
    found = verify(tmp_path / "proof.json", cells=cells, relations=TERMS)
    assert not found
    assert found.rejected == why
