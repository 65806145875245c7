"""Parts of the page of a table."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pandas as pd

from linkrisk.solver.documents.document import CellGrid

RECTANGLE = {(1, 2): "m", (3, 3): "m"}
"""Which is cheaper than the optimum, and does not protect."""


INNER = ((70001, 80021, 90031), (71011, 81041, 91081), (72019, 82051, 92041))


def section(document, name):
    (found,) = [one for one in document.sections if one.name == name]
    return found


def grid(document):
    (found,) = [one for one in section(document, "table").blocks if isinstance(one, CellGrid)]
    return found


def texts(page):
    """What people and scripts find in a page: everything but its own scripts and styles."""
    found = unescape(re.sub(r"<script>.*?</script>|<style>.*?</style>", "", page, flags=re.DOTALL))
    return found.replace(",", "")


def noisy_firms() -> pd.DataFrame:
    """Sixty firms whose turnover occurs nowhere by chance."""
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "region": rng.choice(["N1", "N2", "S1", "S2"], 60),
            "size": rng.choice(["big", "small", "tiny"], 60, p=[0.2, 0.4, 0.4]),
            "turnover": 70001 + 1013 * np.arange(60),
            "key": rng.random(60),
            "w": rng.choice([1.0, 2.0], 60),
        }
    )
