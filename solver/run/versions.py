"""Collect versions of the program and its libraries, and a digest of its sources, to compare machines."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import platform
from pathlib import Path


def library_versions() -> dict[str, str]:
    """Collect the versions of all libraries that influence the numbers."""
    packages = ("linkrisk", *_LIBRARIES)
    return {"python": platform.python_version(), **{name: _version(name) for name in packages}}


_ROOT = Path(__file__).resolve().parents[2]
_ROOMS = ("datasets", "formulations", "solver")
_LIBRARIES = ("numpy", "scipy", "numba", "highspy")
_DIGITS = 8

Stamp = dict[str, str]
"""Versions by component."""


@functools.cache
def _digest() -> str:
    """Compute the digest of the program's sources, once per process."""
    found = hashlib.sha256()
    for room in _ROOMS:
        for path in sorted((_ROOT / room).rglob("*.py")):
            found.update(path.relative_to(_ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:_DIGITS]


@functools.cache
def stamp() -> Stamp:
    """Collect the versions of the program and of the libraries that influence the numbers."""
    known = {"linkrisk": f"{_version('linkrisk', missing='(not installed)')} (sources {_digest()})"}
    python = ".".join(platform.python_version_tuple()[:2])
    libraries = {name: _version(name, missing="(not installed)") for name in _LIBRARIES}
    return {**known, "python": python, **libraries}


def difference(here: Stamp, there: Stamp) -> str | None:
    """Describe the first difference of two stamps; None where they are equal."""
    for name, version in here.items():
        if there.get(name) != version:
            return f"{name} {there.get(name, 'without a version')}, this machine {version}"
    return None


@functools.cache
def _version(name: str, *, missing: str = "not installed") -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return missing
