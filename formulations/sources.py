"""Our sources: which files a file is made from, a digest of them, and whether they are still what they were.

To read all files takes a tenth of a second. So the digests are kept in a small file, which belongs to these
files as they are: their paths, times and sizes.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

OWN_PACKAGE = "linkrisk"
"""Its files are followed for what else they import, beside those of the package that a kernel is in."""

OWN_ROOMS = ("datasets", "formulations", "solver")
"""Its folders."""

OWN_ROOT = Path(__file__).resolve().parent.parent
DECORATOR = f"{OWN_PACKAGE}.formulations.compiled.kernel"
DIGITS = 16

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<source>[\w.]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n]+)"
    r"|import[ \t]+(?P<modules>[^\n]+))",
    re.MULTILINE,
)


State = tuple[int, int, int, int]


def _states() -> dict[str, State]:
    """Times, size and number of each of our files; the second time is one that no program can set."""
    found: dict[str, State] = {}
    pending = [str(OWN_ROOT / room) for room in OWN_ROOMS]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    found[entry.path] = _state(entry.stat())
                elif entry.name != "__pycache__" and entry.is_dir():
                    pending.append(entry.path)
    return found


def _state(of: os.stat_result) -> State:
    return of.st_mtime_ns, of.st_ctime_ns, of.st_size, of.st_ino


_AT_START = _states()


def has_changed(path: Path) -> bool:
    """Whether a file, or one that it imports, is another one than when this process began.

    What is compiled now may then be of old code, and must not be kept as that of the new.
    """
    files = (file for file in _read_with(path.resolve()) if file.is_relative_to(OWN_ROOT))
    return any(_AT_START.get(str(file)) != _state(file.stat()) for file in files)


def digests_of_kernels(folder: Path | None) -> Mapping[str, str]:
    """Digest of each of our files with kernels, by its path within the project.

    `folder` is where they are kept from process to process. Raises OSError when our files cannot be read, or
    have changed since this process began.
    """
    stamp = hashlib.sha256(repr(sorted(_AT_START.items())).encode()).hexdigest()[:DIGITS]
    tag = sys.implementation.cache_tag
    kept = None if folder is None else folder / f"sources.{tag}.{stamp}.json"
    if kept is not None:
        with contextlib.suppress(OSError, ValueError):
            found: dict[str, str] = json.loads(kept.read_text("utf-8"))
            return found
    found = _digests_now()
    if _states() != _AT_START:
        raise OSError("the sources have changed since this process began")
    if kept is not None:
        with contextlib.suppress(OSError):
            _keep(kept, found)
    return found


def _digests_now() -> dict[str, str]:
    return {
        path.relative_to(OWN_ROOT).as_posix(): digest_of_sources(path)
        for path in map(Path, _AT_START)
        if DECORATOR in _read_now(path)[1]
    }


def _keep(path: Path, digests: Mapping[str, str]) -> None:
    """Write them whole or not at all, and remove those of older sources."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(f".{os.getpid()}")
    half.write_text(json.dumps(digests), "utf-8")
    half.replace(path)
    for old in path.parent.glob(f"sources.{sys.implementation.cache_tag}.*.json"):
        if old != path:
            old.unlink(missing_ok=True)


def digest_of_sources(path: Path) -> str:
    """Digest of a file and of every file of the project that it imports, directly or through others.

    Raises
    ------
    OSError
        When a file cannot be read.
    """
    read = _read_with(path.resolve())
    return hashlib.sha256(b"".join(read[file] for file in sorted(read))).hexdigest()[:DIGITS]


def _read_with(path: Path) -> dict[Path, bytes]:
    """Digests of a file and of every file of the project that it imports."""
    root = next(folder for folder in path.parents if not (folder / "__init__.py").exists())
    package = path.relative_to(root).parts[0]
    folders = {package: root / package, OWN_PACKAGE: OWN_ROOT}
    read: dict[Path, bytes] = {}
    pending = [path]
    while pending:
        file = pending.pop()
        if file not in read:
            read[file], names = _read_now(file)
            pending += [found for name in names for found in _files(name, folders.get(name.split(".")[0]))]
    return read


def _read_now(path: Path) -> tuple[bytes, frozenset[str]]:
    state = path.stat()
    return _read(path, state.st_mtime_ns, state.st_size)


@functools.cache
def _read(path: Path, changed: int, size: int) -> tuple[bytes, frozenset[str]]:  # noqa: ARG001
    """Digest of a file, read again when it has changed, and the modules that its imports may name."""
    content = path.read_bytes()
    matches = _IMPORT.finditer(content.decode("utf-8"))
    return hashlib.sha256(content).digest(), frozenset(name for match in matches for name in _named(match))


@functools.cache
def _files(name: str, folder: Path | None) -> tuple[Path, ...]:
    """The file of a module of the package in this folder, if there is one."""
    if folder is None:
        return ()
    place = folder.joinpath(*name.split(".")[1:])
    return tuple(file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file())


def _named(match: re.Match[str]) -> list[str]:
    """Modules that one import statement may mean: a name behind `import` may be a module or not."""
    source = match["source"]
    names = re.findall(r"(?:^|[,(])\s*([\w.]+)", match["names"] or match["modules"])
    return [source, *(f"{source}.{name}" for name in names)] if source else names
