"""What is said of `risk`, and of one measure, in short; and how the findings of measures are written."""

from __future__ import annotations

from collections.abc import Iterator

from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.documents.document import Document, Headline, Number, Numbers
from linkrisk.solver.documents.formats import count, significant
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.wording import files_line, sentence
from linkrisk.solver.measures.verdict import grounds_of, sentence_of
from linkrisk.solver.report.content.meanings import meaning_of
from linkrisk.solver.report.content.results import Results
from linkrisk.solver.report.short.worst_case import bar, worst_of_all
from linkrisk.solver.run.percent import percent
from linkrisk.solver.run.worst_sentence import ends_said
from linkrisk.solver.schemas.keys import Json

EQUAL = "equal-weights"
FAMILY_KEYS = ("worst_case_", "held_out_", "rise_")
"""Beginnings of keys of findings that end in a family."""

_MANY = 10_000.0
"""From here on numbers are written without decimals."""

_DIRECTIONS = {"higher": "higher is worse", "lower": "lower is worse"}


def measured(result: Json) -> Document:
    """Of the JSON of `risk`: the verdict, the findings of every measure, and what has to be known."""
    results, verdict = Results.of(result), result["verdict"]
    measures = [
        [Numbers(results.title(name), tuple(_findings(content)))]
        for name, content in result["measures"].items()
    ]
    lacking = pairs(*result["not_measured"].items(), title="Not measured")
    return short(
        *measures,
        [lacking] if lacking.numbers else [],
        said=Headline(
            verdict["answer"],
            f"{sentence(sentence_of(verdict))}.",
            worst_of_all(results),
            tuple(grounds_of(verdict)),
            bar(results),
        ),
        asked=(files_line(result),),
        notes=[*result["notes"], *(note for one in result["measures"].values() for note in one["notes"])],
        how=f"seed {result['seed']}, {result['seconds']:.1f} s",
    )


def measure(result: Json) -> Document:
    """Of the JSON of one measure, with its name and what it says for a reader."""
    said = Headline("unknown", result["measure"], result["paragraph"])
    return short([Numbers("", tuple(_findings(result)))], said=said, notes=result["notes"])


def _findings(content: Json) -> Iterator[Number]:
    for one in content["findings"]:
        yield number_of(one)


def number_of(finding: Json) -> Number:
    """A finding of a measure with its interval, which way is worse, and what it means."""
    unit, low, high = finding["unit"], finding["low"], finding["high"]
    interval, kind, meaning = "", finding["kind"], meaning_of(finding["key"])
    if kind is not None:
        interval = ends_said(
            low, high, "for certain" if kind == "certain" else kind, lambda end: written(end, unit),
            certain=kind == "certain", share=unit == "share",
        )  # fmt: skip
    words = _in_words(finding["key"], finding.get("words") or meaning.words)
    direction = _DIRECTIONS.get(finding["worse"], "")
    return Number(sentence(words), written(finding["value"], unit), interval, direction, meaning.says)


def written(value: float | None, unit: str) -> str:
    """A number with its unit."""
    if value is None:
        return "not known"
    if unit == "share":
        return percent(value)
    if unit in ("records", "persons"):
        return f"{count(value if unit == 'records' else round(value))} {unit}"
    text = count(round(value)) if abs(value) >= _MANY else significant(value)
    return f"{text} {unit}" if unit == "percentage points" else text


def _in_words(key: str, line: str) -> str:
    """A line that begins with the name of a family, as options have it, begins with words instead."""
    name = next(
        (key.removeprefix(start).replace("_", "-") for start in FAMILY_KEYS if key.startswith(start)), ""
    )
    if not name or not line.startswith(name):
        return line
    return ("equal weights" if name == EQUAL else words_of(name).title) + line.removeprefix(name)
