"""What parameters and orders link, by looking at every pair: the verifier's reference."""

from __future__ import annotations

import numpy as np

from linkrisk.solver.certificates.checking.counting import ERROR
from linkrisk.solver.certificates.checking.ties import TOLERANCES


def linked_one_by_one(rows, theta):
    """Whether each block is linked, in whole numbers alone, from the definition."""
    unit = max(value.denominator for value in theta)
    whole = [int(value * unit) for value in theta]
    return [_linked(rows, block, whole) for block in range(rows.records.blocks)]


def _linked(rows, block, whole):
    if not rows.records.reachable(block):
        return False
    factors = (rows.family.coefficients(rows.row(block, int(r))) for r in rows.records.rivals(block))
    return all(sum(a * b for a, b in zip(row, whole, strict=True)) > 0 for row in factors)


def numbers_one_by_one(rows, theta, block):
    """Ranks and numbers of ties at least and at most, and the nearest rival, in double precision."""
    records, family = rows.records, rows.family
    rivals, rounded = records.rivals(block), np.array([float(value) for value in theta])
    many = np.full(rivals.size, block)
    c = records.rounded_distances(many, rivals)
    own = records.rounded_distances(many, np.full(rivals.size, records.partner[block]))
    tied = records.rounded_ties(many, squares=family.squares)
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
    """Whether each block is linked by comparing attributes or ranks one after another."""
    return [_in_order(records, block, order, ranked) for block in range(records.blocks)]


def _in_order(records, block, order, ranked):
    if not records.reachable(block):
        return False
    mine = np.abs(records.rounded_differences(block, np.array([records.partner[block]]))[0])
    tied = (mine + records.widths[block]) * (1.0 + TOLERANCES["tie"])
    other = np.abs(records.rounded_differences(block, records.rivals(block)))
    if ranked:
        mine, tied, other = -np.sort(-mine), -np.sort(-tied), -np.sort(-other, axis=1)
    farther = np.where(other == mine, 0, np.where(other > tied, 1, -1))
    return all(next((step for step in row[list(order)] if step), 0) > 0 for row in farther)
