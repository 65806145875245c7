"""The proof of a hitting-set bound: a small branch and bound that writes down the dual at each leaf."""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.certificates.checking.cores import Core
from linkrisk.solver.certificates.checking.hitting import dual_value
from linkrisk.solver.certificates.writing.inequalities import Inequalities
from linkrisk.solver.certificates.writing.multipliers import mended
from linkrisk.solver.certificates.writing.relaxation import Relaxation

_UNIT = 1 << 20
"""Parts of a unit of weight that multipliers are rounded to, where weights are few units."""

_NEAR = 1 << 20
"""Multipliers are mended where what they lack is below the weight of all blocks divided by this."""

_ROUNDS_AT_ROOT = 40
_ROUNDS = 3
_CORES_AT_ONCE = 300
_MOST_LEAVES = 20_000

Fixed = dict[int, bool]


class Hint(NamedTuple):
    """How to branch: on which block, and how then where it is given up and where it is kept."""

    block: int
    given_up: Hint | None
    kept: Hint | None


def read_hint(splits: Sequence[int], names: Sequence[int]) -> Hint | None:
    """The tree that an engine has searched (`Proof.splits`); `names` are the blocks' names here."""
    ready: list[Hint | None] = []
    for split in reversed(splits):
        ready.append(None if split < 0 else Hint(int(names[split]), ready.pop(), ready.pop()))
    return ready.pop()


class _Node:
    """A node of the tree: its fixings, its bound and its line of the certificate; children when split."""

    def __init__(self, fixed: Fixed, value: int, line: list[Any], x: FloatArray, hint: Hint | None) -> None:
        self.fixed, self.value, self.line, self.x, self.hint = fixed, value, line, x, hint
        self.children: tuple[_Node, ...] = ()


class HittingTree:
    """The search for a proof that the blocks given up weigh at least `target`.

    Parameters
    ----------
    cores : sequence of frozenset of int
    weight : mapping of int to int
        Weight of each block, in units.
    target : int
        Stop when so much is proven.
    seconds : float
        Stop after so much time with what is proven then.
    """

    def __init__(self, cores: Sequence[Core], weight: Mapping[int, int], target: int, seconds: float) -> None:
        self._until = time.perf_counter() + seconds
        self._names = sorted({block for core in cores for block in core})
        self._place = {block: at for at, block in enumerate(self._names)}
        self._cores = [frozenset(self._place[block] for block in core) for core in cores]
        self._weight = {at: weight[block] for at, block in enumerate(self._names)}
        self._target = target
        self._unit = _UNIT if max(self._weight.values(), default=1) < _UNIT else 1
        self._near = sum(self._weight.values()) // _NEAR
        self._inequalities = Inequalities(self._cores, len(self._names))
        self._program = Relaxation(np.array([float(weight[block]) for block in self._names]))
        self._degree: FloatArray = np.asarray(self._inequalities.matrix.sum(axis=0)).ravel()
        self.leaves = 0

    def prove(self, hint: Hint | None = None) -> tuple[dict[str, Any], int]:
        """The proof, and the weight that it shows must be given up.

        Parameters
        ----------
        hint : Hint, optional
            How to branch; beyond it, and where it needs blocks without cores, the search finds its own way.

        Returns
        -------
        proof : dict
            ``cores`` (places in the list given), ``inequalities`` and ``tree`` of the certificate.
        least : int
        """
        root = self._node({}, _ROUNDS_AT_ROOT, hint)
        waiting = [(root.value, 0, root)]
        count = 1
        while waiting[0][0] < self._target and self.leaves < _MOST_LEAVES:
            if time.perf_counter() > self._until:
                break
            _, _, node = heapq.heappop(waiting)
            block, hints = self._split(node)
            if block is None:  # a whole hitting set: no more can be proven
                heapq.heappush(waiting, (node.value, count, node))
                break
            node.children = tuple(
                self._node({**node.fixed, block: given_up}, _ROUNDS, hint)
                for given_up, hint in zip((True, False), hints, strict=True)
            )
            node.line = ["split", self._names[block]]
            self.leaves += 1
            for child in node.children:
                count += 1
                heapq.heappush(waiting, (child.value, count, child))
        return self._written(root), waiting[0][0]

    def _split(self, node: _Node) -> tuple[int | None, tuple[Hint | None, Hint | None]]:
        """The block to branch on, and the hints for both children."""
        if node.hint is not None and node.hint.block in self._place:
            return self._place[node.hint.block], (node.hint.given_up, node.hint.kept)
        return self._fractional(node), (None, None)

    def _node(self, fixed: Fixed, rounds: int, hint: Hint | None) -> _Node:
        """Solve a node, with cuts; its value is that of its exact dual."""
        program, inequalities = self._program, self._inequalities
        program.fix(fixed)
        closed = self._closed_by(fixed)
        if closed is not None:
            return _Node(fixed, 1 << 200, ["core", closed], np.empty(0), None)
        while True:
            x = program.solve()
            missed = program.fresh(inequalities.violated_cores(x, _CORES_AT_ONCE))
            if not missed:
                value, line = self._leaf(fixed)
                if value >= self._target or rounds == 0 or time.perf_counter() > self._until:
                    return _Node(fixed, value, line, x, hint)
                rounds -= 1
                missed = program.fresh(inequalities.violated_cuts(x))
                if not missed:
                    return _Node(fixed, value, line, x, hint)
            for index in missed:
                program.add(index, inequalities.found[index])

    def _closed_by(self, fixed: Fixed) -> int | None:
        """A core whose blocks are all kept."""
        kept = np.zeros(len(self._names))
        kept[[block for block, given_up in fixed.items() if not given_up]] = 1.0
        sizes = np.diff(self._inequalities.matrix.indptr)
        closed = np.flatnonzero(self._inequalities.matrix @ kept >= sizes)
        return int(closed[0]) if closed.size else None

    def _leaf(self, fixed: Fixed) -> tuple[int, list[Any]]:
        """The dual of the last program in whole numbers: any multipliers that are not negative will do."""
        packing = {index: int(multiplier * self._unit) for index, multiplier in self._program.duals()}
        packing = {index: y for index, y in packing.items() if y > 0}
        value = self._value(packing, fixed)
        if 0 < self._target - value <= self._near:
            better = mended(packing, self._inequalities.found, fixed, self._weight, self._unit)
            if (more := self._value(better, fixed)) > value:
                packing, value = better, more
        return value, ["leaf", self._unit, [[index, y] for index, y in packing.items()]]

    def _value(self, packing: dict[int, int], fixed: Fixed) -> int:
        """What multipliers prove, as `verify` counts it."""
        total, load = 0, Counter[int]()
        for index, y in packing.items():
            inequality = self._inequalities.found[index]
            total += y * inequality.least
            for block, coefficient in inequality.coefficients.items():
                load[block] += y * coefficient
        return dual_value(self._unit, total, load, fixed, self._weight)

    def _fractional(self, node: _Node) -> int | None:
        """The free block to branch on: far from whole, heavy, and in many cores."""
        if node.x.size == 0:
            return None
        score = np.minimum(node.x, 1.0 - node.x)
        score[list(node.fixed)] = 0.0
        if score.max(initial=0.0) < 1e-6:
            return None
        return int(np.argmax(score * (1.0 + self._degree)))

    def _written(self, root: _Node) -> dict[str, Any]:
        """The tree in preorder with the inequalities that it uses."""
        lines, pending = [], [root]
        while pending:
            node = pending.pop()
            lines.append(node.line)
            pending.extend(reversed(node.children))
        used = {line[1] for line in lines if line[0] == "core"}
        used |= {index for line in lines if line[0] == "leaf" for index, _ in line[2]}
        cores, derived, place = self._inequalities.written(sorted(used), self._names)
        for line in lines:
            if line[0] == "core":
                line[1] = place[line[1]]
            elif line[0] == "leaf":
                line[2] = [[place[index], y] for index, y in line[2]]
        return {"cores": cores, "inequalities": derived, "tree": lines}
