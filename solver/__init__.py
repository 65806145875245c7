"""The application: fit, compare, evaluate, link and mask, as `python -m solver` and as functions.

May import `formulations` and `datasets`; neither may import this.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkrisk.solver.api.compare import compare as compare
    from linkrisk.solver.api.evaluate import evaluate as evaluate
    from linkrisk.solver.api.fit import fit as fit
    from linkrisk.solver.api.link import link as link

__all__ = ["compare", "evaluate", "fit", "link"]

_HOME = {
    "compare": "linkrisk.solver.api.compare",
    "evaluate": "linkrisk.solver.api.evaluate",
    "fit": "linkrisk.solver.api.fit",
    "link": "linkrisk.solver.api.link",
}


def __getattr__(name: str) -> Any:
    """Import the functions when they are first asked for: a listing should not load an optimiser."""
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'solver' has no attribute '{name}'")
