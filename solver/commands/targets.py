"""Output files, checked before the work is done rather than after."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from linkrisk.solver.run.errors import UsageError

_INPUTS = ("original", "masked", "parameters", "schema", "file", "decisions", "plan", "saved")
_TABLES = ("table", "links", "clerical")


def check_targets(arguments: argparse.Namespace, *names: str) -> None:
    """Refuse output files that could not be written in the end, or would overwrite an input.

    Parameters
    ----------
    arguments : Namespace
        The parsed arguments.
    names : str
        Those of them that name output files, such as ``json`` for `--json`.

    Raises
    ------
    UsageError
        With the option, the file and how to fix it.
    """
    given = {name: getattr(arguments, name, None) or [] for name in _INPUTS}
    taken = {
        _real(path): name
        for name, paths in given.items()
        for path in ([paths] if isinstance(paths, str) else paths)  # of some there are several
    }
    for name, path in named_paths(arguments, names):
        option = "--" + name.replace("_", "-")
        _check_target(path, option, _suffixes(name))
        if Path(path).exists() and not Path(path).is_file():
            continue  # a device such as /dev/null takes anything, any number of times
        other = taken.setdefault(_real(path), name)
        if other in _INPUTS:
            raise UsageError(f"{option} {path} would overwrite the --{other} file: give another name")
        if other != name:
            raise UsageError(f"--{other} and {option} both name {path}: give each a different file")


def paths_of(arguments: argparse.Namespace, name: str) -> list[str]:
    """The files that an option names: none, one, or several where it may be given several times."""
    given: str | list[str] | None = getattr(arguments, name, None)
    return [given] if isinstance(given, str) else given or []


def named_paths(arguments: argparse.Namespace, names: Sequence[str]) -> list[tuple[str, str]]:
    """Each file that options name, with the name of its option."""
    return [(name, path) for name in names for path in paths_of(arguments, name)]


def _suffixes(name: str) -> tuple[str, ...]:
    """How the file of an option has to end; empty where it may end in any way."""
    if name in _TABLES:
        from linkrisk.datasets.microdata.formats.registry import known_suffixes

        return known_suffixes(to_write=True)
    if name == "write_model":
        from linkrisk.solver.backends.model_file import SUFFIXES

        return SUFFIXES
    return ()


def _check_target(path: str, option: str, suffixes: tuple[str, ...]) -> None:
    if not path:
        raise UsageError(f"{option} needs a file name, not an empty text")
    target, folder = Path(path), Path(path).parent
    if target.is_dir():
        raise UsageError(f"cannot write {option} {path}: it is a folder; give a file name")
    if suffixes and target.suffix.lower() not in suffixes:
        raise UsageError(f"cannot write {option} {path}: end the name in {_either(suffixes)}")
    if not folder.is_dir():
        raise UsageError(f"cannot write {option} {path}: the folder {folder} does not exist; create it first")
    if not target.exists() and not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(
            f"cannot write {option} {path}: the folder {folder} is not writable; choose another one"
        )


def _either(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _real(path: str) -> str:
    return os.path.realpath(path)
