"""Declare the interface of an engine, which improves the incumbent and the dual bound of a block system."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.engines.steering import STEERING, Steering
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.run.clock import Limit, Status
from linkrisk.solver.run.incumbent import Incumbent


@dataclass(frozen=True)
class EngineOptions:
    """Settings of a run."""

    backend: str = "highs"  # the optimiser, for engines that use one
    threads: int = 1  # threads of the optimiser
    seed: int = 0  # seed of every random choice
    margin: float = 1e-5  # the strict inequality in the model, on rows of unit length
    big_c: float | None = None  # the paper's constant C instead of the smallest valid one
    # tuning of the searches: affects how soon an answer is found, never whether a bound is valid
    steering: Steering = STEERING
    # cores of a similar problem, tested first by an engine that uses cores; each is proved again here
    asked: tuple[frozenset[int], ...] = ()


@dataclass(frozen=True)
class CoreProof:
    """Farkas multipliers that prove that some blocks cannot all be linked."""

    rows: NDArray[np.intp]  # (any,) rows of the `BlockSystem`
    # (any,) multiplier of each of these rows of unit length; they sum to one. The combined row is nowhere
    # positive on the domain.
    multipliers: FloatArray
    # (domain rows,) multipliers of the domain's rows that show it; empty where none are needed
    domain: FloatArray


@dataclass(frozen=True)
class Proof:
    """Evidence for the dual bound of a run."""

    # ``lost`` (only blocks that are lost count against the bound), ``simplex-tree`` or ``hitting-set``
    method: str
    # the cores, for ``hitting-set``; for ``simplex-tree``, cores found in addition
    cores: tuple[CoreProof, ...] = ()
    # the branch-and-bound tree over open blocks, in preorder: the branching block of each node, first the
    # child that gives it up, or -1 at a leaf. It helps to find the proof again.
    splits: tuple[int, ...] = (-1,)

    def excluding(self, system: BlockSystem) -> tuple[frozenset[int], ...]:
        """List the blocks of each core: no parameters link all of them."""
        found = [system.open_blocks[system.row_open[core.rows]] for core in self.cores]
        return tuple(frozenset(blocks.tolist()) for blocks in found)


@dataclass(frozen=True)
class EngineResult:
    """The outcome of an engine's run; value and bound are in its `Incumbent`."""

    # ``optimal`` when attack and bound meet, ``feasible`` with a gap, ``interrupted`` by the user
    status: Status
    limit: Limit | None  # the limit that was hit
    margin: float | None  # the bound holds for parameters that keep this margin; None when it holds for all
    phases: dict[str, float]  # seconds by phase
    model: dict[str, int] | None  # rows, columns and non-zeros of the model that was solved
    versions: dict[str, str]  # versions of the optimisers used
    notes: tuple[str, ...] = ()  # notes for the user
    proof: Proof | None = None  # evidence for the bound, from engines that provide it


class Engine(ABC):
    """A way of solving the problem. What it can do is declared here; no code asks for its name.

    Attributes
    ----------
    name : str
        What `--engine` takes.
    takes : tuple of str
        The fields of `EngineOptions` that are its own.
    attacks : bool
        Whether it runs the portfolio of attacks itself, when it needs one; else it is given the result.
    grows : bool
        Whether it can work on some of the rows, and take more as they matter.
    models : bool
        Whether it hands all rows to an optimiser, which holds fewer than a search.
    proves : bool
        Whether it says what its bound rests on, so that a certificate can be made.
    counts : bool
        Whether all that it does is counted, so that work can be limited.
    """

    name: ClassVar[str]
    takes: ClassVar[tuple[str, ...]] = ()
    attacks: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    models: ClassVar[bool] = False
    proves: ClassVar[bool] = False
    counts: ClassVar[bool] = False

    @abstractmethod
    def run(
        self,
        system: BlockSystem,
        incumbent: Incumbent[FloatArray],
        evaluator: Evaluator,
        options: EngineOptions,
    ) -> EngineResult:
        """Improve the incumbent's attack and bound until they meet or the clock has run out."""


def whole(weight: FloatArray) -> bool:
    """Tell whether all weights are one, so that linked weights are integers."""
    return bool((weight == 1.0).all())


def rounded_bound(bound: float, weight: FloatArray) -> float:
    """Round an upper bound down to a value that sums of the weights can take, tolerating solver noise."""
    return float(np.floor(bound + 1e-6)) if whole(weight) else bound
