"""Local suppression: single values of key variables become missing until every record has k like it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.attributes import TABLE, check_records
from linkrisk.datasets.masking.base import AttributeMethod, about, random_generator
from linkrisk.datasets.masking.greedy_suppression import greedy_suppression
from linkrisk.datasets.masking.microaggregation import DEFAULT_K, check_enough_records, check_group_size
from linkrisk.datasets.masking.parameters import INPUT, OPTIMAL, OUTPUT, LocalSuppressionParameters
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.numeric import check_no_duplicates
from linkrisk.datasets.options.option import check_choices, options_of
from linkrisk.formulations.suppression.hitting_sets import different_problems, solve_problems
from linkrisk.formulations.suppression.key_table import KeyTable, MissingMeaning
from linkrisk.formulations.suppression.unsafe_combinations import k_anonymity, minimal_unsafe

_ANYTHING = MissingMeaning(1.0)
_STEPS = 1 << 40
"""Without a limit: with so few key variables as can be listed there are not so many branches."""


def optimal_suppression(
    codes: npt.NDArray[np.int32], k: int, cost: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Choose the values (n, a) to suppress at least cost, where a value of variable j costs ``cost[j]`` > 0.

    Records are counted in the input, where a missing value fits any. A combination of values that fewer
    than k records have is unsafe, and every minimal unsafe combination of a record has to lose a value: a
    set cover for each record (Hurkens and Tiourine 1998), solved by branch and bound. What a record keeps
    is then what k records of the input had. `suppress` does the same with a bound at every moment.
    """
    keys = codes.shape[1]
    types = KeyTable(tuple(map(str, range(keys))), codes).types
    minimal = minimal_unsafe(types, k_anonymity(keys, k), _ANYTHING)
    problems = different_problems(minimal.start, minimal.sets)
    answers = np.zeros((len(problems), 3), dtype=np.int64)
    solve_problems(problems.start, problems.sets, cost, (1 << keys) - 1, _STEPS, answers)
    taken = answers[problems.of[types.of], 0]
    return np.asarray((taken[:, None] >> np.arange(keys) & 1).astype(np.bool_))


@dataclass(frozen=True, kw_only=True)
class LocalSuppression(LocalSuppressionParameters, AttributeMethod):
    """Suppress values of key variables until the file is k-anonymous, where a missing value fits any.

    Every record then agrees with at least k, itself included, in all key variables in which both have a
    value. This is the meaning that sdcMicro gives to missing values (`localSuppression` and `kAnon`, with
    alpha = 1). Unless `count` is ``output``, also the values that a record keeps are those of at least k
    records of the input. Numbers count as their values, as categories do. The values are chosen by
    `greedy_suppression` or `optimal_suppression`.

    Attributes
    ----------
    attributes : tuple of str, optional
        The key variables, of whatever scale; by default all of the table.
    k : int, optional
        How many records agree at least; 3 when absent.
    importance : tuple of str
        Key variables to be spared, the most important first. All others are less important than these, and
        alike among themselves.
    count : str
        Where the records that agree are counted: in the ``input``, as they were, or in the ``output``, where
        what other records have lost fits any, as sdcMicro does. The latter takes fewer values and protects
        less.
    choice : str
        ``greedy``, or ``optimal``: the values of least cost, where those of a variable in `importance` cost
        twice as much as those of the next one. Records are then counted in the input.
    schema : Schema, optional
        Roles of the columns. A declared missing code is a value as any other, as readers of the file see it.

    Raises
    ------
    DataError
        If k is below 2, `count` or `choice` is neither of its two, both ask for what cannot be together, or a
        key variable is given twice in `importance`.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> people = pd.DataFrame({"town": list("AAABBBCC"), "trade": list("xxyxyyxz")})
    >>> method = linkrisk.masking.LocalSuppression(k=2, attributes=("town", "trade"))
    >>> int(linkrisk.mask(people, method).table.isna().sum().sum())
    4
    """

    name: ClassVar[str] = "local-suppression"
    chance: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.k is not None:
            check_group_size(self.k)
        check_choices(options_of(type(self)), vars(self), DataError)
        if self.choice == OPTIMAL and self.count == OUTPUT:
            raise DataError(f"the {OPTIMAL} choice counts records in the {INPUT}; leave count or choice out")
        check_no_duplicates(self.importance)

    def masked_attributes(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """See `MaskingMethod.masked_attributes`; a DataError if `importance` names another attribute."""
        chosen = super().masked_attributes(frame, source=source)
        for name in self.importance:
            if name not in chosen:
                raise DataError(
                    f"importance names {name!r}, which is not masked; name it in attributes too, or leave it "
                    "out"
                )
        return chosen

    def describe(self, frame: pd.DataFrame) -> str:
        """See `MaskingMethod.describe`."""
        spared = f", sparing {shown_names(self.importance)}" if self.importance else ""
        counted = "" if self.count == INPUT else ", counted in the output"
        optimal = "optimal " if self.choice == OPTIMAL else ""
        names = shown_names(self.masked_attributes(frame))
        return f"{optimal}local suppression to k = {self._k} of {names}{spared}{counted}"

    def apply(self, frame: pd.DataFrame, seed: int | None = None, *, source: str = TABLE) -> pd.DataFrame:
        """See `MaskingMethod.apply`."""
        random_generator(seed)
        attributes = self.masked_attributes(frame, source=source)
        check_records(frame, source)
        with about(source):
            check_enough_records(len(frame), self._k)
        codes = np.empty((len(frame), len(attributes)), dtype=np.int32)
        for at, name in enumerate(attributes):
            codes[:, at] = pd.factorize(frame[name])[0]
        ranks = self._ranks(attributes)
        if self.choice == OPTIMAL:
            suppressed = optimal_suppression(codes, self._k, np.left_shift(np.int64(1), ranks))
        else:
            suppressed = greedy_suppression(codes, self._k, ranks, mutual=self.count == OUTPUT)
        masked = frame.copy()
        for at, name in enumerate(attributes):
            masked[name] = without_values(frame[name], suppressed[:, at])
        return masked

    @property
    def _k(self) -> int:
        return DEFAULT_K if self.k is None else self.k

    def _ranks(self, attributes: tuple[str, ...]) -> npt.NDArray[np.int64]:
        """Importance as numbers; 0 if it is not given."""
        given = {name: rank for rank, name in enumerate(reversed(self.importance), start=1)}
        return np.array([given.get(name, 0) for name in attributes], dtype=np.int64)


def without_values(column: pd.Series, where: npt.NDArray[np.bool_]) -> pd.Series:
    """Copy a column with missing values in some places; integers and booleans stay what they are."""
    if not where.any():
        return column
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        column = column.convert_dtypes()
    return column.mask(pd.Series(where, column.index))
