"""What `unsafe` can be asked, as a function and as a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from linkrisk.datasets.options.kinds import TEXT, several
from linkrisk.datasets.options.option import again, option, written
from linkrisk.solver.options.keys import Data, Trees, UnsafeKeys

if TYPE_CHECKING:
    from linkrisk.solver.options.types import Hierarchy, MaskingMethod

_USE: Mapping[str, str] = {
    "hierarchy_use": "each level tried by itself",
    "hierarchy_means": "each of whose levels is tried by itself",
}


@dataclass(frozen=True, kw_only=True)
class Recodings:
    """What is tried."""

    title = "recodings"

    recode: Sequence[str | MaskingMethod] = option(
        (),
        "count again with this, spelled as for `mask`; several are applied in order",
        several(TEXT),
        doc="a trial: methods applied to the table in order, spelled as for `mask`, such as "
        '``"global-recoding hierarchy=age=ages.csv level=2"`` or '
        '``"top-coding categories=3 attributes=age"``. All is counted again with them, and nothing is '
        "written",
        metavar="METHOD",
        label="Recodings",
    )
    hierarchies: Sequence[Hierarchy | str] = again(Trees, "hierarchies", ())


@dataclass(frozen=True, kw_only=True)
class UnsafeOptions(Data, UnsafeKeys, Recodings):
    """What `unsafe` can be asked."""

    words: ClassVar[Mapping[str, str]] = _USE


@dataclass(frozen=True, kw_only=True)
class UnsafeCommand(Data, UnsafeKeys, Recodings):
    """What the command `unsafe` can be asked."""

    words: ClassVar[Mapping[str, str]] = _USE

    json: str | None = written("write all counts as JSON")
