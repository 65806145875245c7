"""The search of some of the records: they are blocks, and all records stay candidates."""

from __future__ import annotations

from dataclasses import dataclass, replace

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.engines.base import Engine, EngineOptions, Proof
from linkrisk.solver.inputs.problem import Searched
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.worst_case.beside_orders import beside_orders
from linkrisk.solver.worst_case.search import SearchTask, search


@dataclass(frozen=True)
class Shared:
    """What the searches of all parts share.

    Attributes
    ----------
    searched : Searched
        The whole file.
    engine : Engine
    options : EngineOptions
    orders : bool
        Whether the bound of each part is to be one of what orders link, too (`beside_orders`).
    """

    searched: Searched
    engine: Engine
    options: EngineOptions
    orders: bool = True


@dataclass(frozen=True)
class PartSearch:
    """What the search of one part found.

    Attributes
    ----------
    blocks : ndarray of int, shape (size,)
        Its records, as blocks of the file.
    theta : ndarray of float64, shape (dimension,)
        Parameters that link most of them.
    linked, bound : float
        Weight that they link, and that no parameters exceed.
    lost : ndarray of bool, shape (size,)
        Records that no parameters link.
    seconds : float
    proof : Proof
        What the bound rests on.
    system : BlockSystem
        What the proof is about; its pair has no candidates, so that it travels light.
    """

    blocks: IndexArray
    theta: FloatArray
    linked: float
    bound: float
    lost: BoolArray
    seconds: float
    proof: Proof
    system: BlockSystem


def search_part(shared: Shared, numbered: tuple[int, IndexArray], clock: Clock) -> PartSearch:
    """Search one part, given by its number and its blocks."""
    blocks = numbered[1]
    pair = shared.searched.pair.part(blocks)
    searched = replace(shared.searched, pair=pair)
    # What a part's bound rests on is known when its engine has ended; the run as a whole keeps the time.
    task = SearchTask(searched, shared.engine, clock, shared.options, orders=shared.orders)
    run = search(task, wait=True)
    if shared.orders:
        beside_orders(run, searched)
    final = run.final
    light = replace(pair, candidates=pair.candidates[:0])
    return PartSearch(
        blocks=blocks,
        theta=run.incumbent.solution,
        linked=final.linked_weight,
        bound=run.incumbent.bound,
        lost=run.out_of_reach,
        seconds=clock.seconds,
        proof=run.outcome.proof or Proof("lost"),
        system=replace(run.system, pair=light),
    )
