"""What `link` and `find_links` can be asked, as functions and as commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from linkrisk.datasets.options.kinds import OBJECT, OPEN
from linkrisk.datasets.options.option import declared, option, written
from linkrisk.solver.linkage.parameters import all_settings, own_settings
from linkrisk.solver.options import names
from linkrisk.solver.options.linking import (
    LinkageOptions,
    LinkedFiles,
    Parametrised,
    UnknownOptions,
    with_parameters,
)
from linkrisk.solver.options.run import Live, Workers

if TYPE_CHECKING:
    from linkrisk.solver.options.types import Linker

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
    """What `link` can be asked."""

    words: ClassVar[Mapping[str, str]] = _WORDS


@dataclass(frozen=True, kw_only=True)
class FindOptions(MethodOfPasses, LinkedFiles, UnknownOptions, Workers, Parametrised, Live):
    """What `find_links` can be asked."""

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
    """What the command `link` can be asked."""


@dataclass(frozen=True, kw_only=True)
class FindCommand(FindOptions, Whole, Pairs):
    """What the command `find-links` can be asked."""


LINK = with_parameters(LinkCommand, all_settings(), "settings of the methods", "workers")
FIND = with_parameters(FindCommand, own_settings("prl"), "settings of prl", "workers")
"""The two commands with the parameters of linkers."""
