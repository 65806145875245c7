"""The application: fit, compare, evaluate, link and mask, as `python -m solver` and as functions.

May import `formulations` and `datasets`; neither may import this.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solver.comparison import compare as compare
    from solver.evaluation import evaluate as evaluate
    from solver.fitting import fit as fit
    from solver.linking import link as link

__all__ = ["compare", "evaluate", "fit", "link"]

_HOME = {
    "compare": "solver.comparison",
    "evaluate": "solver.evaluation",
    "fit": "solver.fitting",
    "link": "solver.linking",
}


def __getattr__(name: str) -> Any:
    """Import the functions when they are first asked for: a listing should not load an optimiser."""
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'solver' has no attribute '{name}'")
