"""Numbers, words and tables that answers in short and sections of reports share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from linkrisk.datasets.microdata.names import code_in_words, name_in_words, shown_names
from linkrisk.errors import called
from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.charts.chart import Column, Of, Table
from linkrisk.solver.documents.document import Block, Headline, Paragraph
from linkrisk.solver.documents.short import pairs
from linkrisk.solver.run.number_format import MINUS, confident, persons, several
from linkrisk.solver.run.number_format import count as whole_count
from linkrisk.solver.run.number_format import percent as share_percent
from linkrisk.solver.schemas.keys import Json

NOTHING = "\N{EN DASH}"
NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
_SMALLEST, _LARGEST = 1e-4, 1e15


def count(value: float | None) -> str:
    """Write a count: ``12,345``; with one or two decimals when it is not whole, as expected links may be."""
    return NOTHING if value is None else whole_count(value)


def percent(part: float | None, whole: float) -> str:
    """Write a share of `whole`: ``93.0 %``; never 0 or 100 per cent for what is not exactly that."""
    if part is None or whole <= 0:
        return NOTHING
    return share_percent(part / whole).replace(" ", NARROW_SPACE)


def significant(value: float, digits: int = 4) -> str:
    """Write a measurement with `digits` significant digits."""
    return _minus(f"{value:.{digits}g}")


def weight(value: float, breaks_ties: bool = False) -> str:
    """Write a share with four decimals; 0 for one that prints as zero and that nothing hangs on."""
    text = f"{value:.4f}"
    if float(text):
        return _minus(text)
    return "0.0000" if breaks_ties else "0"


def duration(seconds: float | None) -> str:
    """Write a time: ``0.42 s``, ``12.3 s``, ``120 s``, ``10 min 20 s``, ``2 h 05 min``."""
    if seconds is None:
        return NOTHING
    if seconds < 600:
        text = f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}"
        return f"{text.rstrip('0').rstrip('.')} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 120:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def number_text(value: float) -> str:
    """Write a measurement with four significant digits: ``0.1235``, ``12,346``, ``1.2e−06``."""
    plain = _SMALLEST <= abs(value) < _LARGEST
    return count(round(value)) if plain and abs(value) >= 1000 else significant(value)


def points_text(difference: float) -> str:
    """Write a difference of shares in percentage points: ``33.0 points``."""
    return f"{share_percent(difference).removesuffix(' %')} points"


WRITERS = {
    Of.COUNT: count,
    Of.NUMBER: number_text,
    Of.SHARE: share_percent,
    Of.POINTS: points_text,
    Of.SECONDS: duration,
}


def cell_text(value: Any, of: Of) -> str:
    """Write a cell: ``12,345``, ``0.1235``, ``81.0 %``, ``3.0 points``, ``12.3 s``, ``yes``; else a dash.

    A value of another kind than its column, such as a word among numbers, is written as it is.
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float) or of not in WRITERS:
        return str(value)
    return WRITERS[of](value)


def is_numeric(of: Of) -> bool:
    """Whether a column is aligned to the right."""
    return of in WRITERS


def _minus(text: str) -> str:
    return text.replace("-", MINUS)


WAYS = {
    "original-to-masked": "from each original record to its nearest masked record",
    "masked-to-original": "from each masked record to its nearest original record",
}
"""Which record is linked to which, in words."""

MOST_STRATA = 12
"""Of more strata than these the summary says only where their counts are."""

BASELINES = {"euclid": "Euclidean distance", "mahalanobis": "classical Mahalanobis distance"}


def heading(result: Json) -> tuple[str, str]:
    """What was asked, in two lines: the files, then the distance and its direction."""
    return files_line(result), f"{family_title(result)}, {WAYS[result['direction']]}"


def files_line(result: Json) -> str:
    """The files, how many records and how many attributes."""
    return f"{sizes_line(result)}, {several(len(result['attributes']), 'attribute')}"


def size_line(name: str, records: int, many: int, what: str) -> str:
    """A file, how many records it has, and how many columns: ``a.csv: 12 records, 3 columns``."""
    return f"{name}: {several(records, 'record')}, {several(many, what)}"


def left_in(identifiers: Sequence[str]) -> str:
    """Warn of columns that name the records; nothing where there are none."""
    named = shown_names(identifiers)
    return named and f"{named}: left in, and name the records; {called('drop')} leaves them out"


def sizes_line(result: Json) -> str:
    """The files, and how many records."""
    records, candidates = result["records"], result["candidates"]
    among = f" with a partner among {count(candidates)} candidates" if candidates != records else ""
    return f"{result['name']}: {count(records)} records{among}"


def family_title(result: Json) -> str:
    """The family of distances in words, with what restricts it."""
    k = (result.get("aggregator_options") or {}).get("k_additive")
    return words_of(str(result["aggregator"])).title + (f", {k}-additive" if k else "")


def proof(fit: Json) -> str:
    """How a search ended, in a word or two; of samples, how sure their limit is; and whose bound it has."""
    said, outer = _ended(fit, fit.get("limit")), fit.get("bound_from")
    return said if outer is None else f"{said}, bound of the {words_of(outer).title}"


def _ended(fit: Json, limit: str | None) -> str:
    if fit.get("confidence") is not None:
        return confident(fit["confidence"])
    if fit["status"] == "optimal":
        return "proven"
    if fit["status"] == "interrupted" or limit == "user":
        return "stopped"
    said = {"time": "time limit", "work": "work limit", "memory": "memory limit", "ties": "ties"}
    return said.get(limit or "", "open")


def sentence(text: str) -> str:
    """With a capital at its beginning, where its first word has none: no word such as pMSE is changed."""
    first = text.partition(" ")[0]
    return text if any(map(str.isupper, first)) else text[:1].upper() + text[1:]


def sum_of_parts(parts: Mapping[str, int]) -> str:
    """What a bound is the sum of."""
    many, largest, closed = (count(parts[key]) for key in ("parts", "largest", "proven"))
    if parts["parts"] == 1:
        return f"the bound is that of one part, the {largest} records that are not out of reach"
    return f"the bound is the sum over {many} parts of at most {largest} records, {closed} of them closed"


def of_all(part: float, total: float, *, weighted: bool = False) -> str:
    """Spell a part of all: ``324 of 400 (81.0 %)``; of sampling weights rounded persons."""
    number = persons if weighted else count
    return f"{number(part)} of {number(total)} ({share_percent(part / total if total else 0.0)})"


def baselines(result: Json) -> Iterator[Block]:
    """What distances link that need no learning."""
    total = result.get("total_weight", result["records"])
    yield pairs(
        *(
            (BASELINES[name], "no time was left to count" if linked is None else of_all(linked, total))
            for name, linked in result["baselines"].items()
        )
    )


def strata(result: Json) -> Iterator[Block]:
    """Linked records of every stratum, where there are few."""
    found: Mapping[str, Json] = result.get("strata") or {}
    if len(found) > MOST_STRATA:
        yield Paragraph(f"{len(found)} strata ({result['stratum']}): the JSON has the records linked in each")
    elif found:
        column, labels = result["stratum"], result.get("labels", {})
        yield pairs(
            *(
                (code_in_words(column, name, labels), of_all(own["linked"], own["records"]))
                for name, own in found.items()
            ),
            title=f"re-identified in each stratum ({name_in_words(column, labels)})",
        )


def how(result: Json) -> str:
    """Engine, margin, seed, workers and seconds of a search."""
    backend = result.get("backend")
    parts = [result["engine"] + (f" on {backend}" if backend else "")]
    if result.get("margin") is not None:
        parts.append(f"margin {result['margin']:g}")
    parts.append(f"seed {result['seed']}")
    if "workers" in result:
        scheduler = result["workers"]["scheduler"]
        where = "" if scheduler is None else f" of {scheduler}"
        parts.append(f"{several(result['workers']['at_start'], 'worker')}{where}")
    return ", ".join([*parts, f"{result['seconds']:.1f} s"])


def family_words(name: str) -> str:
    """A family of distances in words, as it follows "the"."""
    return words_of(name).title


def family_heading(name: str) -> str:
    """The same where it stands alone."""
    return sentence(words_of(name).title)


def table(
    caption: str, columns: Sequence[tuple[str, str, Of]], rows: Sequence[Sequence[Any] | Json]
) -> Table:
    """A table from names, titles and kinds of its columns; a row may be a mapping that has these names."""
    names = [name for name, _, _ in columns]
    cells = [[row[name] for name in names] if isinstance(row, Mapping) else list(row) for row in rows]
    return Table(tuple(Column(*column) for column in columns), cells, caption)


def columns(of: Of, **titles: str) -> list[tuple[str, str, Of]]:
    """Columns of one kind for `table`, from their names and titles."""
    return [(name, title, of) for name, title in titles.items()]


texts, counts, numbers, shares = (partial(columns, of) for of in (Of.TEXT, Of.COUNT, Of.NUMBER, Of.SHARE))


def joined(names: Sequence[str], most: int = 12) -> str:
    """Names in a sentence: ``A, B and C``; of many the first ones and how many more."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def conflicts(result: Json) -> list[str]:
    """What is wrong: claims that contradict each other or the count, or that there is no answer."""
    lines = [f"DISAGREEMENT: {one}" for one in result["disagreements"]]
    return [*lines, f"NO ANSWER: {result['no_answer']}"] if result.get("no_answer") else lines


def agreement(wrong: Sequence[str], claims: str) -> Headline:
    """What is wrong, or how many claim a proof."""
    first, *others = wrong or [f"{claims}; no two contradict each other"]
    return Headline("above" if wrong else "unknown", first, reasons=tuple(others))
