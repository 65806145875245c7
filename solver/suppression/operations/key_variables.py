"""The key variables of a table that `unsafe` and `suppress` are given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.choosing import (
    check_records,
    choose_attributes,
    chosen_by_default,
    known_values,
)
from linkrisk.datasets.masking.local_suppression import LocalSuppression
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
from linkrisk.formulations.suppression.counting import OWN_CATEGORY, SAFE, MissingMeaning
from linkrisk.formulations.suppression.key_table import KeyTable
from linkrisk.solver.inputs.source import Source, read_source
from linkrisk.solver.options.keys import UnsafeKeys
from linkrisk.solver.options.types import SchemaLike, TableLike
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.suppression.problem import TablesAsked, key_codes, weights_of

USUAL_K = 3
"""Where nothing is said of what is unsafe."""


@dataclass(frozen=True, eq=False)
class KeyVariables:
    """A table, and which of its columns are key variables.

    Attributes
    ----------
    source : Source
    known : DataFrame
        The same as `plain`, but key variables as they are written, unless a combination with a missing value
        is safe: a reader of the file tells a code from a gap, and from another code.
    names : tuple of str
        Of the key variables.
    schema : Schema or None
    plain : DataFrame
        The table with missing values in the place of all codes that are declared missing.
    constant : tuple of str
        Columns that are no key variables only because all records are the same in them.
    """

    source: Source
    known: pd.DataFrame
    names: tuple[str, ...]
    schema: Schema | None
    plain: pd.DataFrame
    constant: tuple[str, ...] = ()

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
        """Read a table; `others` are columns that are used as something else, such as weights.

        What is the same for all records is a key variable where options name it as one (`named`). Where
        suppressed values are written as a code, the code is what is missing, and a gap is a category.

        Raises
        ------
        DataError
            If it cannot be read, or lacks a column.
        """
        known_schema = schema_of(schema)
        reading = LocalSuppression(schema=known_schema)
        used = [name for name in others if name is not None]
        source = read_source(data, [reading], None, used)
        check_records(source.known, source.name)
        constant: tuple[str, ...] = ()
        if keys is not None:
            names = choose_attributes(source.known, keys, source.name, known_schema)
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
        """Those that are given, also as ``"ATTRIBUTE=FILE"`` or ``"DATE=month"``; else of the schema."""
        if given:
            return tuple(self._hierarchy(one) if isinstance(one, str) else one for one in given)
        schema = self.schema or Schema(())
        return tuple(one for one in schema.hierarchies if one.attribute in self.names)

    def _hierarchy(self, text: str) -> Hierarchy:
        name, level = parse_pair(text)
        if level in LEVELS and name in self.names:
            form = None if self.schema is None else self.schema.get(name).form
            return date_hierarchy(self.plain[name], level, form, self.source.name)
        return Hierarchy.parse(text)


def _by_default(
    source: Source, declared: Schema | None, others: Sequence[str | None], named: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The key variables where none are named, and columns that are none only as their values are equal."""
    guessed, said = source.schema(declared), declared or Schema(())
    alike = {
        one.name
        for one in guessed.attributes
        if not said.select(role=Role.KEY)  # of which no other column is one
        and one.role is Role.IGNORED
        and said.get(one.name).role is None
        and one.name not in others
        and source.plain[one.name].nunique(dropna=False) < 2
    }
    keys = alike.intersection([*named, *(one.attribute for one in said.hierarchies)])
    known = [replace(one, role=Role.KEY) if one.name in keys else one for one in guessed.attributes]
    found = chosen_by_default(source.known, source.name, Schema(tuple(known)))
    names = tuple(name for name in found if name not in others)
    return names, tuple(name for name in source.plain.columns if name in alike - keys)


def hierarchy_names(given: Iterable[Hierarchy | str]) -> list[str]:
    """Whose hierarchies are given."""
    return [parse_pair(one)[0] if isinstance(one, str) else one.attribute for one in given]


def level_names(hierarchies: Iterable[Hierarchy]) -> dict[str, dict[str, list[str]]]:
    """``level_names`` of those whose levels have names, as the JSON has them; else nothing."""
    found = {one.attribute: list(one.names) for one in hierarchies if one.names}
    return {"level_names": found} if found else {}


GAP = "(gap)"
"""What an empty cell is where a code stands for what is missing."""


def as_written(column: pd.Series, code: str | None) -> pd.Series:
    """A key variable as readers of the file tell its values apart; with a code, this is missing, no gap."""
    if code is None:
        return column
    coded, gaps = is_declared_missing(column, (code,)), column.isna()
    if gaps.any():
        column = column.astype("object").mask(gaps, GAP)
    return column.mask(pd.Series(coded, column.index))


def _text_with_gaps(source: Source, names: Sequence[str]) -> list[str]:
    """Columns of text with missing values: there NA is a category, and only an empty cell is missing."""
    frame = source.stored.frame
    if not isinstance(source.stored.dialect, DelimitedDialect):
        return []
    return [name for name in names if frame[name].isna().any() and kind_of(frame[name]) is Kind.TEXT]


def asked_tables(asked: UnsafeKeys) -> TablesAsked:
    """What is unsafe: k-anonymity where nothing is said."""
    said = asked.k is not None or asked.dimension is not None or asked.risk is not None
    usual = None if said or asked.levels or asked.tables else USUAL_K
    return TablesAsked(
        asked.k if usual is None else usual,
        asked.levels,
        asked.dimension,
        asked.tables,
        asked.threshold,
        asked.risk,
    )


def meaning_of(missing: str | None, asked: TablesAsked) -> MissingMeaning:
    """What a missing value means, where nothing is said by what is asked.

    Raises
    ------
    UsageError, FormulationError
        If there is no such meaning, or individual risk knows it not.
    """
    meaning = MissingMeaning.parse(missing or (SAFE if asked.k is None else OWN_CATEGORY))
    if asked.risk is not None and 0.0 < meaning.alpha < 1.0:
        raise UsageError(f"individual risk is of whole records: a missing value cannot be {meaning}")
    return meaning
