"""Builds the suppression problem of a table: key variables, checked tables, costs and households."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray, IntArray, LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.values import spelled
from linkrisk.formulations.suppression.key_table import KeyTable, MissingMeaning
from linkrisk.formulations.suppression.unsafe_combinations import CheckedTables
from linkrisk.solver.run.errors import UsageError

SCALE = 1_000_000
"""Costs are integers of millionths, so that sums are exact."""

COVER, RECOUNT, JOINT = "cover", "recount", "joint"
KINDS = (COVER, RECOUNT, JOINT)
"""Kinds of problems: unsafe combinations of the input lose a value; the output is safe when recounted; or
safe by recoding and suppression together."""

ONE, ENTROPY, PRIORITY = "one", "entropy", "priority"
COSTS = (ONE, ENTROPY, PRIORITY)
"""The cost of a suppressed value: one each; the entropy of its variable; the priority of its variable."""

_LARGEST_COST = 10_000.0

_ENTROPY_DIGITS = 3
"""With few digits costs are multiples of a unit, and bounds can be rounded up to it."""


Tables = Sequence[Sequence[str]] | Mapping[tuple[str, ...], float | None]
"""Tables by their key variables, each with a threshold of its own or None."""

Threshold = float | Mapping[int, float]
"""One for all tables, or by their number of variables."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Table whose unsafe combinations must lose values; sets of key variables are bits."""

    table: KeyTable
    tables: CheckedTables
    meaning: MissingMeaning
    cost: LongArray  # (q,): of one value of each key variable, in parts of `SCALE`
    untouched: int = 0  # key variables that keep all values
    household: LongArray | None = None  # (n,): number of each record's household, from 0
    shared: int = 0  # key variables of the household: taken from all members or from none
    kind: str = COVER  # one of `KINDS`
    k: int = 0  # records that are alike in the output, of all kinds but `COVER`
    dimension: int = 0  # on at most so many key variables; 0 for all

    @property
    def allowed(self) -> int:
        """Key variables that may lose values."""
        return ((1 << len(self.table.names)) - 1) & ~self.untouched


def check_ghosts(ghosts: Mapping[str, Sequence[str]], names: tuple[str, ...], known: pd.DataFrame) -> None:
    """Raise a UsageError unless ghosts are columns of a table, but no key variables, of key variables."""
    check_known(ghosts, names, "ghosts")
    seen: list[str] = []
    for name, others in ghosts.items():
        for ghost in others:
            if ghost in names:
                raise UsageError(f"ghosts: {ghost!r} is a key variable itself; leave it out")
            if ghost not in known.columns:
                raise UsageError(f"ghosts: there is no column {ghost!r} to lose its value with {name!r}")
            seen.append(ghost)
    if len(set(seen)) < len(seen):
        twice = next(ghost for ghost in seen if seen.count(ghost) > 1)
        raise UsageError(f"ghosts: {twice!r} is named twice; name it with one key variable")


def key_codes(known: pd.DataFrame, names: Sequence[str]) -> IntArray:
    """Codes (n, q) of values, 0, 1, 2, ... by column; -1 for a missing one."""
    codes = np.empty((len(known), len(names)), dtype=np.int32)
    for at, name in enumerate(names):
        codes[:, at] = pd.factorize(known[name])[0]
    return codes


def weights_of(known: pd.DataFrame, column: str) -> FloatArray:
    """Sampling weights as numbers; a DataError if one is not positive."""
    values = pd.to_numeric(known[column], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        row = int(np.argmax(wrong)) + 1
        raise DataError(f"column {column!r}, row {row}: a sampling weight must be a positive number")
    return values


def costs(how: str, table: KeyTable, priorities: Mapping[str, float]) -> LongArray:
    """Cost (q,) of a value of each key variable, in parts of `SCALE`.

    The entropy of a variable is ``- sum of p log2 p`` over its values: the most informative ones cost most
    (mu-ARGUS user's manual, section 2.5).
    """
    if priorities and how != PRIORITY:
        raise UsageError(f"priorities are for the cost {PRIORITY!r}, not {how!r}: leave one of them out")
    check_known(priorities, table.names, "priorities")
    if how == ENTROPY:
        found = [_entropy(column) for column in table.codes.T]
    else:
        found = [float(priorities.get(name, 1.0)) for name in table.names]
    for name, value in zip(table.names, found, strict=True):
        if not 0.0 <= value <= _LARGEST_COST:
            raise UsageError(f"the priority {value:g} of {name!r} is not between 0 and {_LARGEST_COST:,.0f}")
    return np.round(np.array(found) * SCALE).astype(np.int64)


def _entropy(codes: IntArray) -> float:
    counts = np.bincount(codes[codes >= 0])
    share = counts[counts > 0] / max(counts.sum(), 1)
    return round(float(-(share * np.log2(share)).sum()), _ENTROPY_DIGITS) + 0.0


def households(known: pd.DataFrame, column: str, table: KeyTable, shared: int) -> LongArray:
    """Number the households; a DataError unless their members agree in the `shared` variables."""
    numbers, values = pd.factorize(known[column])
    if (numbers < 0).any():
        raise DataError(f"column {column!r}, row {int(np.argmax(numbers < 0)) + 1}: no household number")
    for at, name in enumerate(table.names):
        if shared >> at & 1:
            codes = pd.Series(table.codes[:, at])
            mixed = (codes != codes.groupby(numbers).transform("first")).to_numpy()
            if mixed.any():
                row = int(np.argmax(mixed))
                raise DataError(
                    f"household {values[numbers[row]]} has several values of {name!r} (row {row + 1}): "
                    "correct them, or leave the variable out of the household's"
                )
    return numbers.astype(np.int64)


def check_heads(known: pd.DataFrame, household: str | None, head: str) -> None:
    """Raise an error unless every household has one head, a member with a value, as in ``relation=1``."""
    name, mark, value = head.rpartition("=")
    if not mark or not name or not value:
        raise UsageError(f"head: {head!r} says not who is the head; write COLUMN=VALUE, such as relation=1")
    if household is None:
        raise UsageError("head: there are no households; say in which column their numbers are")
    if name not in known.columns:
        raise UsageError(f"head: there is no column {name!r}")
    heads = known[name].map(spelled, na_action="ignore").eq(value).to_numpy(dtype=bool)
    many = pd.Series(heads.astype(int)).groupby(known[household].to_numpy()).sum()
    for number, found in many[many != 1].items():
        row = int(np.argmax((known[household] == number).to_numpy(dtype=bool))) + 1
        what = "no head" if found == 0 else f"{found} heads"
        raise DataError(
            f"household {number} (row {row}) has {what}: members whose {name!r} is {value}; correct them, or "
            "do not ask for heads"
        )


def named_mask(wanted: Sequence[str], names: tuple[str, ...], what: str) -> int:
    """A set of key variables as bits; a UsageError if one is no key variable."""
    check_known(wanted, names, what)
    return sum(1 << names.index(name) for name in set(wanted))


def check_known(wanted: Sequence[str] | Mapping[str, object], names: Sequence[str], what: str) -> None:
    """Raise a UsageError for the first name that is no key variable."""
    for name in wanted:
        if name not in names:
            raise UsageError(f"{what}: {name!r} is no key variable; these are {', '.join(names)}")
