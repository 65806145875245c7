"""Which tables of key variables are checked for rare combinations, and how rare is unsafe.

A checked table is a set of key variables with a threshold; a combination of their values that occurs, but no
more often than the threshold, is unsafe. mu-ARGUS makes the sets by levels of identification (Hundepool and
Willenborg 1997; mu-ARGUS user's manual, section 2.1); k-anonymity is one table of all key variables with the
threshold k - 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.key_table import size_of
from linkrisk.formulations.suppression.posterior_risk import RiskThreshold

MOST_TABLES = 200_000
"""Sets of key variables that are looked at, tables and their parts."""


@dataclass(frozen=True)
class CheckedTables:
    """Sets of key variables, as bits, with their thresholds.

    Attributes
    ----------
    thresholds : mapping of int to float
        The tables asked for: a combination that occurs at most so often is unsafe; or, with a
        `RiskThreshold`, one that is riskier.
    by_dimension : mapping of int to float
        Thresholds of the parts of these tables by their number of variables; a part whose dimension is not
        named has the largest threshold of the tables that it belongs to.

    Raises
    ------
    FormulationError
        If there is no table, one without variables, or a threshold below 1.
    """

    thresholds: Mapping[int, float]
    by_dimension: Mapping[int, float]

    def __post_init__(self) -> None:
        if not self.thresholds:
            raise FormulationError("there is no table to check: name key variables")
        if 0 in self.thresholds:
            raise FormulationError("a table to check has no variables: name at least one")
        for threshold in (*self.thresholds.values(), *self.by_dimension.values()):
            check_threshold(threshold)

    def __len__(self) -> int:
        return len(self.thresholds)

    def parts(self) -> dict[int, float]:
        """Every table and every part of one, by dimension and then by its bits, with its threshold.

        Raises
        ------
        FormulationError
            If there are more than `MOST_TABLES`.
        """
        found: dict[int, float] = {}
        for table, threshold in self.thresholds.items():
            if size_of(table) >= MOST_TABLES.bit_length():
                raise _too_many(1 << size_of(table))
            for part in _parts(table):
                limit = self.by_dimension.get(size_of(part), threshold)
                found[part] = max(found.get(part, limit), limit)
            if len(found) > MOST_TABLES:
                raise _too_many(len(found))
        found.update(self.thresholds)
        return {part: found[part] for part in sorted(found, key=lambda part: (size_of(part), part))}

    def without(self, untouched: int) -> CheckedTables:
        """The tables that have a variable outside a set."""
        kept = {table: limit for table, limit in self.thresholds.items() if table & ~untouched}
        return CheckedTables(kept, self.by_dimension)


def check_threshold(threshold: float) -> None:
    """Raise a `FormulationError` unless a threshold is at least 1 and finite, or one of risk."""
    if not isinstance(threshold, RiskThreshold) and not 1 <= threshold < float("inf"):
        raise FormulationError(f"a threshold of {threshold:g} finds nothing unsafe; give at least 1")


def by_levels(levels: Sequence[int], threshold: float) -> CheckedTables:
    """Tables by the levels of identification of the key variables, as mu-ARGUS makes them.

    A variable of level 1 identifies most. With d levels, a table has d variables: one of level 1, another of
    level 1 or 2, and so on to one of level 1 to d.

    Parameters
    ----------
    levels : sequence of int
        Of each key variable, from 1; 0 for one that does not identify.
    threshold : float

    Raises
    ------
    FormulationError
        If a level is negative, none is 1, or there are more than `MOST_TABLES`.
    """
    if min(levels, default=0) < 0:
        raise FormulationError(f"the level of identification {min(levels)} is negative; give 0, 1, 2, ...")
    if 1 not in levels:
        raise FormulationError("no variable is of identification level 1; give one")
    tables = {frozenset[int]()}
    for level in range(1, max(levels) + 1):
        upto = [at for at, of in enumerate(levels) if 0 < of <= level]
        tables = {table | {at} for table in tables for at in upto if at not in table}
        if not tables:  # fewer variables than levels
            tables = {frozenset(at for at, of in enumerate(levels) if of > 0)}
            break
        if len(tables) > MOST_TABLES:
            raise _too_many(len(tables))
    return CheckedTables({_bits(table): threshold for table in sorted(map(sorted, tables))}, {})


def up_to_dimension(keys: int, dimension: int, threshold: Mapping[int, float] | float) -> CheckedTables:
    """All tables of some of `keys` variables, up to a number of dimensions.

    Parameters
    ----------
    keys, dimension : int
    threshold : float or mapping of int to float
        One for all, or by dimension, from 1 on.

    Raises
    ------
    FormulationError
        If the dimension is not between 1 and the number of key variables, a dimension has no threshold, or
        there are more than `MOST_TABLES`.
    """
    if not 1 <= dimension <= keys:
        raise FormulationError(f"tables of {dimension} dimensions of {keys} key variables: give 1 to {keys}")
    limits = (
        threshold if isinstance(threshold, Mapping) else dict.fromkeys(range(1, dimension + 1), threshold)
    )
    lacking = [size for size in range(1, dimension + 1) if size not in limits]
    if lacking:
        raise FormulationError(f"there is no threshold for tables of {lacking[0]} dimensions; give one")
    found: dict[int, float] = {}
    for size in range(1, dimension + 1):
        for chosen in combinations(range(keys), size):
            found[_bits(chosen)] = limits[size]
            if len(found) > MOST_TABLES:
                raise _too_many(len(found))
    return CheckedTables(found, {size: limits[size] for size in range(1, dimension + 1)})


def k_anonymity(keys: int, k: int) -> CheckedTables:
    """The one table of all key variables, in which fewer than k records are unsafe.

    Raises
    ------
    FormulationError
        If k is below 2.
    """
    if k < 2:
        raise FormulationError(f"k = {k} asks for nothing; give at least 2")
    return CheckedTables({(1 << keys) - 1: k - 1}, {})


def individual_risk(keys: int, risk: float) -> CheckedTables:
    """The one table of all key variables, in which combinations of more individual risk are unsafe.

    Raises
    ------
    FormulationError
        If the risk is not between 0 and 1.
    """
    return CheckedTables({(1 << keys) - 1: RiskThreshold(risk)}, {})


def _parts(table: int) -> Iterator[int]:
    """Every set of some of its variables, itself included."""
    part = table
    while part:
        yield part
        part = (part - 1) & table


def _bits(places: Sequence[int]) -> int:
    return sum(1 << at for at in places)


def _too_many(many: int) -> FormulationError:
    return FormulationError(
        f"{many:,} or more sets of variables to look at are too many; check tables of fewer dimensions"
    )
