"""A fit with a work limit, for tests that run it in processes of other kinds: prints what it has found.

python work_run.py FAMILY RECORDS UNITS [FAMILY RECORDS UNITS ...]
"""

from __future__ import annotations

import json
import sys
from typing import Any

from fit_runs import frames

from linkrisk import fit


def found(family: str, records: int, units: float, **options: Any) -> list[Any]:
    """Everything of the answer that does not depend on how fast the machine is."""
    result = fit(*frames(5, records, 4, noise=1.0), aggregator=family, work_limit=units, **options)
    trace = [[linked, bound] for _, linked, bound in result.details["trace"]]
    counts = [result.linked, result.linked_upper_bound, result.status, result.limit]
    return [counts, result.parameters, result.details["work"], trace]


if __name__ == "__main__":
    runs = zip(sys.argv[1::3], map(int, sys.argv[2::3]), map(float, sys.argv[3::3]), strict=True)
    print(json.dumps({run[0]: found(*run) for run in runs}))
