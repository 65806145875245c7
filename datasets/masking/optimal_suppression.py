"""Optimal local suppression: the least costly values whose loss leaves every record what k records had.

Records are counted in the input, where a missing value fits any. A combination of values that fewer than k
records have is unsafe, and every minimal unsafe combination of a record has to lose a value: a set cover for
each record (Hurkens and Tiourine 1998), solved by branch and bound. What a record keeps is then what k
records of the input had. `suppress` does the same with a bound at every moment.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkrisk.formulations.suppression.checked_tables import k_anonymity
from linkrisk.formulations.suppression.counting import MissingMeaning
from linkrisk.formulations.suppression.hitting import different_problems, solve_problems
from linkrisk.formulations.suppression.key_table import KeyTable
from linkrisk.formulations.suppression.minimal_unsafe import minimal_unsafe

_ANYTHING = MissingMeaning(1.0)
_STEPS = 1 << 40
"""Without a limit: with so few key variables as can be listed there are not so many branches."""


def optimal_suppression(
    codes: npt.NDArray[np.int32], k: int, cost: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Choose the values to take out that cost least.

    Parameters
    ----------
    codes : int32 array (n, a)
        The key variables: equal codes for equal values, -1 where there is none.
    k : int
        2 <= k <= n.
    cost : int64 array (a,)
        Of a value of each variable, above 0.

    Returns
    -------
    bool array (n, a)
        True for values to take out.

    Raises
    ------
    FormulationError
        If there are too many key variables to list their combinations.
    """
    keys = codes.shape[1]
    types = KeyTable(tuple(map(str, range(keys))), codes).types
    minimal = minimal_unsafe(types, k_anonymity(keys, k), _ANYTHING)
    assert minimal is not None  # nothing ends it
    problems = different_problems(minimal.start, minimal.sets)
    answers = np.zeros((len(problems), 3), dtype=np.int64)
    solve_problems(problems.start, problems.sets, cost, (1 << keys) - 1, _STEPS, answers)
    taken = answers[problems.of[types.of], 0]
    return np.asarray((taken[:, None] >> np.arange(keys) & 1).astype(np.bool_))
