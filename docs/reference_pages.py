"""The part of the reference that is made from the code: the API, the options, the JSON of results.

    python docs/reference_pages.py

writes it beside `glossary.md`, as building the site does. None of it is kept in the repository.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import linkrisk
from linkrisk.solver.options.command_line import table
from linkrisk.solver.options.operations import OPERATIONS

HERE = Path(__file__).resolve().parent
SCHEMAS = HERE / "schemas"

MODULES = ("data", "masking", "distances", "linkers", "measures", "tables", "charts")

_OPTIONS = """# Options of commands and functions

What can each command and function be asked? Every option on the command line, its keyword in Python and its
default, from the declarations that `--help`, keywords, forms of the app and messages come from. Commands that
read data also take `--decimal SIGN` and `--thousands SIGN`, for how numbers are written in text.
"""

_JSON = """# JSON of results

What do the keys of a result mean? Each result that is written with `--json`, or returned by `to_dict()`, has
a `format` and follows one of these JSON schemas (draft 2020-12), which lie in `docs/schemas`. It is strict
JSON: no NaN, `null` where there is no number. A key with ○ may lack; one with ● is *public*: a report for
readers outside may have it, and no other.
"""

_API = """# Python API

What does `import linkrisk` offer? The functions of the commands, their results, and modules with the parts
they are made of. Whatever is not named here may change from version to version.
"""


def options() -> str:
    """Return the page of all declared options, a table for each command."""
    parts = [_OPTIONS]
    for command, place in OPERATIONS.items():
        module, _, name = place.partition(":")
        parts.append(f"## `{command}`\n\n{table(getattr(import_module(module), name))}\n")
    return "\n".join(parts)


def results() -> str:
    """Return the page of the schemas of results, a table for each object in them."""
    parts, said = [_JSON], {}
    for path in sorted(SCHEMAS.glob("*.json")):
        kind, schema = path.stem, json.loads(path.read_text(encoding="utf-8"))
        meaning = schema.get("description", f"The result whose `format` is `{schema['title']}`.")
        parts.append(f"## `{kind}`\n\n{meaning}\n")
        for name, one in _objects(schema):
            rows = tuple(_rows(one))
            if (name, rows) in said:
                parts.append(f"**{name}**: as in [`{said[name, rows]}`](#{said[name, rows]}).\n")
            elif rows:
                said[name, rows] = kind
                head = [f"**{name}**\n"] if name else []
                parts.append("\n".join([*head, "| key | type | meaning |", "|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def _objects(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The result itself, in each of its forms, and what stands inside of it under a name."""
    forms = [one for one in schema.get("anyOf", [schema]) if "properties" in one]
    for number, one in enumerate(forms, 1):
        yield (f"Form {number} of {len(forms)}" if len(forms) > 1 else ""), one
    for name, one in schema.get("$defs", {}).items():
        if "properties" in one:
            yield name, one


def _rows(schema: dict[str, Any]) -> Iterator[str]:
    required = schema.get("required", ())
    for name, one in schema.get("properties", {}).items():
        marks = ("" if name in required else " ○") + (" ●" if one.get("public") else "")
        yield f"| `{name}`{marks} | {_kind(one)} | {one.get('description', '')} |"


def _kind(schema: dict[str, Any]) -> str:
    """A type in a few words."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if "enum" in schema:
        return ", ".join("`null`" if value is None else f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type", "any")
    if kind == "array" and "items" in schema:
        return f"list of {_kind(schema['items'])}"
    return " or ".join(kind) if isinstance(kind, list) else kind


def api() -> str:
    """Return the page of what `linkrisk` offers: functions, then classes, then its modules."""
    names = sorted(name for name in linkrisk.__all__ if name not in MODULES)
    things = {name: getattr(linkrisk, name) for name in names}
    functions = [name for name, one in things.items() if not isinstance(one, type)]
    errors = [n for n, one in things.items() if isinstance(one, type) and issubclass(one, Exception)]
    classes = [name for name in names if name not in functions and name not in errors]
    parts = [_API]
    for title, group in (
        ("Functions", functions),
        ("Results and other classes", classes),
        ("Errors", errors),
    ):
        parts.append(f"## {title}\n")
        parts += [_entry("linkrisk", name, things[name]) for name in group]
    for module, shown in offered().items():
        home = import_module(f"linkrisk.{module}")
        parts.append(f"## `linkrisk.{module}`\n\n{(home.__doc__ or '').strip()}\n")
        parts += [_entry(f"linkrisk.{module}", name, getattr(home, name)) for name in shown]
    return "\n".join(parts)


def offered() -> dict[str, list[str]]:
    """Return what each public module offers beside what `linkrisk` itself does."""
    return {name: _further(import_module(f"linkrisk.{name}")) for name in MODULES}


def _further(module: Any) -> list[str]:
    """Names of its own callables, in order."""
    own = [name for name in dir(module) if not name.startswith("_") and name not in linkrisk.__all__]
    return sorted(
        name for name in own if getattr(getattr(module, name), "__module__", "").startswith("linkrisk")
    )


def _entry(module: str, name: str, thing: Any) -> str:
    directive = "autoclass" if isinstance(thing, type) else "autofunction"
    members = "\n   :members:" if directive == "autoclass" else ""
    return f"```{{eval-rst}}\n.. {directive}:: {module}.{name}{members}\n```\n"


def write(folder: Path) -> None:
    """Write the pages, each only where it has changed: what is built from it is then built again."""
    folder.mkdir(exist_ok=True)
    for name, text in (("options", options()), ("json", results()), ("api", api())):
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(HERE / "reference")
