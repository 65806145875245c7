"""Describes the columns of a table, and guesses their roles and scales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.categories import occurring
from linkrisk.datasets.microdata.dates import MIDNIGHT
from linkrisk.datasets.microdata.formats.base import ColumnNotes
from linkrisk.datasets.microdata.missing import is_declared_missing, overlapping, without_codes
from linkrisk.datasets.microdata.role_recognition import COUNTER, Recognition, recognised
from linkrisk.datasets.microdata.role_words import MEASURES, words_of
from linkrisk.datasets.microdata.roles import CATEGORICAL, NAMES_RECORDS, ROLE_WORDS, Role, Scale
from linkrisk.datasets.microdata.scale_inference import (
    Kind,
    guessed_dates,
    has_few_values,
    kind_of,
    stated_scale,
)
from linkrisk.datasets.microdata.schema import Attribute, Schema
from linkrisk.datasets.microdata.values import are_numbers, in_order, spelled

FEW = 12
"""Whole numbers with at most so many different values may be codes, and a remark says so."""

_ONE_OF_A_KIND = (Role.RECORD_ID, Role.WEIGHT, Role.HOUSEHOLD, Role.STRATUM)
"""Roles that at most one column can have."""


@dataclass(frozen=True)
class Guess:
    """What a column seems to be."""

    attribute: Attribute  # as it would be in a schema
    # the reason for its role, then that for its scale: the rest of a sentence that begins with its name
    why_role: str
    why_scale: str
    # whether it is ignored only because its values do not differ, or cannot be compared as they are
    idle: bool = False


def guesses(
    frame: pd.DataFrame,
    notes: Mapping[str, ColumnNotes] = MappingProxyType({}),
    names: Sequence[str] | None = None,
) -> tuple[Guess, ...]:
    """Guess role and scale of columns."""
    found: list[Guess] = []
    for name in frame.columns if names is None else names:
        guess = _guess(name, frame, notes.get(name) or ColumnNotes())
        found.append(_second(guess, found) if guess.attribute.role in _ONE_OF_A_KIND else guess)
    return tuple(found)


def guessed_schema(
    frame: pd.DataFrame, notes: Mapping[str, ColumnNotes] = MappingProxyType({}), schema: Schema | None = None
) -> Schema:
    """Guess role and scale of every column of which a schema does not declare them.

    Used by `describe` and by every command without a schema. Declarations come first; where the schema has
    key variables, no other column becomes one. Columns declared in part keep their role, scale and missing
    codes alone. Text that is ignored for its values alone becomes a key variable, of few records with
    categories: commands decide whether it can be used. Constants stay ignored.
    """
    declared = Schema(()) if schema is None else schema
    silent = [name for name in frame.columns if not _is_declared(declared.get(name))]
    coded = [each for each in declared.attributes if each.missing and each.name in silent]
    if coded:
        frame = frame.copy(deep=False)
        for each in coded:
            frame[each.name] = without_codes(frame[each.name], each.missing)
    # Names of the others are looked at, too: a weight beside a height is that of a body.
    found = {each.attribute.name: _used(each, frame) for each in guesses(frame, notes, silent)}
    keys = bool(declared.select(role=Role.KEY))
    return Schema(tuple(_completed(declared.get(name), found.get(name), keys=keys) for name in frame.columns))


def _used(guess: Guess, frame: pd.DataFrame) -> Attribute:
    """A column as commands use it."""
    attribute = guess.attribute
    if not guess.idle or frame[attribute.name].nunique(dropna=False) < min(2, len(frame)):
        return attribute
    few = attribute.scale is Scale.TEXT and len(frame) < COUNTER
    return replace(attribute, role=Role.KEY, scale=Scale.NOMINAL if few else attribute.scale)


def _is_declared(attribute: Attribute) -> bool:
    return attribute.role is not None and attribute.scale is not None


def _completed(declared: Attribute, guess: Attribute | None, *, keys: bool) -> Attribute:
    """What is declared of a column, with what is guessed where nothing is."""
    if guess is None:
        return declared
    role = Role.IGNORED if keys and guess.role is Role.KEY else guess.role
    if declared == Attribute(declared.name):
        return replace(guess, role=role)
    categories = declared.categories if declared.scale is not None else guess.categories
    return Attribute(
        declared.name,
        declared.role or role,
        declared.scale or guess.scale,
        categories,
        missing=declared.missing or guess.missing,
    )


def _second(guess: Guess, before: Sequence[Guess]) -> Guess:
    """A column whose role another one has already: an identifier where it leads to persons, else ignored."""
    role = guess.attribute.role
    first = next((each.attribute.name for each in before if each.attribute.role is role), None)
    if first is None or role is None:
        return guess
    other = Role.IDENTIFIER if role in (Role.RECORD_ID, Role.HOUSEHOLD) else Role.IGNORED
    values = {**vars(guess.attribute), "role": other}
    why = f"{guess.why_role}; {first!r} is {ROLE_WORDS[role]} already"
    return Guess(Attribute(**values), why, guess.why_scale)


def _guess(name: str, frame: pd.DataFrame, notes: ColumnNotes) -> Guess:
    column = without_codes(frame[name], notes.missing)
    scale, why_scale = _scale(column, notes)
    found = _role(name, column, list(frame.columns), scale, notes)
    categories = _categories(column, notes) if scale is Scale.ORDINAL else None
    labels = dict(notes.value_labels)
    if categories is not None:
        kept = {*categories, *overlapping(labels, notes.missing)}
        labels = {code: text for code, text in labels.items() if code in kept}
    attribute = Attribute(
        name, found.role, scale, categories, label=notes.label, labels=labels, missing=notes.missing
    )
    return Guess(attribute, found.why, why_scale, found.role is Role.IGNORED)


def _role(
    name: str, column: pd.Series, names: Sequence[str], scale: Scale, notes: ColumnNotes
) -> Recognition:
    """By what the file says, then by name and values, then by what can be compared at all."""
    for word, role in (("weight", Role.WEIGHT), ("household_id", Role.HOUSEHOLD)):
        if f"argus.{word}" in notes.settings:
            return Recognition(role, "is marked so in the file")
    found = recognised(name, column, names, notes.label)
    if found is not None:
        return found
    values, gaps = column.nunique(), bool(column.isna().any())
    if values == 0:
        return Recognition(Role.IGNORED, "has no value")
    if values == 1 < len(column) and not (gaps and scale in CATEGORICAL):  # a gap beside a category tells
        known = " that have a value" if gaps else ""
        return Recognition(Role.IGNORED, f"is the same for all records{known}")
    if scale is Scale.TEXT:
        return Recognition(Role.IGNORED, "cannot be compared as it is")
    return Recognition(Role.KEY, "can be compared")


def _scale(column: pd.Series, notes: ColumnNotes) -> tuple[Scale, str]:
    """Scale of a column, and why."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        ordered = bool(column.dtype.ordered) and len(column.dtype.categories) > 0
        return (Scale.ORDINAL, "has ordered categories") if ordered else (Scale.NOMINAL, "has categories")
    stated = stated_scale(column, notes)
    if stated is not None:
        return stated
    dated = guessed_dates(column)
    if dated is not None:
        return dated
    if pd.api.types.is_bool_dtype(column.dtype):
        return Scale.NOMINAL, "holds logical values"
    kind = kind_of(column)
    if kind is Kind.NUMBERS:
        return Scale.NUMERIC, _about_numbers(column)
    if not has_few_values(column):
        return Scale.TEXT, "holds text with many different values"
    return Scale.NOMINAL, (
        "holds codes with leading zeros" if kind is Kind.CODES else "holds text with few different values"
    )


def _about_numbers(column: pd.Series) -> str:
    known = column.dropna()
    if not pd.api.types.is_numeric_dtype(column.dtype):
        unread = int(pd.to_numeric(known.astype("object"), errors="coerce").isna().sum())
        return f"holds numbers, except for {unread} cells" if unread else "holds numbers"
    whole = bool((known % 1 == 0).all()) if not known.empty else False
    if few_whole_numbers(column):
        return "holds whole numbers, few of them different: nominal or ordinal if these are codes"
    return "holds whole numbers" if whole else "holds numbers"


def few_whole_numbers(column: pd.Series) -> bool:
    """Whether a column of numbers holds whole ones, so few of them different that they may be codes."""
    known = column.dropna()
    if known.empty or not pd.api.types.is_numeric_dtype(column.dtype):
        return False
    return bool((known % 1 == 0).all()) and known.nunique() <= FEW


def may_be_codes(name: str, column: pd.Series) -> bool:
    """Whether few whole numbers repeat so that they may be codes, and have not the name of an amount."""
    repeated = 4 <= 2 * column.nunique() <= column.count()
    return repeated and few_whole_numbers(column) and not MEASURES.intersection(words_of(name))


def _categories(column: pd.Series, notes: ColumnNotes) -> tuple[str, ...]:
    """All codes of an ordinal column in ascending order, also those that have a label only."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        names = [spelled(value) for value in column.dtype.categories]
        gone = set(overlapping(names, notes.missing))
        return tuple(name for name in names if name not in gone)
    labelled = {code for code in notes.value_labels if are_numbers([code])}
    labelled -= set(overlapping(labelled, notes.missing))
    return in_order({spelled(value) for value in column.dropna().unique()} | labelled)


FREQUENT = 5
"""Of so many categories it is said how frequent they are."""


@dataclass(frozen=True)
class Frequency:
    """How many records have a category."""

    code: str  # the code in the file and what it means; the label is empty where there is none
    label: str  # the code in the file and what it means; the label is empty where there is none
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

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> about = linkrisk.describe(iris).columns[0]
    >>> about.different, about.lowest, about.highest
    (12, 4.8, 7.4)
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
    frame: pd.DataFrame,
    notes: Mapping[str, ColumnNotes] = MappingProxyType({}),
    declared: Schema | None = None,
) -> tuple[ColumnDescription, ...]:
    """Say what is in each column; values that may identify a record, and free text, are not shown.

    What is declared of a column comes before what its file says, and what is guessed.
    """
    known = Schema(()) if declared is None else declared
    said = {name: _said(known.get(name), notes.get(name) or ColumnNotes()) for name in frame.columns}
    found = (_corrected(known.get(guess.attribute.name), guess) for guess in guesses(frame, said))
    return tuple(_described(guess, frame[guess.attribute.name]) for guess in found)


def _said(declared: Attribute, notes: ColumnNotes) -> ColumnNotes:
    """What a file says of a column, completed by what is declared."""
    return replace(
        notes,
        label=declared.label or notes.label,
        value_labels={**notes.value_labels, **declared.labels},
        missing=declared.missing or notes.missing,
    )


_DECLARED = "is declared so"


def _corrected(declared: Attribute, guess: Guess) -> Guess:
    """A guess with the role and the scale that are declared."""
    found = guess.attribute
    if declared.role is None and declared.scale is None:
        return guess
    scaled = found if declared.scale is None else declared
    labels = dict(found.labels)
    if scaled.categories is not None:
        kept = {*scaled.categories, *overlapping(labels, found.missing)}
        labels = {code: text for code, text in labels.items() if code in kept}
    attribute = replace(
        found,
        role=declared.role or found.role,
        scale=scaled.scale,
        categories=scaled.categories,
        labels=labels,
        form=scaled.form,
        hierarchy=declared.hierarchy,
    )
    return Guess(
        attribute,
        guess.why_role if declared.role is None else _DECLARED,
        guess.why_scale if declared.scale is None else _DECLARED,
        guess.idle,
    )


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
