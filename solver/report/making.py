"""How it was made: searches over time, parameters, seeds, versions, hashes, and the exact command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Choice, Code, Number, Numbers, Paragraph
from linkrisk.solver.documents.formats import cell_text, duration
from linkrisk.solver.documents.wording import family_heading, table, texts
from linkrisk.solver.report.results import FamilyResult, Results
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


def how_it_was_made(results: Results) -> Iterator[str | Block]:
    """Everything that is needed to make it again, and to check it."""
    yield "Everything that is needed to make this again, and to check that it is true."
    details, worst = results.details, {} if results.worst is None else results.worst.content
    if details.get("command"):
        yield Code("The command", details["command"])
    yield Numbers("Files and options", tuple(_options({**worst, **details}, alone=not results.families)))
    if files := details.get("files"):
        yield table("The files, to the byte", texts(role="File", name="Name", sha256="SHA-256"), files)
    if "certificates" in details:
        yield _certificates(details["certificates"])
    if results.found:
        options = tuple((family_heading(one.name), tuple(_family(results, one))) for one in results.found)
        yield Choice("Family of distances", options)
    if versions := details.get("versions") or worst.get("versions"):
        yield table("Versions", texts(part="Part", version="Version"), list(versions.items()))


def _options(details: Json, *, alone: bool) -> Iterator[Number]:
    """What was asked; of a sweep `alone` measures and families are names, else they are what was found."""
    for key, words in _SAID.items():
        value = _categorical(details.get(key)) if key == "schema" else details.get(key)
        if value is not None and (alone or key not in ("families", "measures")):
            yield Number(words, _text(key, value))


def _categorical(schema: Json | None) -> list[str] | None:
    """Which attributes are categories, and of what kind."""
    attributes = [] if schema is None else schema["attributes"]
    kinds = ("nominal", "ordinal")
    return [f"{one['name']} ({one['scale']})" for one in attributes if one.get("scale") in kinds] or None


def _text(key: str, value: Any) -> str:
    if key in ("seconds", "time_limit"):
        return duration(value)
    if isinstance(value, list):
        return ("; " if key == "masking" else ", ").join(map(str, value))
    return str(value)


def _certificates(made: list[Json]) -> Block:
    columns = [
        *texts(family="Family of distances", sha256="SHA-256 of the certificate"),
        ("verified", "Verified", Of.FLAG),
        *texts(said="What verify said"),
    ]
    rows = [{**one, "family": family_heading(one["aggregator"])} for one in made]
    caption = "Certificates, checked by code that shares nothing with the search"
    return table(caption, columns, rows) if rows else Paragraph("No certificate was made.")


def _family(results: Results, family: FamilyResult) -> Iterator[Block]:
    content = family.content
    lines = {
        "Status": content["status"],
        "Time taken": duration(content["seconds"]),
        "Seed": cell_text(content.get("seed"), Of.COUNT),
    }
    if (certificate := content.get("certificate")) is not None:
        lines["Certificate"] = "made" if certificate["made"] else f"none: {certificate['reason']}"
    lines |= {f"Phase: {phase}": duration(seconds) for phase, seconds in content["phases"].items()}
    yield Numbers("Search", tuple(Number(words, value) for words, value in lines.items()))
    yield from results.shown("bound", family=family.name)
    if content["parameters"]:
        yield Code("Parameters", dump_json(content["parameters"]))
