"""A PuLP problem made from arrays, without the sums and comparisons of its modelling language."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkrisk.formulations.programs import Cuts, MilpModel

if TYPE_CHECKING:
    import pulp


@dataclass(frozen=True)
class PulpModel:
    """A PuLP problem, and its variables in the order of the model's columns."""

    problem: pulp.LpProblem
    variables: list[pulp.LpVariable]


def make_pulp_model(model: MilpModel) -> PulpModel:
    """Build the PuLP problem of `model`.

    Expressions are made from dictionaries and rows from expressions: `lpSum` and ``<=`` would copy each
    row several times. A row with two different bounds becomes two, because PuLP has one-sided rows only.
    """
    import pulp

    with warnings.catch_warnings():
        # The replacement that PuLP 3.3.2 asks for does not exist in 3.3.0.
        warnings.simplefilter("ignore", DeprecationWarning)
        variables = [
            pulp.LpVariable(
                f"x{column}", _finite(lower), _finite(upper), "Integer" if integer else "Continuous"
            )
            for column, (lower, upper, integer) in enumerate(
                zip(
                    model.column_lower.tolist(),
                    model.column_upper.tolist(),
                    model.integer.tolist(),
                    strict=True,
                )
            )
        ]
    problem = pulp.LpProblem("linkrisk", pulp.LpMinimize)
    # Zero costs stay in: PuLP knows only the variables that its objective and its rows mention.
    costs = dict(zip(variables, model.objective.tolist(), strict=True))
    problem.setObjective(pulp.LpAffineExpression(costs, constant=model.constant))
    rows = Cuts(model.matrix, model.row_lower, model.row_upper)
    problem.extend(pulp_rows(rows, variables, first=0))
    return PulpModel(problem, variables)


def pulp_rows(cuts: Cuts, variables: list[Any], *, first: int) -> dict[str, Any]:
    """Rows as PuLP takes them, by their names; `first` is the number of the first one."""
    from pulp import LpAffineExpression, LpConstraint, LpConstraintEQ, LpConstraintGE, LpConstraintLE

    row_variables = [variables[column] for column in cuts.matrix.indices.tolist()]
    coefficients = cuts.matrix.data.tolist()
    starts = cuts.matrix.indptr.tolist()
    lower, upper = cuts.lower.tolist(), cuts.upper.tolist()
    rows: dict[str, Any] = {}
    for row in range(cuts.count):
        terms = slice(starts[row], starts[row + 1])
        expression = LpAffineExpression(dict(zip(row_variables[terms], coefficients[terms], strict=True)))
        if lower[row] == upper[row]:
            rows[f"r{first + row}"] = LpConstraint(expression, LpConstraintEQ, rhs=lower[row])
            continue
        if lower[row] != -math.inf:
            rows[f"r{first + row}"] = LpConstraint(expression, LpConstraintGE, rhs=lower[row])
        if upper[row] != math.inf:
            rows[f"r{first + row}u"] = LpConstraint(expression, LpConstraintLE, rhs=upper[row])
    return rows


def _finite(bound: float) -> float | None:
    return None if math.isinf(bound) else bound
