"""What others can make themselves, so that it need not be sent to them: only how it is made is."""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from typing import Any, Protocol


class Recipe(Protocol):
    """How something is made, from what others have as well; can be pickled."""

    def make(self) -> object | None:
        """What it is; None where it cannot be made, or would be something else."""


Known = Sequence[tuple[object, Recipe]]
"""Things, and how each is made."""


class UnmadeError(Exception):
    """Raised where something cannot be made, and has to be sent."""


class _Packer(pickle.Pickler):
    def __init__(self, target: io.BytesIO, known: Known) -> None:
        super().__init__(target, protocol=pickle.HIGHEST_PROTOCOL)
        self._recipes = {id(thing): recipe for thing, recipe in known}

    def persistent_id(self, obj: object) -> Recipe | None:
        """The recipe of a thing that has one."""
        return self._recipes.get(id(obj))


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, pid: Recipe) -> object:
        """What a recipe makes."""
        made = pid.make()
        if made is None:
            raise UnmadeError("it has to be sent")
        return made


def packed(given: object, known: Known) -> bytes:
    """Something pickled, with recipes in the place of all that is known."""
    target = io.BytesIO()
    _Packer(target, known).dump(given)
    return target.getvalue()


def unpacked(content: bytes) -> Any:
    """What was packed, all of it made; UnmadeError where that cannot be."""
    return _Unpacker(io.BytesIO(content)).load()
