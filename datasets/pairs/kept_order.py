"""What the places of released records tell: the order of the original, or of columns that were masked.

Whoever sorts what he knows in the same way has everybody's place. What a release is sorted by that it shows
itself (a region that was released as it was) tells nothing more; within that the order may.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.pairs.cells import are_numeric
from linkrisk.datasets.pairs.column_relations import in_order
from linkrisk.errors import called

MOST_RECORDS = 2_000
"""Records by which it is text what a release is sorted by."""

_SURE = 6.0
"""Standard deviations that an order is away from chance."""

_FEWEST = 10
"""Neighbours that are compared at least."""

_SORTED, _KEPT = 0.05, 0.5
"""So many of the steps down that chance makes are left where records are sorted, or mostly in their order."""

_RELATED = 0.5
"""Least correlation of places in both files where the order is known by and large."""

_EVEN = 0.995
"""Correlation with their places from which on numbers are taken to count the records."""

_KEYS = 4
"""Most columns that records are sorted by, one within the other."""


@dataclass(frozen=True, eq=False)
class KeptOrder:
    """An order of the original that the released records are in."""

    columns: tuple[str, ...] = ()  # columns of the original that they are sorted by, one within the other
    # whether they are in the order of the original, within these columns where there are any
    as_original: bool = False
    # (original records,) Chances of being right of who sorts what he knows and goes by the place alone
    right: FloatArray = field(default_factory=lambda: np.zeros(0))

    @property
    def sentence(self) -> str:
        """What it is, whom it tells, and what helps."""
        known = "knows them" if self.columns[1:] else "knows it"
        stand = "stand in the order of the original"
        if self.columns:
            stand = f"are sorted by {shown_names(self.columns, most=4)} of the original"
            stand += ", and within that in its order" if self.as_original else ""
        who = "has the records in that order" if self.as_original else known
        many = f"{len(self.right):,} records"
        text = f"finds {self.right.sum():,.0f} of {many} by their places alone"
        text += "" if self.right.min() >= 1.0 else ", and others nearly"
        if self.right.sum() < 1.0:
            text = f"knows nearly where the {many} are"
        return (
            f"the released records {stand}: whoever {who} {text} (`mask` with {called('shuffle', True)} puts "
            "them in another order)"
        )

    def to_dict(self) -> dict[str, object]:
        """The part of the JSON."""
        return {
            "columns": list(self.columns),
            "as_original": self.as_original,
            "records": float(self.right.sum()),
        }


def kept_order(
    original: pd.DataFrame,
    masked: pd.DataFrame,
    partner: IndexArray,
    *,
    seen: bool,
    says: tuple[Callable[[str], bool], Callable[[str], bool]],
) -> KeptOrder | None:
    """Find out what the places of the released records tell.

    `partner` (n,): the masked row of each original record, -1 where it has none.
    """
    rows, size = np.flatnonzero(partner >= 0), len(masked)
    placed = rows[np.argsort(partner[rows], kind="stable")]
    some = placed[:: placed.size // MOST_RECORDS + 1]
    shown, known = (
        _InOrder({str(name): _values(frame[name], at) for name in frame}, may)
        for frame, at, may in zip((masked, original), (partner[some], some), says, strict=True)
    )
    numbers = {name for name, each in shown.values.items() if are_numeric(masked[name]) and _counts(each)}
    _, blocks = shown.without(numbers).sorted_by()
    keys, _ = known.sorted_by(blocks)
    whole = blocks if some.size == placed.size else np.zeros(placed.size, dtype=np.intp)
    kept = seen and (_in_order_of(placed, whole) or _in_order_of(some, blocks))
    if not keys and not kept:
        return None
    signs, _ = known.sorted_by()
    tried = [(signs, False), *(((signs, True), ({}, True)) if seen else ())]
    guesses = [
        (_right(original, way, partner, size, placed if place else None), tuple(way), place)
        for way, place in tried
    ]
    right, columns, place = max(guesses, key=lambda guess: float(guess[0].sum()))
    if not right.sum() >= 1.0:
        columns, place = tuple(keys), kept
    return KeptOrder(columns, place, right)


def _values(column: pd.Series, rows: IndexArray) -> FloatArray:
    """Some values as numbers in their order; missing ones come last."""
    values = in_order(column.iloc[rows])
    return np.where(np.isnan(values), np.inf, values)


def _counts(values: FloatArray) -> bool:
    """Whether different whole numbers count the records in the order in which they stand, with few gaps."""
    if not np.isfinite(values).all() or not (values == np.rint(values)).all() or len(values) < 3:
        return False
    steps = np.diff(values)
    return bool((steps > 0.0).all() and np.corrcoef(values, np.arange(len(values)))[0, 1] > _EVEN)


@dataclass(frozen=True, eq=False)
class _InOrder:
    """Columns of records as they follow each other in the release, and which of them say something."""

    values: Mapping[str, FloatArray]
    says: Callable[[str], bool]

    def without(self, names: Container[str]) -> _InOrder:
        """The same but for some columns."""
        return _InOrder({name: each for name, each in self.values.items() if name not in names}, self.says)

    def sorted_by(self, blocks: IndexArray | None = None) -> tuple[dict[str, float], IndexArray]:
        """Columns that records are sorted by, the coarsest first, with 1 or -1; and blocks of equal ones."""
        found: dict[str, float] = {}
        records = len(next(iter(self.values.values()), ()))
        blocks = np.zeros(records, dtype=np.intp) if blocks is None else blocks
        while len(found) < _KEYS and (coarse := self._coarsest(blocks)) is not None:
            name, found[name] = coarse
            values = self.values[name]
            new = np.r_[False, (values[1:] != values[:-1]) | (blocks[1:] != blocks[:-1])]
            blocks = np.cumsum(new).astype(np.intp)
        return found, blocks

    def _coarsest(self, blocks: IndexArray) -> tuple[str, float] | None:
        signs = {name: _sign(each, blocks, _SORTED) for name, each in self.values.items()}
        names = sorted(
            (name for name in signs if signs[name]), key=lambda name: np.unique(self.values[name]).size
        )
        return next(((name, signs[name]) for name in names if self.says(name)), None)


def _sign(values: FloatArray, blocks: IndexArray, share: float) -> float:
    """1 or -1 where values ascend or descend within blocks, but for a share of what chance does; else 0."""
    within = blocks[1:] == blocks[:-1]
    steps = (values[1:] > values[:-1]).astype(np.int8) - (values[1:] < values[:-1])
    steps = steps[within]
    if steps.size < _FEWEST:
        return 0.0
    up, down = int((steps > 0).sum()), int((steps < 0).sum())
    mean = _steps_by_chance(values, blocks) / 2.0
    spread = np.sqrt(mean * max(1.0 / 6.0, 1.0 - 5.0 / 3.0 * mean / steps.size))
    least = min(up, down)
    if mean < 1.0 or least > share * mean or mean - least < _SURE * spread:
        return 0.0
    return 1.0 if up >= down else -1.0


def _steps_by_chance(values: FloatArray, blocks: IndexArray) -> float:
    """How many neighbours within blocks would have different values in a random order."""
    _, codes = np.unique(values, return_inverse=True)
    size = np.bincount(blocks).astype(np.float64)
    cells, many = np.unique(blocks * (int(codes.max(initial=0)) + 1) + codes, return_counts=True)
    same = np.bincount(cells // (int(codes.max(initial=0)) + 1), many * (many - 1.0), size.size)
    return float(((size - 1.0) - same / np.maximum(size, 1.0)).sum())


def _in_order_of(rows: IndexArray, blocks: IndexArray) -> bool:
    """Whether rows of the original ascend or descend within blocks, mostly or by and large."""
    if _sign(rows.astype(np.float64), blocks, _KEPT):
        return True
    ranks = pd.Series(rows).groupby(blocks).rank().to_numpy() - 0.5
    size = np.bincount(blocks)[blocks]
    first = np.r_[0, np.flatnonzero(np.diff(blocks)) + 1]
    place = np.arange(rows.size) - np.repeat(first, np.bincount(blocks)) + 0.5
    wide = size > 2
    if wide.sum() < _FEWEST:
        return False
    mine, theirs = ranks[wide] / size[wide] - 0.5, place[wide] / size[wide] - 0.5
    related = float(mine @ theirs / np.sqrt((mine @ mine) * (theirs @ theirs)))
    return bool(abs(related) >= max(_RELATED, _SURE / np.sqrt(wide.sum())))


def _right(
    original: pd.DataFrame,
    signs: Mapping[str, float],
    partner: IndexArray,
    masked: int,
    placed: IndexArray | None,
) -> FloatArray:
    """Chances of being right of who sorts all originals and goes by the place; lots decide among equals."""
    everybody = np.arange(len(partner))
    columns: list[npt.NDArray[np.float64]] = [
        np.asarray(sign * _values(original[name], everybody), dtype=np.float64)
        for name, sign in signs.items()
    ]
    if placed is not None:
        columns.append(np.asarray(everybody * (1.0 if _ascends(placed, columns) else -1.0), dtype=np.float64))
    if not columns:
        return np.zeros(len(partner))
    order = np.lexsort(columns[::-1])
    new = np.zeros(len(order), dtype=np.bool_)
    for column in columns:
        new[1:] |= column[order][1:] != column[order][:-1]
    bounds = np.r_[0, np.flatnonzero(new), len(order)]
    first, last = (np.floor((at + 0.5) * masked / len(order)) for at in (bounds[:-1], bounds[1:] - 1))
    group = np.empty(len(order), dtype=np.intp)
    group[order] = np.cumsum(new)
    first, last = first[group], last[group]
    return np.where((partner >= first) & (partner <= last), 1.0 / (last - first + 1.0), 0.0)


def _ascends(placed: IndexArray, columns: Sequence[FloatArray]) -> bool:
    """Whether neighbours in the release that are equal in some columns ascend in the original."""
    same = np.ones(placed.size - 1, dtype=np.bool_)
    for column in columns:
        same &= column[placed][1:] == column[placed][:-1]
    return bool((np.diff(placed)[same] > 0).sum() * 2 >= same.sum())
