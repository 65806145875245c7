"""Decorator that gives a function the declared options of its request as keywords."""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, Concatenate, ParamSpec, TypeVar, get_type_hints

from linkrisk.datasets.options.option import PYTHON, Option, options_of
from linkrisk.solver.options import types
from linkrisk.solver.options.checks import check_asked

P = ParamSpec("P")
O = TypeVar("O")  # noqa: E741
R = TypeVar("R")

_WIDTH = 105


def taking(operation: Callable[P, O]) -> Callable[[Callable[[O], R]], Callable[P, R]]:
    """Give a function the options of an operation as its keywords, in signature and docstring.

    An unknown keyword is refused with a TypeError that says which one may be meant. In the docstring,
    ``{options}`` stands where they are explained.

    `operation`: the dataclass that declares them; the function takes one of these.
    """
    known = _taken(operation)  # type: ignore[arg-type]

    def made(body: Callable[[O], R]) -> Callable[P, R]:
        @functools.wraps(body)
        def call(*args: P.args, **given: P.kwargs) -> R:
            _check_known(body.__name__, given, list(known))
            asked = _asked(operation, body.__name__, args, given)
            check_asked(asked)
            return body(asked)

        hints, result = get_type_hints(operation, localns=vars(types)), body.__annotations__["return"]
        call.__annotations__ = {**{name: hints[name] for name in known}, "return": result}
        call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [*map(_parameter, known.values())], return_annotation=result
        )
        call.__doc__ = (body.__doc__ or "").replace("{options}", docstring(operation).lstrip())  # type: ignore[arg-type]
        return call

    return made


def keeping(operation: Callable[P, Any]) -> Callable[Concatenate[Any, P], None]:
    """Make the `__init__` of an estimator, which keeps what it is given, as scikit-learn wants it."""
    known = _taken(operation)  # type: ignore[arg-type]

    def init(self: Any, /, *args: P.args, **given: P.kwargs) -> None:
        _check_known(type(self).__name__, given, list(known))
        asked = _asked(operation, type(self).__name__, args, given)
        for name in known:
            setattr(self, name, getattr(asked, name))

    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    init.__signature__ = inspect.Signature([own, *map(_parameter, known.values())])  # type: ignore[attr-defined]
    return init


def _asked(operation: Callable[..., O], function: str, args: tuple[Any, ...], given: dict[str, Any]) -> O:
    """The request; what is lacking is said of the function that was called, not of the dataclass."""
    try:
        return operation(*args, **given)
    except TypeError as error:
        raise TypeError(re.sub(r"^\w+\.__init__", function, str(error))) from None


def _taken(operation: type[Any]) -> dict[str, Option]:
    """What a function takes, first what needs no keyword."""
    known = options_of(operation, PYTHON)
    first = [one.name for one in fields(operation) if one.name in known and known[one.name].positional]
    return {name: known[name] for name in dict.fromkeys([*first, *known])}


def _check_known(function: str, given: Iterable[str], known: list[str]) -> None:
    """Refuse a keyword that there is not, with the one that may be meant."""
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]!r}?" if close else f"it takes {', '.join(known)}"
            raise TypeError(f"{function}() takes no {name!r}: {hint}")


def _parameter(one: Option) -> inspect.Parameter:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if one.positional else inspect.Parameter.KEYWORD_ONLY
    default = inspect.Parameter.empty if one.required else one.default
    return inspect.Parameter(one.name, kind, default=default, annotation=one.annotation)


def docstring(operation: type[Any]) -> str:
    """Explain the options of an operation as a docstring does, four blanks from the left."""
    known = _taken(operation)
    others = {name: f"`{name}`" for name in options_of(operation)}
    lines = []
    for name, one in known.items():
        of_column = one.kind.field == "column" and "column" not in one.help
        said = one.doc or (f"column: {one.help}" if of_column else one.help)
        text = one.filled(said, others, "``{}``").removesuffix(".")
        optional = ", optional" if one.default is None else ""
        lines.append(f"    {name} : {_type_shown(one)}{optional}")
        lines += textwrap.wrap(
            f"{text[:1].upper()}{text[1:]}.", _WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8
        )
    return "\n".join(lines)


def _type_shown(one: Option) -> str:
    """Spell a type: ``float, str or None``; without None where that is the default."""
    parts = [part.strip() for part in _OUTER_BAR.split(one.annotation)]
    if one.default is None:
        parts = [part for part in parts if part != "None"]
    if one.choices and not isinstance(one.choices, str):
        parts = ["str" if part.endswith("Name") else part for part in parts]
    shown = [_IN_WORDS.get(part, part) for part in parts]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


_OUTER_BAR = re.compile(r" \| (?![^\[]*\])")
"""Between the types of a union, not those in brackets."""

_IN_WORDS = {
    "Sequence[Hierarchy | str]": "sequence of Hierarchy or str",
    "Sequence[str | MaskingMethod]": "sequence of str or MaskingMethod",
    "Sequence[str]": "sequence of str",
    "TableLike": "path, frame (pandas, polars, pyarrow) or ndarray of shape (n, a)",
    "FileOrResult": "path, frame, ndarray of shape (n, a), result or mapping",
    "SchemaLike": "path, mapping or Schema",
    "Masking": "sequence of str",
    "Reporter": "callable",
    "Tables": "sequence of sequence of str, or mapping of tuples of str to float",
    "Threshold": "float, or mapping of int to float",
    "Mapping[str, int]": "mapping of str to int",
    "Mapping[str, float]": "mapping of str to float",
    "Mapping[str, Sequence[str]]": "mapping of str to sequence of str",
    "TableSource": "path, frame, StoredTable or MadeTable",
    "Sequence[Frame]": "several of these",
    "Sequence[TableSource]": "sequence of path, frame, StoredTable or MadeTable",
    "Frame": "path or frame",
    "File": "path or frame",
    "Path": "path",
    "Mapping[str, Hierarchies]": "mapping of str to path, frame or several",
    "Sequence[Rule]": "sequence of str or PrimaryRule",
    "GivenNoise": "path, frame or MagnitudeDesign",
}
