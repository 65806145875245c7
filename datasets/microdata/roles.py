"""Roles of columns in disclosure control, and scales by which their values are compared."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What an attribute is in disclosure control (Hundepool et al. 2012, Section 3.1).

    An identifier names a record by itself (a name, a social security number), a key variable does so together
    with others, a confidential attribute is what an intruder is after. A weight says how many of the
    population a record stands for. A household number says which records belong together, a stratum which
    part of the sample a record was drawn in, a record id which record of one file is which of another.

    Examples
    --------
    >>> from linkrisk.data import Role
    >>> [role.value for role in Role]
    ['identifier', 'key', 'confidential', 'weight', 'household', 'stratum', 'record-id', 'ignored']
    """

    IDENTIFIER = "identifier"
    KEY = "key"
    CONFIDENTIAL = "confidential"
    WEIGHT = "weight"
    HOUSEHOLD = "household"
    STRATUM = "stratum"
    RECORD_ID = "record-id"
    IGNORED = "ignored"


NEVER_COMPARED = frozenset(Role) - {Role.KEY, Role.CONFIDENTIAL}
"""Attributes of these roles are not what records are linked by."""

NAMES_RECORDS = frozenset((Role.IDENTIFIER, Role.RECORD_ID, Role.HOUSEHOLD))
"""Attributes of these roles lead to persons: their values are never shown, and masking leaves them alone."""

ROLE_WORDS = {
    Role.IDENTIFIER: "a direct identifier",
    Role.KEY: "a key variable",
    Role.CONFIDENTIAL: "confidential",
    Role.WEIGHT: "the sampling weight",
    Role.HOUSEHOLD: "the household number",
    Role.STRATUM: "the stratum",
    Role.RECORD_ID: "the record id",
    Role.IGNORED: "ignored",
}
"""What an attribute of each role is, as part of a sentence."""


class Scale(StrEnum):
    """How values can be compared: by difference, by days, by order, for equality, or (text) not at all.

    Examples
    --------
    >>> from linkrisk.data import Scale
    >>> [scale.value for scale in Scale]
    ['numeric', 'date', 'ordinal', 'nominal', 'text']
    """

    NUMERIC = "numeric"
    DATE = "date"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    TEXT = "text"


MEASURED = frozenset((Scale.NUMERIC, Scale.DATE))
"""Scales of attributes whose values have differences."""

CATEGORICAL = frozenset((Scale.ORDINAL, Scale.NOMINAL))
"""Scales of attributes that have categories."""
