"""Whether somebody watches from a notebook. IPython is neither needed nor imported here."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

SILENT = "LINKRISK_PROGRESS"
"""Set this environment variable to ``none`` and no progress is shown, by commands or in notebooks."""


def notebook() -> Any | None:
    """The module `IPython.display` where this process is the kernel of a notebook; None elsewhere."""
    ipython = sys.modules.get("IPython")
    if ipython is None or os.environ.get(SILENT) == "none":
        return None
    shell = ipython.get_ipython()
    if getattr(shell, "kernel", None) is None:  # such as IPython on a terminal
        return None
    return importlib.import_module("IPython.display")
