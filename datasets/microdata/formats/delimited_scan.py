"""The bytes of a delimited file some megabytes at a time: whether rows are even, and cells might be codes.

Everything here only ever says yes where it is certain; who gets a no looks closer, cell by cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 20
"""Bytes that are looked at together, up to the end of a line."""

MOST_IN_LINE = 100_000
"""Bytes of a line; below what the module csv takes for a cell."""

_Bytes = NDArray[np.uint8]
_Places = NDArray[np.bool_]

_NEWLINE, _ZERO, _NINE, _POINT, _PLUS, _MINUS = (ord(sign) for sign in "\n09.+-")
_MOST_DIGITS = 15
_BEFORE_CELLS = np.zeros(256, dtype=np.bool_)
_BEFORE_CELLS[[ord(sign) for sign in '\n\r,;\t|" \v\f']] = True
_BEFORE_CELLS[128:] = True  # may be part of a blank


def blocks(source: BinaryIO) -> Iterator[bytes]:
    """What is left of a file, in blocks of whole lines; all end with a line feed alone, the last one, too.

    A line that is longer than `BLOCK` is in a block of its own.
    """
    left = b""
    while read := source.read(BLOCK):
        joined = left + read
        end = joined.rfind(b"\n") + 1
        left = joined[end:]
        if end:
            yield _plain_ends(joined[:end])
    if left:
        yield _plain_ends(left + b"\n")


def _plain_ends(block: bytes) -> bytes:
    return block.replace(b"\r\n", b"\n") if b"\r" in block else block


def marks(block: bytes, delimiter: str) -> _Places:
    """Where cells end."""
    signs = np.frombuffer(block, dtype=np.uint8)
    found: _Places = (signs == ord(delimiter)) | (signs == _NEWLINE)
    return found


def rows_are_even(block: bytes, delimiter: str, cells: int) -> bool:
    """Whether every line of a block has so many cells, at least two, and none is in quotes."""
    if cells < 2 or b'"' in block or b"\r" in block:
        return False
    signs = np.frombuffer(block, dtype=np.uint8)
    found = signs[marks(block, delimiter)]
    if found.size % cells:
        return False
    rows = found.reshape(-1, cells)
    even = (rows[:, -1] == _NEWLINE).all() and (rows[:, :-1] == ord(delimiter)).all()
    return bool(even) and _longest_line(signs) < MOST_IN_LINE


def _longest_line(signs: _Bytes) -> int:
    ends = np.flatnonzero(signs == _NEWLINE)
    return int(np.diff(ends, prepend=-1).max())


def may_hold_codes(block: bytes) -> bool:
    """Whether a cell may have leading zeros, a leading plus, or more than 15 digits before a point."""
    signs = np.frombuffer(b"\n" + block + b"\n" * _MOST_DIGITS, dtype=np.uint8)
    if b"+" in block and _BEFORE_CELLS[signs[:-1][signs[1:] == _PLUS]].any():
        return True
    digit = (signs >= _ZERO) & (signs <= _NINE)
    return _leading_zeros(signs, digit) or _many_digits(signs, digit)


def _leading_zeros(signs: _Bytes, digit: _Places) -> bool:
    """Whether a zero and another digit stand where a cell begins, perhaps after a sign."""
    # Digits before the zero are the usual case, and out first.
    at = np.flatnonzero((signs[1:-1] == _ZERO) & digit[2:] & ~digit[:-2]) + 1
    before = signs[at - 1]
    before = np.where(before == _MINUS, signs[np.maximum(at - 2, 0)], before)
    return bool(_BEFORE_CELLS[before].any())


def _many_digits(signs: _Bytes, digit: _Places) -> bool:
    """Whether 16 digits stand one after the other, and not behind a point."""
    run, width = digit, 1
    while width <= _MOST_DIGITS:
        run = run[:-width] & run[width:]
        width *= 2
    at = np.flatnonzero(run[1:] & ~digit[: run.size - 1]) + 1
    return bool((signs[at - 1] != _POINT).any())
