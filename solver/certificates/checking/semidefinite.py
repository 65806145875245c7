"""Definiteness of a symmetric matrix of whole numbers, without rounding."""

from __future__ import annotations


def is_negative_semidefinite(matrix: list[list[int]]) -> bool:
    """Whether ``x' G x <= 0`` for all x.

    Fraction-free elimination (Bareiss 1968) of ``-G``: every pivot must be non-negative, and where one is
    zero, so must be the rest of its row.
    """
    rest = [[-value for value in row] for row in matrix]
    size, before = len(rest), 1
    for k in range(size):
        pivot = rest[k][k]
        if pivot < 0:
            return False
        if pivot == 0:
            if any(rest[k][k:]):
                return False
            continue
        for i in range(k + 1, size):
            for j in range(i, size):
                rest[i][j] = (rest[i][j] * pivot - rest[k][i] * rest[k][j]) // before
        before = pivot
    return True
