"""Targeted record swapping: households at risk change places with similar ones in other regions."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.attributes import TABLE, check_columns, check_records, known_values
from linkrisk.datasets.masking.base import check_percent, random_generator
from linkrisk.datasets.masking.parameters import DEFAULT_K, DEFAULT_PERCENT, RecordSwappingParameters
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.numeric import check_known, check_no_duplicates
from linkrisk.errors import called


@dataclass(frozen=True, eq=False)
class Households:
    """Households of a table."""

    of: LongArray  # (n,): the household of each record, from 0
    first: LongArray  # (H,): the first record of each household
    size: LongArray  # (H,)

    @classmethod
    def read(cls, column: pd.Series, source: str) -> Households:
        """Number the households; a DataError if a record has none."""
        numbers = pd.factorize(column)[0].astype(np.int64)
        if (numbers < 0).any():
            row = int(np.argmax(numbers < 0)) + 1
            raise DataError(f"{source}, column {column.name!r}, row {row}: no household number; give it one")
        first = np.unique(numbers, return_index=True)[1].astype(np.int64)
        return cls(numbers, first, np.bincount(numbers).astype(np.int64))

    def __len__(self) -> int:
        return len(self.first)

    def shared(self, frame: pd.DataFrame, names: Sequence[str], household: str, source: str) -> LongArray:
        """Codes (H, columns) of values that all members share, missing ones a category of their own."""
        found = np.empty((len(self), len(names)), dtype=np.int64)
        for at, name in enumerate(names):
            codes = pd.factorize(frame[name])[0].astype(np.int64) + 1
            mixed = codes != codes[self.first][self.of]
            if mixed.any():
                row = int(np.argmax(mixed))
                which = f"{source}, row {row + 1}: household {frame[household].iloc[row]}"
                raise DataError(
                    f"{which} has several values of {name!r}; correct them, or leave that column out"
                )
            found[:, at] = codes[self.first]
        return found


def numbered(codes: LongArray) -> LongArray:
    """Number rows of codes (n, columns) from 0; equal rows have equal numbers."""
    found = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        found = np.unique(found * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    return found.astype(np.int64)


def fewest_alike(homes: Households, persons: LongArray, regions: LongArray) -> LongArray:
    """Persons that share region and traits with the rarest member of each household, by level (H, levels).

    `persons` (n,) has the traits of each record as one number, `regions` (H, levels) the region of each
    household.
    """
    found = np.empty(regions.shape, dtype=np.int64)
    for level in range(regions.shape[1]):
        cells = numbered(np.column_stack([persons, regions[homes.of, level]]))
        alike = np.bincount(cells)[cells]
        fewest = np.full(len(homes), len(homes.of), dtype=np.int64)
        np.minimum.at(fewest, homes.of, alike)
        found[:, level] = fewest
    return found


class DonorPool:
    """Donor households of each profile by region, those with the largest key first.

    Only households of one profile (H,) are swapped with each other; `used` (H,) marks the swapped ones.
    """

    def __init__(self, profile: LongArray, region: LongArray, key: FloatArray, used: BoolArray) -> None:
        self._profile, self._region, self._key, self._used = profile, region, key, used
        self._order = np.lexsort((-key, region, profile))
        ordered = np.column_stack([profile, region])[self._order]
        changes = np.flatnonzero((ordered[1:] != ordered[:-1]).any(axis=1)) + 1
        self._ends = np.append(changes, len(profile))
        self._starts = np.append(0, changes)
        self._queues: dict[int, list[int]] = defaultdict(list)
        for queue, start in enumerate(self._starts):
            self._queues[int(ordered[start, 0])].append(queue)
        self._at = self._starts.copy()
        self._heaps: dict[int, list[tuple[float, int]]] = {}

    def draw(self, household: int) -> int | None:
        """Draw the donor with the largest key in another region, if there is one."""
        profile, own = int(self._profile[household]), self._region[household]
        if profile not in self._heaps:
            self._heaps[profile] = [
                self._head(queue) for queue in self._queues[profile] if self._goes_on(queue)
            ]
            heapq.heapify(self._heaps[profile])
        heap, aside, found = self._heaps[profile], [], None
        while heap and found is None:
            queue = heap[0][1]
            if not self._goes_on(queue):
                heapq.heappop(heap)
            elif heap[0] != self._head(queue):  # its first one has been swapped since
                heapq.heapreplace(heap, self._head(queue))
            elif self._region[self._order[self._at[queue]]] == own:
                aside.append(heapq.heappop(heap))
            else:
                found = int(self._order[self._at[queue]])
        for entry in aside:
            heapq.heappush(heap, entry)
        return found

    def _goes_on(self, queue: int) -> bool:
        """Advance a queue to its next unused household; whether there is one."""
        at, end = int(self._at[queue]), int(self._ends[queue])
        while at < end and self._used[self._order[at]]:
            at += 1
        self._at[queue] = at
        return at < end

    def _head(self, queue: int) -> tuple[float, int]:
        return -float(self._key[self._order[self._at[queue]]]), queue


@dataclass(frozen=True, eq=False)
class Swaps:
    """Households that change places."""

    partner: LongArray  # (H,): whose place each household takes; its own where it stays
    at_risk: npt.NDArray[np.bool_]  # (H,): which had to be swapped

    @property
    def stayed(self) -> int:
        """Number of households at risk without a donor."""
        return int((self.at_risk & (self.partner == np.arange(len(self.partner)))).sum())


@dataclass(frozen=True, kw_only=True)
class RecordSwapping(RecordSwappingParameters):
    """Swap the places of households, those at risk first (`recordSwap` of sdcMicro, by J. Gussenbauer).

    A household is at risk at a level of the hierarchy of places when fewer than k persons there have the risk
    variables of one of its members. From the coarsest level on, every household at risk is swapped with a
    donor outside its place at that level; at the finest level so many others, drawn by risk, that `percent`
    of all households are swapped, donors included. A donor has the same size and the same values of the
    `similar` variables; where there is none, the next profile is tried. Nobody is swapped twice.

    Attributes
    ----------
    household : str
        Column of household numbers.
    hierarchy : tuple of str
        Columns of places, the coarsest first: these are exchanged.
    similar : tuple of tuple of str
        Profiles: variables of households that swap, tried in order.
    risk : tuple of str
        Variables of persons; by place they say who is rare.
    k : int
        Fewer than k are rare; 1 for none.
    percent : float
        Of households to be swapped.
    carry : tuple of str
        Other variables of households that move with the place.
    schema : Schema, optional
        Missing codes of columns.

    Raises
    ------
    DataError
        If a column is named in two roles, k is below 1, or percent is not between 0 and 100.

    Examples
    --------
    >>> from linkrisk import mask
    >>> from linkrisk.masking import RecordSwapping
    >>> import pandas as pd
    >>> homes = pd.DataFrame({"home": [1, 2, 3, 4], "place": list("NNSS"), "job": list("abab")})
    >>> method = RecordSwapping(household="home", hierarchy=("place",), risk=("job",), k=2, percent=50.0)
    >>> sorted(mask(homes, method, seed=1).table["place"])
    ['N', 'N', 'S', 'S']
    """

    name: ClassVar[str] = "record-swapping"
    chance: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_no_duplicates((*self.hierarchy, *self.carry, self.household))
        if not self.hierarchy or not self.risk:
            raise DataError(
                f"name the places with {called('hierarchy')}, and with {called('risk')} what makes persons "
                "rare there",
                option="hierarchy",
            )
        if self._k < 1:
            raise DataError(f"k is {self.k}; give at least 1")
        check_percent(self._percent, most=100)

    @property
    def named(self) -> tuple[str, ...] | None:
        """See `MaskingMethod.named`."""
        return (*self.hierarchy, *self.carry)

    def candidates(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """See `MaskingMethod.candidates`: the columns of places."""
        return self.masked_attributes(frame, source=source)

    def masked_attributes(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """See `MaskingMethod.masked_attributes`: the columns of places."""
        check_columns(frame, source)
        others = [name for profile in self.similar for name in profile]
        check_known([self.household, *(self.named or ()), *self.risk, *others], list(frame.columns), source)
        return (*self.hierarchy, *self.carry)

    def restricted(self, attributes: tuple[str, ...]) -> Self:
        """See `MaskingMethod.restricted`."""
        carry = tuple(name for name in attributes if name in self.carry)
        return replace(self, hierarchy=tuple(name for name in attributes if name not in carry), carry=carry)

    def describe(self, frame: pd.DataFrame) -> str:
        """See `MaskingMethod.describe`."""
        homes, _, fewest = self._known(frame, TABLE)
        many = int((fewest < self._k).any(axis=1).sum())
        return (
            f"swapping {shown_names(self.masked_attributes(frame))} of {self._percent:g} % of {len(homes):,} "
            f"households, first of {many:,} with a person like fewer than {self._k}"
        )

    def apply(self, frame: pd.DataFrame, seed: int | None = None, *, source: str = TABLE) -> pd.DataFrame:
        """See `MaskingMethod.apply`."""
        homes, swaps = self._swapped(frame, seed, source)
        row = homes.first[swaps.partner[homes.of]]
        moved = homes.first[homes.of] != row
        masked = frame.copy()
        for name in self.masked_attributes(frame, source=source):
            there = frame[name].iloc[np.where(moved, row, np.arange(len(frame)))]
            masked[name] = there.set_axis(frame.index)
        return masked

    def swaps(self, frame: pd.DataFrame, seed: int | None = None) -> Swaps:
        """Draw the swaps of a table; households are numbered in the order of their first records."""
        return self._swapped(frame, seed, TABLE)[1]

    def _swapped(self, frame: pd.DataFrame, seed: int | None, source: str) -> tuple[Households, Swaps]:
        homes, regions, fewest = self._known(frame, source)
        profiles = [
            numbered(np.column_stack([homes.size, homes.shared(frame, profile, self.household, source)]))
            for profile in self.similar or ((),)
        ]
        rare = fewest < self._k
        level = np.where(rare.any(axis=1), rare.argmax(axis=1), regions.shape[1])
        choice = _Choice(regions, 1.0 / fewest, profiles, random_generator(seed))
        for at in range(regions.shape[1]):
            choice.swap_all(np.flatnonzero(level == at), at)
        choice.swap_more(self._percent / 100.0)
        return homes, Swaps(choice.partner, np.asarray(rare.any(axis=1)))

    def _known(self, frame: pd.DataFrame, source: str) -> tuple[Households, LongArray, LongArray]:
        """Households, their places (H, levels), and the persons like their rarest member (H, levels)."""
        self.masked_attributes(frame, source=source)
        check_records(frame, source)
        homes = Households.read(frame[self.household], source)
        places = homes.shared(frame, (*self.hierarchy, *self.carry), self.household, source)
        levels = range(1, len(self.hierarchy) + 1)
        regions = np.column_stack([numbered(places[:, :level]) for level in levels])
        known = known_values(frame, self.risk, self.schema)
        codes = [pd.factorize(known[name])[0].astype(np.int64) + 1 for name in self.risk]
        return homes, regions, fewest_alike(homes, numbered(np.column_stack(codes)), regions)

    @property
    def _k(self) -> int:
        return DEFAULT_K if self.k is None else self.k

    @property
    def _percent(self) -> float:
        return DEFAULT_PERCENT if self.percent is None else self.percent


class _Choice:
    """Swaps drawn so far; `risk` (H, levels) is 1 over the number of persons like the rarest member."""

    def __init__(
        self,
        regions: LongArray,
        risk: FloatArray,
        profiles: Sequence[LongArray],
        generator: np.random.Generator,
    ) -> None:
        self._regions, self._risk, self._profiles, self._generator = regions, risk, profiles, generator
        self.partner = np.arange(len(regions), dtype=np.int64)
        self._used = np.zeros(len(regions), dtype=np.bool_)
        self._begun = np.zeros(int(regions[:, -1].max(initial=0)) + 1, dtype=np.int64)

    def swap_all(self, wanted: LongArray, level: int) -> None:
        """Swap households with donors outside their region at a level, in random order."""
        if not wanted.size:
            return
        pools = self._pools(level)
        for one in self._generator.permutation(wanted):
            self._swap(int(one), pools)

    def swap_more(self, share: float) -> None:
        """Swap others at the finest level, drawn by risk, until a share of all is swapped."""
        last = self._regions.shape[1] - 1
        region = self._regions[:, last]
        wanted = (np.bincount(region, minlength=len(self._begun)) * (share / 2.0)).astype(np.float64)
        due = _rounded(wanted, self._generator)
        pools, order = self._pools(last), np.argsort(-self._keys(last), kind="stable")
        for one in order[np.argsort(region[order], kind="stable")]:
            if self._begun[region[one]] < due[region[one]] and not self._used[one]:
                self._swap(int(one), pools)

    def _pools(self, level: int) -> list[DonorPool]:
        key = self._keys(level)
        return [DonorPool(profile, self._regions[:, level], key, self._used) for profile in self._profiles]

    def _keys(self, level: int) -> FloatArray:
        """Draw keys; the largest are a sample without replacement by risk (Efraimidis and Spirakis 2006)."""
        return np.asarray(self._risk[:, level] / self._generator.exponential(size=len(self._risk)))

    def _swap(self, one: int, pools: Sequence[DonorPool]) -> None:
        if self._used[one]:
            return
        found = (pool.draw(one) for pool in pools)
        donor = next((donor for donor in found if donor is not None), None)
        if donor is None:
            return
        self.partner[one], self.partner[donor] = donor, one
        self._used[one] = self._used[donor] = True
        self._begun[self._regions[one, -1]] += 1


def _rounded(numbers: FloatArray, generator: np.random.Generator) -> LongArray:
    """Round numbers to integers of the same rounded sum; which go up is drawn."""
    down = np.floor(numbers).astype(np.int64)
    more = round(float(numbers.sum())) - int(down.sum())
    broken = np.flatnonzero(numbers > down)
    down[generator.permutation(broken)[: max(more, 0)]] += 1
    return down
