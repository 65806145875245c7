"""Kinds of nasty numeric files: each makes them of two random ones, which it may write to."""

from __future__ import annotations

import brute_force as plain
import numpy as np


def _times(least, most, each=False):
    def scaled(random, original, masked):
        scale = 10.0 ** random.uniform(least, most, size=original.shape[1] if each else None)
        return original * scale, masked * scale

    return scaled


def _units(random, original, masked):
    """Whole numbers of very different sizes: many equal values and equal differences."""
    unit = 10.0 ** random.integers(-6, 7, size=original.shape[1])
    return np.round(original) * unit, np.round(masked) * unit


def _far_from_zero(random, original, masked):
    offset = 10.0 ** random.uniform(0, 9, size=original.shape[1])
    return original + offset, masked + offset


def _whole_numbers(random, original, masked):
    del masked
    original = random.integers(0, 4, size=original.shape).astype(float)
    return original, original + random.integers(-1, 2, size=original.shape)


def _permuted_whole_numbers(random, original, masked):
    del masked
    original = random.integers(0, 3, size=original.shape).astype(float)
    return original, random.permuted(original, axis=0)


def _duplicates(random, original, masked):
    for _ in range(len(original) // 2):
        first, second = random.integers(len(original), size=2)
        values = (original, masked)[random.integers(2)]
        values[first] = values[second]
    return original, masked


def _nearly_duplicates(random, original, masked):
    """Records that differ by so little that ties are at stake."""
    for _ in range(len(original)):
        first, second = random.integers(len(original), size=2)
        values = (original, masked)[random.integers(2)]
        values[first] = values[second] + 10.0 ** random.uniform(-13, -8) * random.normal(size=values.shape[1])
    return original, masked


def _mirrored(random, original, masked):
    """Rivals as far as the partner on every attribute, or nearly."""
    for first in range(len(original)):
        second = random.integers(len(original))
        if first != second:
            signs = random.choice([-1.0, 1.0], size=masked.shape[1])
            off = random.choice([0.0, 1e-13, 1e-11, 1e-10, 1e-9, 1e-8]) * random.normal(size=masked.shape[1])
            masked[second] = original[first] + signs * (masked[first] - original[first]) + off
    return original, masked


def _outliers(random, original, masked):
    for values in (original, masked):
        values[random.integers(len(values))] *= 10.0 ** random.uniform(0, 8)
    return original, masked


def _near_partners(random, original, masked):
    del masked
    size = 10.0 ** random.uniform(-9, 0, size=(len(original), 1))
    return original, original + size * random.normal(size=original.shape)


def _duplicated_records(random, original, masked):
    """Whole records again, in both files or in one; and a run of equal masked records."""
    for _ in range(1 + len(original) // 3):
        first, second = random.integers(len(original), size=2)
        masked[first] = masked[second]
        if random.random() < 0.5:
            original[first] = original[second]
    return original, masked


def _nearly_collinear(random, original, masked):
    """All attributes are one, but for a little."""
    for values in (original, masked):
        off = 10.0 ** random.uniform(-12, -3) * random.normal(size=values.shape)
        values[:] = values[:, :1] * random.uniform(0.5, 2.0, size=values.shape[1]) + off
    return original, masked


def _constant_differences(random, original, masked):
    """Every value moved by as much: differences without variance, up to rounding."""
    moved = np.where(random.random(original.shape[1]) < 0.7, random.normal(size=original.shape[1]), 0.0)
    keep = random.random(original.shape[1]) < 0.3
    return original, np.where(keep, masked, original + moved)


def _at_the_tolerance(random, original, masked):
    """Rivals that are farther by about as much as a tie allows."""
    for first in range(len(original)):
        second = random.integers(len(original))
        if first != second:
            signs = random.choice([-1.0, 1.0], size=masked.shape[1])
            off = random.choice([0.5, 1.0]) * plain.TIE * (1.0 + 10.0 ** random.uniform(-6, 0))
            masked[second] = original[first] + signs * (1.0 + off) * (masked[first] - original[first])
    return original, masked


KINDS = {
    "normal": lambda _, original, masked: (original, masked),
    "whole numbers": _whole_numbers,
    "permuted whole numbers": _permuted_whole_numbers,
    "halves": lambda _, original, masked: (np.round(2.0 * original) / 2.0, np.round(2.0 * masked) / 2.0),
    "duplicates": _duplicates,
    "nearly duplicates": _nearly_duplicates,
    "mirrored": _mirrored,
    "unchanged values": lambda random, original, masked: (
        original,
        np.where(random.random(original.shape) < 0.5, original, masked),
    ),
    "scaled": _times(-150, 150, each=True),
    "outliers": _outliers,
    "far from zero": _far_from_zero,
    "near partners": _near_partners,
    "duplicated records": _duplicated_records,
    "huge": _times(140, 150),
    "tiny": _times(-150, -140),
    "nearly collinear": _nearly_collinear,
    "constant differences": _constant_differences,
    "at the tolerance": _at_the_tolerance,
    "one unit": _units,
}
"""How each kind of numeric files is made of random ones."""

EXTREME = frozenset({"scaled", "huge", "tiny"})
"""Kinds whose values have squares that are no numbers, unless they are standardised."""
