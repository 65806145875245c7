"""The parameters of masking methods, declared once: on every face they are offered from here.

The methods themselves are costly to import, and a help text should not wait for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import parse_names
from linkrisk.datasets.options.kinds import number, percent, whole
from linkrisk.datasets.options.option import (
    APP,
    FACES,
    Option,
    later,
    meant,
    options_of,
    parameter,
    shared_options,
)
from linkrisk.errors import called

if TYPE_CHECKING:
    from linkrisk.datasets.masking.transition_matrix import TransitionMatrix
    from linkrisk.datasets.microdata.hierarchies import Hierarchy
    from linkrisk.datasets.microdata.recoding_files import RecodingFile
    from linkrisk.datasets.microdata.schema import Schema

DEFAULT_K, DEFAULT_PERCENT = 3, 5.0
"""Of record swapping: fewer persons are rare, and the share of households that are swapped."""

INPUT, OUTPUT = "input", "output"
"""Where records that agree are counted."""

GREEDY, OPTIMAL = "greedy", "optimal"
"""How the values to suppress are chosen."""


@dataclass(frozen=True)
class AttributeGroup:
    """Attributes that are microaggregated together.

    Attributes
    ----------
    attributes : tuple of str
        Their names.
    k : int, optional
        The least number of records in a group; None takes that of the method.

    Examples
    --------
    >>> from linkrisk.masking import AttributeGroup, Microaggregation
    >>> Microaggregation(groups=(AttributeGroup(("age", "income"), 3),)).groups[0].k
    3
    """

    attributes: tuple[str, ...]
    k: int | None = None

    @classmethod
    def parse(cls, text: str) -> AttributeGroup:
        """Read "a,b:3" (attributes a and b with k = 3) or "a,b"."""
        names, mark, k = text.rpartition(":")
        if not mark or "," in k or '"' in k:  # a colon within a name
            return cls(parse_names(text))
        if not (k.strip().isascii() and k.strip().isdigit()):
            raise DataError(
                f"{text!r} has {k.strip()!r} for k after the colon, which is not a whole number of at least "
                f"2; write A,B:3, or A,B for the k of {called('k')}",
                option="groups",
            )
        return cls(parse_names(names), int(k))


def parse_level(text: str) -> int | str:
    """Read the level of a hierarchy, a whole number, or that of dates, a word."""
    from linkrisk.datasets.microdata.dates import LEVELS

    return text if text in LEVELS else whole(text)


def _parse_breaks(text: str) -> tuple[float, ...]:
    return tuple(number(part.strip()) for part in text.split(","))


ATTRIBUTES = meant(
    "attributes to mask, separated by commas (default: all numeric)", parse_names, metavar="A,B"
)
CATEGORICAL = meant(
    "attributes to mask, separated by commas (default: all that are not numeric)", parse_names, metavar="A,B"
)
SCHEMA = meant(
    "JSON or TOML file with roles, scales, categories and missing codes of the columns",
    later("datasets.microdata.schema_files:read_schema"),
    metavar="FILE",
    faces=FACES - {APP},  # it knows the schema of a file
)


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class NumericParameters:
    """Of `NumericMethod`."""

    attributes: tuple[str, ...] | None = field(default=None, metadata=ATTRIBUTES)
    schema: Schema | None = field(default=None, metadata=SCHEMA)


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class CategoricalParameters:
    """Of `CategoricalMethod`."""

    attributes: tuple[str, ...] | None = field(default=None, metadata=CATEGORICAL)
    schema: Schema | None = field(default=None, metadata=SCHEMA)


@dataclass(frozen=True, init=False, repr=False, eq=False)
class MicroaggregationParameters:
    """Of `Microaggregation`."""

    attributes: tuple[str, ...] | None = field(default=None, metadata=ATTRIBUTES)
    k: int | None = parameter(None, "least number of records in a group", whole, metavar="K")
    groups: tuple[AttributeGroup, ...] = parameter(
        (),
        "attributes microaggregated together, with their k; give it once for each group",
        AttributeGroup.parse,
        metavar="A,B:K",
        repeated=True,
    )
    schema: Schema | None = field(default=None, metadata=SCHEMA)


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class OptimalMicroaggregationParameters(NumericParameters):
    """Of `OptimalMicroaggregation`."""

    k: int = parameter(3, "least number of records in a group", whole, metavar="K")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class AdditiveNoiseParameters(NumericParameters):
    """Of `AdditiveNoise`."""

    percent: float = field(
        metadata=meant("standard deviation of the noise in % of the attribute's", percent, metavar="P")
    )
    correlated: bool = parameter(False, "noise that is correlated like the data", None)


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class RankSwappingParameters(NumericParameters):
    """Of `RankSwapping`."""

    percent: float = field(metadata=meant("window in percent of the records", percent, metavar="P"))


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class RoundingParameters(NumericParameters):
    """Of `Rounding`."""

    base: float = field(metadata=meant("values become multiples of B, in their unit", number, metavar="B"))
    positive: bool = parameter(False, "values above 0 become one base at least, as weights must", None)


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class WeightCalibrationParameters:
    """Of `WeightCalibration`."""

    like: str = field(
        metadata=meant("file whose weighted shares and total are restored", str, metavar="FILE")
    )
    margins: tuple[str, ...] = field(
        metadata=meant("columns whose weighted shares are restored", parse_names, metavar="A,B")
    )
    attributes: tuple[str, ...] | None = parameter(
        None, "the column of sampling weights; it has to be named", parse_names, metavar="A,B"
    )
    schema: Schema | None = field(default=None, metadata=SCHEMA)


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class RecordSwappingParameters:
    """Of `RecordSwapping`."""

    household: str = field(metadata=meant("column of household numbers", str, metavar="COLUMN"))
    hierarchy: tuple[str, ...] = field(
        metadata=meant("columns of places to be exchanged, the coarsest first", parse_names, metavar="A,B")
    )
    risk: tuple[str, ...] = field(
        metadata=meant("variables of persons that say who is rare in a place", parse_names, metavar="A,B")
    )
    similar: tuple[tuple[str, ...], ...] = parameter(
        (),
        "variables of households that must agree besides their size; once for each profile to try",
        parse_names,
        metavar="A,B",
        repeated=True,
    )
    carry: tuple[str, ...] = parameter(
        (), "variables of households that move with the place", parse_names, metavar="A,B"
    )
    k: int | None = parameter(
        None, f"fewer than K persons are rare (default: {DEFAULT_K})", whole, metavar="K"
    )
    percent: float | None = parameter(
        None, f"share of households to be swapped in % (default: {DEFAULT_PERCENT:g})", percent, metavar="P"
    )
    schema: Schema | None = field(default=None, metadata=SCHEMA)


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class EndCodingParameters(CategoricalParameters):
    """Of `EndCoding`."""

    categories: int | None = parameter(None, "number of categories to merge into one", whole, metavar="N")
    percent: float | None = parameter(
        None, "categories to merge into one, in percent of those of the attribute", percent, metavar="P"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class GlobalRecodingParameters(CategoricalParameters):
    """Of `GlobalRecoding`."""

    categories: int | None = parameter(
        None, "number of the rarest categories to merge into one", whole, metavar="N"
    )
    label: str | None = parameter(
        None, "name of the merged category (default: that of the most frequent one)", str, metavar="TEXT"
    )
    hierarchy: tuple[Hierarchy, ...] = parameter(
        (),
        "file with the categories of an attribute and one column per coarser level; give it once for "
        "each attribute (default: the hierarchies of --schema)",
        later("datasets.microdata.hierarchies:Hierarchy.parse"),
        metavar="A=FILE",
        repeated=True,
    )
    level: int | str | None = parameter(None, "level of the hierarchy (default: 1)", parse_level, metavar="L")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class RecodeParameters(CategoricalParameters):
    """Of `Recode`."""

    file: tuple[RecodingFile, ...] = parameter(
        (),
        "recoding file of mu-ARGUS for an attribute; give it once for each",
        later("datasets.microdata.recoding_files:RecodingFile.parse"),
        metavar="A=FILE.grc",
        repeated=True,
    )
    digits: int | None = parameter(
        None, "number of characters to cut off the end of every code", whole, metavar="N"
    )
    breaks: tuple[float, ...] = parameter(
        (),
        "ascending lower ends of groups, separated by commas: a number becomes the largest that is not "
        "above it",
        _parse_breaks,
        metavar="N,N",
    )
    labels: tuple[str, ...] = parameter(
        (), "what the groups of breaks are called, in their order", parse_names, metavar="A,B"
    )
    level: int | str | None = parameter(
        None, "what dates become: year, quarter, month", parse_level, metavar="L"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class PramParameters(CategoricalParameters):
    """Of `Pram`."""

    change: float | None = parameter(
        None, "probability of a change, to any other category alike", number, metavar="P"
    )
    theta: float | None = parameter(
        None,
        "expected changes of each category, relative to the frequency of the rarest one",
        number,
        metavar="T",
    )
    matrix: tuple[TransitionMatrix, ...] = parameter(
        (),
        "file with the transition matrix of an attribute; give it once for each attribute",
        later("datasets.masking.transition_matrix:TransitionMatrix.parse"),
        metavar="A=FILE",
        repeated=True,
    )
    invariant: bool = parameter(False, "keep the expected frequencies, by a second stage", None)


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class LocalSuppressionParameters:
    """Of `LocalSuppression`."""

    attributes: tuple[str, ...] | None = parameter(
        None,
        "attributes to mask, separated by commas (default: all key variables)",
        parse_names,
        metavar="A,B",
    )
    k: int | None = parameter(
        None, "least number of records that agree in all attributes", whole, metavar="K"
    )
    importance: tuple[str, ...] = parameter(
        (),
        "attributes to spare, the most important first; the others are suppressed before them",
        parse_names,
        metavar="A,B",
    )
    count: str = parameter(
        INPUT,
        "where records that agree are counted: input (default), before values are suppressed, or output, "
        "where those of other records fit any",
        str,
        choices=(INPUT, OUTPUT),
        metavar="WHERE",
    )
    choice: str = parameter(
        GREEDY,
        "how values are chosen: greedy (default), or optimal, at least cost, counted in the input",
        str,
        choices=(GREEDY, OPTIMAL),
        metavar="HOW",
    )
    schema: Schema | None = field(default=None, metadata=SCHEMA)


PROTECTIONS = ("M4-33", "M4-28", "M4-82", "M5-38", "M6-385", "M6-853")

PARAMETERS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "microaggregation": MicroaggregationParameters,
        "optimal-microaggregation": OptimalMicroaggregationParameters,
        "noise": AdditiveNoiseParameters,
        "rank-swapping": RankSwappingParameters,
        "rounding": RoundingParameters,
        "weight-calibration": WeightCalibrationParameters,
        "record-swapping": RecordSwappingParameters,
        "top-coding": EndCodingParameters,
        "bottom-coding": EndCodingParameters,
        "global-recoding": GlobalRecodingParameters,
        "recode": RecodeParameters,
        "pram": PramParameters,
        "local-suppression": LocalSuppressionParameters,
    }
    | dict.fromkeys(PROTECTIONS, NumericParameters)
)
"""Those of every method by its name (`registry.METHODS` has the methods)."""


def all_options() -> dict[str, Option]:
    """Return the parameters of all methods by name; the help of a shared one says what it means to each."""
    return shared_options(PARAMETERS)


def own_options(texts: Sequence[str]) -> Mapping[str, Option]:
    """The parameters of a method that is given by its name alone; where there are several, what all share."""
    if len(texts) == 1 and texts[0] in PARAMETERS:
        return options_of(PARAMETERS[texts[0]])
    return {"schema": all_options()["schema"]}
