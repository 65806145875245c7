"""The search of some of the records: they are blocks, and all records stay candidates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.engines.base import Engine, EngineOptions, Proof
from linkrisk.solver.inputs.problem import Searched
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.worst_case.search import search

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IndexArray = NDArray[np.intp]


@dataclass(frozen=True)
class Shared:
    """What the searches of all parts share."""

    searched: Searched
    engine: Engine
    options: EngineOptions


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


def search_part(shared: Shared, task: tuple[int, IndexArray], clock: Clock) -> PartSearch:
    """Search one part, given by its number and its blocks."""
    blocks = task[1]
    pair = shared.searched.pair.part(blocks)
    # What a part's bound rests on is known when its engine has ended; the run as a whole keeps the time.
    run = search(replace(shared.searched, pair=pair), shared.engine, clock, shared.options, None, wait=True)
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
