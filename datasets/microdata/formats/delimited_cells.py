"""Cells of delimited text: where they begin and end in a block of bytes, which of them are alike."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import BoolArray, ByteArray, IndexArray
from linkrisk.datasets.microdata.formats.file_content import UTF8, UTF8_LETTER, WINDOWS

MARGIN = 64
"""Zero bytes before and after a block, so that windows of so many bytes may stand out of it."""

_WORD = 8  # bytes of a whole number
_MIXER = np.uint64(
    0x9E3779B97F4A7C15
)  # 2^64 by the golden ratio: Knuth, The Art of Computer Programming 3, 6.4
_LOWEST = np.array([(1 << 8 * size) - 1 for size in range(_WORD)] + [2**64 - 1], dtype=np.uint64)

_NEWLINE, _RETURN, _QUOTE, _BLANK, _TAB, _NO_BREAK, _BEFORE_NO_BREAK = (*b'\n\r" \t', 0xA0, 0xC2)

_WINDOWS_LETTERS = bytes(
    {*range(0x20, 0x100), *b"\t\n\x0c\r"} - {0x7F, 0x81, 0x8D, 0x8F, 0x90, 0x9D}
)  # as `file_content.decode` takes them


class UncertainError(Exception):
    """A file may have a fault, or is written in an unusual way."""


class NotUtf8Error(UncertainError):
    """A file is not UTF-8."""


@dataclass(frozen=True, eq=False)
class Column:
    """The cells of a column of some records, without the quotes around them."""

    block: bytes  # with margins
    signs: ByteArray  # the same bytes
    starts: IndexArray
    lengths: IndexArray
    encoding: str
    quoted: bool  # whether any cell of the block is in quotes

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def width(self) -> int:
        """Bytes of the longest cell."""
        return int(self.lengths.max(initial=0))

    def text(self, raw: bytes) -> str:
        """What the bytes of a cell spell."""
        text = raw.decode(self.encoding)
        return text.replace('""', '"') if self.quoted else text

    def raw(self, chosen: IndexArray) -> list[bytes]:
        """The bytes of some cells."""
        starts = self.starts[chosen]
        stops = starts + self.lengths[chosen]
        block = self.block
        return [block[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]

    def right(self) -> ByteArray:
        """Bytes of the cells, one row for each place, the last place last; zeros before a cell begins."""
        width = self.width
        ends = self.starts + (self.lengths - width)
        found = np.stack([self.signs[at:].take(ends) for at in range(width)])
        shorter = width - self.lengths.astype(np.uint8)
        found *= np.arange(width, dtype=np.uint8)[:, None] >= shorter
        return found

    def distinct(self) -> tuple[npt.NDArray[np.intp], IndexArray]:
        """For each cell the number of those that are alike, and where the first of each kind is."""
        if self.width > MARGIN:
            raw = np.empty(len(self), dtype=object)
            raw[:] = self.raw(np.arange(len(self)))
            codes, _ = pd.factorize(raw)
            return codes, _firsts(codes)
        windows = np.lib.stride_tricks.sliding_window_view(self.signs, _WORD)
        words = []
        for at in range(0, max(self.width, 1), _WORD):
            word = windows[self.starts + at].view("<u8")[:, 0].astype(np.uint64, copy=False)
            words.append(word & _LOWEST[np.clip(self.lengths - at, 0, _WORD)])
        key = words[0]
        for word in words[1:]:
            key = (key ^ (key >> np.uint64(29))) * _MIXER + word
        codes, _ = pd.factorize(key)
        firsts = _firsts(codes)
        same = len(words) == 1 or all((word == word[firsts][codes]).all() for word in words)
        return (codes, firsts) if same else (np.arange(len(self)), np.arange(len(self)))


def _firsts(codes: npt.NDArray[np.intp]) -> IndexArray:
    """Where every code is for the first time."""
    found = np.empty(codes.max(initial=-1) + 1, dtype=np.int64)
    found[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return found


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of some records, a row for each column."""

    block: bytes
    signs: ByteArray
    starts: IndexArray
    lengths: IndexArray
    encoding: str
    quoted: bool
    outer_blanks: bool  # whether some cell may begin or end with a blank that does not count

    @property
    def records(self) -> int:
        """How many there are."""
        return int(self.starts.shape[1])

    def column(self, at: int) -> Column:
        """The cells of one column."""
        return Column(self.block, self.signs, self.starts[at], self.lengths[at], self.encoding, self.quoted)


def cells_of(block: bytes, delimiter: str, columns: int, encoding: str, *, usual: bool = False) -> Cells:
    """The cells of a block of whole records, if its quotes and line ends certainly are what they seem.

    A `usual` block was checked already.

    Raises
    ------
    UncertainError
        If rows are not even, or there may be another fault.
    """
    padded = bytes(MARGIN) + block + bytes(MARGIN)
    signs = np.frombuffer(padded, dtype=np.uint8)
    inner = signs[MARGIN:-MARGIN]
    ends = (inner == _NEWLINE) | (inner == ord(delimiter))
    quoted = b'"' in block
    if quoted:
        inside = np.asarray(np.bitwise_xor.accumulate(inner == _QUOTE), dtype=np.bool_)
        ends &= ~inside
        if not usual and (inside[-1] or not _quoted_well(inner, inside, delimiter)):
            raise UncertainError
    if not usual:
        _check(block, inner, encoding)
    starts, stops = _even(np.flatnonzero(ends), inner, columns)
    if b"\r" in block:
        stops[-1] -= signs.take(stops[-1] - 1) == _RETURN
    opens, closes = signs.take(starts), signs.take(stops - 1)
    blanks = not usual and _blanks(opens, closes, delimiter)
    if quoted:
        quotes = opens == _QUOTE
        starts += quotes
        stops -= quotes
    return Cells(padded, signs, starts, stops - starts, encoding, quoted, blanks)


def _even(stops: IndexArray, inner: ByteArray, columns: int) -> tuple[IndexArray, IndexArray]:
    """Where cells begin and end, if every row has as many of them; a row for each column."""
    if stops.size % columns:
        raise UncertainError
    found = inner.take(stops).reshape(-1, columns) == _NEWLINE
    if found[:, :-1].any() or not found[:, -1].all():
        raise UncertainError
    stops = stops + MARGIN
    starts = np.empty_like(stops)
    starts[:1] = MARGIN
    starts[1:] = stops[:-1] + 1
    by_column = (np.ascontiguousarray(one.reshape(-1, columns).T) for one in (starts, stops))
    return next(by_column), next(by_column)


def _check(block: bytes, inner: ByteArray, encoding: str) -> None:
    """Refuse what is no text in an encoding, and line ends that are none."""
    if encoding == WINDOWS:
        check_windows(block)
    elif not block.isascii():
        try:
            block.decode(UTF8)
        except UnicodeDecodeError as error:
            raise NotUtf8Error from error
    if b"\0" in block:
        raise UncertainError
    if b"\r" in block:
        returns = np.flatnonzero(inner == _RETURN)
        if (inner[returns + 1] != _NEWLINE).any():  # the last sign is a line feed
            raise UncertainError


def check_windows(block: bytes) -> None:
    """Refuse bytes that are not Windows-1252, or rather damaged UTF-8 (`file_content.decode` says which)."""
    signs = np.frombuffer(block, dtype=np.uint8)
    letters = (signs[:-1] >= _BEFORE_NO_BREAK) & ((signs[1:] & 0xC0) == 0x80)
    if (letters.any() and UTF8_LETTER.search(block)) or block.translate(None, _WINDOWS_LETTERS):
        raise UncertainError


def _blanks(opens: ByteArray, closes: ByteArray, delimiter: str) -> bool:
    """Whether the first or last byte of a cell may be one of a blank."""
    marks = [_BLANK, _NO_BREAK] if delimiter == "\t" else [_BLANK, _TAB, _NO_BREAK]
    return any((closes == mark).any() or (opens == mark).any() for mark in marks) or bool(
        (opens == _BEFORE_NO_BREAK).any()
    )


def _quoted_well(signs: ByteArray, inside: BoolArray, delimiter: str) -> bool:
    """Whether quotes enclose cells, and those inside of cells are double."""
    quotes = np.flatnonzero(signs == _QUOTE)
    opens = inside[quotes]
    before = signs[quotes[opens] - 1].copy()
    before[quotes[opens] == 0] = _NEWLINE
    after = signs[quotes[~opens] + 1]
    beside = np.array([ord(delimiter), _NEWLINE, _QUOTE], dtype=np.uint8)
    return bool(np.isin(before, beside).all() and np.isin(after, np.append(beside, np.uint8(_RETURN))).all())
