"""Compile code by numba through one decorator, whose cache belongs to all sources of a kernel.

numba's own cache looks at the file of a kernel only. The kernels that it calls are compiled into it, and so
are the constants that it imports: a change there would leave the old machine code in use. Here the name of a
cached file holds a digest of the kernel's file and of every file of the project that it imports, directly or
not. A run calls few of all kernels: nothing is looked for before one is called, and what is kept is loaded
without the parts of numba that only compiling needs.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
import numpy as np
from llvmlite.binding import get_host_cpu_name  # type: ignore[import-untyped]
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime import rtsys

from linkrisk.formulations.layers import Kernel
from linkrisk.formulations.sources import (
    DIGITS,
    OWN_ROOT,
    digest_of_sources,
    digests_of_kernels,
    has_changed,
)

Function = TypeVar("Function", bound=Callable[..., Any])

_VERSION = sys.implementation.cache_tag

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
    if numba.config.DISABLE_JIT:
        return function
    compiled = Kernel(function, targetoptions=options)
    compiled._cache = _LateCache(function)
    _kernels.append(compiled)
    return compiled


def get_ready() -> None:
    """Prepare what all compiled code runs on, so that no clock counts it."""
    from numba.core.registry import cpu_target

    rtsys.initialize(cpu_target.target_context)


def kernels() -> tuple[Any, ...]:
    """Every kernel of the modules imported so far, as numba's dispatchers."""
    return tuple(_kernels)


def missing() -> tuple[Any, ...]:
    """Kernels that are neither compiled in this process nor kept on disk: their first use takes seconds."""
    return tuple(compiled for compiled in _kernels if not compiled.signatures and not _is_kept(compiled))


def _is_kept(compiled: Any) -> bool:
    cache = compiled._cache.found
    return isinstance(cache, _Cache) and cache.index.exists()


class _CacheFiles(CompileResultCacheImpl):  # type: ignore[misc]
    """numba's names of cached files, with the digest of all sources in them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.digest = _digest(digest_of(Path(inspect.getfile(function))), numba.__version__, np.__version__)
        super().__init__(function)

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """Name without its ending: function, line, Python version, digest."""
        self.prefix = f"{fullname}-"
        return f"{super().get_filename_base(fullname, abiflags)}.{self.digest}"

    def reduce(self, cres: Any) -> Any:
        """Name the environments of what is inside a kernel, whose modules numba would import again."""
        *parts, environments = super().reduce(cres)
        return (*parts, [(one.globals["__name__"], one.consts, one.env_name) for one in environments])

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Load what `reduce` has made."""
        *parts, environments = payload
        return super().rebuild(target_context, (*parts, [_environment(*one) for one in environments]))


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """What machine code knows of Python: its constants. Only code that runs in Python looks at a module."""
    found = lookup_environment(name)
    if found is None:
        found = Environment({"__name__": module})
        found.consts[:] = constants
        found.env_name = name
        Environment._memo[name] = found
    return found


class _Cache(FunctionCache):  # type: ignore[misc]
    """numba's cache of one function, in files that only these very sources can have written."""

    _impl_class = _CacheFiles

    @property
    def index(self) -> Path:
        """The file that lists the compiled versions."""
        return Path(self.cache_path) / f"{self._impl.filename_base}.nbi"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a compiled version; all that numba can compile is not imported for it, which takes 0.3 s."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled version, unless sources have changed meanwhile, and remove older ones."""
        if has_changed(Path(inspect.getfile(self._py_func))):
            return
        super().save_overload(sig, data)
        for path in Path(self.cache_path).glob("*.nb[ic]"):
            if path.name.startswith(self._impl.prefix) and f".{self._impl.digest}." not in path.name:
                path.unlink(missing_ok=True)


class _LateCache:
    """The cache of a kernel, which is looked for when the kernel is first called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @functools.cached_property
    def found(self) -> Any:
        """The cache, or one that keeps nothing where there is no folder to write to, or no source to read."""
        try:
            return _Cache(self._function)
        except (RuntimeError, OSError):
            return NullCache()

    def __getattr__(self, name: str) -> Any:
        """What numba asks of a cache."""
        return getattr(self.found, name)


def digest_of(path: Path) -> str:
    """Digest of a file with kernels and of all that it imports: as kept, where the file is ours."""
    path = path.resolve()
    if not path.is_relative_to(OWN_ROOT):
        return digest_of_sources(path)
    return _own_digests().get(path.relative_to(OWN_ROOT).as_posix()) or digest_of_sources(path)


@functools.cache
def _own_digests() -> dict[str, str]:
    """Digests of all our files with kernels, of whatever modules have been imported so far."""
    try:
        folder = _folder()
    except RuntimeError:  # nothing can be kept
        return dict(digests_of_kernels(None))
    return dict(digests_of_kernels(folder))


def _digest(*parts: str) -> str:
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:DIGITS]


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
        folder = _folder()
        digests = _own_digests().values()
    except (RuntimeError, OSError):  # no folder to write to, or no source to read
        return None
    digest = _digest(*digests, numba.__version__, np.__version__, get_host_cpu_name(), sys.version)
    return folder / f"{name}.{_VERSION}.{digest}.compiled"


def _folder() -> Path:
    """Where what is compiled here is kept; RuntimeError where nothing can be."""
    return Path(CompileResultCacheImpl(_folder).locator.get_cache_path())
