"""The page of all options is what their declarations say."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from linkrisk.solver.options.command_line import table
from linkrisk.solver.options.operations import OPERATIONS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "options.md"
HEAD = """# Options of commands and functions

What each can be asked, on the command line and in Python: made from the declarations
that help and keywords come from.
"""


def page() -> str:
    parts = [HEAD]
    for command, place in OPERATIONS.items():
        module, _, name = place.partition(":")
        parts.append(f"## `{command}`\n\n{table(getattr(import_module(module), name))}\n")
    return "\n".join(parts)


def test_the_page_of_options_is_as_they_are_declared() -> None:
    """LINKRISK_UPDATE_GOLDEN=1 writes it anew."""
    if os.environ.get("LINKRISK_UPDATE_GOLDEN"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()
