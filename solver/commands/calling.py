"""How the program was called: whoever copies a command from what it prints can run it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

_INSTALLED = "linkrisk"


def program() -> str:
    """Return ``linkrisk`` where it is installed and called so, else ``python -m`` with the package."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    if spec is not None and spec.parent == _INSTALLED:
        return f"python -m {_INSTALLED}"
    called = os.path.splitext(os.path.basename(sys.argv[0]))[0]  # noqa: PTH119, PTH122  # pathlib takes 20 ms
    return _INSTALLED if spec is None and called == _INSTALLED else "python -m solver"


def as_called(command_line: Sequence[str]) -> str:
    """Return the command as it was typed, to be kept in a result."""
    return f"{program()} {shlex.join(command_line)}"
