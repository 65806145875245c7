"""Targeted record swapping: households at risk change places with similar ones elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import check_percent, random_generator
from linkrisk.datasets.masking.choosing import TABLE, check_columns, check_records, known_values
from linkrisk.datasets.masking.donors import DonorPool
from linkrisk.datasets.masking.household_risk import Households, fewest_alike, numbered
from linkrisk.datasets.masking.parameters import DEFAULT_K, DEFAULT_PERCENT, RecordSwappingParameters
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.numeric import check_known, check_no_duplicates
from linkrisk.errors import called


@dataclass(frozen=True, eq=False)
class Swaps:
    """Which households change places.

    Attributes
    ----------
    partner : ndarray of int64, shape (H,)
        Whose place each household takes; its own where it stays.
    at_risk : ndarray of bool, shape (H,)
        Which had to be swapped.
    """

    partner: LongArray
    at_risk: npt.NDArray[np.bool_]

    @property
    def stayed(self) -> int:
        """Households at risk for which there was no donor."""
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
        Fewer than k are rare; 1 for nobody.
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
        """The columns of places."""
        return self.masked_attributes(frame, source=source)

    def masked_attributes(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """The columns of places, as far as the table has all that is needed."""
        check_columns(frame, source)
        others = [name for profile in self.similar for name in profile]
        check_known([self.household, *(self.named or ()), *self.risk, *others], list(frame.columns), source)
        return (*self.hierarchy, *self.carry)

    def restricted(self, attributes: tuple[str, ...]) -> Self:
        """The same method with these columns of places."""
        carry = tuple(name for name in attributes if name in self.carry)
        return replace(self, hierarchy=tuple(name for name in attributes if name not in carry), carry=carry)

    def describe(self, frame: pd.DataFrame) -> str:
        """Say in one line what `apply` does to this table."""
        homes, _, fewest = self._known(frame, TABLE)
        many = int((fewest < self._k).any(axis=1).sum())
        return (
            f"swapping {shown_names(self.masked_attributes(frame))} of {self._percent:g} % of {len(homes):,} "
            f"households, first of {many:,} with a person like fewer than {self._k}"
        )

    def apply(self, frame: pd.DataFrame, seed: int | None = None, *, source: str = TABLE) -> pd.DataFrame:
        """Mask a table (see `MaskingMethod.apply`)."""
        homes, swaps = self._swapped(frame, seed, source)
        row = homes.first[swaps.partner[homes.of]]
        moved = homes.first[homes.of] != row
        masked = frame.copy()
        for name in self.masked_attributes(frame, source=source):
            there = frame[name].iloc[np.where(moved, row, np.arange(len(frame)))]
            masked[name] = there.set_axis(frame.index)
        return masked

    def swaps(self, frame: pd.DataFrame, seed: int | None = None) -> Swaps:
        """Which households change places in a table, numbered in the order of their first records."""
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
        """Households, their places at every level (H, levels), and how many are like their rarest member."""
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
    """Households that have been swapped so far.

    Parameters
    ----------
    regions : ndarray of int64, shape (H, levels)
    risk : ndarray of float64, shape (H, levels)
        1 over the number of persons like the rarest member.
    profiles : sequence of ndarray of int64, shape (H,)
    generator : Generator
    """

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
        """Swap others at the finest level, drawn by risk, until a share of all is swapped, with donors."""
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
        """The largest are a sample without replacement, drawn by risk (Efraimidis and Spirakis 2006)."""
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
    """Whole numbers near these whose sum is that of these, rounded; which go up is drawn."""
    down = np.floor(numbers).astype(np.int64)
    more = round(float(numbers.sum())) - int(down.sum())
    broken = np.flatnonzero(numbers > down)
    down[generator.permutation(broken)[: max(more, 0)]] += 1
    return down
