"""Cells of two columns as text that is equal where they mean the same, whatever programs wrote them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product

from linkrisk.datasets.pairs.identifiers import id_text

NEARLY_ALL = 0.9
"""Of the values of two columns, so many must be in both to call these the same."""

_MIDNIGHT = re.compile(r"(?<=\d{4}-\d\d-\d\d)[ t]0?0:00(:00(\.0+)?)?z?$")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_LETTERS = re.compile(r"[^\W\d_]\D*")
_LEADING_ZEROS = re.compile(r"0+(?=\d+$)")
_YEAR_LAST = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?!\d)")
_YEAR_FIRST = re.compile(r"(\d{4})([./-])(\d{1,2})\2(\d{1,2})(?!\d)")


def alike(first: Sequence[object], second: Sequence[object]) -> tuple[list[str], list[str]]:
    """The different values of two columns as text.

    What most programs write differently is the same in all: upper and lower case, blanks, the time of
    midnight, separators of thousands. Where the columns still hold different values, and hold (nearly) the
    same ones without letters that all values of a column begin with (``P007`` and ``7``), or as dates with
    the day or the month first, they are read so. A date that can be read in two ways is read in the one that
    makes the columns the same.

    Parameters
    ----------
    first, second : sequence of object
        Values that are not missing.

    Returns
    -------
    tuple of list of str
        A text for each of them.
    """
    sides = [[_as_any_program_writes_it(value) for value in side] for side in (first, second)]
    if not all(sides) or _are_same(*map(set, sides)):
        return sides[0], sides[1]
    read = [[(texts, set(texts)) for texts in _readings(side)] for side in sides]
    for (one, here), (other, there) in product(*read):
        if _are_same(here, there):
            return one, other
    return sides[0], sides[1]


def _are_same(first: set[str], second: set[str]) -> bool:
    """Whether two sets are the same, or nearly."""
    return len(first & second) >= NEARLY_ALL * max(len(first), len(second))


def _as_any_program_writes_it(value: object) -> str:
    """A cell as text that does not depend on the program that wrote it."""
    text = " ".join(id_text(value).casefold().split()).removeprefix("=").strip('"')
    text = _MIDNIGHT.sub("", text)
    return text.replace(",", "") if _THOUSANDS.fullmatch(text) else text


def _readings(texts: list[str]) -> list[list[str]]:
    """All that the values of a column may mean; none that makes two of them the same."""
    ways: tuple[Callable[[list[str]], list[str]], ...] = (_without_prefix, _day_first, _month_first)
    read = [texts]
    for way in ways:
        other = way(texts)
        if other not in read and len(set(other)) == len(set(texts)):
            read.append(other)
    return read


def _without_prefix(texts: list[str]) -> list[str]:
    """Numbers without the letters that all of them begin with, and without leading zeros."""
    letters = _LETTERS.match(texts[0])
    if letters is not None and all(text.startswith(letters[0]) for text in texts):
        left = [text[letters.end() :] for text in texts]
        texts = left if all(text[:1].isdigit() for text in left) else texts
    return [_LEADING_ZEROS.sub("", text) for text in texts]


def _day_first(texts: list[str]) -> list[str]:
    return [_iso(text, r"\4-\3-\1") for text in texts]


def _month_first(texts: list[str]) -> list[str]:
    return [_iso(text, r"\4-\1-\3") for text in texts]


def _iso(text: str, order: str) -> str:
    """A text that begins with a date, with this as ISO 8601 has it; any other as it is."""
    for pattern, places in ((_YEAR_LAST, order), (_YEAR_FIRST, r"\1-\3-\4")):
        found = pattern.match(text)
        if found is not None:
            date = "-".join(part.zfill(2) for part in found.expand(places).split("-"))
            return _MIDNIGHT.sub("", date + text[found.end() :])
    return text
