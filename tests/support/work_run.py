"""A fit with a work limit, for tests that run it in processes of other kinds: prints what it has found.

python work_run.py FAMILY RECORDS UNITS [FAMILY RECORDS UNITS ...]
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pandas as pd

from linkrisk import fit


def files(records: int) -> list[pd.DataFrame]:
    """A noisy file pair of four attributes."""
    random = np.random.default_rng(5)
    original = random.normal(size=(records, 4))
    masked = original + random.normal(size=original.shape)
    return [pd.DataFrame(values, columns=list("ABCD")) for values in (original, masked)]


def found(family: str, records: int, units: float, **options: Any) -> list[Any]:
    """Everything of the answer that does not depend on how fast the machine is."""
    result = fit(*files(records), aggregator=family, work_limit=units, **options)
    trace = [[linked, bound] for _, linked, bound in result.details["trace"]]
    counts = [result.linked, result.linked_upper_bound, result.status, result.limit]
    return [counts, result.parameters, result.details["work"], trace]


if __name__ == "__main__":
    runs = zip(sys.argv[1::3], map(int, sys.argv[2::3]), map(float, sys.argv[3::3]), strict=True)
    print(json.dumps({run[0]: found(*run) for run in runs}))
