"""Columns that files of tables have beside codes, and what columns of codes are called instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

NUMBERS = (
    *("value", "cost", "lower_bound", "upper_bound"),
    *("lower_protection", "upper_protection", "sliding_protection", "threshold"),
)
"""Columns of numbers that mean something; `value` is needed."""

STATUS = "status"
CELL = "cell"
BESIDE = "respondents_published"
"""Numbers of respondents that are published beside the values (`beside.split_beside`)."""

OWN = frozenset(
    (
        *NUMBERS,
        *(STATUS, CELL, BESIDE, "respondents", "respondents_low", "respondents_high", "shadow"),
        *("low", "high", "narrowest_low", "narrowest_high", "narrowest_of", "relation"),
        *("rounded", "adjusted", "perturbed", "noise", "cell_key", "weighted", "perturbed_weighted"),
        *("sensitive", "published"),
    )
)
"""Columns that some file of a table has beside its codes."""

_NUMBERED = re.compile(r"largest_\d+")


def is_own(name: str) -> bool:
    """Whether a file of a table may have a column of this name that holds no codes."""
    return name in OWN or _NUMBERED.fullmatch(name) is not None


def names_of_codes(variables: Sequence[str], others: Iterable[str] = ()) -> dict[str, str]:
    """Name the column of codes of each variable: the variable itself, or `status_code` for `status`.

    Parameters
    ----------
    variables : sequence of str
    others : iterable of str
        Names of other columns that are taken.
    """
    taken, found = {*variables, *others}, {}
    for variable in variables:
        name = variable
        while is_own(name) or (name != variable and name in taken):
            name += "_code"
        found[variable] = name
        taken.add(name)
    return found
