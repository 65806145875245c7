"""Ranks, ties and orders by comparing every pair: the reference of the accelerator."""

from __future__ import annotations

import numpy as np

from linkrisk.solver.certificates.checking.counting import ERROR
from linkrisk.solver.certificates.checking.rounded import ROUNDED
from linkrisk.solver.certificates.core.records import TIE


def numbers_one_by_one(linkage, theta, block):
    """Ranks and numbers of ties at least and at most, and the nearest rival, in double precision."""
    records, family = linkage.arrays, ROUNDED[type(linkage.family)](linkage.family)
    rivals, rounded = records.rivals(block), np.array([float(value) for value in theta])
    many = np.full(rivals.size, block)
    c = records.distances(many, rivals)
    own = records.distances(many, np.full(rivals.size, records.partners[block]))
    tied = records.ties(many, linkage.family.squares)
    unit = ERROR * family.roundings * np.abs(rounded).sum()
    errors = 2.0 * unit * (family.size(c) + np.maximum(family.size(own), tied.max(axis=1)))
    tie = family.slack(rounded, own, tied, c)
    distance = family.distance(rounded, c)
    farther = distance - family.distance(rounded, own)
    rank, ties = farther + tie, np.abs(farther) - tie
    return (
        (1 + int((rank < -errors).sum()), 1 + int((rank <= errors).sum())),
        (int((ties < -errors).sum()), int((ties <= errors).sum())),
        float(distance.min()),
    )


def linked_in_order(records, order, *, ranked):
    """Whether each block of some `RecordArrays` is linked by comparing attributes or ranks in an order."""
    return [_in_order(records, block, order, ranked) for block in range(records.blocks)]


def _in_order(records, block, order, ranked):
    if not records.reached[block]:
        return False
    mine = np.abs(records.differences(block, records.partners[[block]])[0])
    tied = (mine + records.widths[block]) * (1.0 + 2.0**-TIE)
    other = np.abs(records.differences(block, records.rivals(block)))
    if ranked:
        mine, tied, other = -np.sort(-mine), -np.sort(-tied), -np.sort(-other, axis=1)
    farther = np.where(other == mine, 0, np.where(other > tied, 1, -1))
    return all(next((step for step in row[list(order)] if step), 0) > 0 for row in farther)
