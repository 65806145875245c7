"""Words and columns that the printed summaries share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from linkrisk.datasets.microdata.names import code_in_words, name_in_words
from linkrisk.solver.documents.formats import NARROW_SPACE, count, percent
from linkrisk.solver.report.words import family_title

_DIRECTIONS = {
    "original-to-masked": "from each original record to its nearest masked record",
    "masked-to-original": "from each masked record to its nearest original record",
}
MOST_STRATA = 12
"""Of more strata than these the summary says only where their counts are."""

_BASELINES = {"euclid": "Euclidean distance", "mahalanobis": "classical Mahalanobis distance"}


def directions(direction: str) -> str:
    """Which file is linked to which, in words."""
    return direction.replace("-", " ")


def way(direction: str) -> str:
    """Which record is linked to which, in words."""
    return _DIRECTIONS[direction]


def heading(details: Mapping[str, Any], records: int) -> list[str]:
    """What was asked, in two lines: the files, then the distance and its direction."""
    title = family_title(details)
    return [*files_line(details, records), f"{title}, {way(details['direction'])}"]


def files_line(details: Mapping[str, Any], records: int) -> list[str]:
    """The files, how many records and how many attributes."""
    candidates, attributes = details["candidates"], len(details["attributes"])
    size = f"{count(records)} records"
    if candidates != records:
        size += f" with a partner among {count(candidates)} candidates"
    plural = "attribute" if attributes == 1 else "attributes"
    return [f"{details['name']}: {size}, {attributes} {plural}"]


def share(part: float, records: float) -> str:
    """Write a count with its percentage, which is never 0 or 100 for what is not exactly that."""
    return f"{count(part)} of {count(records)} ({percent(part, records).replace(NARROW_SPACE, ' ')})"


def baseline_name(name: str) -> str:
    """A baseline in words."""
    return _BASELINES.get(name, name)


def baseline_pairs(baselines: Mapping[str, float | None], records: float) -> list[tuple[str, str]]:
    """What the baselines link: distances that need no learning."""
    return [
        (baseline_name(name), "no time was left to count" if linked is None else share(linked, records))
        for name, linked in baselines.items()
    ]


def weighted_pairs(details: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The sum of the sampling weights of linked records, where there are weights."""
    if "weight" not in details:
        return []
    return [("weighted links", share(details["weighted_links"], details["total_weight"]))]


def strata_lines(details: Mapping[str, Any]) -> list[str]:
    """Linked records of every stratum, where there are few; then an empty line."""
    strata = details.get("strata")
    if strata is None:
        return []
    if len(strata) > MOST_STRATA:
        return [f"  {len(strata)} strata ({details['stratum']}): --json has the records linked in each", ""]
    column, labels = details["stratum"], details.get("labels", {})
    rows = [
        (f"  {code_in_words(column, name, labels)}", share(own["linked"], own["records"]))
        for name, own in strata.items()
    ]
    return [f"  re-identified in each stratum ({name_in_words(column, labels)})", *listed(rows), ""]


def spaced(lines: list[str]) -> list[str]:
    """An empty line before these, and none after them."""
    return ["", *lines[:-1]] if lines else []


def listed(pairs: Sequence[tuple[str, str]], width: int = 32) -> list[str]:
    """Indented lines of a name and a text, the texts below each other."""
    return [f"  {name:<{width}} {text}" for name, text in pairs]


def table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Columns as wide as they need to be, numbers to the right; a dash for what is missing."""
    kinds = [{type(row[at]) for row in rows if row[at] is not None} for at in range(len(titles))]
    cells = [list(titles), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(titles))]
    return [
        "  ".join(
            text.rjust(width) if kind and kind <= {int, float} else text.ljust(width)
            for text, width, kind in zip(line, widths, kinds, strict=True)
        ).rstrip()
        for line in cells
    ]


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)
