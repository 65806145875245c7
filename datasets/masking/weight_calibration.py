"""Calibration of sampling weights: shares of the original file for a file that has lost values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.attributes import TABLE, check_records, known_values
from linkrisk.datasets.masking.base import AttributeMethod, random_generator
from linkrisk.datasets.masking.parameters import WeightCalibrationParameters
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.names import shown_names, with_columns
from linkrisk.datasets.microdata.numeric import check_known, numeric_matrix
from linkrisk.errors import called

Margin = tuple[npt.NDArray[np.int64], FloatArray]
"""The category of each record, -1 where there is none, and the share of each category."""

_ROUNDS = 1000
_CLOSE = 1e-9


@dataclass(frozen=True, kw_only=True)
class WeightCalibration(WeightCalibrationParameters, AttributeMethod):
    """Adjust sampling weights until a file has the weighted shares and the total of another (raking).

    Suppression takes values from rare records, so that the shares of categories that can still be estimated
    from the known values are bent. Iterative proportional fitting (Deming and Stephan 1940) multiplies the
    weights of the records with each category, margin by margin, until each margin has the shares of the
    original file among its categories that are left, and the sum of all weights is that of the original.
    Records whose value is missing keep their weight in that margin.

    Attributes
    ----------
    like : str
        File with the same columns, the original.
    margins : tuple of str
        Columns whose shares are restored.
    attributes : tuple of str
        The one column of sampling weights.
    schema : Schema, optional
        Missing codes of the columns.

    Raises
    ------
    DataError
        If there are no margins, or not one column of weights.

    Examples
    --------
    >>> import pandas as pd
    >>> from linkrisk import mask
    >>> from linkrisk.masking import WeightCalibration
    >>> whole = pd.DataFrame({"sex": list("ffmm"), "w": [10.0, 10.0, 10.0, 10.0]})
    >>> whole.to_csv("whole.csv", index=False)
    >>> method = WeightCalibration(like="whole.csv", margins=("sex",), attributes=("w",))
    >>> mask(whole.iloc[1:], method).table["w"].round(1).tolist()
    [20.0, 10.0, 10.0]
    """

    name: ClassVar[str] = "weight-calibration"
    chance: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.attributes is None or len(self.attributes) != 1:
            raise DataError(
                f"name the one column of sampling weights with {called('attributes')}", option="attributes"
            )
        if not self.margins or self.attributes[0] in self.margins:
            raise DataError(
                f"{called('margins')} are the columns whose shares are restored, not the weights; name some",
                option="margins",
            )

    def describe(self, frame: pd.DataFrame) -> str:
        """See `MaskingMethod.describe`."""
        weight, margins = self.masked_attributes(frame)[0], shown_names(self.margins)
        return f"calibration of {weight} to the shares of {margins} in {self.like}"

    def apply(self, frame: pd.DataFrame, seed: int | None = None, *, source: str = TABLE) -> pd.DataFrame:
        """See `MaskingMethod.apply`."""
        random_generator(seed)
        self.masked_attributes(frame, source=source)
        check_records(frame, source)
        check_known(self.margins, list(frame.columns), source, option="margins")
        known = known_values(frame, [*self.margins], self.schema)
        weights = _weights(frame, self._weight, source)
        texts = [name for name in self.margins if pd.api.types.is_string_dtype(frame[name].dtype)]
        original = read_table(self.like, text_columns=texts)
        check_known([self._weight, *self.margins], list(original.columns), self.like)
        original = known_values(original, [*self.margins], self.schema)
        theirs = _weights(original, self._weight, self.like)
        margins = {
            name: _margin(known[name], original[name], theirs, f"{source}, column {name!r}", self.like)
            for name in self.margins
        }
        raked = _raked(weights, margins, float(theirs.sum()), source)
        return with_columns(frame, {self._weight: raked})

    @property
    def _weight(self) -> str:
        assert self.attributes is not None
        return self.attributes[0]


def _weights(frame: pd.DataFrame, column: str, source: str) -> FloatArray:
    values: FloatArray = numeric_matrix(frame, (column,), source)[:, 0]
    if (values <= 0).any():
        row = int(np.argmax(values <= 0)) + 1
        raise DataError(f"{source}, column {column!r}, row {row}: a sampling weight must be above 0")
    return values


def _margin(ours: pd.Series, original: pd.Series, weights: FloatArray, where: str, like: str) -> Margin:
    """Category of each record, and shares in the original among the categories that are left."""
    texts = ours.map(_spelled, na_action="ignore").to_numpy(dtype=object)
    codes, names = pd.factorize(texts)
    totals = pd.Series(weights).groupby(original.map(_spelled).to_numpy()).sum()
    for name in names:
        if name not in totals.index:
            raise DataError(f"{where}: {like} has no {name!r}; recode both alike, or leave the margin out")
    if not len(names):
        raise DataError(f"{where}: all values are missing; leave the margin out")
    kept = totals.reindex(list(names)).to_numpy(dtype=np.float64)
    return codes.astype(np.int64), kept / kept.sum()


def _spelled(value: object) -> str:
    """Spell 7 and 7.0 alike, as a column that loses values may change its type."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _raked(weights: FloatArray, margins: Mapping[str, Margin], total: float, source: str) -> FloatArray:
    """Rake weights to the shares and the total; a DataError if margins contradict each other."""
    found: FloatArray = weights * (total / weights.sum())
    for _ in range(_ROUNDS):
        furthest = 0.0
        for codes, shares in margins.values():
            there = codes >= 0
            sums = np.bincount(codes[there], found[there], len(shares))
            factor = shares * sums.sum() / sums
            furthest = max(furthest, float(np.abs(factor - 1.0).max()))
            found[there] *= np.asarray(factor)[codes[there]]
        found *= total / found.sum()
        if furthest < _CLOSE:
            return found
    raise DataError(
        f"{source}: no weights have the shares of {shown_names(margins)} together; name fewer margins"
    )
