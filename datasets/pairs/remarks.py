"""What a user should know about two tables that can be compared, such as columns that were not masked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.categories import occurring
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.pairs.alignment import TablePair
from linkrisk.datasets.pairs.categorical import INFERRED, CategoricalAttribute
from linkrisk.datasets.pairs.cells import cell_codes, has_digits_cut
from linkrisk.errors import called

_NAMES, _CATEGORIES = 10, 5


def remarks(pair: TablePair, attributes: Sequence[str], categorical: Collection[str]) -> tuple[str, ...]:
    """One sentence for each thing that deserves attention."""
    said = [*pair.notes, *_left_alone(pair, attributes)]
    for name in attributes:
        columns = (pair.original.frame[name], pair.masked.frame[name])
        said += _logical(pair, name, columns, name in categorical)
        if name in categorical:
            said += _new_categories(pair, name, columns)
    return tuple(said)


def recoding_notes(
    attributes: Sequence[str],
    categorical: Mapping[str, CategoricalAttribute],
    recoded: Collection[str],
    lacking: Sequence[str],
) -> tuple[str, ...]:
    """Say which recodings the files show, and which attributes cannot be compared without one."""
    notes = []
    shown = [
        name
        for name in attributes
        if (categorical[name].masking == INFERRED if name in categorical else name in recoded)
    ]
    mostly = [name for name in attributes if name in recoded and name in categorical]
    if shown:
        notes.append(
            f"{_columns(shown)} recoded: each value of the original has become one other, always the same, "
            "as whoever knows the codes knows too; records are compared by that "
            f"({called('masking', 'none')}: without)"
        )
    if mostly:
        notes.append(
            f"{_columns(mostly)} recoded and changed for some records: most of those with a value of the "
            f"original have the same other one; records are compared by that ({called('masking', 'none')}: "
            "without)"
        )
    if lacking:
        notes.append(
            f"{shown_names(lacking)} cannot be compared: no category of the original is in the masked file, "
            f"and no recoding shows; say with {called('masking')} how it was masked, or leave it out with "
            f"{called('attributes')}"
        )
    return tuple(notes)


def _columns(names: Sequence[str]) -> str:
    return f"column {shown_names(names)} is" if len(names) == 1 else f"columns {shown_names(names)} are"


def _left_alone(pair: TablePair, attributes: Sequence[str]) -> list[str]:
    """Columns whose values are the same for every pair of partners, exactly or except for digits cut off."""
    known = np.flatnonzero(pair.partner >= 0)
    partner = pair.partner[known]
    same, cut = [], []
    for name in attributes:
        first, second = pair.original.frame[name], pair.masked.frame[name]
        codes = cell_codes(first, second)
        if np.array_equal(codes.first[known], codes.second[partner]):
            same.append(name)
        elif has_digits_cut(second.iloc[partner], first.iloc[known]):
            cut.append(name)
    if len(same) == len(attributes):
        return [
            f"nothing was masked: every record of {pair.masked.source} has the values of its original in all "
            "compared columns"
        ]
    return _not_masked(same, "") + _not_masked(cut, "except for digits that were cut off ")


def _not_masked(names: Sequence[str], but: str) -> list[str]:
    if not names:
        return []
    shown = shown_names(names, most=_NAMES)
    what, they = (
        (f"column {shown} was", "it is") if len(names) == 1 else (f"columns {shown} were", "they are")
    )
    return [f"{what} not masked: {but}{they} the same for every record of both files"]


def _logical(
    pair: TablePair, name: str, columns: tuple[pd.Series, pd.Series], as_categories: bool
) -> list[str]:
    """True and False in one table where the other has numbers."""
    logical = [_is_logical(column) for column in columns]
    numeric = [
        not is_logical and pd.api.types.is_numeric_dtype(column.dtype)
        for is_logical, column in zip(logical, columns, strict=True)
    ]
    if not (any(logical) and any(numeric)):
        return []
    sources = (pair.original.source, pair.masked.source)
    first, second = sources if logical[0] else sources[::-1]
    meaning = (
        "as categories none of them are the same" if as_categories else "True counts as 1 and False as 0"
    )
    return [f"column {shown_names([name])} has True and False in {first} and numbers in {second}: {meaning}"]


def _is_logical(column: pd.Series) -> bool:
    if column.dtype == object:
        return pd.api.types.infer_dtype(column, skipna=True) == "boolean"
    return pd.api.types.is_bool_dtype(column.dtype)


def _new_categories(pair: TablePair, name: str, columns: tuple[pd.Series, pd.Series]) -> list[str]:
    """Categories of the masked table that the original one does not have."""
    before, after = (_present(column) for column in columns)
    new = [category for category in after if category not in before]
    if not new:
        return []
    shown = ", ".join(repr(category) for category in new[:_CATEGORIES])
    more = f", ... ({len(new)} in all)" if len(new) > _CATEGORIES else ""
    what = "a category" if len(new) == 1 else "categories"
    return [f"column {shown_names([name])} has {what} that only {pair.masked.source} has: {shown}{more}"]


def _present(column: pd.Series) -> dict[str, None]:
    """The categories that records have, in their order."""
    found = occurring(column)
    return {name: None for name, many in zip(found.names, found.frequency.tolist(), strict=True) if many}
