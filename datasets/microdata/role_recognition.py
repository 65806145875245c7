"""Recognises roles of columns where name and values agree.

Masking leaves ids and weights alone, so a wrong guess leaves an attribute unmasked and out of the comparison.
A name alone is therefore not enough (weight next to height is not a sampling weight), nor are values: one
person of each age is no list of ids. A measurement is never an id, and every recognised role is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from linkrisk.datasets.microdata.dates import looks_dated
from linkrisk.datasets.microdata.role_words import (
    BODY,
    CONTACTS,
    COUNTED,
    HOUSEHOLDS,
    ID_NAMES,
    ID_OF,
    MEASURES,
    MEMBERS,
    NAMES,
    PERSONAL_NUMBERS,
    SAMPLING,
    SHARED_IDS,
    STRATA,
    UNITS,
    WEIGHT,
    names_a_person,
    words_of,
)
from linkrisk.datasets.microdata.roles import Role

BY_NAME = "has the name"
"""How a reason begins that is a name."""

COUNTER = 20
"""From this many records on, a first column that counts them, or text that never repeats, is an id."""

NO_CHANCE = 200
"""So many values out of at most ten times as many hardly ever all differ by chance (once in 20,000)."""

SMALL_STEP = 10
"""Whole numbers that increase by so much at most on average are ids; sorted amounts have longer steps."""

LARGEST_GROUP = 20
"""An id that several records share has at most so many of them on average, else it is a category."""

SMALLEST_STRATUM = 2
"""A stratum has at least so many records on average."""


@dataclass(frozen=True)
class Recognition:
    """The role of a column, and what says so."""

    role: Role
    why: str  # the rest of a sentence that begins with the name of the column


def recognised_role(name: str, column: pd.Series, names: Sequence[str]) -> Role:
    """Say what a column is: the role of its `recognition`, else a key variable."""
    found = recognition(name, column, names)
    return Role.KEY if found is None else found.role


def recognised(name: str, column: pd.Series, names: Sequence[str], label: str = "") -> Recognition | None:
    """Say what a column is by its name, or else by its label in words, and by its values."""
    for called in (name, label) if label else (name,):
        found = (
            recognition(called, column, names, label) or household(called, column) or stratum(called, column)
        )
        if found is not None:
            return found
    return None


def recognition(name: str, column: pd.Series, names: Sequence[str], label: str = "") -> Recognition | None:
    """Recognise the role of a column where its name and its values agree; None for all others, and for dates.

    A weight: by its name that of a sample, no value negative. An id, whole numbers or text: by its name that
    of a record, and no value occurs twice; of a household or another unit, shared by 20 records at most on
    average; by its values, where name and `label` are not those of a measurement: whole numbers that count 20
    records or more in the first column, or, in 200 records or more, without a gap from 0 or 1 or increasing
    in small steps, each once; text that never repeats, in 20 records or more. An identifier: by its name that
    of a person or where to find one, or any name whose values hardly repeat.
    """
    words = words_of(name)
    if _is_weight_name(words, names) and _can_be_weight(column):
        return Recognition(Role.WEIGHT, f"{BY_NAME} of a sampling weight, and no negative value")
    known = column.dropna()
    if known.empty or not (_is_whole(known) or _is_text(known)) or looks_dated(known):
        return None
    different = known.nunique()
    once = _named_id(words, known) if different == len(known) else None
    if once is not None:
        return once
    if len(column) == different >= COUNTER and not MEASURES.intersection((*words, *words_of(label))):
        once = _counting(known, first=list(names[:1]) == [name])
        if once is not None:
            return once
    if _names_somebody(name, words, known, different):
        return Recognition(Role.IDENTIFIER, f"{BY_NAME} of what identifies a person or firm")
    if not _is_id_of(words, SHARED_IDS) or different * LARGEST_GROUP < len(known):
        return None
    if _is_id_of(words, HOUSEHOLDS):
        return Recognition(Role.HOUSEHOLD, f"{BY_NAME} of a household number, which records share")
    if COUNTED.intersection(words) and MEMBERS.intersection(words) and different <= COUNTER:
        return None  # the number of a person in a household
    return Recognition(Role.IDENTIFIER, f"{BY_NAME} of an id that records share")


def stratum(name: str, column: pd.Series) -> Recognition | None:
    """Say whether a column is the stratum: by its name, with several groups of 2 records at least on average.

    It is not part of `recognition`: masking does not leave strata alone unless a schema says what they are.
    """
    known = column.dropna()
    if "".join(words_of(name)) not in STRATA or not (_is_whole(known) or _is_text(known)):
        return None
    if known.empty or not 2 <= known.nunique() <= len(known) / SMALLEST_STRATUM:
        return None
    return Recognition(Role.STRATUM, f"{BY_NAME} of a stratum, and few different values")


def household(name: str, column: pd.Series) -> Recognition | None:
    """Say whether a column of a name such as "household" numbers households: their records stand together.

    Like `stratum` it is not part of `recognition`: such a name may as well be that of a size or a kind.
    """
    if "_".join(words_of(name)) not in HOUSEHOLDS or column.isna().any() or not _is_whole(column):
        return None
    different, runs = column.nunique(), int((column != column.shift()).sum())
    if not different == runs < len(column) or different * LARGEST_GROUP < len(column):
        return None
    return Recognition(Role.HOUSEHOLD, f"{BY_NAME} of a household, and equal values are adjacent")


def _named_id(words: tuple[str, ...], known: pd.Series) -> Recognition | None:
    """What a column is by its name, where its values all differ."""
    numbered = UNITS.issuperset(words) and _increases_slowly(known)  # a "person" 1001, 1002, ...
    if not words or not (numbered or _is_id_name(words)):
        return None
    if PERSONAL_NUMBERS.intersection(words):
        return Recognition(Role.IDENTIFIER, f"{BY_NAME} of a personal number, and no value occurs twice")
    return Recognition(Role.RECORD_ID, f"{BY_NAME} of a record id, and no value occurs twice")


def _counting(known: pd.Series, *, first: bool) -> Recognition | None:
    """What a column is by its values alone, which all differ."""
    if _is_text(known):
        found = Recognition(Role.IDENTIFIER, "holds text that never repeats")
        return None if _are_numbers(known) else found
    how = _counts(known, first=first)
    return Recognition(Role.RECORD_ID, f"holds whole numbers {how}, each once") if how else None


def _names_somebody(name: str, words: tuple[str, ...], known: pd.Series, different: int) -> bool:
    """Whether a column holds names of persons, where they live or how they are reached."""
    hardly_repeat = different > len(known) / 2
    if not _is_text(known):
        return hardly_repeat and bool(CONTACTS.intersection(words))
    if names_a_person(name):
        return different > 1
    if CONTACTS.intersection(words):  # few values say whether somebody has a phone
        return different > 1 and (hardly_repeat or different > COUNTER)
    return hardly_repeat and bool(NAMES.intersection(words[-1:]) or PERSONAL_NUMBERS.intersection(words))


def _is_id_name(words: tuple[str, ...]) -> bool:
    return "".join(words) in ID_NAMES or "id" in (*words[-1:], *words[:1]) or _is_id_of(words, SHARED_IDS)


def _is_id_of(words: tuple[str, ...], units: frozenset[str]) -> bool:
    """Whether words are the number of a unit: household id, id_household, hhnum."""
    counted = COUNTED.intersection(words[:1])
    for order in (words,) if counted else (words, (*words[1:], *words[:1])):
        found = ID_OF.fullmatch("_".join(order))
        if found is not None and units.issuperset(found["whose"].split("_")):
            return True
    return False


def _counts(known: pd.Series, *, first: bool) -> str:
    """How whole numbers that all differ number the records; empty where they need not."""
    if not pd.api.types.is_integer_dtype(known.dtype):
        return ""
    lowest, highest = int(known.min()), int(known.max())
    gapless = lowest in (0, 1) and highest - lowest == len(known) - 1
    if first and gapless and known.is_monotonic_increasing:
        return "that count the records"
    if len(known) < NO_CHANCE:
        return ""
    if gapless:
        return "without a gap"
    return "that increase from record to record" if _increases_slowly(known) else ""


def _increases_slowly(known: pd.Series) -> bool:
    """Whether whole numbers increase from record to record, by `SMALL_STEP` at most on average."""
    if len(known) < COUNTER or not pd.api.types.is_integer_dtype(known.dtype):
        return False
    return known.is_monotonic_increasing and int(known.max()) - int(known.min()) < SMALL_STEP * len(known)


def _are_numbers(known: pd.Series) -> bool:
    """Whether most texts spell numbers: values of a measurement beside a typing error, no ids."""
    return 2 * len(pd.to_numeric(known.astype("object"), errors="coerce").dropna()) > len(known)


def _is_weight_name(words: tuple[str, ...], names: Sequence[str]) -> bool:
    found = [match for word in words if (match := WEIGHT.fullmatch(word))]
    if len(found) != 1 or any(BODY.intersection(words_of(other)) for other in names):
        return False
    others = [word for word in words if not WEIGHT.fullmatch(word)]
    others += [found[0]["before"]] if found[0]["before"] else []
    # "wt" alone is as often the weight of a thing.
    return SAMPLING.issuperset(others) and (bool(others) or not found[0]["name"].startswith("wt"))


def _can_be_weight(column: pd.Series) -> bool:
    numeric = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    return numeric and bool((column.dropna() >= 0).all() and (column > 0).any())


def _is_whole(known: pd.Series) -> bool:
    if pd.api.types.is_integer_dtype(known.dtype):
        return True
    return pd.api.types.is_float_dtype(known.dtype) and bool((known % 1 == 0).all())


def _is_text(known: pd.Series) -> bool:
    return pd.api.types.infer_dtype(known, skipna=True) == "string"
