"""Recount: the least costly suppression after which every row has k records like it, counted in the output.

What is missing is a category of its own, so that taking values out of one record changes what others are
alike with: the true problem of k-anonymity, which is NP-hard (Meyerson and Williams 2004).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.key_table import KeyTable
from linkrisk.formulations.suppression.nodes import Nodes, nodes_of
from linkrisk.solver.backends.base import Backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.suppression.anonymity.node_search import NodeSearch
from linkrisk.solver.suppression.answer import PHASE, Answer, said_of
from linkrisk.solver.suppression.problem import Problem


@dataclass(frozen=True, eq=False, kw_only=True)
class Priced(Answer):
    """An answer, and prices that prove a bound by themselves.

    Attributes
    ----------
    prices : ndarray of int64, shape (T,)
        Of a record of each row type; `formulations.suppression.node_prices.bound_of` says what they prove.
    by_prices : int
        That bound.
    """

    prices: LongArray
    by_prices: int


def anonymise(
    problem: Problem, backend: Backend, clock: Clock, report: Reporter | None = None, seed: int = 0
) -> Priced:
    """Find the least costly suppression after which every row has k records like it.

    Parameters
    ----------
    problem : Problem
        Its table, costs, untouched variables and k.
    backend : Backend
        What solves the programs.
    clock : Clock
        When it has expired, the best answer so far is returned, with its bound.
    report : callable, optional
        Told the best answer and bound.
    seed : int
        Of the choice of neighbourhoods.

    Raises
    ------
    FormulationError
        If there are too many rows and patterns to list, or no suppression is k-anonymous.
    """
    table = problem.table
    nodes = nodes_of(table.types, problem.cost, problem.allowed, problem.k)
    _check_possible(nodes, table)

    def tell(cost: int, bound: int, work: str) -> None:
        if report is not None:
            report(Progress.uncounted(PHASE, said_of(cost, bound, work)))

    value = int(problem.cost.mean())
    search = NodeSearch(nodes, table.types, value, backend, tell, seed)
    search.run(clock)
    return Priced(
        taken=search.answer.taken(table.types.of),
        cost=search.answer.cost,
        bound=search.bound,
        proof=search.proof,
        prices=search.volume.prices,
        by_prices=search.volume.bound,
    )


def _check_possible(nodes: Nodes, table: KeyTable) -> None:
    reached = np.zeros(len(nodes.count), dtype=np.bool_)
    reached[nodes.row_type] = True
    if not reached.all():
        row = int(np.argmax(~reached[table.types.of])) + 1
        raise FormulationError(
            f"record {row} has fewer than {nodes.k} records like it whatever is taken out: let more "
            "variables be touched, or lower k"
        )
