"""Options of record linkage by a linker: of `link` and `find_links`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from linkrisk.datasets.options.kinds import (
    COLUMN,
    FILE,
    NAME,
    NAMES,
    NUMBER,
    OBJECT,
    OPEN,
    SWITCH,
    TEXT,
    Kind,
)
from linkrisk.datasets.options.option import APP, COMMAND, PYTHON, Option, again, declared, option, written
from linkrisk.solver.linkage.parameters import all_settings, own_settings
from linkrisk.solver.options import names
from linkrisk.solver.options.names import DirectionName, MatchingName, TiesName
from linkrisk.solver.options.pair import FILES, Alignment, Attributes, Comparison, Scales
from linkrisk.solver.options.run import Chance, Live, Workers

if TYPE_CHECKING:
    from linkrisk.solver.options.types import Linker, TableLike


_LINKAGE = "linkage"


@dataclass(frozen=True, init=False, repr=False, eq=False)
class LinkedFiles:
    """The two files, which have to be given."""

    title = FILES

    original: TableLike = field(
        metadata=declared(
            "original file, of any format",
            FILE,
            doc="the original file. The columns of an array are the attributes ``V1``, ``V2``, ...",
            label="Original file",
        )
    )
    masked: TableLike = field(
        metadata=declared(
            "masked file, of any format", FILE, doc="the masked file, likewise", label="Masked file"
        )
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Parametrised:
    """What a linker given by its name is given besides."""

    parameters: Mapping[str, Any] | None = option(
        None,
        "parameters of the linker, when it is given by name; text is read as on the command line",
        TEXT,
        faces=frozenset({PYTHON}),
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Compared:
    """The columns of both files."""

    attributes: Sequence[str] | None = again(
        Attributes,
        "attributes",
        None,
        help="attributes of both files; default: all common columns",
        metavar="A,B",
        group=FILES,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Own:
    """The columns of either file."""

    title = FILES

    original_attributes: Sequence[str] | None = option(
        None,
        "attributes of the original file alone, for methods that compare none; default: all",
        NAMES,
        label="Attributes of the original file",
    )
    masked_attributes: Sequence[str] | None = option(
        None,
        "attributes of the masked file alone, for methods that compare none; default: all",
        NAMES,
        label="Attributes of the masked file",
    )
    id: str | None = again(Alignment, "id", None, group=FILES)
    row_by_row: bool = again(Alignment, "row_by_row", False, group=FILES)


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Named:
    """Names of the records of either file, where true links are unknown."""

    title = FILES

    original_id: str | None = option(
        None,
        "column that names the records of the original file; default: row numbers",
        COLUMN,
        label="Ids of the original file",
    )
    masked_id: str | None = option(
        None,
        "column that names the records of the masked file; default: row numbers",
        COLUMN,
        label="Ids of the masked file",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Training:
    """What is learned from besides."""

    title = FILES

    training: TableLike | None = option(
        None, "other records with the attributes of both files, for bayes", FILE, label="Training"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Way:
    """Which file is searched for which."""

    direction: DirectionName = again(Comparison, "direction", "original-to-masked")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Rivals:
    """When a record counts as linked."""

    ties: TiesName | None = again(
        Comparison,
        "ties",
        "strict",
        help="{choices}; default: {default}; share: identical candidates are not rivals",
        doc="{choices}",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Matched:
    """Whether links are one to one."""

    title = _LINKAGE

    one_to_one: MatchingName | None = option(
        None,
        "also match records one to one: {choices}",
        NAME,
        choices=names.MATCHINGS,
        metavar="HOW",
        label="Also match one to one",
        usual="no",
        named={"hungarian": "the best matching of all", "greedy": "the best pairs first"},
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Scored:
    """From which score on records are linked."""

    title = _LINKAGE

    threshold: float | None = option(
        None,
        "one-to-one links need at least this score",
        NUMBER,
        metavar="S",
        label="Threshold",
        needs=("one_to_one",),
        because="is about one-to-one links",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Decided:
    """What people have decided."""

    title = _LINKAGE

    decisions: TableLike | None = option(
        None,
        "with passes: pairs that were decided on, as --clerical writes them with decisions filled in",
        FILE,
        doc="what people have decided on pairs of passes: columns ``original``, ``masked`` and ``decision`` "
        "(``link`` or ``non-link``), as `passes.clerical` of the result has them",
        label="Decisions",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Curve:
    """Whether claims are counted at all thresholds."""

    title = _LINKAGE

    curve: bool = option(
        True,
        "no precision and recall at all thresholds, no most probable claim: these look at all pairs",
        SWITCH,
        doc="whether to count claims at all thresholds and to find the most probable one, which takes a look "
        "at all pairs of records that differ",
        label="Precision and recall",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Seeded:
    """What random choices depend on."""

    seed: int = again(Chance, "seed", 0, group=_LINKAGE)


@dataclass(frozen=True, kw_only=True)
class LinkageOptions(Compared, Own, Scales, Training, Way, Rivals, Matched, Scored, Decided, Curve, Seeded):
    """What to link with what, where it is known which record of one file is which of the other."""

    truth: ClassVar[bool] = True

    @property
    def labels(self) -> tuple[str | None, str | None]:
        """Columns of either file that name its records, and are not compared."""
        return self.id, self.id


@dataclass(frozen=True, kw_only=True)
class UnknownOptions(Compared, Named, Scales, Way, Matched, Decided, Seeded):
    """Columns and records to be linked, where true links are unknown."""

    truth: ClassVar[bool] = False
    original_attributes: ClassVar[None] = None
    masked_attributes: ClassVar[None] = None
    id: ClassVar[None] = None
    row_by_row: ClassVar[bool] = False
    training: ClassVar[None] = None
    threshold: ClassVar[None] = None

    @property
    def labels(self) -> tuple[str | None, str | None]:
        """See `LinkageOptions.labels`."""
        return self.original_id, self.masked_id


def with_parameters(
    operation: type[Any], settings: Mapping[str, Option], group: str, after: str
) -> type[Any]:
    """The options of a command with the parameters of all methods, as text that a method reads itself."""
    made = []
    for name, one in settings.items():
        kind = one.kind if one.kind.parse is None else Kind(str, one.kind.metavar, repeated=one.kind.repeated)
        text = one.help.replace("{", "{{").replace("}", "}}")
        said = replace(one, help=text, kind=kind, group=group, after=after, faces=frozenset({COMMAND}))
        said = replace(said, label=name.replace("_", " ") if APP in one.faces else "")
        made.append((name, Any, field(default=None, metadata={"option": said})))
        after = name
    return make_dataclass(
        f"{operation.__name__}WithParameters", made, bases=(operation,), frozen=True, kw_only=True
    )


_LINKERS = {
    "prl": "probabilistic, of Fellegi and Sunter",
    "dbrl": "nearest record, equal weights",
    "owa": "representatives by OWA operators",
    "sugeno": "representatives by Sugeno integrals",
    "pca": "first principal component",
    "zscore": "sum of standardised values",
    "random": "by chance, for comparison",
    "bayes": "of Bayes, who needs other records to learn from",
}

_WORDS = {**Workers.words, "work": "compare records for prl"}


@dataclass(frozen=True, kw_only=True)
class Method:
    """By which linker."""

    method: str | Linker = field(
        metadata=declared(
            "{choices}",
            OBJECT,
            doc="one of {choices}, or a linker with parameters of its own",
            choices=names.LINKERS,
            named={name: f"{name}: {words}" for name, words in _LINKERS.items()},
            label="Linker",
        )
    )


@dataclass(frozen=True, kw_only=True)
class MethodOfPasses:
    """By which linker that lists its links."""

    method: str | Linker = option(
        "prl", "prl, with passes; default: {default}", OPEN,
        choices=("prl",), metavar="NAME", label="Method"
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class LinkOptions(Method, LinkedFiles, LinkageOptions, Workers, Parametrised, Live):
    """Options of `link`."""

    words: ClassVar[Mapping[str, str]] = _WORDS


@dataclass(frozen=True, kw_only=True)
class FindOptions(MethodOfPasses, LinkedFiles, UnknownOptions, Workers, Parametrised, Live):
    """Options of `find_links`."""

    words: ClassVar[Mapping[str, str]] = _WORDS


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Files of the pairs of passes."""

    title = "output"

    links: str | None = written("with passes: write the linked pairs, as a table")
    clerical: str | None = written("with passes: write the pairs for clerical review, as a table")


@dataclass(frozen=True, kw_only=True)
class Whole:
    """File of the result."""

    title = "output"

    json: str | None = written("write the whole result as JSON")


@dataclass(frozen=True, kw_only=True)
class Records:
    """File of the records."""

    title = "output"

    table: str | None = written("write the table of records, as its suffix says")


@dataclass(frozen=True, kw_only=True)
class LinkCommand(LinkOptions, Whole, Records, Pairs):
    """Options of the command `link`."""


@dataclass(frozen=True, kw_only=True)
class FindCommand(FindOptions, Whole, Pairs):
    """Options of the command `find-links`."""


LINK = with_parameters(LinkCommand, all_settings(), "settings of the methods", "workers")
FIND = with_parameters(FindCommand, own_settings("prl"), "settings of prl", "workers")
"""The two commands with the parameters of linkers."""
