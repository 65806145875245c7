"""The last word on a bound: it is about distances that differ by more than ties, and orders may link more."""

from __future__ import annotations

from dataclasses import replace

from linkrisk.datasets.microdata.names import shown_name
from linkrisk.solver.inputs.problem import Searched
from linkrisk.solver.linkage.lexicographic import Ordered
from linkrisk.solver.run.status import Limit
from linkrisk.solver.worst_case.search_state import Run, out_of_time

_BEYOND_TIES = (
    "{:.6g} are re-identified by comparing {}, so the bound is not lower; the bound of distances is {:.6g}, "
    "as differences that are very small compared with others count as ties: take codes such as 99999999 out "
    "of the columns, or give the fine ones in coarser units"
)

_ORDERS_UNCOUNTED = (
    "there was no time to count what comparing attributes (or ranks) one after another links: the bound is "
    "that of distances that differ by more than a tie"
)


def beside_orders(run: Run, searched: Searched) -> Run:
    """Raise the bound where an order links more, and say so; or that there was no time to count them.

    Parameters
    ----------
    run : Run
        All that lowers its bound has been done; it is changed.
    searched : Searched
        What it is the run of.
    """
    notes, pair, incumbent = list(run.outcome.notes), searched.pair, run.incumbent
    best = run.orders.best
    if best is not None and best.weight > incumbent.bound + 1e-9:
        unit, said = searched.unit, _described(best, pair.attributes)
        notes.append(_BEYOND_TIES.format(best.weight * unit, said, incumbent.bound * unit))
        incumbent.bound, run.in_order = best.weight, best.linked
        run.outcome = replace(run.outcome, limit=run.outcome.limit or Limit.TIES)
    if not run.orders.counted and incumbent.bound < pair.weight[pair.reachable].sum() - 1e-9:
        notes.append(_ORDERS_UNCOUNTED)
    run.outcome = out_of_time(incumbent, replace(run.outcome, notes=tuple(notes)))
    return run


def _described(best: Ordered, attributes: tuple[str, ...]) -> str:
    """What is compared, in words."""
    ranks = [f"the attribute distance of rank {k + 1}" for k in range(len(attributes))]
    names = ranks if best.ranked else [shown_name(name) for name in attributes]
    said = " and then ".join(names[k] for k in best.order)
    return f"{said} alone" if len(best.order) == 1 else f"{said}, each only where those before it tie"
