"""Which columns are record ids and sampling weights: by their names and values, and only where both agree.

Whoever masks a file leaves such columns alone unless told otherwise, so a wrong guess leaves an attribute
unmasked. A name alone is therefore not enough (weight beside height is no sampling weight, and an amount in
whole units can be different for every record), and whatever is recognised has to be said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

import pandas as pd


class Role(StrEnum):
    """What an attribute is in disclosure control.

    An identifier names a record by itself, a quasi-identifier does so together with others, a confidential
    attribute is what an intruder is after. A weight says how many of the population a record stands for.
    """

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    CONFIDENTIAL = "confidential"
    WEIGHT = "weight"


ID_NAMES = frozenset(
    (
        *("id", "ident", "identifier", "identification", "pid", "uid", "uuid", "guid", "key"),
        *("record", "recid", "recno", "recnum", "recnr", "rowid", "rowno", "rownum", "rownumber"),
        *("caseid", "caseno", "casenum", "casenr", "respid", "persid", "persnr", "personid", "patientid"),
        *("idno", "idnum", "idnr", "idcode", "serial", "serialno", "serialnumber", "serialnum"),
    )
)
"""Names of record ids, in small letters and without separators."""

UNITS = frozenset(
    (
        *("household", "hh", "family", "fam", "dwelling", "person", "pers", "individual", "respondent"),
        *("firm", "company", "enterprise", "establishment", "holding", "farm", "school"),
    )
)
"""Whose weights a file may have."""

SHARED_IDS = UNITS | {"patient", "member", "student", "pupil", "employee", "employer", "customer", "client"}
SHARED_IDS |= {"account", "plant", "utility", "h"}
"""Whose ids several records may share: persons of a household, months of a firm."""

_ID_OF = re.compile(r"(?P<whose>.*?)_?(id|ident|num|number|nr|no|serial|key)")

_WEIGHT = re.compile(r"(?P<before>.*?)(?P<name>weights?|wgts?|wgh|wght|wts?|gewicht|poids)")

SAMPLING = frozenset(
    (
        *("sampling", "sample", "survey", "design", "base", "basic", "final", "grossing", "raising", "pop"),
        *(
            "expansion",
            "calibrated",
            "calibration",
            "nonresponse",
            "replicate",
            "rep",
            "population",
            "record",
        ),
        *("analysis", "analytic", "normalised", "normalized", "frequency", "inverse", "prob", "probability"),
        *("cross", "sectional", "longitudinal", "post", "stratification", "strat", "year", "per", "p", "h"),
        *UNITS,
    )
)
"""What may stand beside "weight" in the name of a sampling weight: body_weight and fnlwgt are none."""

BODY = frozenset(("height", "stature", "bmi", "waist"))
"""Beside one of these a weight is that of a body."""

COUNTER = 20
"""From so many records on, whole numbers without a gap or text that never repeats are ids under any name."""

LARGEST_GROUP = 20
"""An id that several records share has at most so many of them on average, else it is a category."""


def recognised_role(name: str, column: pd.Series, names: Sequence[str]) -> Role:
    """Say what a column is.

    Parameters
    ----------
    name : str
        Its name.
    column : Series
        Its values.
    names : sequence of str
        The names of all columns of the table.

    Returns
    -------
    Role
        An identifier: by its name a record id, whose values all differ, or the id of a household or the
        like, shared by 20 records at most on average; by its values whole numbers without a gap or text that
        never repeats, in 20 records or more. A weight: by its name that of a sample, no value negative. All
        else is a quasi-identifier.
    """
    words = _words(name)
    if _is_weight_name(words, names) and _can_be_weight(column):
        return Role.WEIGHT
    return Role.IDENTIFIER if _is_identifier(words, column) else Role.QUASI_IDENTIFIER


def _words(name: str) -> tuple[str, ...]:
    """The words of a name in small letters: rec_id, recId and REC.ID have the same two; numbers are none."""
    return tuple(word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name))


def _is_identifier(words: tuple[str, ...], column: pd.Series) -> bool:
    known = column.dropna()
    if known.empty or not (_is_whole(known) or _is_text(known)):
        return False
    different = known.nunique()
    if different == len(known) and (_is_id_name(words) or _is_counter(known, len(column))):
        return True
    return _is_shared_id_name(words) and different * LARGEST_GROUP >= len(known)


def _is_id_name(words: tuple[str, ...]) -> bool:
    return "".join(words) in ID_NAMES or "id" in (*words[-1:], *words[:1]) or _is_shared_id_name(words)


def _is_shared_id_name(words: tuple[str, ...]) -> bool:
    found = _ID_OF.fullmatch("_".join(words))
    return found is not None and SHARED_IDS.issuperset(found["whose"].split("_"))


def _is_counter(known: pd.Series, records: int) -> bool:
    """Whether values that all differ are ids whatever their name."""
    if records < COUNTER or len(known) < records:
        return False
    if pd.api.types.is_integer_dtype(known.dtype):
        return int(known.max()) - int(known.min()) == records - 1
    return _is_text(known)


def _is_weight_name(words: tuple[str, ...], names: Sequence[str]) -> bool:
    found = [match for word in words if (match := _WEIGHT.fullmatch(word))]
    if len(found) != 1 or any(BODY.intersection(_words(other)) for other in names):
        return False
    others = [word for word in words if not _WEIGHT.fullmatch(word)]
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
