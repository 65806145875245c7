"""How it was made: searches over time, parameters, seeds, versions, hashes, and the exact command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Choice, Code, Number, Numbers, Paragraph, Section
from linkrisk.solver.documents.formats import cell_text, duration
from linkrisk.solver.documents.wording import family_heading, table
from linkrisk.solver.report.content.drawn import drawn, drawn_or
from linkrisk.solver.report.content.results import FamilyResult, Results
from linkrisk.solver.run.result import dump_json
from linkrisk.solver.schemas.keys import Json

_SAID = {
    "name": "Files",
    "alignment": "Records aligned",
    "attributes": "Attributes compared",
    "schema": "Categorical attributes",
    "direction": "Direction",
    "ties": "Ties",
    "standardisation": "Standardisation",
    "missing": "Missing values compared as",
    "masking": "Known masking",
    "weight": "Sampling weights",
    "engine": "Engine",
    "seed": "Seed",
    "time_limit": "Time limit",
    "work_limit": "Work limit",
    "seconds": "Time taken",
    "loss": "Information loss of the map",
    "measures": "Measures",
    "families": "Families of distances",
}


def how_it_was_made(results: Results) -> Section:
    """Everything that is needed to make it again, and to check it."""
    lead = "Everything that is needed to make this again, and to check that it is true."
    return Section("making", "How it was made", lead, tuple(_blocks(results)))


def _blocks(results: Results) -> Iterator[Block]:
    details = results.details
    if details.get("command"):
        yield Code("The command", details["command"])
    yield Numbers("Files and options", tuple(_options(results)))
    if files := details.get("files"):
        columns = [("role", "File", Of.TEXT), ("name", "Name", Of.TEXT), ("sha256", "SHA-256", Of.TEXT)]
        yield table("The files, to the byte", columns, files)
    if "certificates" in details:
        yield from _certificates(details)
    if results.found:
        options = tuple((family_heading(one.name), tuple(_family(results, one))) for one in results.found)
        yield Choice("Family of distances", options)
    versions = _versions(results)
    if versions:
        columns = [("part", "Part", Of.TEXT), ("version", "Version", Of.TEXT)]
        yield table("Versions", columns, list(versions.items()))


def _options(results: Results) -> Iterator[Number]:
    details = {**(results.worst.content if results.worst is not None else {}), **results.details}
    for key, words in _SAID.items():
        value = details.get(key)
        if key == "schema":
            value = _categorical(value)
        if value is None or (results.families and key in ("families", "measures")):
            continue  # of a sweep they are names, of others what was found
        yield Number(words, _text(key, value))


def _categorical(schema: Json | None) -> list[str] | None:
    """Which attributes are categories, and of what kind."""
    attributes = [] if schema is None else schema["attributes"]
    kinds = ("nominal", "ordinal")
    found = [f"{one['name']} ({one['scale']})" for one in attributes if one.get("scale") in kinds]
    return found or None


def _text(key: str, value: Any) -> str:
    if key in ("seconds", "time_limit"):
        return duration(value)
    if isinstance(value, list):
        return ("; " if key == "masking" else ", ").join(str(one) for one in value)
    return str(value)


def _certificates(details: Json) -> Iterator[Block]:
    columns = [
        ("family", "Family of distances", Of.TEXT),
        ("sha256", "SHA-256 of the certificate", Of.TEXT),
        ("verified", "Verified", Of.FLAG),
        ("said", "What verify said", Of.TEXT),
    ]
    rows = [{**one, "family": family_heading(one["aggregator"])} for one in details["certificates"]]
    if rows:
        yield table("Certificates, checked by code that shares nothing with the search", columns, rows)
    else:
        yield Paragraph("No certificate was made.")


def _family(results: Results, family: FamilyResult) -> Iterator[Block]:
    content = family.content
    lines = [
        Number("Status", content["status"]),
        Number("Time taken", duration(content["seconds"])),
        Number("Seed", cell_text(content.get("seed"), Of.COUNT)),
    ]
    if (certificate := content.get("certificate")) is not None:
        said = "made" if certificate["made"] else f"none: {certificate['reason']}"
        lines.append(Number("Certificate", said))
    lines += [Number(f"Phase: {phase}", duration(seconds)) for phase, seconds in content["phases"].items()]
    yield Numbers("Search", tuple(lines))
    yield from drawn_or(drawn(results, "bound", family=family.name), _trace(content))
    if content["parameters"]:
        yield Code("Parameters", dump_json(content["parameters"]))


def _trace(content: Json) -> Iterator[Block]:
    columns = [("seconds", "Time", Of.SECONDS), ("linked", "Found", Of.COUNT), ("bound", "At most", Of.COUNT)]
    rows = [list(row) for row in content["trace"] if None not in row]
    yield table("Attack and bound over time", columns, rows)


def _versions(results: Results) -> Json:
    worst = results.worst
    versions: Json = results.details.get("versions") or (
        {} if worst is None else worst.content.get("versions", {})
    )
    return versions
