"""Options about measures of a release: of which files, which ones, and by what the verdict goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from linkrisk.datasets.options.kinds import FILE, NAMES, NUMBER, OPEN, SWITCH, TEXT, WORDS, several
from linkrisk.datasets.options.option import PYTHON, again, option
from linkrisk.solver.options import names
from linkrisk.solver.options.names import TiesName
from linkrisk.solver.options.pair import ALL, Categories, Comparison, Families, Files
from linkrisk.solver.options.run import AUTOMATIC, CONFIDENCE, TOLERATED, Limits, Memory, Samples

if TYPE_CHECKING:
    from linkrisk.solver.options.types import Masking, TableLike

_CALLED = frozenset({PYTHON})
_SHARE = replace(NUMBER, metavar="SHARE", shown=100.0)


@dataclass(frozen=True, init=False, repr=False, eq=False)
class SeveralFiles:
    """The two files, or several of each."""

    title = Files.title

    original: TableLike | Sequence[TableLike] | None = again(
        Files,
        "original",
        None,
        kind=several(FILE),
        help="original file, of any format; give it once for each source of an intruder, which are joined by "
        "{id}",
        doc="the original file, as `fit` takes it; a list or tuple of them are sources that are joined by "
        "the ids of their records",
    )
    masked: TableLike | Sequence[TableLike] | None = again(
        Files,
        "masked",
        None,
        kind=several(FILE),
        help="masked file, of any format; give it once for each release, the first one first",
        doc="its masked version; a list or tuple of them are releases in the order in which they came, of "
        "which the last is judged",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Releases:
    """How several releases belong together."""

    title = "several releases"

    releases: str = option(
        "together",
        "whether an intruder can tell which records of several releases belong together: {choices}, or which "
        "of them, as in 1+2,3; default: {default}",
        OPEN,
        choices=names.WAYS,
        metavar="WAY",
        label="Releases",
    )
    versions: bool = option(
        False,
        "several originals are no sources of one intruder: each is what the release in its place was made of",
        SWITCH,
        label="Originals are versions",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Measures:
    """What is measured, and by what it is judged."""

    title = "measures"

    measures: str | Sequence[str] = option(
        ALL,
        "{choices}; default: {default}",
        WORDS,
        choices=names.MEASURES,
        named={ALL: "all measures"},
        label="Measures",
    )
    tolerated: float = option(
        TOLERATED,
        "share of records that may be re-identified, for the verdict; default: {default}",
        _SHARE,
        label="Tolerated, in % of the records",
    )
    groups: str | Sequence[str] | None = option(
        None,
        "columns of the original file to show risk by; default: key and stratum of the schema",
        NAMES,
        metavar="COLUMN[,COLUMN]",
        label="Groups",
    )
    fraction: float | None = option(
        None,
        "sampling fraction: records for each person of the population; default: by sampling weights",
        NUMBER,
        metavar="PI",
        label="Sampling fraction",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Masked(Categories):
    """Which attributes are categorical, and what is known of the masking of the whole file."""

    masking: Masking = again(
        Categories,
        "masking",
        (),
        help="how the file was masked, as 'top-coding categories=3 attributes=A'; give it once for each "
        "method; or the FILE.json that mask --record has written. Pairs of records that a masking of "
        "categories makes impossible are never linked. Recodings that the files show are known without it; "
        "'none' leaves them out",
        doc="how the file was masked, as `mask` takes it: methods of categories, as for `fit`, and those "
        "of numbers (``noise percent=20 attributes=age``), which the measure ``reidentification`` goes by. "
        "One of these without attributes has masked all numeric attributes that are compared. A path that "
        "ends in ``.json`` is the record that `mask` has written: the methods that it names",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class WorstCase(Families, Comparison):
    """Which worst cases are searched."""

    aggregator: str | Sequence[str] = again(
        Families, "aggregator", ALL, doc="the families of distances that the worst case is taken over"
    )
    ties: TiesName | None = again(
        Comparison,
        "ties",
        None,
        usual="share where candidates are identical",
        doc="``strict`` or ``share``, as for `fit`. When absent, ``share`` where candidates equal a partner, "
        "as guessing among equals succeeds with some probability. The verdict knows both, whichever is "
        "searched",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class LimitAll(Limits):
    """When all measures end."""

    time_limit: float | str | None = again(
        Limits,
        "time_limit",
        AUTOMATIC,
        help="seconds for all, or 'none'; default: {default}",
        doc="seconds of the whole call, reading included: half of it for the worst cases, the rest shared "
        "out by what measures cost. A measure that has no answer by then is a note. As for `fit` otherwise",
    )
    work_limit: float | None = again(
        Limits, "work_limit", None, help="units of work instead, as for fit", doc=""
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class CalledSamples:
    """Samples for worst cases of large files, where a function asks for them."""

    sample: int | str | None = again(Samples, "sample", AUTOMATIC, faces=_CALLED)
    samples: int | None = again(Samples, "samples", None, faces=_CALLED)
    confidence: float = again(Samples, "confidence", CONFIDENCE, faces=_CALLED)
    memory_limit: float | str | None = again(Memory, "memory_limit", AUTOMATIC, faces=_CALLED)


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Provable:
    """Whether certificates can be made afterwards."""

    certificates: bool = option(
        False,
        "keep what certificates of the worst cases would be made of (`FamilyFit.fitted`), and leave a part "
        "of the time limit to them",
        TEXT,
        faces=_CALLED,
    )
