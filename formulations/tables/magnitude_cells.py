"""Cell-key method for sums: adds the noise of the largest contributions of each cell in turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.tables.following_keys import next_keys, turned_keys
from linkrisk.formulations.tables.magnitude_noise import Multiplier, Noise

_SIGN = 101
"""Number of the derived key for the direction of extra noise without other noise."""


@dataclass(frozen=True)
class SummedCells:
    """Cells of sums, with the inputs of their noise.

    Attributes
    ----------
    value : ndarray of float64, shape (n,)
        Of the cells.
    largest : ndarray of float64, shape (n, K)
        Scale of the noise, 0 where there is none.
    keys : ndarray of float64, shape (n,)
        Cell keys.
    odd : ndarray of int64, shape (n,)
        1 where the number of records is odd, else 0.
    extra : ndarray of float64, shape (n,)
        Addition to the absolute noise of the largest, for sensitive cells.
    """

    value: FloatArray
    largest: FloatArray
    keys: FloatArray
    odd: LongArray
    extra: FloatArray


def perturbed_sums(
    cells: SummedCells,
    multiplier: Multiplier,
    noise: Noise,
    *,
    same_key: bool = True,
    digits: int | None = None,
) -> FloatArray:
    """Return the sums with noise (`formulations.tables.magnitude_noise`).

    A sum that is smaller than |d_j| is moved by v_j times itself, as one of the size |x| / (p_s e_j); a sum
    of 0 stays. No sum changes its sign.

    Parameters
    ----------
    cells : SummedCells
    multiplier : Multiplier
        With K factors.
    noise : Noise
    same_key : bool
        Whether the largest is looked up by the cell key itself, and not by a follower.
    digits : int, optional
        Followers are cell keys with so many digits turned round; by default their bits are mixed.

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    keys, found = cells.keys, cells.value.astype(np.float64).copy()
    point = multiplier.separation_point(noise.small)
    for at, factor in enumerate(multiplier.factors):
        which = at if same_key else at + 1
        mine = keys if which == 0 else _follower(keys, which, digits)
        move, small = _moves(found, cells.largest[:, at], multiplier, factor, point)
        used = (move > 0) & (found != 0)
        if at > 0:
            used &= small == 0  # the fixed variance is that of the first contribution
        with np.errstate(over="ignore"):  # tiny contributions: infinity is beyond the last level
            level = np.divide(np.abs(found), move, out=np.zeros(found.size), where=used)
        relative = np.where(used, noise.look_up(level, mine, cells.odd, small), 0.0)
        if at == 0:
            relative = _with_extra(relative, np.where(used, cells.extra, 0.0), keys)
        moved = np.abs(found) + move * relative
        found = np.sign(found) * np.maximum(moved, 0.0)
    return found


def _follower(keys: FloatArray, which: int, digits: int | None) -> FloatArray:
    return next_keys(keys, which) if digits is None else turned_keys(keys, which, digits)


def _moves(
    value: FloatArray, by: FloatArray, multiplier: Multiplier, factor: float, point: float
) -> tuple[FloatArray, FloatArray]:
    """Return |d_j|, and 1 for small cells, else 0."""
    size = np.abs(by)
    move = factor * multiplier(size) * size
    small = size < point
    move[small] = 1.0
    whole = np.abs(value)
    over = (whole < move) & (move > 0)
    if factor > 0:
        shrunk = whole / (multiplier.share * factor)
        move = np.where(over, whole, move)
        still = over & (shrunk < point)
        move[still] = 1.0
        small |= still
    return move, small.astype(np.float64)


def _with_extra(relative: FloatArray, extra: FloatArray, keys: FloatArray) -> FloatArray:
    """Extend noise in its direction; without noise, choose a direction at random."""
    either = np.where(next_keys(keys, _SIGN) < 0.5, -1.0, 1.0)
    direction = np.where(relative == 0, either, np.sign(relative))
    return relative + np.where(extra > 0, direction * extra, 0.0)
