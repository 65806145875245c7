"""Read and write a protocol as a TOML file: the input, one table for each step, files that steps name."""

from __future__ import annotations

import codecs
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.microdata.formats.number_text import SIGNS, reading
from linkrisk.datasets.microdata.names import parse_pair
from linkrisk.datasets.microdata.numeric import suggestion
from linkrisk.datasets.microdata.schema_files import toml_key, toml_value
from linkrisk.datasets.options.option import PROTOCOL, options_of
from linkrisk.datasets.options.typed import NotSoError, Reader
from linkrisk.solver.options.masking import MaskCommand
from linkrisk.solver.options.suppression import SuppressCommand

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
    """Parse a spelled method; a text that cannot be read stays, to be refused later."""
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


_HEAD = "# Keep this file: with the input it makes the safe file again. Keep it secret: seeds undo masking.\n"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_OF_STEP = ("command", "sha256")


COMMANDS: Mapping[str, Mapping[str, Reader]] = MappingProxyType(
    {
        command: {name: one.kind.typed for name, one in options_of(asked, PROTOCOL).items()}
        for command, asked in (("mask", MaskCommand), ("suppress", SuppressCommand))
    }
)
"""The keywords of the functions, by name; how an output is written is among them."""


@dataclass(frozen=True)
class ProtocolStep:
    """A command that makes a file of a file."""

    command: str  # ``mask`` or ``suppress``
    given: Mapping[str, Any]  # as TOML has it
    keywords: Mapping[str, Any]  # as the function takes it
    sha256: str | None = None  # digest of its output

    @classmethod
    def read(cls, content: Any) -> ProtocolStep:
        """Read a table; DataError where a key or a value does not fit."""
        if not isinstance(content, dict) or content.get("command") not in COMMANDS:
            raise DataError(f"it needs command = one of {', '.join(map(repr, COMMANDS))}")
        command = content["command"]
        readers = COMMANDS[command]
        given = {key: value for key, value in content.items() if key not in _OF_STEP}
        keywords = {}
        for key, value in given.items():
            if key not in readers:
                hint = suggestion(key, (*readers, *_OF_STEP)) or f"; it takes {', '.join(readers)}"
                raise DataError(f"{command} knows no {key!r}{hint}")
            try:
                keywords[key] = readers[key](value)
            except NotSoError as error:
                raise DataError(f"{key} must be {error}, not {toml_value(value)}") from None
        if command == "mask" and "method" not in keywords:
            raise DataError('mask needs method = "...", such as "noise percent=5 attributes=A,B"')
        return cls(command, given, keywords, _digest(content))

    def with_given(self, **more: Any) -> ProtocolStep:
        """The same with more said."""
        readers = COMMANDS[self.command]
        read = {key: readers[key](value) for key, value in more.items()}
        return replace(self, given={**self.given, **more}, keywords={**self.keywords, **read})


@dataclass(frozen=True)
class Protocol:
    """An input, and the steps that make a safe file of it."""

    # a path relative to the folder of the protocol, or the name of a public data set
    file: str
    steps: tuple[ProtocolStep, ...]
    sha256: str | None = None  # digest of the input
    folder: Path = field(default=Path())  # of the protocol
    # ``decimal`` and ``thousands`` of numbers in text files, where they are given
    signs: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | Path) -> Protocol:
        """Read a protocol; DataError, which names the step, where it is none."""
        content = _toml(Path(path))
        for key in content:
            if key not in ("input", "step"):
                raise DataError(
                    f"{path}: there is no {key!r} in a protocol{suggestion(key, ('input', 'step'))}"
                )
        head, steps = content.get("input"), content.get("step", [])
        if not isinstance(head, dict) or not isinstance(head.get("file"), str) or not head["file"]:
            raise DataError(f'{path}: it does not say of what it is; write [input] with file = "..."')
        for key in head:
            if key not in ("file", "sha256", *SIGNS):
                known = "file, sha256, decimal and thousands"
                raise DataError(f"{path}, input: there is no {key!r}; it has {known}")
        signs = {name: str(head[name]) for name in SIGNS if name in head}
        with reading(**signs):  # which refuses other signs
            pass
        if not isinstance(steps, list) or not steps:
            raise DataError(f"{path} has no step; write [[step]] with a command")
        made = []
        for at, step in enumerate(steps, start=1):
            try:
                made.append(ProtocolStep.read(step))
            except DataError as error:
                raise DataError(f"{path}, step {at}: {error}", option=error.option) from None
        return cls(head["file"], tuple(made), _digest(head), Path(path).parent, signs)

    @property
    def files(self) -> list[str]:
        """All files that it names, as seen from the current folder."""
        here = seen_from_here(self.folder)
        return [here(name) for name in (self.file, *chain(*(files_of(step.given) for step in self.steps)))]

    def to_toml(self) -> str:
        """As a file."""
        head = {"file": self.file, **self.signs} | ({"sha256": self.sha256} if self.sha256 else {})
        parts = [_HEAD, _lines("[input]", head)]
        for step in self.steps:
            digest = {"sha256": step.sha256} if step.sha256 else {}
            parts.append(_lines("[[step]]", {"command": step.command, **step.given, **digest}))
        return "\n".join(parts)


def _lines(header: str, values: Mapping[str, Any]) -> str:
    return "\n".join(
        [header, *(f"{toml_key(key)} = {toml_value(value)}" for key, value in values.items()), ""]
    )


def _digest(content: Mapping[str, Any]) -> str | None:
    found = content.get("sha256")
    if found is not None and not (isinstance(found, str) and _DIGEST.fullmatch(found)):
        raise DataError("sha256 must be 64 digits 0-9a-f; correct it, or leave it out")
    return found


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().removeprefix(codecs.BOM_UTF8).decode("utf-8"))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from error
    except (ValueError, RecursionError) as error:  # a TOMLDecodeError says where
        place = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it is not text in UTF-8"
        raise DataError(f"{path} is not valid TOML: {place}; fix the protocol") from error
