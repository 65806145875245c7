"""Compile a kernel and the kernels that it calls as one program.

numba by itself makes machine code of every function that a kernel calls, with two ways to call it from
outside, though nobody does: a third of all that compiling takes. Here a kernel that Python calls is a program
with machine code; a kernel that it calls is a layer of it, of which only the text of LLVM is made. Some are
both: each is made when it is needed first.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar

from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher

_ENVIRONMENT = "_ZN08NumbaEnv"
"""How numba begins the names under which machine code finds the Python side of each function in it."""


class _LayerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Text of LLVM that programs are made of; there is no machine code of it alone."""

    @property
    def codegen(self) -> _WithoutCode:
        """What numba tells where the Python side of the function is: later, to each program."""
        return _WithoutCode()

    def finalize(self) -> None:
        """Take in the text of what is called, and optimise it.

        Left to the program alone, it would take 2 s less in a fit, and inner loops would be a fifth slower:
        there they would still count references, which numba removes in between.
        """
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._optimize_final_module()
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        """None: 0."""
        self._ensure_finalized()
        return 0


class _WithoutCode:
    """Stands for numba's code generator where nothing is generated."""

    def set_env(self, name: str, environment: object) -> None:
        """Nothing: no machine code looks for it yet."""


class _ProgramLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Machine code of a kernel and of all kernels that it calls."""

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for name in (one.name for one in self._final_module.global_variables):
            environment = lookup_environment(name) if name.startswith(_ENVIRONMENT) else None
            if environment is not None:
                self._codegen.set_env(name, environment)


class _Program(Compiler):  # type: ignore[misc]
    """numba's compiler, which makes a program."""

    library: ClassVar[type[JITCodeLibrary]] = _ProgramLibrary

    def __init__(self, typing: Any, target: Any, library: None, *rest: Any) -> None:  # noqa: ARG002
        made = self.library(target.codegen(), "kernel")
        made.enable_object_caching()
        super().__init__(typing, target, made, *rest)

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """Compile, without looking for garbage meanwhile: there is little, and looking takes a sixth."""
        with _uncollected():
            return super().compile_extra(function)


class _Layer(_Program):
    """numba's compiler, which makes a layer of a program."""

    library = _LayerLibrary


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A function that is compiled when it is first called, as a program from Python, as a layer from another.

    Parameters
    ----------
    function : callable
        What to compile.
    locals : None
        For numba, which names its parameters so.
    targetoptions : mapping
        Options of `numba.njit`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        locals: None = None,  # noqa: A002
        targetoptions: Mapping[str, Any] | None = None,
    ) -> None:
        options = {"nogil": True, "nopython": True, "boundscheck": None, **(targetoptions or {})}
        super().__init__(function, locals, {**options, "no_cfunc_wrapper": True}, _Program)

    @cached_property
    def layer(self) -> CPUDispatcher:
        """What other kernels call."""
        options = {**self.targetoptions, "no_cpython_wrapper": True}
        return CPUDispatcher(self.py_func, None, options, _Layer)

    @property
    def _numba_type_(self) -> Any:
        """What numba takes it for where it meets the name in another kernel."""
        return types.Dispatcher(self.layer)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Put off the search for garbage in cycles."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
