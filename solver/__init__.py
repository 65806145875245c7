"""The application: fit, compare, evaluate, verify, link and mask, as `python -m solver` and as functions.

May import `linkrisk.formulations` and `linkrisk.datasets`; neither may import this.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkrisk.solver.api.compare import compare as compare
    from linkrisk.solver.api.estimator import WorstCaseLinkage as WorstCaseLinkage
    from linkrisk.solver.api.evaluate import evaluate as evaluate
    from linkrisk.solver.api.fit import fit as fit
    from linkrisk.solver.api.link import link as link
    from linkrisk.solver.api.mask import mask as mask
    from linkrisk.solver.api.verify import verify as verify

__all__ = ["WorstCaseLinkage", "compare", "evaluate", "fit", "link", "mask", "verify"]


def __getattr__(name: str) -> Any:
    """Import the functions when they are first asked for: a listing should not load an optimiser."""
    if name in __all__:
        module = "estimator" if name == "WorstCaseLinkage" else name
        return getattr(importlib.import_module(f"linkrisk.solver.api.{module}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
