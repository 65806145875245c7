"""What `recode_table` can be asked, and `tables recode`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from linkrisk.datasets.options.kinds import SWITCH, pairs, whole
from linkrisk.datasets.options.option import again, option, written
from linkrisk.solver.options.run import Live
from linkrisk.solver.options.tables import About, Ended
from linkrisk.solver.options.tabulating import Gaps, Holdings, Microdata, Rules, Summed, Trees, Weighted

if TYPE_CHECKING:
    from pathlib import Path

    from linkrisk.solver.options.types import Cancel, Hierarchies, Rule

_MAKE = "see `tables make`; once for each"


@dataclass(frozen=True, kw_only=True)
class Recodings:
    """What becomes coarser."""

    recode: Mapping[str, str | Path] | None = option(
        None,
        "codes that become others: .grc, or columns code and becomes; once for each",
        pairs("A=FILE"),
        doc="for a variable, which codes become others: a recoding file of ARGUS (``.grc``), one that names "
        "codes of its tree to cut at, or a table with the columns `code` and `becomes`. The codes are right "
        "below the total afterwards, except with a cut",
        label="Recodings",
    )
    cut: Mapping[str, int] | None = option(
        None,
        "the level of a tree that becomes the lowest; the total is at 0; once for each",
        pairs("A=LEVEL", whole),
        label="Cuts",
    )
    hierarchies: Mapping[str, Hierarchies] | None = again(Trees, "hierarchies", None, help=_MAKE)
    rules: Sequence[Rule] = again(Rules, "rules", (), help=f"what is sensitive; {_MAKE}")


@dataclass(frozen=True, kw_only=True)
class Effects:
    """What is found of each, and who may end it."""

    suppress: bool = option(
        False, "suppress cells of least value in each, too", SWITCH, label="Suppress in each"
    )
    time_limit: float | None = again(
        Ended,
        "time_limit",
        Ended.time_limit,
        help="seconds for each, or 'none'; default: {default}",
        doc="seconds for each suppression; None for no limit",
    )
    cancel: Cancel | None = again(
        Live,
        "cancel",
        None,
        doc="a token that ends it as Ctrl-C does: the suppression in hand with what it has, and no other is "
        "begun",
    )


@dataclass(frozen=True)
class RecodeOptions(Microdata, Recodings, Summed, Holdings, Weighted, Effects, Gaps):
    """What `recode_table` can be asked."""

    words: ClassVar[Mapping[str, str]] = {"microdata": "; see `tables make`"}


@dataclass(frozen=True, kw_only=True)
class RecodeCommand(RecodeOptions, About):
    """What `tables recode` can be asked."""

    cells: str | None = written("write the cells of the table with all recodings", after="time_limit")
    relations: str | None = written("write its relations", after="cells")
    json: str | None = again(About, "json", None, help="write the effects as JSON", after="relations")
