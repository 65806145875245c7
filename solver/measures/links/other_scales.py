"""The records of a pair on other scales than those of the worst case: ranks, and units of the original."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.inputs.problem import problem_of
from linkrisk.solver.measures.task import RiskTask

FloatArray = NDArray[np.float64]


def by_ranks(task: RiskTask) -> LinkagePair:
    """Compare the ranks that numbers have in their own file (rank-based record linkage).

    Whatever has become of the scale, an intruder sees who is high and who is low, and by other columns
    or by what is published whether a scale was turned round.
    """
    files = task.files
    numeric = [at for at, name in enumerate(files.attributes) if name not in files.categorical]
    original, masked = files.original.copy(), files.masked.copy()
    known = np.flatnonzero(files.partner >= 0)
    for at in numeric:
        name = files.attributes[at]
        first, second = (_ranks(each[:, at]) for each in (files.compared_values, files.masked_values))
        mine, theirs = first[known], second[files.partner[known]]
        if np.nansum((mine - np.nanmean(mine)) * (theirs - np.nanmean(theirs))) < 0.0:
            second = 1.0 - second
        original[name], masked[name] = first, second
    recoded = {name: one for name, one in files.recoded.items() if name in files.categorical}
    ranked = replace(files, original=original, masked=masked, recoded=recoded, dates={})
    return problem_of(ranked, task.first.options).pair


def _ranks(values: FloatArray) -> FloatArray:
    """Ranks between 0 and 1, their mean of equal values; NaN where one is missing."""
    ranks = pd.Series(values).rank()
    return np.asarray((ranks - 0.5) / max(1.0, float(ranks.notna().sum())), dtype=np.float64)


def by_units(task: RiskTask) -> LinkagePair:
    """Compare numbers in units of the original, or where that is the usual way in those of each file."""
    own = task.first.options.standardisation == Standardisation.OWN
    other = Standardisation.ORIGINAL if own else Standardisation.OWN
    return problem_of(task.files, replace(task.first.options, standardisation=other.value)).pair
