"""Two files and the truth: an original table, its masked version, and which record became which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.number_text import MISSING_MARKS
from linkrisk.datasets.microdata.names import Labels, labels_of, shown_names
from linkrisk.datasets.microdata.numeric import (
    CONSTANT,
    NEARLY,
    check_ranges,
    check_some_value,
    constant_attributes,
    numeric_matrix,
)
from linkrisk.datasets.microdata.scale_inference import category_notes, date_columns, in_days
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.options.option import asking
from linkrisk.datasets.pairs.alignment import BY_ROW, align, check_alignment, load_tables
from linkrisk.datasets.pairs.attributes import (
    chosen_attributes,
    record_id,
    special_columns,
    special_notes,
    text_columns,
    with_missing,
)
from linkrisk.datasets.pairs.categorical import (
    NOT_INFERRED,
    CategoricalAttribute,
    Masking,
    categorical_attributes,
    known_recodings,
    listed_categories,
    scales_of,
    spelled_alike,
    with_frequencies,
    with_undeclared,
)
from linkrisk.datasets.pairs.recodings import (
    NumberRecoding,
    date_recodings,
    inferred_recodings,
    without_common,
)
from linkrisk.datasets.pairs.released_columns import LeftIn, left_in
from linkrisk.datasets.pairs.remarks import recoding_notes, remarks
from linkrisk.datasets.pairs.survey_design import SurveyDesign, survey_design
from linkrisk.errors import called

_WITHOUT_RANGE = {
    CONSTANT: ("constant attributes", ""),
    NEARLY: (
        "attributes that are constant except for the last digits",
        "subtract what all values have in common, or ",
    ),
}
"""What to call attributes that are the same for all records, and how to fix them."""


@dataclass(frozen=True, eq=False)
class FilePair:
    """An original table, its masked version, and the true partners.

    Attributes
    ----------
    original : DataFrame
        The original table, n rows numbered from 0, all its columns.
    masked : DataFrame
        The masked table, m rows numbered from 0, all its columns.
    partner : intp array (n,)
        The masked row of each original record, -1 for an original record that has none.
    attributes : tuple of str
        The attributes to compare, a of them, present in both tables; numeric ones are constant in neither.
    original_labels, masked_labels : tuple of str, lengths n and m
        What to call the records: their ids, the labels of their index, or their row numbers from 1.
    name : str
        What to call the pair.
    categorical : mapping of str to CategoricalAttribute
        Those of the attributes that are not numeric.
    masking : tuple of str
        How categorical attributes were masked, where that is known (`datasets.masking.registry`).
    alignment : str
        How records were aligned: ``row by row``, ``id`` with the name of the column, ``index labels``.
    notes : tuple of str
        What a user should know about the two files, in sentences.
    design : SurveyDesign
        Sampling weights and strata of the original records, where a schema names columns for them.
    recoded : mapping of str to NumberRecoding
        Numeric attributes whose recoding the files show, and categorical ones that were recoded but for some
        records (`datasets.pairs.recodings`).
    not_comparable : tuple of str
        The attributes without a category in common whose recoding is not known: no distance of them says
        anything.
    left_in : LeftIn
        What the masked table has of the original besides the attributes.
    coded : pair of mappings of str to Series
        Columns of the original and of the masked table as they are written, where declared missing codes are
        missing values in these: a reader tells a code from a gap.
    dates : mapping of str to (str or None)
        The attributes that are dates, with the form that is declared. The tables have days in their place.
    labels : Labels
        What columns of the original and their codes mean in words, where file or schema say it.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> pair = linkrisk.data.make_file_pair(iris, masked)
    >>> pair.alignment, pair.partner[:3].tolist()
    ('row by row', [0, 1, 2])
    """

    original: pd.DataFrame
    masked: pd.DataFrame
    partner: npt.NDArray[np.intp]
    attributes: tuple[str, ...]
    original_labels: tuple[str, ...]
    masked_labels: tuple[str, ...]
    name: str
    categorical: Mapping[str, CategoricalAttribute] = field(default_factory=dict)
    masking: tuple[str, ...] = ()
    alignment: str = BY_ROW
    notes: tuple[str, ...] = ()
    design: SurveyDesign = field(default_factory=SurveyDesign)
    recoded: Mapping[str, NumberRecoding] = field(default_factory=dict)
    not_comparable: tuple[str, ...] = ()
    left_in: LeftIn = field(default_factory=LeftIn)
    coded: tuple[Mapping[str, pd.Series], Mapping[str, pd.Series]] = ({}, {})
    dates: Mapping[str, str | None] = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)

    @cached_property
    def original_values(self) -> npt.NDArray[np.float64]:
        """The attributes of the original records, float64 (n, a); categories as their positions.

        NaN where a number is missing, the position behind all categories where a category is.
        """
        return attribute_values(Table(self.original, "original"), self.attributes, self.categorical)

    @cached_property
    def masked_values(self) -> npt.NDArray[np.float64]:
        """The attributes of the masked records, float64 (m, a); categories as their positions."""
        return attribute_values(Table(self.masked, "masked"), self.attributes, self.categorical)

    @cached_property
    def compared_values(self) -> npt.NDArray[np.float64]:
        """The attributes of the original records as an intruder compares them: recoded as the release is."""
        return recoded_values(self.original_values, self.attributes, self.recoded)

    def __repr__(self) -> str:
        """Say what the pair holds in one line."""
        return (
            f"FilePair({self.name!r}: {len(self.original)} original and {len(self.masked)} masked records, "
            f"{int((self.partner >= 0).sum())} of them partners, attributes {', '.join(self.attributes)})"
        )


@dataclass(frozen=True)
class PairRequest:
    """Two tables, and what is to be known of them: what `make_file_pair` takes."""

    original: Any
    masked: Any
    _: KW_ONLY
    attributes: Sequence[str] | None = None
    id: str | None = None
    row_by_row: bool = False
    drop_constant: bool = False
    nominal: Sequence[str] = ()
    ordinal: Sequence[str] = ()
    schema: Schema | None = None
    masking: Masking = ()
    original_name: str = "original"
    masked_name: str = "masked"


@asking(PairRequest)
def make_file_pair(asked: PairRequest) -> FilePair:
    """Check two tables and put them together as a file pair.

    Parameters
    ----------
    original, masked : str, Path or frame
        Files of any format, or pandas frames, or frames of another library with a `to_pandas` method.
    attributes : sequence of str, optional
        The attributes to compare, which both tables must have; by default the key variables of the schema,
        or all columns but the id and those to which the schema gives another role.
    id : str, optional
        The column that identifies the records; the tables may then have different records. By default the
        record id of the schema, where both tables have it. Without either the tables must be equally long.
        They are aligned by the labels of their indexes where these are the same in another order, else row by
        row.
    row_by_row : bool
        Take the rows as they are, whatever labels or columns say.
    drop_constant : bool
        Leave out numeric attributes that are constant in either table instead of raising an error.
    nominal, ordinal : sequence of str
        Those of the attributes that are not numeric, by their scale.
    schema : Schema, optional
        Roles, scales, categories and missing codes of attributes; the two lists come before its scales.
    masking : sequence of str or KnownRecoding
        How categorical attributes were masked (`datasets.masking.registry`), where that is known: it makes
        some recodings impossible. Recodings that the files show are known too, unless ``none`` is listed.
    original_name, masked_name : str
        What to call the tables in messages when they are not files.

    Returns
    -------
    FilePair
        Checked: finite numbers or missing ones, known categories, at least two records on either side, at
        least one pair of partners.

    Raises
    ------
    DataError
        On any input that cannot be used, with one line that says what, where and how to fix it.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> linkrisk.data.make_file_pair(iris, masked, attributes=["sepal_length"]).attributes
    ('sepal_length',)
    """
    nominal, ordinal, schema = asked.nominal, asked.ordinal, asked.schema
    check_alignment(asked.id, asked.row_by_row)
    listed = listed_categories(nominal, ordinal, schema)
    text = (*listed, *text_columns(schema))
    tables = load_tables(
        asked.original, asked.masked, asked.id, text, (asked.original_name, asked.masked_name)
    )
    first, second = with_missing(tables, schema)
    labels = labels_of(first.columns, [first.notes, second.notes], schema)
    id_column, id_notes = record_id(schema, (first, second), asked.id, asked.row_by_row)
    named = (*nominal, *ordinal)
    special = special_columns((first, second), schema, named) if asked.attributes is None else {}
    names = chosen_attributes(first, second, asked.attributes, id_column, schema, special)
    declared = scales_of(names, nominal, ordinal, schema)
    dates = date_columns(names, (first, second), schema, declared)
    first, second = in_days((first, second), dates)
    scales = with_undeclared(declared, names, schema, (first, second))
    told = {name: scale for name, (scale, _) in scales.items() if name not in declared}
    text_notes = category_notes({name: (scale, (first, second)) for name, scale in told.items()})
    first, second = spelled_alike(
        (first, second), {name: categories for name, (_, categories) in scales.items()}
    )
    other, levels = date_recodings(asked.masking, first, [name for name in names if name in dates])
    recodings = known_recodings(other, first, scales)
    categorical = categorical_attributes((first, second), scales, recodings)
    for table in (first, second):
        attribute_values(table, tuple(categorical), categorical)
    numeric = tuple(name for name in names if name not in categorical)
    values = [
        numeric_matrix(table.frame, numeric, table.source, allow_missing=True) for table in (first, second)
    ]
    for table, matrix in zip((first, second), values, strict=True):
        check_some_value(matrix, numeric, table.source)
    left = _without_constants(numeric, values, (first.source, second.source), asked.drop_constant)
    names = tuple(name for name in names if name in left or name in categorical)
    if not names:
        raise DataError("every attribute is constant in one of the files; nothing is left to compare")
    # The truth last: what is wrong with the attributes is easier to fix.
    aligned = align(first, second, id_column=id_column, row_by_row=asked.row_by_row)
    design = survey_design(first, second, aligned.partner, schema)
    besides = left_in(
        (first, second), aligned.partner, names, schema, id_column, side_by_side=aligned.alignment == BY_ROW
    )
    pair = FilePair(
        original=first.frame,
        masked=second.frame,
        partner=aligned.partner,
        attributes=names,
        original_labels=aligned.original_labels,
        masked_labels=aligned.masked_labels,
        name=aligned.name,
        categorical=categorical,
        masking=tuple(
            dict.fromkeys(item if isinstance(item, str) else item.masking for item in asked.masking)
        ),
        alignment=aligned.alignment,
        notes=(
            *id_notes,
            *special_notes([name for name in special if name != id_column], special),
            *text_notes,
            *design.notes,
            *remarks(aligned, names, categorical),
            *besides.notes,
            *_marks((first, second), left),
        ),
        design=design,
        left_in=besides,
        coded=(first.coded, second.coded),
        dates={name: form for name, form in dates.items() if name in names},
        recoded=levels,
        labels=labels,
    )
    return _with_recodings(pair)


def _with_recodings(pair: FilePair) -> FilePair:
    """The pair with the recodings that its files show, unless nothing is to be inferred."""
    values, categorical = (pair.original_values, pair.masked_values), pair.categorical
    recoded: dict[str, NumberRecoding] = {}
    if NOT_INFERRED not in pair.masking:
        categorical, recoded = inferred_recodings(values, pair.partner, pair.attributes, categorical)
    recoded = {**pair.recoded, **recoded}  # what the files show comes first
    compared = recoded_values(values[0], pair.attributes, recoded), values[1]
    for name in (name for name in recoded if name in categorical and categorical[name].frequencies):
        codes = (side[:, pair.attributes.index(name)] for side in compared)
        categorical = {**categorical, name: with_frequencies(categorical[name], *codes)}
    lacking = without_common(compared, pair.attributes, categorical)
    shown = [name for name, one in recoded.items() if one is not pair.recoded.get(name)]
    notes = (*pair.notes, *recoding_notes(pair.attributes, categorical, shown, lacking))
    return replace(pair, categorical=categorical, recoded=recoded, not_comparable=lacking, notes=notes)


def recoded_values(
    values: npt.NDArray[np.float64], attributes: Sequence[str], recoded: Mapping[str, NumberRecoding]
) -> npt.NDArray[np.float64]:
    """Attributes of original records with numeric ones recoded as the release is, float64 (n, a)."""
    if not recoded:
        return values
    columns = [
        recoded[name].apply(values[:, at]) if name in recoded else values[:, at]
        for at, name in enumerate(attributes)
    ]
    return np.stack(columns, axis=1)


def attribute_values(
    table: Table, attributes: tuple[str, ...], categorical: Mapping[str, CategoricalAttribute]
) -> npt.NDArray[np.float64]:
    """Attributes as numbers: categories by their positions, all others by their values.

    Returns (n, a).
    """
    numeric = [name for name in attributes if name not in categorical]
    values = np.empty((len(table.frame), len(attributes)))
    values[:, [attributes.index(name) for name in numeric]] = numeric_matrix(
        table.frame, numeric, table.source, allow_missing=True
    )
    for at, name in enumerate(attributes):
        if name in categorical:
            values[:, at] = categorical[name].codes(table)
    return values


def _marks(tables: tuple[Table, Table], numeric: tuple[str, ...]) -> tuple[str, ...]:
    """Which words in columns of numbers were taken for missing values, the first of each column."""
    notes = []
    for table in tables:
        missing = {name: table.frame[name].isna().to_numpy(dtype=bool) for name in numeric}
        rows = {name: int(np.argmax(cells)) for name, cells in missing.items() if cells.any()}
        for name, mark in table.written(rows).items():
            if mark in MISSING_MARKS:
                notes.append(
                    f"{table.source}, column {name!r}, row {rows[name] + 1}: {mark!r} means a missing value "
                    f"here; name the column in {called('nominal')} if it is a category"
                )
    return tuple(notes)


def _without_constants(
    names: tuple[str, ...],
    values: list[npt.NDArray[np.float64]],
    sources: tuple[str, str],
    drop_constant: bool,
) -> tuple[str, ...]:
    if not names:
        return names
    found = {
        source: constant_attributes(matrix, names) for source, matrix in zip(sources, values, strict=True)
    }
    for source, constant in found.items():
        for kind, (what, fix) in _WITHOUT_RANGE.items():
            alike = [name for name in constant if constant[name] == kind]
            if alike and not drop_constant:
                raise DataError(
                    f"{source}: {what} cannot be compared: {shown_names(alike)}; {fix}"
                    f"leave them out with {called('drop_constant', True)} or {called('attributes')}",
                    option="drop_constant",
                )
    left = [at for at, name in enumerate(names) if not any(name in constant for constant in found.values())]
    for source, matrix in zip(sources, values, strict=True):
        check_ranges(matrix[:, left], [names[at] for at in left], source)
    return tuple(names[at] for at in left)
