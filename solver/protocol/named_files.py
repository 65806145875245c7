"""Files that the steps of a protocol name, as seen from another folder."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.microdata.names import parse_pair
from linkrisk.datasets.options.option import PROTOCOL, options_of
from linkrisk.solver.options.operations.mask import MaskCommand
from linkrisk.solver.options.operations.suppress import SuppressCommand

Rename = Callable[[str], str]

_FORMS = {
    name: one.kind.metavar
    for asked in (MaskCommand, SuppressCommand)
    for name, one in options_of(asked, PROTOCOL).items()
}
"""How the values of a step are written as words: those of files are ``FILE``, or ``A=FILE`` by name."""


def seen_from_here(folder: Path) -> Rename:
    """Names that are seen from a folder, as seen from the current one."""
    return lambda name: name if folder == Path() else str(folder / name)


def seen_from(folder: Path) -> Rename:
    """Names that are seen from the current folder, as seen from another one; full names stay."""
    here = folder.resolve() == Path.cwd()
    return lambda name: name if here or Path(name).is_absolute() else os.path.relpath(name, folder)


def renamed(given: Mapping[str, Any], rename: Rename) -> dict[str, Any]:
    """What a step says, with other names of its files."""
    found = dict(given)
    for key, value in given.items():
        if _FORMS.get(key) == "A=FILE":
            found[key] = {name: rename(path) for name, path in value.items()}
        elif _FORMS.get(key) == "FILE":
            found[key] = rename(value)
    if "method" in found:
        texts = [found["method"]] if isinstance(found["method"], str) else found["method"]
        found["method"] = [_method(text, rename) for text in texts]
    return found


def files_of(given: Mapping[str, Any]) -> list[str]:
    """The files that a step names."""
    found: list[str] = []

    def noted(name: str) -> str:
        found.append(name)
        return name

    renamed(given, noted)
    return found


def _method(text: str, rename: Rename) -> str:
    """A spelled method; a text that cannot be read stays, for whoever says so."""
    try:
        name, *settings = shlex.split(text)
    except ValueError:
        return text
    known = METHODS[name].parameters if name in METHODS else {}
    words = []
    for setting in settings:
        key, mark, value = setting.partition("=")
        form = known[key].kind.metavar if key in known else ""
        path = parse_pair(value)[1] if "=FILE" in form else value
        before = value.removesuffix(path)
        words.append(f"{key}={before}{rename(path)}" if mark and path and "FILE" in form else setting)
    return shlex.join([name, *words])
