"""How a result was made, as names and texts: everything needed to make it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.report.fields import Fields
from linkrisk.solver.report.formats import NOTHING, cell, count, duration

_DIRECTIONS = {
    "original-to-masked": "original to masked: each original record is linked to its nearest masked record, "
    "as an intruder who knows the original values would",
    "masked-to-original": "masked to original: each masked record is linked to its nearest original record",
}
_STANDARDISATIONS = {"own": "each file by its own mean and standard deviation"}
_DIFFERENCES = {
    "squared": "squared difference of standardised values, attribute by attribute",
    "signed": "signed difference of standardised values, attribute by attribute",
    "absolute": "absolute difference of standardised values, attribute by attribute",
}
_TIES = {
    "strict": "strict: the partner must be nearer than every other candidate",
    "share": "share: candidates that equal the partner on every attribute share the link with it",
}


def family_title(details: Mapping[str, Any]) -> str:
    """Return the family of distances in words, with what restricts it."""
    k = details["aggregator_options"].get("k_additive")
    return words_of(str(details["aggregator"])).title + (f", {k}-additive" if k else "")


def aggregator_title(result: Fields) -> str:
    """Return the aggregator in words; its own name when it has no other."""
    return words_of(result.text("aggregator")).title


def how_it_was_made(result: Fields) -> list[tuple[str, str]]:
    """Return the pairs of a name and a text, in the order of the page."""
    return [
        ("Files", result.text("name")),
        ("Attributes", ", ".join(result.texts("attributes"))),
        *_categories(result),
        ("Direction", _in_words(result, "direction", _DIRECTIONS)),
        ("Standardisation", _in_words(result, "standardisation", _STANDARDISATIONS)),
        ("Differences", _in_words(result, "differences", _DIFFERENCES)),
        ("Ties", _in_words(result, "ties", _TIES)),
        ("Distance learned", aggregator_title(result) + _options(result.nested("aggregator_options"))),
        ("Engine", f"{result.text('engine')}, backend {cell(result.value('backend'))}"),
        ("Model", _model(result.optional_nested("model"))),
        ("Time limit", _limit(result.optional_number("time_limit"))),
        ("Time taken", _time_taken(result)),
        *_certificate(result),
        ("Seed", cell(result.value("seed"))),
        ("Threads", count(result.number("threads"))),
        ("Versions", _versions(result)),
    ]


def _categories(result: Fields) -> list[tuple[str, str]]:
    """Return which attributes are categorical and how they were masked, where a result says so."""
    found = []
    if "schema" in result:
        rows = [
            Fields(row) for row in result.nested("schema").sequence("attributes") if isinstance(row, dict)
        ]
        scales = [f"{row.text('name')} ({row.text('scale')})" for row in rows]
        found.append(("Categorical attributes", ", ".join(scales)))
    if "masking" in result:
        found.append(("Known masking", "; ".join(result.texts("masking"))))
    return found


def _certificate(result: Fields) -> list[tuple[str, str]]:
    """Return whether the bound can be checked by others, where a certificate was asked for."""
    certificate = result.optional_nested("certificate") if "certificate" in result else None
    if certificate is None:
        return []
    made = certificate.value("made") is True
    return [("Certificate", "made" if made else f"none: {certificate.text('reason')}")]


def _in_words(result: Fields, key: str, words: dict[str, str]) -> str:
    return words.get(result.text(key), result.text(key))


def _options(options: Fields) -> str:
    given = [f"{key} = {cell(options.value(key))}" for key in options if options.value(key) is not None]
    return f" ({', '.join(given)})" if given else ""


def _model(model: Fields | None) -> str:
    return ", ".join(f"{count(model.number(key))} {key}" for key in model) if model else NOTHING


def _limit(seconds: float | None) -> str:
    return "none" if seconds is None else duration(seconds)


def _time_taken(result: Fields) -> str:
    phases = [f"{phase} {duration(seconds)}" for phase, seconds in result.numbers("phases").items()]
    return duration(result.number("seconds")) + (f": {', '.join(phases)}" if phases else "")


def _versions(result: Fields) -> str:
    versions = result.nested("versions")
    return ", ".join(f"{key} {cell(versions.value(key))}" for key in versions)
