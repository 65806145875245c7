"""Block two files by the keys of passes, and compare the pairs of records that agree on them."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import ByteArray, FloatArray, IndexArray, IntArray, LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.errors import needs_extra
from linkrisk.solver.linkage.linker import LinkageTask
from linkrisk.solver.linkage.probabilistic.coding import as_text, placed
from linkrisk.solver.linkage.probabilistic.comparisons import DIFFERENCES, SIMILARITIES, Comparison, scorer
from linkrisk.solver.linkage.probabilistic.kernels import (
    Blocks,
    Groups,
    equal_levels,
    fill_pairs,
    near_levels,
)
from linkrisk.solver.run.errors import UsageError

_KEY = re.compile(
    r"\s*(?:(?P<function>[A-Za-z_]\w*)\(\s*)?"
    r'(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>[^\s,"()\[\]](?:[^,"()\[\]]*[^\s,"()\[\]])?))'
    r"(?(function)\s*\))\s*"
    r"(?:\[\s*(?P<start>-?\d+)?\s*:\s*(?P<stop>-?\d+)?\s*\]\s*)?(?P<end>,|$)"
)
"""Syntax of a key: function, truncation and separator; columns may be in double quotes."""

_DATE = re.compile(r"\s*(?P<year>\d{4})(?:-(?P<month>\d\d?)-(?P<day>\d\d?)\b.*|(?P<m>\d\d)(?P<d>\d\d)\s*$)")
_EXAMPLE = "surname, soundex(surname), surname[:3] or year(birth_date)"


@cache
def _code(name: str) -> Callable[[str], str]:
    needs_extra(f"the key function {name}", "jellyfish")
    import jellyfish

    code: Callable[[str], str] = getattr(jellyfish, name)
    return code


def _phonetic(name: str) -> Callable[[str], str]:
    """Compute the phonetic code of the letters of a text, empty where it has none."""

    def of_letters(text: str) -> str:
        letters = "".join(letter for letter in text if letter.isalpha())
        return _code(name)(letters) if letters else ""

    return of_letters


def _of_date(part: str, short: str) -> Callable[[str], str]:
    """Extract a part of a date written as 1975-12-31 or 19751231, empty otherwise."""

    def of_text(text: str) -> str:
        found = _DATE.match(text)
        if found is None:
            return ""
        return str(int(found[part] or found[short]))

    return of_text


FUNCTIONS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "soundex": _phonetic("soundex"),
        "metaphone": _phonetic("metaphone"),
        "nysiis": _phonetic("nysiis"),
        "lower": str.lower,
        "year": _of_date("year", "year"),
        "month": _of_date("month", "m"),
        "day": _of_date("day", "d"),
    }
)
"""Functions applied to a value before comparison. An empty text is a missing value."""


@dataclass(frozen=True)
class Key:
    """A blocking key: a column, or a function of it."""

    column: str
    function: str | None = None  # one of `FUNCTIONS`
    start: int | None = None  # the characters used, as in a Python slice; after the function
    stop: int | None = None

    @property
    def plain(self) -> bool:
        """Whether values are unchanged."""
        return self.function is None and self.start is None and self.stop is None

    def of(self, text: str) -> str:
        """Compute the key of a value; empty where it has none."""
        made = text if self.function is None else FUNCTIONS[self.function](text)
        return made[self.start : self.stop]

    def __str__(self) -> str:
        special = any(mark in self.column for mark in '()[]"') or self.column != self.column.strip()
        name = '"' + self.column.replace('"', '""') + '"' if special else shown_name(self.column)
        made = name if self.function is None else f"{self.function}({name})"
        if self.start is None and self.stop is None:
            return made
        ends = ("" if end is None else str(end) for end in (self.start, self.stop))
        return f"{made}[{':'.join(ends)}]"


@dataclass(frozen=True)
class Pass:
    """A pass of blocking: pairs of records are compared if they agree on all its keys."""

    keys: tuple[Key, ...]  # at least one

    @property
    def columns(self) -> tuple[str, ...]:
        """List the columns of the keys, each once."""
        return tuple(dict.fromkeys(key.column for key in self.keys))

    def __str__(self) -> str:
        return ",".join(str(key) for key in self.keys)


def parse_pass(text: str) -> Pass:
    """Read the keys of a pass, separated by commas."""
    keys: list[Key] = []
    at, ended = 0, False
    while not ended:
        found = _KEY.match(text, at)
        if found is None:
            raise DataError(
                f"{text!r} is not a list of keys: {text[at:].strip() or 'nothing'!r} is not one; write keys "
                f"like {_EXAMPLE}, separated by commas"
            )
        key = _key(found, text)
        if key in keys:
            raise DataError(f"pass {text!r} has the key {str(key)!r} twice; leave one out")
        keys.append(key)
        at, ended = found.end(), not found["end"]
    return Pass(tuple(keys))


def _key(found: re.Match[str], text: str) -> Key:
    function = found["function"]
    if function is not None and function not in FUNCTIONS:
        raise DataError(f"unknown function {function!r} in pass {text!r}; use one of {', '.join(FUNCTIONS)}")
    column = found["plain"] if found["quoted"] is None else found["quoted"].replace('""', '"')
    ends = [None if found[end] is None else int(found[end]) for end in ("start", "stop")]
    key = Key(column, function, *ends)
    if key.stop == 0 or (None not in ends and (key.start or 0) >= 0 <= (key.stop or 0) <= (key.start or 0)):
        raise DataError(
            f"the key {str(key)!r} of pass {text!r} keeps no character; write it like {column}[:3]"
        )
    return key


def joint_codes(first: pd.Series, second: pd.Series) -> tuple[LongArray, LongArray, NDArray[np.object_]]:
    """List the distinct known values of two columns, and the position of each row's, -1 where missing.

    Numbers are compared as numbers where both columns hold them, else both as text.
    """
    if all(pd.api.types.is_numeric_dtype(column) for column in (first, second)):
        values = np.concatenate([column.to_numpy(np.float64, na_value=np.nan) for column in (first, second)])
    else:
        values = np.concatenate([_text(column) for column in (first, second)])
    code, distinct = pd.factorize(values)
    return code[: len(first)], code[len(first) :], np.asarray(distinct, dtype=object)


def _text(column: pd.Series) -> NDArray[np.object_]:
    """Convert values to text, None where missing; each distinct one once."""
    code, distinct = pd.factorize(column)
    text = as_text(pd.Series(distinct)).to_numpy(dtype=object)
    found: NDArray[np.object_] = np.concatenate([text, [None]])[code]
    return found


def pass_codes(task: LinkageTask, one: Pass) -> tuple[LongArray, LongArray]:
    """Code queries and candidates such that codes agree if all keys of the pass do; -1 without a value."""
    queries = len(task.queries)
    together = np.zeros(queries + len(task.candidates), dtype=np.int64)
    known = np.ones(together.size, dtype=np.bool_)
    for key in one.keys:
        code = _checked_codes(task, key, one)
        known &= code >= 0
        # Renumber after each key, so that the product of two never overflows.
        together, _ = pd.factorize(together * (int(code.max()) + 1) + code)
    together[~known] = -1
    return together[:queries], together[queries:]


def key_codes(task: LinkageTask, key: Key) -> tuple[LongArray, LongArray]:
    """Code queries and candidates by a key; -1 where it has no value."""
    columns = [frame[key.column] for frame in (task.queries, task.candidates)]
    if key.plain:
        return joint_codes(columns[0], columns[1])[:2]
    code, distinct = pd.factorize(np.concatenate([_text(column) for column in columns]))
    code = np.append(_numbered([key.of(text) for text in distinct]), -1)[code]
    return code[: len(columns[0])], code[len(columns[0]) :]


def _checked_codes(task: LinkageTask, key: Key, one: Pass) -> LongArray:
    """Code both files, one after the other; UsageError where a key cannot be used."""
    for frame, source in zip((task.queries, task.candidates), task.sources, strict=True):
        if key.column not in frame.columns:
            raise UsageError(f"pass '{one}': {key.column!r} is not a column of {source}; both files need it")
    codes = key_codes(task, key)
    for code, source in zip(codes, task.sources, strict=True):
        if not (code >= 0).any():
            hint = "dates are read when written like 1975-12-31 or 19751231"
            fix = hint if key.function in ("year", "month", "day") else "use another key"
            raise UsageError(f"pass '{one}': no record of {source} has a value of {str(key)!r}; {fix}")
    return np.concatenate(codes)


def _numbered(texts: Sequence[str]) -> LongArray:
    """Number distinct texts, -1 for none."""
    code, _ = pd.factorize(np.array([text or None for text in texts], dtype=object))
    return code.astype(np.int64)


MOST_PAIRS = 200_000_000
"""Most pairs of all passes together: each takes 21 bytes, 4.2 GB in all."""

MOST_PASSES = 100

PAIRS_AT_ONCE = 1 << 20
"""Pairs compared together."""


class Pairs(NamedTuple):
    """Some pairs of records."""

    query: IntArray  # their rows
    candidate: IntArray
    first_pass: ByteArray  # the first pass that compares each, from 0

    def part(self, which: slice) -> Pairs:
        """Select some of them."""
        return Pairs(self.query[which], self.candidate[which], self.first_pass[which])


def key_groups(codes: Sequence[tuple[LongArray, LongArray]], queries: int) -> Groups:
    """Group candidates by key, from the codes of each: equal where records agree on it, -1 without."""
    keys, members, sizes, seen = [], [np.zeros(0, dtype=np.intp)], [np.zeros(1, dtype=np.int64)], 0
    for code, slot in codes:
        slots = int(max(code.max(initial=-1), slot.max(initial=-1))) + 1
        keys.append(np.where(code >= 0, code + seen, -1))
        members.append(np.argsort(slot, kind="stable")[np.count_nonzero(slot < 0) :])
        sizes.append(np.bincount(slot[slot >= 0], minlength=slots))
        seen += slots
    key = np.array(keys, dtype=np.int64).reshape(len(codes), queries).T
    first = np.cumsum(np.concatenate(sizes)).astype(np.int64)
    return Groups(np.ascontiguousarray(key), first, np.concatenate(members).astype(np.int32))


def make_blocks(task: LinkageTask, keys: Sequence[str]) -> Blocks:
    """Group candidates into blocks by their keys; a missing key agrees with no other."""
    for key in keys:
        for frame, source in zip((task.queries, task.candidates), task.sources, strict=True):
            if key not in frame.columns:
                raise UsageError(f"blocking key {key!r} is not a column of {source}; both files need it")
    groups = key_groups([key_codes(task, Key(key)) for key in keys], len(task.queries))
    return Blocks(groups.key.astype(np.int32), groups.first, groups.member)


@dataclass(frozen=True, eq=False)
class JoinedFiles:
    """Two files joined by the keys of every pass."""

    passes: tuple[Pass, ...]
    groups: Groups
    pairs: tuple[int, ...]  # pairs that agree on all keys of each pass
    # numbers of queries and candidates without a value of some key of each pass
    without_key: tuple[tuple[int, int], ...]
    candidates: int

    @classmethod
    def of(cls, task: LinkageTask, passes: Sequence[Pass]) -> JoinedFiles:
        """Join the files of a task."""
        codes: list[tuple[LongArray, LongArray]] = []
        pairs: list[int] = []
        for one in passes:
            code, slot = pass_codes(task, one)
            size = np.bincount(slot[slot >= 0], minlength=int(code.max()) + 1)
            pairs.append(int(size[code[code >= 0]].sum()))
            _check_pairs(pairs, passes, len(code) * len(slot))
            codes.append((code, slot))
        without = tuple((int((code < 0).sum()), int((slot < 0).sum())) for code, slot in codes)
        groups = key_groups(codes, len(task.queries))
        return cls(tuple(passes), groups, tuple(pairs), without, len(task.candidates))

    @property
    def queries(self) -> int:
        """How many queries there are."""
        return len(self.groups.key)

    def ranges(self, at_once: int | None = None) -> list[tuple[int, int]]:
        """Split queries, in order, into ranges with at most so many pairs, but one query at least."""
        key, first = self.groups.key, self.groups.first
        before = np.concatenate([[0], np.cumsum(np.append(np.diff(first), 0)[key].sum(axis=1))])
        found, row = [], 0
        while row < self.queries:
            after = int(np.searchsorted(before, before[row] + (at_once or PAIRS_AT_ONCE), side="right")) - 1
            found.append((row, min(max(after, row + 1), self.queries)))
            row = found[-1][1]
        return found

    def batches(self, ranges: Sequence[tuple[int, int]] | None = None) -> Iterator[Pairs]:
        """Yield all pairs, each once, in the order of queries, in batches."""
        mark = np.full(self.candidates, -1, dtype=np.int64)
        for first, last in self.ranges() if ranges is None else ranges:
            yield found_pairs(self.groups, first, last, mark)

    def agree(self, query: LongArray, candidate: LongArray) -> NDArray[np.bool_]:
        """Tell which passes compare the given pairs, shape (pairs, passes)."""
        groups = self.groups
        slot = np.full((self.candidates, len(self.passes)), -2, dtype=np.int64)
        code_of_member = np.repeat(np.arange(groups.first.size - 1), np.diff(groups.first))
        ends = np.cumsum([0, *(self.candidates - lacking for _, lacking in self.without_key)])
        for p, (begin, end) in enumerate(pairwise(ends.tolist())):
            slot[groups.member[begin:end], p] = code_of_member[begin:end]
        return np.asarray(groups.key[query] == slot[candidate])


def found_pairs(groups: Groups, first: int, last: int, mark: LongArray) -> Pairs:
    """Find the pairs of some queries; `mark` has one entry for each candidate."""
    size = np.append(np.diff(groups.first), 0)  # the last entry is for keys without candidates
    room = int(size[groups.key[first:last]].sum())
    found = Pairs(np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.uint8))
    return found.part(slice(fill_pairs(groups, first, last, mark, *found)))


def _check_pairs(pairs: Sequence[int], passes: Sequence[Pass], every: int) -> None:
    """Refuse passes with more than `MOST_PAIRS` pairs, and name the last one."""
    if sum(pairs) <= MOST_PAIRS:
        return
    one = passes[len(pairs) - 1]
    before = f" after {sum(pairs[:-1]):,} of the passes before it" if len(pairs) > 1 else ""
    raise UsageError(
        f"pass '{one}' compares {pairs[-1]:,} of {every:,} pairs{before}; all passes together may compare "
        f"{MOST_PAIRS:,}: add a key to it, or use a finer one"
    )


_ROUNDING = 4 * np.finfo(np.float64).eps
"""As in `coding`: factor on the size of two numbers that bounds the rounding error of their difference."""


class PairLevels(ABC):
    """One attribute of both files, ready for comparison pair by pair."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison, self.threads = comparison, os.cpu_count() or 1

    @abstractmethod
    def part(self, rows: IndexArray, candidates: IndexArray) -> PairLevels:
        """Extract some queries and candidates, both renumbered from 0."""

    @abstractmethod
    def of(self, query: IntArray, candidate: IntArray) -> ByteArray:
        """Compute each pair's level: 0 where a value is missing, 1 disagreement, higher ones agreement."""

    @property
    @abstractmethod
    def known(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell which queries and which candidates have a value."""


class NumberLevels(PairLevels):
    """Compares numbers by their difference."""

    def __init__(self, queries: pd.Series, candidates: pd.Series, comparison: Comparison) -> None:
        super().__init__(comparison)
        self._first, self._second = (
            column.to_numpy(dtype=np.float64, na_value=np.nan) for column in (queries, candidates)
        )
        self._thresholds = np.array(comparison.thresholds)

    def part(self, rows: IndexArray, candidates: IndexArray) -> NumberLevels:
        """Extract their numbers (see `PairLevels.part`)."""
        some = copy(self)
        some._first, some._second = self._first[rows], self._second[candidates]
        return some

    def of(self, query: IntArray, candidate: IntArray) -> ByteArray:
        """Compare with the thresholds of the difference (see `PairLevels.of`)."""
        level = np.empty(query.size, dtype=np.uint8)
        near_levels(self._first, self._second, self._thresholds, _ROUNDING, query, candidate, level)
        return level

    @property
    def known(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell where the number is not NaN."""
        return ~np.isnan(self._first), ~np.isnan(self._second)


class ValueLevels(PairLevels):
    """Compares values by equality, or texts by similarity."""

    def __init__(self, queries: pd.Series, candidates: pd.Series, comparison: Comparison) -> None:
        super().__init__(comparison)
        first, second, self.values = joint_codes(queries, candidates)
        self.first, self.second = first.astype(np.int32), second.astype(np.int32)

    def part(self, rows: IndexArray, candidates: IndexArray) -> ValueLevels:
        """Extract their values (see `PairLevels.part`)."""
        some, first, second = copy(self), self.first[rows], self.second[candidates]
        kept = np.unique(np.concatenate([code[code >= 0] for code in (first, second)]))
        some.first, some.second = placed(kept, first), placed(kept, second)
        some.values = self.values[kept]
        return some

    def of(self, query: IntArray, candidate: IntArray) -> ByteArray:
        """Compare by equality, and unequal texts by similarity (see `PairLevels.of`)."""
        level = np.empty(query.size, dtype=np.uint8)
        equal_levels(self.first, self.second, query, candidate, level)
        if self.comparison.measure not in SIMILARITIES:
            return level
        unlike = np.flatnonzero(level == 1)
        how = scorer(self.comparison.measure)
        from rapidfuzz.process import cpdist

        similar = cpdist(
            self.values[self.first[query[unlike]]],
            self.values[self.second[candidate[unlike]]],
            scorer=how,
            score_cutoff=self.comparison.thresholds[-1],
            dtype=np.float64,
            workers=self.threads,
        )
        level[level == 2] = self.comparison.levels
        for threshold in self.comparison.thresholds:
            level[unlike] += similar >= threshold
        return level

    @property
    def known(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell where there is a value."""
        return self.first >= 0, self.second >= 0

    def shares(self) -> tuple[FloatArray, FloatArray]:
        """Compute the frequency of each value among the known ones of either file."""
        counts = [
            np.bincount(code[code >= 0], minlength=self.values.size) for code in (self.first, self.second)
        ]
        return counts[0] / counts[0].sum(), counts[1] / counts[1].sum()

    def rarity(self) -> FloatArray:
        """Compute how much more agreement on each value weighs than on an average one, in bits.

        ``log2(u / f)``: u is how often two values are equal by chance, f the share of the value in the file
        where it is more common. The sum over all values of weights that this is added to, each with the
        u-probability f of its own, is that of Fellegi and Sunter (1969, section 3.3.1).
        """
        first, second = self.shares()
        with np.errstate(divide="ignore"):
            rare = np.log2(first @ second) - np.log2(np.maximum(first, second))
        return np.asarray(np.where((first > 0) & (second > 0), rare, 0.0))


def pair_levels(
    columns: Mapping[str, tuple[pd.Series, pd.Series]], comparisons: Mapping[str, Comparison]
) -> tuple[PairLevels, ...]:
    """Prepare every attribute for its comparison."""
    kinds = {
        name: NumberLevels if how.measure in DIFFERENCES else ValueLevels for name, how in comparisons.items()
    }
    return tuple(kinds[name](*pair, comparisons[name]) for name, pair in columns.items())
