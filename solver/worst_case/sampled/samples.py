"""The samples of a plan: disjoint parts of what is drawn for each stage, and who is counted after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import IndexArray
from linkrisk.solver.worst_case.sampled.draw import Draw, draw, drawing_order
from linkrisk.solver.worst_case.sampled.plan import Plan


@dataclass(frozen=True)
class Samples:
    """What is searched and counted, and in which order.

    Attributes
    ----------
    plan : Plan
    draws : tuple of Draw
        One for each stage; each holds the one before.
    parts : tuple of ndarray of int
        The samples, in the order in which they are searched.
    outside : ndarray of int
        All other records, in an order drawn for itself: any first part of it is a random sample of them.
    """

    plan: Plan
    draws: tuple[Draw, ...]
    parts: tuple[IndexArray, ...]
    outside: IndexArray

    @property
    def drawn(self) -> IndexArray:
        """The records of all samples."""
        return np.concatenate(self.parts)


def draw_samples(
    plan: Plan, files: bytes, seed: int, blocks: int, stratum: Sequence[str] | None = None
) -> Samples:
    """Draw the samples of a plan.

    Parameters
    ----------
    plan : Plan
    files : bytes
        Their `fingerprint`.
    seed : int
    blocks : int
        Records of the file.
    stratum : sequence of str, length blocks, optional
        Draw by stratum.
    """
    order = drawing_order(seed, files, blocks)
    draws = tuple(draw(order, plan.size * stage.samples, stratum) for stage in plan.stages)
    parts: list[IndexArray] = []
    for stage, drawn in zip(plan.stages, draws, strict=True):
        before = np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)
        fresh = drawn.blocks[~np.isin(drawn.blocks, before)]
        parts.extend(np.array_split(fresh, stage.samples - len(parts)))
    afterwards = drawing_order(seed, files, blocks, b"count")
    outside = afterwards[~np.isin(afterwards, np.concatenate(parts))]
    return Samples(plan, draws, tuple(parts), outside)
