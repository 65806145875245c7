"""What processes of this application are started with."""

from __future__ import annotations

import os
from pathlib import Path

import linkrisk


def environment() -> dict[str, str]:
    """The environment of this process, in which the same linkrisk is found from whatever folder."""
    home = str(Path(linkrisk.__file__).resolve().parent.parent)
    before = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([home, *([before] if before else [])])}
