"""Key variables of a table and their hierarchies, as `unsafe` and `suppress` read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import pandas as pd

from linkrisk.arrays import LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.attributes import (
    check_records,
    checked_attributes,
    default_attributes,
    known_values,
)
from linkrisk.datasets.masking.local_suppression import LocalSuppression
from linkrisk.datasets.masking.recoding import GlobalRecoding
from linkrisk.datasets.microdata.dates import LEVELS
from linkrisk.datasets.microdata.formats.delimited import DelimitedDialect
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.missing import is_declared_missing
from linkrisk.datasets.microdata.names import parse_pair, with_columns
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.scale_inference import date_hierarchy
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.datasets.microdata.values import Kind, kind_of
from linkrisk.formulations.suppression.key_table import OWN_CATEGORY, SAFE, KeyTable, MissingMeaning
from linkrisk.formulations.suppression.nodes import Recodings
from linkrisk.formulations.suppression.unsafe_combinations import (
    CheckedTables,
    by_levels,
    individual_risk,
    k_anonymity,
    up_to_dimension,
)
from linkrisk.solver.inputs.source import Source, read_source
from linkrisk.solver.options.suppression import UnsafeKeys
from linkrisk.solver.options.types import SchemaLike, TableLike
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.suppression.problem import Threshold, check_known, key_codes, weights_of

USUAL_K = 3

GAP = "(gap)"
"""An empty cell, if missing values have a code."""

Asked = TypeVar("Asked", bound=UnsafeKeys)


@dataclass(frozen=True, eq=False)
class KeyVariables:
    """A table and its key variables."""

    source: Source
    # The same as `plain`, but key variables as they are written, unless a combination with a missing value
    # is safe: readers of the file distinguish codes and gaps.
    known: pd.DataFrame
    names: tuple[str, ...]
    schema: Schema | None
    plain: pd.DataFrame  # with missing values in the place of declared missing codes
    constant: tuple[str, ...] = ()  # no key variables only because all records are the same in them

    @classmethod
    def read(
        cls,
        data: TableLike,
        keys: Sequence[str] | None,
        schema: SchemaLike | None,
        others: Sequence[str | None] = (),
        meaning: MissingMeaning | None = None,
        named: Iterable[str] = (),
    ) -> KeyVariables:
        """Read a table; `others` are columns with another use, such as weights.

        A constant column is a key variable only if options name it (`named`). If suppressed values are
        written as a code, the code is a missing value, and a gap is a category.
        """
        known_schema = schema_of(schema)
        reading = LocalSuppression(schema=known_schema)
        used = [name for name in others if name is not None]
        source = read_source(data, [reading], None, used)
        check_records(source.known, source.name)
        constant: tuple[str, ...] = ()
        if keys is not None:
            names = checked_attributes(source.known, keys, source.name)
        else:
            names, constant = _by_default(source, known_schema, others, named)
        text = _text_with_gaps(source, names)
        if text:
            source = read_source(data, [reading], None, [*used, *text])
        known = plain = known_values(source.known, source.known.columns, known_schema)
        for name in others:
            if name is not None and name not in known.columns:
                columns = ", ".join(map(str, known.columns))
                raise DataError(f"{source.name} has no column {name!r}; it has {columns}")
        if meaning is None or not meaning.safe:
            code = None if meaning is None else meaning.code
            known = with_columns(known, {name: as_written(source.plain[name], code) for name in names})
        return cls(source, known, names, known_schema, plain, constant)

    def table(self, weight: str | None) -> KeyTable:
        """The key variables as codes."""
        weights = None if weight is None else weights_of(self.known, weight)
        return KeyTable(self.names, key_codes(self.known, self.names), weights)

    def hierarchies(self, given: Sequence[Hierarchy | str]) -> tuple[Hierarchy, ...]:
        """Hierarchies, also given as ``"ATTRIBUTE=FILE"`` or ``"DATE=month"``; by default of the schema."""
        if given:
            return tuple(self._hierarchy(one) if isinstance(one, str) else one for one in given)
        schema = self.schema or Schema(())
        return tuple(one for one in schema.hierarchies if one.attribute in self.names)

    def levels(self, hierarchies: Sequence[Hierarchy]) -> HierarchyLevels:
        """Recode the key variables that have a hierarchy; the others have one level.

        Declared missing codes stay what they are at every level.
        """
        found = {hierarchy.attribute: hierarchy for hierarchy in hierarchies}
        check_known(found, self.names, "hierarchies")
        if len(found) < len(hierarchies):
            raise UsageError("hierarchies: a key variable has two; give one for each")
        if not found:
            raise UsageError(
                "the problem 'joint' chooses levels of hierarchies: give one of a key variable, or a "
                "schema that has some"
            )
        columns = []
        for name in self.names:
            known, levels = self.known[name], [self.known[name]]
            for level in range(1, len(found[name].levels) if name in found else 1):
                method = GlobalRecoding(hierarchy=(found[name],), level=level)
                recoded = method.apply(self.plain[[name]], source=self.source.name)[name]
                coded = recoded.isna() & known.notna()
                levels.append(recoded.astype("object").mask(coded, known) if coded.any() else recoded)
            columns.append(tuple(levels))
        return HierarchyLevels(tuple(columns), tuple(found.get(name) for name in self.names))

    def _hierarchy(self, text: str) -> Hierarchy:
        name, level = parse_pair(text)
        if level in LEVELS and name in self.names:
            form = None if self.schema is None else self.schema.get(name).form
            return date_hierarchy(self.plain[name], level, form, self.source.name)
        return Hierarchy.parse(text)


def _by_default(
    source: Source, declared: Schema | None, others: Sequence[str | None], named: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The default key variables, and columns that are none only because they are constant."""
    guessed, known = source.schema(declared), declared or Schema(())
    alike = {
        one.name
        for one in guessed.attributes
        if not known.select(role=Role.KEY)  # declared key variables are complete
        and one.role is Role.IGNORED
        and known.get(one.name).role is None
        and one.name not in others
        and source.plain[one.name].nunique(dropna=False) < 2
    }
    keys = alike.intersection([*named, *(one.attribute for one in known.hierarchies)])
    with_keys = [replace(one, role=Role.KEY) if one.name in keys else one for one in guessed.attributes]
    found = default_attributes(source.known, source.name, Schema(tuple(with_keys)))
    names = tuple(name for name in found if name not in others)
    return names, tuple(name for name in source.plain.columns if name in alike - keys)


def hierarchy_names(given: Iterable[Hierarchy | str]) -> list[str]:
    """Key variables with a given hierarchy."""
    return [parse_pair(one)[0] if isinstance(one, str) else one.attribute for one in given]


def level_names(hierarchies: Iterable[Hierarchy]) -> dict[str, dict[str, list[str]]]:
    """JSON key ``level_names``, if levels have names."""
    found = {one.attribute: list(one.names) for one in hierarchies if one.names}
    return {"level_names": found} if found else {}


def as_written(column: pd.Series, code: str | None) -> pd.Series:
    """A key variable with the values that readers of the file distinguish; a code, if given, is missing."""
    if code is None:
        return column
    coded, gaps = is_declared_missing(column, (code,)), column.isna()
    if gaps.any():
        column = column.astype("object").mask(gaps, GAP)
    return column.mask(pd.Series(coded, column.index))


def _text_with_gaps(source: Source, names: Sequence[str]) -> list[str]:
    """Columns of text with missing values: in them NA is a category, and only an empty cell is missing."""
    frame = source.stored.frame
    if not isinstance(source.stored.dialect, DelimitedDialect):
        return []
    return [name for name in names if frame[name].isna().any() and kind_of(frame[name]) is Kind.TEXT]


def with_usual_k(asked: Asked) -> Asked:
    """Ask for k-anonymity if nothing else is."""
    others = (asked.k, asked.dimension, asked.risk, asked.levels or None, asked.tables or None)
    return replace(asked, k=USUAL_K) if all(other is None for other in others) else asked


def tables_of(asked: UnsafeKeys, names: tuple[str, ...]) -> CheckedTables:
    """The tables of key variables to check, which are asked for in exactly one way."""
    dimension = asked.dimension is not None and asked.k is None
    ways = [asked.k is not None, bool(asked.levels), dimension, bool(asked.tables), asked.risk is not None]
    if sum(ways) != 1:
        raise UsageError("say in one way what is unsafe: by k, risk, levels, dimension, or tables")
    if asked.risk is not None:
        return individual_risk(len(names), asked.risk)
    if asked.k is not None:
        every = k_anonymity(len(names), asked.k)
        some = asked.dimension is not None
        return up_to_dimension(len(names), asked.dimension or 0, asked.k - 1) if some else every
    if asked.dimension is not None:
        return up_to_dimension(len(names), asked.dimension, asked.threshold)
    if asked.levels:
        check_known(asked.levels, names, "levels")
        found = by_levels([asked.levels.get(name, 0) for name in names], 1.0)
        return _with_thresholds(asked.threshold, dict.fromkeys(found.thresholds))
    for table in asked.tables:
        check_known(table, names, "tables")
    own = asked.tables if isinstance(asked.tables, Mapping) else {}
    masks = {sum(1 << names.index(name) for name in set(table)): table for table in asked.tables}
    return _with_thresholds(asked.threshold, {mask: own.get(tuple(table)) for mask, table in masks.items()})


def _with_thresholds(usual: Threshold, own: Mapping[int, float | None]) -> CheckedTables:
    """Tables with their own thresholds, or else the usual one, of all or of their dimension."""
    by_dimension = dict(usual) if isinstance(usual, Mapping) else {}
    found: dict[int, float] = {}
    for mask, threshold in own.items():
        size = mask.bit_count()
        if threshold is None and isinstance(usual, Mapping) and size not in by_dimension:
            raise UsageError(f"there is no threshold for tables of {size} dimensions; give one")
        common = by_dimension.get(size, 1.0) if isinstance(usual, Mapping) else usual
        found[mask] = common if threshold is None else threshold
    return CheckedTables(found, by_dimension)


def meaning_of(asked: UnsafeKeys) -> MissingMeaning:
    """The meaning of a missing value, by default that of the tables that are asked for."""
    meaning = MissingMeaning.parse(asked.missing or (SAFE if asked.k is None else OWN_CATEGORY))
    if asked.risk is not None and 0.0 < meaning.alpha < 1.0:
        raise UsageError(f"individual risk is of whole records: a missing value cannot be {meaning}")
    return meaning


@dataclass(frozen=True, eq=False)
class HierarchyLevels:
    """Columns of each key variable, as it is and at each level of its hierarchy."""

    columns: tuple[tuple[pd.Series, ...], ...]
    hierarchies: tuple[Hierarchy | None, ...]

    def recodings(self, table: KeyTable, cost: LongArray) -> Recodings:
        """Levels as codes: a suppressed value loses the cost of its variable, a recoded one a share of it."""
        groups, losses = [], []
        for at, (levels, hierarchy) in enumerate(zip(self.columns, self.hierarchies, strict=True)):
            codes = table.codes[:, at]
            there = np.flatnonzero(codes >= 0)
            values = int(codes.max(initial=-1)) + 1
            first = np.zeros(values, dtype=np.int64)
            first[codes[there]] = there  # a record of each value
            group = [np.arange(values, dtype=np.int32)]
            loss = [np.zeros(values, dtype=np.int64)]
            for level, column in enumerate(levels[1:], start=1):
                assert hierarchy is not None
                labels = column.iloc[first].astype(str)
                group.append(pd.factorize(labels)[0].astype(np.int32))
                leaves = Counter(hierarchy.levels[level])
                many = labels.map(dict(leaves)).fillna(1.0).to_numpy(np.float64)  # codes lose nothing
                lost = (many - 1) / max(leaves.total() - 1, 1)
                loss.append(np.rint(lost * float(cost[at])).astype(np.int64))
            groups.append(np.array(group))
            losses.append(np.array(loss))
        return Recodings(tuple(groups), tuple(losses), cost)

    def at(self, levels: Sequence[int]) -> tuple[pd.Series, ...]:
        """The column of each variable at its level."""
        return tuple(of_variable[level] for of_variable, level in zip(self.columns, levels, strict=True))

    def leaves(self, levels: Sequence[int]) -> tuple[Sequence[str] | None, ...]:
        """Groups of the leaves of each hierarchy; None for a variable at level 0."""
        return tuple(
            None if hierarchy is None or not level else hierarchy.levels[level]
            for hierarchy, level in zip(self.hierarchies, levels, strict=True)
        )
