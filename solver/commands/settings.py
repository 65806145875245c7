"""Parameters of masking methods and linkers, as the method that is asked for reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.errors import DataError
from linkrisk.errors import called
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.datasets.options.option import Option


def given_settings(
    arguments: object, options: Mapping[str, Option], own: Mapping[str, Option]
) -> dict[str, Any]:
    """Those that the user has given, each read as the method that is asked for reads it.

    `options`: of all methods. `own`: of the method. What it does not have stays text: the method is the one
    to refuse it. Raises UsageError on bad text, or where one is given twice that the method takes once.
    """
    values = {name: getattr(arguments, name, None) for name in options}
    return {
        name: _read(name, value, own[name]) if name in own else value
        for name, value in values.items()
        if value is not None
    }


def _read(name: str, value: Any, option: Option) -> Any:
    """The value of an option, of which there are several where any method takes several."""
    kind = option.kind
    if kind.parse is None:
        return True
    texts = value if isinstance(value, list) else [value]
    if len(texts) > 1 and not kind.repeated:
        raise UsageError(f"{called(name)} is given twice; give it once", option=name)
    try:
        read = tuple(map(kind.read, texts))
    except (DataError, UsageError) as error:
        raise UsageError(f"{called(name)}: {error}", option=name) from error
    return read if kind.repeated else read[0]
