"""`fit`: find the worst case of a file pair.

Who imports it has the function with its options; what searches is imported when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkrisk.solver.options.taking import taking
from linkrisk.solver.options.worst_case import FitOptions

if TYPE_CHECKING:
    from linkrisk.solver.worst_case.result import FitResult


@taking(FitOptions)
def fit(asked: FitOptions) -> FitResult:
    """Find the distance that re-identifies the most records, with an upper bound for all others.

    Parameters
    ----------
    {options}

    Returns
    -------
    FitResult
        Of several aggregators the worst; `families` has each.

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request or the files cannot be used; also where the engine would ignore an option.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> result = linkrisk.fit(iris, masked)
    >>> result.linked, result.linked_upper_bound, result.records
    (14, 14, 15)
    >>> result.proven
    True
    """
    from linkrisk.solver.worst_case.operations.fitting import fitted

    return fitted(asked)
