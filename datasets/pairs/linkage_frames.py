"""Frames for linkers: compared columns of two files, recoded as the files show."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.numeric import LARGEST, check_known, check_no_duplicates
from linkrisk.datasets.microdata.roles import CATEGORICAL, Scale
from linkrisk.datasets.microdata.scale_inference import (
    category_notes,
    date_columns,
    in_days,
    undeclared_scale,
)
from linkrisk.datasets.microdata.schema import Attribute, Schema
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.microdata.values import are_numbers, in_order, spelled
from linkrisk.datasets.pairs.alignment import TablePair
from linkrisk.datasets.pairs.categorical import INFERRED, CategoricalAttribute, check_scales
from linkrisk.datasets.pairs.recodings import NumberRecoding, inferred_recodings
from linkrisk.datasets.pairs.remarks import recoding_notes
from linkrisk.errors import called


@dataclass(frozen=True, eq=False)
class LinkageFrames:
    """What a linker may see of two tables."""

    # the chosen columns: numbers, or names of categories; NaN or None where a value is missing
    original: pd.DataFrame
    masked: pd.DataFrame
    training: pd.DataFrame | None  # other records with the columns of both
    original_attributes: tuple[str, ...]  # columns of the original that are compared
    masked_attributes: tuple[str, ...]  # columns of the masked table that are
    schema: Schema  # scale and categories of all of them
    # those that are days, with the form that is declared of them
    dates: Mapping[str, str | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what a user should know of them, in sentences

    @property
    def described(self) -> Schema:
        """The schema for other files, in which dates are dates."""
        return Schema(
            tuple(
                replace(each, scale=Scale.DATE, form=self.dates[each.name])
                if each.name in self.dates
                else each
                for each in self.schema.attributes
            )
        )


def linkage_frames(
    pair: TablePair,
    chosen: tuple[Sequence[str], Sequence[str]],
    *,
    keys: Sequence[str] = (),
    nominal: Sequence[str] = (),
    ordinal: Sequence[str] = (),
    schema: Schema | None = None,
    training: Table | None = None,
    recoded: bool = False,
) -> LinkageFrames:
    """Take the columns to compare, as numbers or as categories (`undeclared` where nobody says which)."""
    original_attributes, masked_attributes = chosen
    for names, table in ((original_attributes, pair.original), (masked_attributes, pair.masked)):
        check_no_duplicates(names)
        check_known(names, table.columns, table.source)
        check_known(keys, table.columns, table.source, what="key")
    taken = (
        (pair.original, tuple(dict.fromkeys((*original_attributes, *keys)))),
        (pair.masked, tuple(dict.fromkeys((*masked_attributes, *keys)))),
    )
    everything = tuple(dict.fromkeys((*original_attributes, *masked_attributes, *keys)))
    sources = [*taken]
    if training is not None:
        check_known(everything, training.columns, training.source)
        sources.append((training, everything))
    check_scales(everything, nominal, ordinal)
    sources, dates = _with_days(sources, everything, schema, (*nominal, *ordinal, *keys))
    recoded = recoded and training is None
    attributes = {
        name: _attribute(
            name,
            [table for table, names in sources if name in names],
            nominal,
            ordinal,
            schema,
            recoded=recoded,
        )
        for name in everything
    }
    frames = [
        pd.DataFrame({name: _column(table, attributes[name]) for name in names}) for table, names in sources
    ]
    return LinkageFrames(
        original=frames[0],
        masked=frames[1],
        training=frames[2] if training is not None else None,
        original_attributes=tuple(original_attributes),
        masked_attributes=tuple(masked_attributes),
        schema=Schema(tuple(attributes.values())),
        dates=dates,
        notes=category_notes(
            {
                name: (attribute.scale, [table for table, names in sources if name in names])
                for name, attribute in attributes.items()
                if attribute.scale in CATEGORICAL and _is_undeclared(name, (*nominal, *ordinal), schema)
            }
        ),
    )


def _with_days(
    sources: Sequence[tuple[Table, tuple[str, ...]]],
    attributes: Sequence[str],
    schema: Schema | None,
    others: Sequence[str],
) -> tuple[list[tuple[Table, tuple[str, ...]]], dict[str, str | None]]:
    """Tables and their columns, with days in the place of dates that are compared, and which these are.

    Keys stay as they are.
    """
    dates: dict[str, str | None] = {}
    for name in attributes:
        dates |= date_columns([name], [table for table, names in sources if name in names], schema, others)
    tables = in_days([table for table, _ in sources], dates)
    return [(table, names) for table, (_, names) in zip(tables, sources, strict=True)], dates


def _is_undeclared(name: str, nominal: Sequence[str], schema: Schema | None) -> bool:
    return name not in nominal and (schema is None or schema.get(name).scale is None)


def _attribute(
    name: str,
    tables: Sequence[Table],
    nominal: Sequence[str],
    ordinal: Sequence[str],
    schema: Schema | None,
    *,
    recoded: bool,
) -> Attribute:
    listed = Attribute(name) if schema is None else schema.get(name)
    if name in nominal or name in ordinal:
        scale = Scale.NOMINAL if name in nominal else Scale.ORDINAL
    else:
        scale = listed.scale or undeclared_scale(name, tables, recoded=recoded)
    if scale is Scale.DATE:  # days by now, unless it is a key
        days = all(pd.api.types.is_float_dtype(table.frame[name].dtype) for table in tables)
        scale = Scale.NUMERIC if days else Scale.NOMINAL
    if scale is Scale.NUMERIC:
        return Attribute(name, scale=scale)
    if listed.categories:
        return Attribute(name, scale=scale, categories=listed.categories)
    if scale is Scale.NOMINAL:  # a list would be taken for that of the original file before masking
        return Attribute(name, scale=scale)
    found = {spelled(value) for table in tables for value in table.frame[name].dropna().unique()}
    categories = in_order(found)
    if not are_numbers(categories):
        raise DataError(
            f"the ordinal attribute {name!r} has categories in words, whose order is not known; list them in "
            f"ascending order in {called('schema')}",
            option="schema",
        )
    return Attribute(name, scale=scale, categories=categories or None)


def _column(table: Table, attribute: Attribute) -> pd.Series:
    column = table.frame[attribute.name]
    if attribute.scale is not Scale.NUMERIC:
        cells = _cells(column)
        _check_categories(table, attribute, cells)
        return pd.Series(cells, dtype=object)
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    unread = np.isnan(values) & ~column.isna().to_numpy(dtype=bool)
    wrong = unread | np.isinf(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{table.source}, column {attribute.name!r}, row {row + 1}: {str(column.iloc[row])!r} is not a "
            f"finite number; fix it, or compare the column as a category with {called('nominal')}",
            option="nominal",
        )
    large = np.abs(values) > LARGEST
    if large.any():
        row = int(np.argmax(large))
        raise DataError(
            f"{table.source}, column {attribute.name!r}, row {row + 1}: {values[row]:g} is too large to be "
            "squared; give the attribute in another unit"
        )
    return pd.Series(values)


def _cells(column: pd.Series) -> list[str | None]:
    """Names of categories, None where a value is missing; each different text is one object."""
    if isinstance(column.dtype, pd.StringDtype):
        codes, values = pd.factorize(column)
        names = [*(spelled(value) for value in np.asarray(values, dtype=object).tolist()), None]
        return [names[code] for code in codes.tolist()]
    return [None if missing else spelled(value) for value, missing in zip(column, column.isna(), strict=True)]


def _check_categories(table: Table, attribute: Attribute, cells: Sequence[str | None]) -> None:
    if attribute.categories is None:
        return
    known = set(attribute.categories)
    for row, cell in enumerate(cells, start=1):
        if cell is not None and cell not in known:
            raise DataError(
                f"{table.source}, column {attribute.name!r}, row {row}: {cell!r} is none of the "
                "categories in the schema; fix the cell or list it there"
            )


def recoded_frames(
    frames: LinkageFrames, partner: npt.NDArray[np.intp], known: Collection[str] = ()
) -> LinkageFrames:
    """Recode the original as the files show that the masked one was recoded (`inferred_recodings`).

    An intruder does that before he compares, whatever linker he takes.

    `partner` (n,): the masked row of each original record, -1 where it has none.
    """
    names = tuple(
        name for name in frames.original_attributes if name in frames.masked_attributes and name not in known
    )
    if not names:
        return frames
    sides = frames.original, frames.masked
    categorical = {
        name: CategoricalAttribute(name, scale, frames.schema[name].categories or _categories(name, *sides))
        for name in names
        if (scale := frames.schema[name].scale or Scale.NUMERIC) is not Scale.NUMERIC
    }
    values = tuple(np.column_stack([_values(side, categorical, name) for name in names]) for side in sides)
    found, numbers = inferred_recodings((values[0], values[1]), partner, names, categorical)
    original = frames.original.copy()
    for at, name in enumerate(names):
        after = _after(values[0][:, at], found.get(name), numbers.get(name))
        if after is None or len(np.unique(after)) < 2:  # of a constant the masked file is to be spoken of
            continue
        if name in categorical:
            cells = np.array([*categorical[name].categories, None], dtype=object)[after.astype(np.intp)]
            original[name] = pd.Series(cells, dtype=object)
        else:
            original[name] = after
    return replace(
        frames, original=original, notes=(*frames.notes, *recoding_notes(names, found, numbers, ()))
    )


def _after(
    values: FloatArray, attribute: CategoricalAttribute | None, number: NumberRecoding | None
) -> FloatArray | None:
    """An attribute of the original as the masked file has it; None where no recoding shows."""
    if number is not None:
        return number.apply(values)
    return None if attribute is None or attribute.masking != INFERRED else attribute.image(values)


def _categories(name: str, *sides: pd.DataFrame) -> tuple[str, ...]:
    return in_order({str(cell) for side in sides for cell in side[name].dropna().unique()})


def _values(frame: pd.DataFrame, categorical: dict[str, CategoricalAttribute], name: str) -> FloatArray:
    """A column as numbers; categories by their positions, missing ones behind all others."""
    if name not in categorical:
        return frame[name].to_numpy(dtype=np.float64)
    categories = categorical[name].categories
    place = {category: at for at, category in enumerate(categories)}
    return np.array([place.get(cell, len(categories)) for cell in frame[name]], dtype=np.float64)
