"""Certificates and the levels and bounds of a table: what `verify` takes them to be, and what it refuses."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from linkrisk import audit_table, verify

TERMS = pd.DataFrame({"relation": [0, 0, 0], "cell": [0, 1, 2], "coefficient": [-1, 1, 1]})


def hidden(value, levels, status=("u", "u", "m"), sliding=(0.0, 0.0, 0.0)):
    """A total and two parts, of which nothing is said of what everybody knows."""
    low, high = levels
    return pd.DataFrame(
        {
            "value": value,
            "status": status,
            "lower_protection": low,
            "upper_protection": high,
            "sliding_protection": sliding,
        }
    )


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
    assert verify(tmp_path / "proof.json", cells=cells, relations=TERMS).rejected is None
    assert verify(tmp_path / "proof.json", cells=cells, relations=TERMS)


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
