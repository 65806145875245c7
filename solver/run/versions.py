"""Collect versions of the program and its libraries, and a digest of its sources that machines compare."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import platform
from pathlib import Path


def library_versions() -> dict[str, str]:
    """Versions of what the numbers depend on."""
    packages = ("linkrisk", *_LIBRARIES)
    return {"python": platform.python_version(), **{name: _version(name) for name in packages}}


_ROOT = Path(__file__).resolve().parents[2]
_ROOMS = ("datasets", "formulations", "solver")
_LIBRARIES = ("numpy", "scipy", "numba", "highspy")
_DIGITS = 8

Stamp = dict[str, str]
"""Versions by the names of what has them."""


@functools.cache
def _digest() -> str:
    """Digest of all sources of the program, as they were when it was first asked for."""
    found = hashlib.sha256()
    for room in _ROOMS:
        for path in sorted((_ROOT / room).rglob("*.py")):
            found.update(path.relative_to(_ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:_DIGITS]


@functools.cache
def stamp() -> Stamp:
    """The program, and what its numbers depend on."""
    known = {"linkrisk": f"{_version('linkrisk', missing='(not installed)')} (sources {_digest()})"}
    python = ".".join(platform.python_version_tuple()[:2])
    libraries = {name: _version(name, missing="(not installed)") for name in _LIBRARIES}
    return {**known, "python": python, **libraries}


def difference(here: Stamp, there: Stamp) -> str | None:
    """What differs first, in words; None where all is the same."""
    for name, version in here.items():
        if there.get(name) != version:
            return f"{name} {there.get(name, 'without a version')}, this machine {version}"
    return None


def _version(name: str, *, missing: str = "not installed") -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return missing
