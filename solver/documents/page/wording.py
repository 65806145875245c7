"""What a page calls itself: the words around a document, by what the document is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PageWords:
    """Words of a page that are none of its document."""

    about: str  # before its title in the window
    eyebrow: str  # the line above its title
    internal: str  # what readers inside and outside are told of it at once
    external: str
    answers: Mapping[str, str]  # what the shape beside the verdict says
    no_scripts: str = (
        "Scripts are off: of long tables the first rows are shown. Open this file in a browser for all rows."
    )
    footer: str = "from results alone, without looking at the table again"


RISK = PageWords(
    about="Disclosure risk",
    eyebrow="Disclosure risk of a masked file",
    internal="Names records and the distance that re-identifies them: do not publish.",
    external="without parameters, records, or anything that would help an intruder.",
    answers={
        "above": "More than is tolerated",
        "below": "Not more than is tolerated",
        "open": "Not decided yet",
        "unknown": "Nothing was said to be tolerated",
        "compared": "A comparison of maskings",
    },
    no_scripts="Scripts are off: charts are not drawn, and in place of each stands the table of its numbers. "
    "Open this file in a browser for the charts, for all rows, and for the distances of a record.",
    footer="from results alone, without looking at the data again",
)
_LEAST = {"below": "Least change, proven", "open": "Not proven to be the least"}
_BEFORE = "without values before that, changes, or anything that would help an intruder."

WORDS = {
    "risk": RISK,
    "suppression": PageWords(
        about="Local suppression",
        eyebrow="Local suppression, and what it changed",
        internal="Has rare combinations of the input and what was taken from them: do not publish.",
        external="without combinations, small counts, or anything that would help an intruder.",
        answers={
            "below": "Least cost, proven",
            "open": "Not proven least",
            "above": "Names the records",
        },
        footer="from what was counted before and after",
    ),
    "table": PageWords(
        about="Protected table",
        eyebrow="Cells of a table suppressed, and what attackers find of them",
        internal="Has values of suppressed cells and says which are sensitive: do not publish.",
        external="without suppressed values, intervals, or anything that would help an intruder.",
        answers={
            "below": "Protected",
            "open": "Protected; not proven to be the least",
            "above": "Not protected",
            "unknown": "Nothing is sensitive",
        },
        no_scripts="Scripts are off: the chart is not drawn, and in its place stands the table of its "
        "numbers. Open this file in a browser for the chart, and for all rows.",
    ),
    "rounding": PageWords(
        about="Rounded table",
        eyebrow="Cells of a table rounded, and what that changes",
        internal="Has the values before rounding: do not publish.",
        external=_BEFORE,
        answers={**_LEAST, "unknown": "Rounded"},
    ),
    "adjustment": PageWords(
        about="Adjusted table",
        eyebrow="Values of a table adjusted, and what that changes",
        internal="Has the values before they were adjusted: do not publish.",
        external=_BEFORE,
        answers={**_LEAST, "unknown": "Adjusted"},
    ),
    "noise": PageWords(
        about="Table with noise",
        eyebrow="Noise by cell keys, and what it changes",
        internal="Has values before the noise, and how it was made: do not publish.",
        external="without values before the noise, keys, or anything that would help an intruder.",
        answers={"unknown": "Noise by cell keys"},
    ),
    "recoding": PageWords(
        about="Table of coarser codes",
        eyebrow="Codes of a table merged, and what that changes",
        internal="Has values of sensitive cells and says which they are: do not publish.",
        external="without values, rules, or anything that would help an intruder.",
        answers={"unknown": "Coarser codes"},
    ),
}
"""By what a document is about."""
