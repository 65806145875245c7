"""Options of a file pair: files, alignment, attributes and families of distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linkrisk.datasets.options.kinds import COLUMN, FAMILIES, FILE, NAME, NAMES, SWITCH, TEXT, WHOLE, several
from linkrisk.datasets.options.option import again, option
from linkrisk.solver.options import names
from linkrisk.solver.options.names import (
    DifferencesName,
    DirectionName,
    MissingName,
    StandardisationName,
    TiesName,
)

if TYPE_CHECKING:
    from linkrisk.solver.options.types import Masking, SchemaLike, TableLike

ALL = "all"
"""What stands for all families of distances."""


FILES = "files"
"""The group of options that say what is read, of linkage."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Files:
    """The two files."""

    title = "file pair (the embedded default pair when left out)"

    original: TableLike | None = option(
        None,
        "original file, of any format",
        FILE,
        doc="the original file; with no masked one either, the embedded default pair. The columns of an "
        "array are the attributes ``V1``, ``V2``, ...",
        label="Original file",
    )
    masked: TableLike | None = option(
        None, "masked file, of any format", FILE, doc="its masked version, likewise", label="Masked file"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Attributes:
    """Which attributes are compared."""

    title = Files.title

    attributes: Sequence[str] | None = option(
        None,
        "attributes to compare, a name with a comma in double quotes; default: all columns",
        NAMES,
        doc="attributes to compare; all common columns when absent",
        metavar="A,B,C",
        label="Attributes that an intruder may know",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Alignment:
    """Which record of one file is which of the other."""

    title = Files.title

    id: str | None = option(
        None,
        "column that identifies the records, or the record of a masking that shuffled them (.json); "
        "default: row by row, unless the files show that this is wrong",
        COLUMN,
        doc="column that identifies the records, or the record of a masking that shuffled them (.json); when "
        "absent, the labels of two pandas frames, else row by row",
        label="Column that identifies the records",
        usual="row by row, or the id of the schema",
    )
    row_by_row: bool = option(
        False,
        "take the rows as they are, whatever the files show",
        SWITCH,
        label="Row by row, whatever the files show",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Constants:
    """What becomes of constant attributes."""

    title = Files.title

    drop_constant: bool = option(
        False, "leave constant attributes out", SWITCH, label="Leave constant attributes out"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Categories:
    """Which attributes are categorical, and what is known of their masking."""

    title = "categorical attributes (all others are numeric)"

    nominal: Sequence[str] = option(
        (), "attributes whose categories have no order", NAMES, label="Nominal attributes"
    )
    ordinal: Sequence[str] = option(
        (), "attributes whose categories have an order", NAMES, label="Ordinal attributes"
    )
    schema: SchemaLike | None = option(
        None,
        "JSON or TOML file that says what the columns are: roles, scales, categories, missing codes",
        FILE,
        doc="what the columns are (docs/how-to/schema.md): roles, scales, categories, missing codes, "
        "weights, strata",
        label="Schema",
    )
    masking: Masking = option(
        (),
        "how categories were masked, as 'top-coding categories=3 attributes=A'; give it once for each "
        "method; or the FILE.json that mask --record has written. Pairs of records that this masking makes "
        "impossible are never linked. Recodings that the files show are known without it; 'none' leaves "
        "them out",
        several(TEXT),
        doc="how categorical attributes were masked, such as ``top-coding categories=3 attributes=A``, or "
        "the file that `mask --record` has written; with ``none``, recodings that the files show are not "
        "taken for known",
        metavar="METHOD",
        label="Masking",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Scales:
    """What the columns are."""

    nominal: Sequence[str] = again(Categories, "nominal", (), group=FILES)
    ordinal: Sequence[str] = again(Categories, "ordinal", (), group=FILES)
    schema: SchemaLike | None = again(Categories, "schema", None, group=FILES)


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Family:
    """Which family of distances."""

    title = "linkage"

    aggregator: str = option(
        "weighted-mean",
        "{choices}; default: {default}",
        NAME,
        doc="the family of distances: {choices}",
        choices=names.AGGREGATORS,
        label="Family of distances",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Families:
    """Which families of distances."""

    title = Family.title

    aggregator: str | Sequence[str] = option(
        "weighted-mean",
        "{choices}; default: {default}; several joined by commas, or all",
        FAMILIES,
        doc="the family of distances: {choices}; ``all`` or a list of names are searched one after the other "
        "within the time limit",
        choices=names.AGGREGATORS,
        label="Family of distances",
        named={ALL: "all families"},
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Comparison:
    """How distances are formed and compared."""

    title = Family.title

    direction: DirectionName = option(
        "original-to-masked",
        "{choices}; default: {default}",
        NAME,
        doc="{choices}; the first is the intruder's view",
        choices=names.DIRECTIONS,
        metavar="WAY",
        label="Direction",
    )
    ties: TiesName | None = option(
        "strict",
        "{choices}; default: {default}; share: identical candidates share a link",
        NAME,
        doc="``strict``, or ``share``: identical candidates share a link",
        choices=names.TIES,
        metavar="RULE",
        label="Ties",
        named={"strict": "strict", "share": "shared by identical candidates"},
    )
    standardisation: StandardisationName = option(
        "own",
        "{choices}; default: {default}",
        NAME,
        doc="``own`` mean and deviation of each file, those of the ``original``, ``pooled`` ones, or "
        "``none``",
        choices=names.STANDARDISATIONS,
        metavar="HOW",
        label="Standardisation",
    )
    differences: DifferencesName | None = option(
        None,
        "{choices}; default: {default}",
        NAME,
        choices=names.DIFFERENCES,
        usual="squared, for mahalanobis signed",
        metavar="KIND",
        label="Differences",
    )
    missing: MissingName = option(
        "expected",
        "what a missing value is compared as: {choices}; default: {default}",
        NAME,
        choices=names.MISSING,
        metavar="RULE",
        label="Missing values",
    )
    k_additive: int | None = option(
        None, "for choquet: interactions of at most K attributes", WHOLE, metavar="K", label="K-additive"
    )


@dataclass(frozen=True, kw_only=True)
class ProblemOptions(Attributes, Alignment, Constants, Categories, Family, Comparison):
    """What to link with what, and by which family of distances."""
