"""Rows of arrays as SCIP takes them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from scipy import sparse

from linkrisk.arrays import FloatArray


def finite(bound: float) -> float | None:
    """Write an infinite bound as SCIP takes it."""
    return None if math.isinf(bound) else bound


def constraints(
    matrix: sparse.csr_array, row_lower: FloatArray, row_upper: FloatArray, variables: Sequence[Any]
) -> Iterator[Any]:
    """Each row as SCIP takes it."""
    from pyscipopt.scip import Expr, ExprCons, Term

    # One term object per column, and expressions made from dictionaries: sums would copy and sort.
    terms = [Term(variable) for variable in variables]
    row_terms = [terms[column] for column in matrix.indices.tolist()]
    coefficients, starts = matrix.data.tolist(), matrix.indptr.tolist()
    lower, upper = row_lower.tolist(), row_upper.tolist()
    for row in range(matrix.shape[0]):
        begin, end = starts[row], starts[row + 1]
        expression = Expr(dict(zip(row_terms[begin:end], coefficients[begin:end], strict=True)))
        yield ExprCons(expression, finite(lower[row]), finite(upper[row]))
