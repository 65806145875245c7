"""Compile code by numba through one decorator, whose cache belongs to all sources of a kernel.

numba's own cache looks at the file of a kernel only. The kernels that it calls are compiled into it, and so
are the constants that it imports: a change there would leave the old machine code in use. Here the name of a
cached file holds a digest of the kernel's file and of every file of the project that it imports, directly or
not.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
import numpy as np
from llvmlite.binding import get_host_cpu_name  # type: ignore[import-untyped]
from numba.core.caching import CompileResultCacheImpl, FunctionCache

Function = TypeVar("Function", bound=Callable[..., Any])

OWN_PACKAGE = "linkrisk"
"""Its files are followed for what else they import, beside those of the package that a kernel is in."""

OWN_ROOMS = ("datasets", "formulations", "solver")
"""Its folders."""

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<source>[\w.]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n]+)"
    r"|import[ \t]+(?P<modules>[^\n]+))",
    re.MULTILINE,
)
_DIGITS = 16
_VERSION = sys.implementation.cache_tag
_OUR_ROOT = Path(__file__).resolve().parent.parent

_kernels: list[Any] = []


@overload
def kernel(function: Function) -> Function: ...


@overload
def kernel(*, inline: str = ..., fastmath: set[str] = ...) -> Callable[[Function], Function]: ...


def kernel(function: Function | None = None, **options: Any) -> Any:
    """Have numba compile a function at its first use, without Python's lock, and keep the result.

    Where neither the folder of the source nor the user's cache folder can be written, nothing is kept and
    every process compiles again.

    Parameters
    ----------
    function : callable
        What to compile.
    **options
        Further options of `numba.njit`: ``inline``, ``fastmath``.
    """
    if function is None:
        return functools.partial(kernel, **options)
    compiled = numba.njit(nogil=True, **options)(function)
    with contextlib.suppress(RuntimeError, OSError):  # no folder to write to, or no source to read
        compiled._cache = _Cache(function)
    _kernels.append(compiled)
    return compiled


def kernels() -> tuple[Any, ...]:
    """Every kernel of the modules imported so far, as numba's dispatchers."""
    return tuple(_kernels)


def missing() -> tuple[Any, ...]:
    """Kernels that are neither compiled in this process nor kept on disk: their first use takes seconds."""
    return tuple(compiled for compiled in _kernels if not compiled.signatures and not _is_kept(compiled))


def _is_kept(compiled: Any) -> bool:
    cache = compiled._cache
    return isinstance(cache, _Cache) and cache.index.exists()


class _CacheFiles(CompileResultCacheImpl):  # type: ignore[misc]
    """numba's names of cached files, with the digest of all sources in them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.digest = digest_of_sources(Path(inspect.getfile(function)))
        super().__init__(function)

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """Name without its ending: function, line, Python version, digest."""
        self.prefix = f"{fullname}-"
        return f"{super().get_filename_base(fullname, abiflags)}.{self.digest}"


class _Cache(FunctionCache):  # type: ignore[misc]
    """numba's cache of one function, in files that only these very sources can have written."""

    _impl_class = _CacheFiles

    @property
    def index(self) -> Path:
        """The file that lists the compiled versions."""
        return Path(self.cache_path) / f"{self._impl.filename_base}.nbi"

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled version, and remove those of older sources."""
        super().save_overload(sig, data)
        for path in Path(self.cache_path).glob("*.nb[ic]"):
            if path.name.startswith(self._impl.prefix) and f".{self._impl.digest}." not in path.name:
                path.unlink(missing_ok=True)


def digest_of_sources(path: Path) -> str:
    """Digest of a file and of every file of the project that it imports, directly or through others.

    Raises
    ------
    OSError
        When a file cannot be read.
    """
    path = path.resolve()
    root = next(folder for folder in path.parents if not (folder / "__init__.py").exists())
    package = path.relative_to(root).parts[0]
    folders = {package: root / package, OWN_PACKAGE: _OUR_ROOT}
    read: dict[Path, bytes] = {}
    pending = [path]
    while pending:
        file = pending.pop()
        if file not in read:
            state = file.stat()
            read[file], names = _read(file, state.st_mtime_ns, state.st_size)
            pending += [found for name in names for found in _files(name, folders.get(name.split(".")[0]))]
    versions = f"{numba.__version__} {np.__version__}".encode()
    contents = (read[file] for file in sorted(read))
    return hashlib.sha256(b"".join((versions, *contents))).hexdigest()[:_DIGITS]


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


def mark(name: str) -> None:
    """Note that everything called `name` has been compiled, from the sources as they are, on this machine.

    What was noted under that name for other sources is forgotten.
    """
    path = _mark(name)
    if path is None:
        return
    with contextlib.suppress(OSError):
        path.touch()
        for old in path.parent.glob(f"{name}.{_VERSION}.*.compiled"):
            if old != path:
                old.unlink(missing_ok=True)


def is_marked(name: str) -> bool:
    """Whether `mark` was called, for these very sources, on this machine; False where nothing can be kept."""
    path = _mark(name)
    return path is not None and path.exists()


def _mark(name: str) -> Path | None:
    """Where to note it: a file whose name holds a digest of all kernels and of what they run on."""
    try:
        folder = Path(_CacheFiles(_mark).locator.get_cache_path())
        parts = [*_digests_of_kernels(), numba.__version__, np.__version__, get_host_cpu_name(), sys.version]
    except (RuntimeError, OSError):  # no folder to write to, or no source to read
        return None
    digest = hashlib.sha256(" ".join(parts).encode()).hexdigest()[:_DIGITS]
    return folder / f"{name}.{_VERSION}.{digest}.compiled"


@functools.cache
def _digests_of_kernels() -> tuple[str, ...]:
    """Digests of all files of the project with kernels, of whatever modules have been imported so far."""
    files = [path for room in OWN_ROOMS for path in sorted((_OUR_ROOT / room).rglob("*.py"))]
    states = [(path, path.stat()) for path in files]
    return tuple(
        digest_of_sources(path)
        for path, state in states
        if f"{__name__}.{kernel.__name__}" in _read(path, state.st_mtime_ns, state.st_size)[1]
    )
