"""What is in a table, column by column, beside the first guess of what the columns are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.categories import occurring
from linkrisk.datasets.microdata.dates import MIDNIGHT
from linkrisk.datasets.microdata.formats.base import ColumnNotes
from linkrisk.datasets.microdata.guessing import Guess, guesses
from linkrisk.datasets.microdata.missing import is_declared_missing, without_codes
from linkrisk.datasets.microdata.roles import NAMES_RECORDS, Role
from linkrisk.datasets.microdata.scales import CATEGORICAL, Scale
from linkrisk.datasets.microdata.schema import Attribute

FREQUENT = 5
"""Of so many categories it is said how frequent they are."""


@dataclass(frozen=True)
class Frequency:
    """How many records have a category.

    Attributes
    ----------
    code, label : str
        The code in the file and what it means; the label is empty where there is none.
    records : int
    """

    code: str
    label: str
    records: int


@dataclass(frozen=True)
class ColumnDescription:
    """What is in a column.

    Attributes
    ----------
    guess : Guess
        What it seems to be.
    different : int
        Different values, missing ones not counted.
    empty, coded_missing : int
        Records without a value, and with a declared missing code.
    lowest, highest : float or None
        Of a numeric column.
    frequent : tuple of Frequency
        Of a column with categories: the most frequent ones, of equally frequent ones the first in order.
        Empty, like the two before, where values might identify a record.
    """

    guess: Guess
    different: int
    empty: int
    coded_missing: int
    lowest: float | None = None
    highest: float | None = None
    frequent: tuple[Frequency, ...] = ()

    @property
    def attribute(self) -> Attribute:
        """The column as it would be in a schema."""
        return self.guess.attribute

    @property
    def comment(self) -> str:
        """What speaks for the guess, and what is in the column, in one line."""
        reasons = [self.guess.why_scale] + ([] if self.attribute.role is Role.KEY else [self.guess.why_role])
        return f"{'; '.join(reasons)}; {self.different} different, {self.missing} missing"

    @property
    def missing(self) -> int:
        """Records without a value, by a missing code or none at all."""
        return self.empty + self.coded_missing

    def to_dict(self) -> dict[str, Any]:
        """The part of the JSON."""
        attribute = self.attribute
        return {
            "name": attribute.name,
            "label": attribute.label,
            "role": None if attribute.role is None else attribute.role.value,
            "why_role": self.guess.why_role,
            "scale": None if attribute.scale is None else attribute.scale.value,
            "why_scale": self.guess.why_scale,
            "different": self.different,
            "empty": self.empty,
            "coded_missing": self.coded_missing,
            "lowest": self.lowest,
            "highest": self.highest,
            "frequent": [vars(each) for each in self.frequent],
        }


def described_columns(
    frame: pd.DataFrame, notes: Mapping[str, ColumnNotes] = MappingProxyType({})
) -> tuple[ColumnDescription, ...]:
    """Say what is in each column; values that may identify a record, and free text, are not shown.

    Parameters
    ----------
    frame : DataFrame
        n records, columns named by text.
    notes : mapping of str to ColumnNotes
        What its file says of its columns: labels, missing codes, scales.
    """
    return tuple(_described(guess, frame[guess.attribute.name]) for guess in guesses(frame, notes))


def _described(guess: Guess, column: pd.Series) -> ColumnDescription:
    attribute = guess.attribute
    coded = int(is_declared_missing(column, attribute.missing).sum())
    known = without_codes(column, attribute.missing).dropna()
    shown: dict[str, Any] = {}
    if attribute.role not in NAMES_RECORDS and not known.empty:
        if attribute.scale is Scale.NUMERIC:
            values = pd.to_numeric(known.astype("object"), errors="coerce").to_numpy(dtype=np.float64)
            finite = values[np.isfinite(values)]
            if finite.size:
                shown = {"lowest": float(finite.min()), "highest": float(finite.max())}
        elif attribute.scale in (*CATEGORICAL, Scale.DATE):
            shown = {"frequent": _frequent(known, attribute.labels)}
    return ColumnDescription(guess, int(known.nunique()), int(column.isna().sum()), coded, **shown)


def _frequent(known: pd.Series, labels: Mapping[str, str]) -> tuple[Frequency, ...]:
    found = occurring(known)
    order = np.argsort(-found.frequency, kind="stable")[:FREQUENT].tolist()
    names = [found.names[at].removesuffix(MIDNIGHT) for at in order]
    return tuple(
        Frequency(name, labels.get(name, ""), int(found.frequency[at]))
        for name, at in zip(names, order, strict=True)
        if found.frequency[at]
    )
