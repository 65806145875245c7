"""Several masking methods one after the other, each on its attributes; each household once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import pandas as pd

from linkrisk.arrays import LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.attributes import TABLE
from linkrisk.datasets.masking.base import MaskingMethod
from linkrisk.datasets.masking.local_suppression import LocalSuppression
from linkrisk.datasets.masking.microaggregation import Microaggregation, OptimalMicroaggregation, Protection
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.pram import Pram
from linkrisk.datasets.masking.rank_swapping import RankSwapping
from linkrisk.datasets.masking.weight_calibration import WeightCalibration
from linkrisk.datasets.microdata.missing import with_codes
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.errors import called

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Step:
    """A masking method with its attributes."""

    method: MaskingMethod  # with its attributes named
    attributes: tuple[str, ...]  # those that it masks
    chosen: bool  # whether it chose them by itself, because none were named


def planned(
    methods: Sequence[MaskingMethod],
    frame: pd.DataFrame,
    kept: Mapping[str, str] = NOTHING,
    *,
    source: str = TABLE,
    guessed: Callable[[Schema | None], Schema] | None = None,
) -> tuple[Step, ...]:
    """Decide which attributes each method masks.

    A method whose parameters name no attributes takes its usual ones, without those that another one names.

    Parameters
    ----------
    methods : sequence of MaskingMethod
        In the order in which they are applied.
    frame : DataFrame
        The original table.
    kept : mapping of str to str
        Columns never to mask, and what they are called in messages ("id", "weight").
    source : str
        What to call the table in messages.
    guessed : callable, optional
        From what is declared of the columns to all that is known of them; it decides what a method masks that
        chooses by itself. By default it is guessed from the table alone.

    Raises
    ------
    DataError
        If an attribute does not exist or is to be kept, or nothing is left for a method.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> steps = linkrisk.masking.planned([linkrisk.masking.Rounding(base=0.5)], iris)
    >>> len(steps)
    1
    """
    for column, what in kept.items():
        check_known([column], list(frame.columns), source, option="id" if what == "id" else what)
    steps = []
    for at, method in enumerate(methods):
        if method.named is None:
            others = {name for other in (*methods[:at], *methods[at + 1 :]) for name in other.named or ()}
            method = _restricted(method, frame, kept, others, source, guessed)
            steps.append(Step(method, method.masked_attributes(frame, source=source), chosen=True))
            continue
        attributes = method.masked_attributes(frame, source=source)
        for name in attributes:
            if name in kept:
                raise DataError(f"{name!r} is the {kept[name]} column and cannot be masked; leave it out")
        steps.append(Step(method, attributes, chosen=False))
    return tuple(steps)


def _restricted(
    method: MaskingMethod,
    frame: pd.DataFrame,
    kept: Mapping[str, str],
    others: set[str],
    source: str,
    guessed: Callable[[Schema | None], Schema] | None,
) -> MaskingMethod:
    chooses: MaskingMethod = method
    if guessed is not None:
        chooses = replace(cast("Any", method), schema=guessed(method.schema))
    found = chooses.candidates(frame, source=source)
    left = tuple(name for name in found if name not in kept and name not in others)
    if not left:
        raise DataError(
            f"{source}: every attribute that {method.name} could mask is excluded or masked by another "
            "method; name those to mask with attributes=A,B"
        )
    return method.restricted(left)


def masked_in_order(
    steps: Sequence[Step],
    frame: pd.DataFrame,
    seed: int,
    *,
    source: str = TABLE,
    strata: Sequence[str] = (),
    written: pd.DataFrame | None = None,
    household: str | None = None,
) -> pd.DataFrame:
    """Apply methods one after the other.

    Parameters
    ----------
    steps : sequence of Step
        See `planned`.
    frame : DataFrame
        The original table.
    seed : int
        Not negative. The first method draws from the seed itself, every further one from one that follows
        from the seed and its position, so that no two draw the same numbers.
    source : str
        What to call the table in messages.
    strata : sequence of str
        Columns: records with other values of them are masked apart from each other.
    written : DataFrame, optional
        The table as it is written: with the codes that its file declares missing, which are missing in
        `frame`. The columns of `counted_as_written` have them back in the result.
    household : str, optional
        Column of household numbers: what is of households is masked once for each (`household_level`).

    Raises
    ------
    DataError
        If a method does not fit the table, or one of its strata.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> steps = linkrisk.masking.planned([linkrisk.masking.Rounding(base=0.5)], iris)
    >>> linkrisk.masking.masked_in_order(steps, iris, seed=1).iloc[0].tolist()
    [5.0, 3.5, 1.5, 0.0]
    """
    masked, parts = frame, _strata(steps, frame, strata, source)
    counted = counted_as_written(steps)
    for position, step in enumerate(steps):
        own = seed_of_step(seed, position)
        for name in step.attributes:
            if written is not None and counted.get(name) == position:
                coded = (frame[name].isna() & written[name].notna()).to_numpy(dtype=bool)
                masked = with_columns(masked, {name: with_codes(masked[name], written[name], coded)})
        masked = (
            applied(step.method, step.attributes, masked, own, household, source)
            if parts is None
            else _apart(step, masked, own, parts, household)
        )
    return masked


def counted_as_written(steps: Sequence[Step]) -> dict[str, int]:
    """Attributes whose last method counts records as the file is written, with its position."""
    last = {name: position for position, step in enumerate(steps) for name in step.attributes}
    return {name: at for name, at in last.items() if isinstance(steps[at].method, LocalSuppression)}


def _strata(
    steps: Sequence[Step], frame: pd.DataFrame, strata: Sequence[str], source: str
) -> dict[str, LongArray] | None:
    """Rows of each stratum by its description in messages; None without strata."""
    if not strata:
        return None
    check_known(strata, list(frame.columns), source, option="strata")
    for step in steps:
        if isinstance(step.method, WeightCalibration):
            raise DataError(
                f"{step.method.name} restores the shares of a whole file; leave {called('strata')} out for "
                "it",
                option="strata",
            )
        for name in step.attributes:
            if name in strata:
                raise DataError(
                    f"{name!r} is masked by {step.method.name} and cannot be a stratum; leave one out"
                )
    groups = frame.reset_index(drop=True).groupby(list(strata), dropna=False, sort=False).indices
    found = {}
    for values, rows in groups.items():
        each = values if isinstance(values, tuple) else (values,)
        where = ", ".join(
            f"{name} {'is missing' if pd.isna(value) else f'= {value}'}"
            for name, value in zip(strata, each, strict=True)
        )
        found[f"{source}, stratum {where}"] = np.asarray(rows, dtype=np.int64)
    return found


def _apart(
    step: Step, frame: pd.DataFrame, seed: int, strata: Mapping[str, LongArray], household: str | None
) -> pd.DataFrame:
    """Mask each stratum by itself; the rows keep their order."""
    parts = [
        applied(step.method, step.attributes, frame.iloc[rows], seed_of_step(seed, at), household, source)
        for at, (source, rows) in enumerate(strata.items())
    ]
    back = np.argsort(np.concatenate(list(strata.values())), kind="stable")
    return pd.concat(parts).iloc[back].set_axis(frame.index)


def seed_of_step(seed: int, position: int) -> int:
    """Seed of the method at a position from 0, by `numpy.random.SeedSequence` after the first."""
    if position == 0 or seed < 0:
        return seed
    words = np.random.SeedSequence(seed, spawn_key=(position,)).generate_state(4)
    return sum(int(word) << (32 * at) for at, word in enumerate(words))


def masked_twice(steps: Sequence[Step]) -> dict[str, tuple[str, ...]]:
    """Attributes masked by several methods, with the names of these in order."""
    methods: dict[str, tuple[str, ...]] = {}
    for step in steps:
        for name in step.attributes:
            methods[name] = (*methods.get(name, ()), step.method.name)
    return {name: names for name, names in methods.items() if len(names) > 1}


_ONCE = (AdditiveNoise, Microaggregation, OptimalMicroaggregation, Pram, Protection, RankSwapping)
"""Methods that can mask a household as they mask a record, and would give its members several values."""


def household_level(frame: pd.DataFrame, household: str | None, names: Iterable[str]) -> tuple[str, ...]:
    """List the columns in which all members of each household agree; none if households have one member.

    A record without a household number is a household of its own.
    """
    if household is None or household not in frame.columns:
        return ()
    number, first = _households(frame[household])
    if first.size == len(frame):
        return ()
    codes = {name: pd.factorize(frame[name], use_na_sentinel=False)[0] for name in names if name != household}
    return tuple(name for name, code in codes.items() if (code == code[first[number]]).all())


def masks_households(
    method: MaskingMethod, attributes: tuple[str, ...], frame: pd.DataFrame, household: str | None
) -> bool:
    """Whether a method masks each household once: all attributes are of households, and it can."""
    return isinstance(method, _ONCE) and household_level(frame, household, attributes) == attributes


def applied(
    method: MaskingMethod,
    attributes: tuple[str, ...],
    frame: pd.DataFrame,
    seed: int,
    household: str | None,
    source: str,
) -> pd.DataFrame:
    """Mask a table, each household once if all attributes are of households and the method can."""
    if household is not None and masks_households(method, tuple(attributes), frame, household):
        number, first = _households(frame[household])
        try:
            once = method.apply(frame.iloc[first], seed, source=source)
        except DataError:  # such as fewer households than a group has; row numbers are those of the table
            return method.apply(frame, seed, source=source)
        spread = {name: once[name].take(number).set_axis(frame.index) for name in attributes}
        return with_columns(frame, spread)
    return method.apply(frame, seed, source=source)


def _households(column: pd.Series) -> tuple[LongArray, LongArray]:
    """Household (n,) of each record, and first record (H,) of each household."""
    number = pd.factorize(column)[0].astype(np.int64)
    alone = number < 0
    number[alone] = number.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    found, first = np.unique(number, return_index=True)
    return np.searchsorted(found, number).astype(np.int64), first.astype(np.int64)
