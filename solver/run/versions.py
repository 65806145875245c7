"""Which versions made a number."""

from __future__ import annotations

import importlib.metadata
import platform


def library_versions() -> dict[str, str]:
    """Versions of what the numbers depend on."""
    packages = ("linkrisk", "numpy", "scipy", "numba", "highspy")
    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return versions
