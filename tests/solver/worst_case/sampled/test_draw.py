"""Draws: the same for the same seed and files, another for others, every record as likely as any other."""

from __future__ import annotations

import hashlib
from fractions import Fraction

import numpy as np
import pytest

from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.sampled.samples import check_strata, draw, drawing_order, fingerprint

FILES = hashlib.sha256(b"files").digest()


def test_the_order_by_definition():
    keys = []
    for block in range(11):
        digest = hashlib.sha256(FILES + (5).to_bytes(8, "big") + (block // 4).to_bytes(8, "big")).digest()
        keys.append(digest[8 * (block % 4) : 8 * (block % 4) + 8])
    assert drawing_order(5, FILES, 11).tolist() == sorted(range(11), key=keys.__getitem__)


def test_another_seed_or_another_value_is_another_draw():
    original, partner = np.arange(12.0).reshape(6, 2), np.arange(6)
    masked = original + 0.5
    first = fingerprint(original, masked, partner)
    assert fingerprint(original.copy(), masked, partner) == first
    assert fingerprint(np.where(original == 0.0, -0.0, original), masked, partner) == first
    changed = masked.copy()
    changed[3, 1] = np.nextafter(changed[3, 1], 9.0)
    others = {
        fingerprint(original, changed, partner),
        fingerprint(masked, original, partner),
        fingerprint(original, masked, partner[::-1]),
        fingerprint(original.reshape(4, 3), masked, partner),
    }
    assert len(others | {first}) == 5
    orders = {tuple(drawing_order(seed, files, 40)) for seed in range(3) for files in (first, FILES)}
    assert len(orders) == 6


def test_every_record_is_as_likely_as_any_other():
    """Chi squared of places: 2,000 orders of 20 records."""
    often = np.zeros((20, 20))
    for seed in range(2_000):
        often[np.arange(20), drawing_order(seed, FILES, 20)] += 1
    statistic = ((often - 100.0) ** 2 / 100.0).sum()
    assert 290 < statistic < 440  # 19 x 19 degrees of freedom: 361, give or take 27


def test_a_sample_is_the_beginning_of_the_order():
    order = drawing_order(0, FILES, 100)
    made = draw(order, 31)
    assert (made.design.records, made.design.sample, made.design.share) == (100, 31, None)
    assert made.blocks.tolist() == order[:31].tolist()
    assert drawing_order(0, FILES, 100, b"another").tolist() != order.tolist()


@pytest.mark.parametrize("sample", [1, 7, 30, 100])
def test_of_each_stratum_its_share_is_drawn_and_in_its_own_order(sample):
    stratum = ["north"] * 60 + ["south"] * 37 + ["isles"] * 3
    order = drawing_order(3, FILES, 100)
    made = draw(order, sample, stratum)
    taken = [stratum[block] for block in made.blocks]
    for name, size in (("north", 60), ("south", 37), ("isles", 3)):
        assert taken.count(name) == -(-sample * size // 100)
        own = [block for block in order.tolist() if stratum[block] == name]
        assert [block for block in made.blocks.tolist() if stratum[block] == name] == own[: taken.count(name)]
    shares = [Fraction(taken.count(name), stratum.count(name)) for name in set(stratum)]
    assert made.design.share == min(shares) >= Fraction(sample, 100)
    assert made.design.sample == len(taken)


def test_a_stratum_of_one_record_is_refused():
    check_strata(["a", "a", "b", "b"], "region")
    with pytest.raises(UsageError, match="stratum 'b' of region has one record: join it with another"):
        check_strata(["a", "a", "b"], "region")
