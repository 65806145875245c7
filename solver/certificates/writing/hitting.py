"""Proves hitting-set bounds by branch and cut with an exact dual solution at each leaf."""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from linkrisk.arrays import FloatArray
from linkrisk.formulations.programs import box_model
from linkrisk.solver.backends.linear.base import LinearOptions, LinearSolution, linear_program
from linkrisk.solver.certificates.core.proofs import (
    Core,
    Inequality,
    dual_value,
    given_up,
    half_inequality,
)
from linkrisk.solver.certificates.writing.certifiable import CertificateError

_VIOLATED = 1e-6
_MOST_CLIQUES = 60
_MOST_CYCLES = 60


class Inequalities:
    """Inequalities of cores, and of cliques and odd cycles of cores of two blocks, the cores first.

    Blocks are numbered by their place in the program.
    """

    def __init__(self, cores: Sequence[Core], blocks: int) -> None:
        self.cores = cores
        self.found: list[Inequality] = [given_up(core) for core in cores]
        self._made: dict[int, tuple[str, tuple[int, ...]]] = {}
        self._known: set[tuple[str, tuple[int, ...]]] = set()
        sizes = [len(core) for core in cores]
        members = np.array([block for core in cores for block in sorted(core)], dtype=np.intp)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.matrix = csr_array((np.ones(members.size), members, starts), shape=(len(cores), blocks))
        self._pairs = {tuple(sorted(core)): at for at, core in enumerate(cores) if len(core) == 2}
        self._adjacent = np.zeros((blocks, blocks), dtype=bool)
        for first, second in self._pairs:
            self._adjacent[first, second] = self._adjacent[second, first] = True

    def violated_cores(self, x: FloatArray, most: int) -> list[int]:
        """Separate cores that a point does not hit, the most violated first."""
        hit: FloatArray = np.asarray(self.matrix @ x)
        order = np.argsort(hit, kind="stable")[:most]
        return [int(at) for at in order if hit[at] < 1.0 - _VIOLATED]

    def violated_cuts(self, x: FloatArray) -> list[int]:
        """Separate cliques and odd cycles that a point violates."""
        return [*self._cliques(x), *self._odd_cycles(x)]

    def _add(self, kind: str, members: tuple[int, ...], inequality: Inequality) -> int | None:
        if (kind, members) in self._known:
            return None
        self._known.add((kind, members))
        self.found.append(inequality)
        self._made[len(self.found) - 1] = (kind, members)
        return len(self.found) - 1

    def _cliques(self, x: FloatArray) -> list[int]:
        """Grow a clique from each block by the neighbour with the smallest x."""
        added = []
        for seed in np.flatnonzero(self._adjacent.any(axis=1) & (x < 1.0 - _VIOLATED)):
            clique, common = [int(seed)], self._adjacent[seed].copy()
            while common.any():
                nearest = np.flatnonzero(common)
                best = int(nearest[np.argmin(x[nearest])])
                clique.append(best)
                common &= self._adjacent[best]
            if len(clique) > 2 and len(clique) - 1 - x[clique].sum() > _VIOLATED:
                members = tuple(sorted(clique))
                index = self._add("clique", members, given_up(members, len(members) - 1))
                if index is not None:
                    added.append(index)
            if len(added) >= _MOST_CLIQUES:
                break
        return added

    def _odd_cycles(self, x: FloatArray) -> list[int]:
        """Find odd cycles by shortest paths between the two copies of a block in the doubled graph.

        Each pair of blocks has length ``x_i + x_j - 1``; an odd cycle shorter than 1 is violated.
        """
        blocks = x.size
        edges = np.array([pair for pair in self._pairs if x[list(pair)].max() < 1.0 - _VIOLATED])
        if edges.size == 0:
            return []
        length = np.maximum(x[edges].sum(axis=1) - 1.0, 0.0) + 1e-9  # zero would mean no edge
        first, second = edges[:, 0], edges[:, 1]
        tails = np.concatenate([first, second])
        heads = np.concatenate([second, first]) + blocks
        graph = csr_array((np.tile(length, 2), (tails, heads)), shape=(2 * blocks, 2 * blocks))
        seeds = np.unique(tails)
        distance, before = dijkstra(graph, directed=False, indices=seeds, limit=1.0, return_predecessors=True)
        added = []
        reach = distance[np.arange(seeds.size), seeds + blocks]
        for at in np.argsort(reach, kind="stable")[:_MOST_CYCLES]:
            if reach[at] >= 1.0 - _VIOLATED:
                break
            index = self._cycle(before[at], int(seeds[at]), blocks, x)
            if index is not None:
                added.append(index)
        return added

    def _cycle(self, before: Any, seed: int, blocks: int, x: FloatArray) -> int | None:
        """Return the inequality of the closed walk that ends at the copy of `seed`."""
        walk, at = [], seed + blocks
        while at != seed:
            previous = int(before[at])
            walk.append(self._pairs[tuple(sorted((at % blocks, previous % blocks)))])
            at = previous
        members = tuple(sorted(walk))
        inequality = half_inequality([self.found[index] for index in members])
        value = sum(count * x[block] for block, count in inequality.coefficients.items())
        return self._add("half", members, inequality) if value < inequality.least - _VIOLATED else None

    def written(
        self, used: Sequence[int], names: Sequence[int]
    ) -> tuple[list[int], list[Any], dict[int, int]]:
        """The cores and derived inequalities to list for those `used`, and where each is then.

        `names` are what the certificate calls the blocks.
        """
        needed = set(used)
        made = {index: self._made[index] for index in sorted(needed) if index in self._made}
        for kind, members in made.values():
            if kind == "clique":
                needed.update(
                    self._pairs[first, second] for first in members for second in members if first < second
                )
            else:
                needed.update(members)
        cores = sorted(index for index in needed if index < len(self.cores))
        place = {index: at for at, index in enumerate([*cores, *made])}
        derived: list[Any] = []
        for kind, members in made.values():
            if kind == "clique":
                derived.append([kind, [int(names[block]) for block in members]])
            else:
                derived.append([kind, [place[index] for index in members]])
        return cores, derived, place


_FINEST = 1e-10
"""Optimality tolerance of a program with unequal weights, the smallest that HiGHS accepts."""


class Relaxation:
    """Linear relaxation: minimise ``weight . x`` for x in [0, 1] under the inequalities added so far."""

    def __init__(self, weight: FloatArray) -> None:
        self._scale = float(weight.max(initial=1.0))
        alike = bool((weight == self._scale).all())
        options = LinearOptions() if alike else LinearOptions(optimality=_FINEST)
        self._program = linear_program(box_model(weight / self._scale), options)
        self._solution: LinearSolution | None = None
        self._blocks = weight.size
        self._fixed: dict[int, bool] = {}
        self._rows: list[int] = []
        self._present: set[int] = set()

    def fresh(self, indices: Sequence[int]) -> list[int]:
        """Return inequalities not yet added; others are violated within the tolerance of HiGHS."""
        return [index for index in indices if index not in self._present]

    def add(self, index: int, inequality: Inequality) -> None:
        """Add an inequality; `index` is its number in `duals`."""
        self._present.add(index)
        self._rows.append(index)
        blocks = np.array(list(inequality.coefficients), dtype=np.intp)
        values = np.array(list(inequality.coefficients.values()), dtype=np.float64)
        first, least, above = (
            np.zeros(1, dtype=np.intp),
            np.array([float(inequality.least)]),
            np.array([np.inf]),
        )
        self._program.add_row_entries(first, blocks, values, least, above)

    def fix(self, fixed: Mapping[int, bool]) -> None:
        """Fix blocks as given up or kept, and free all others."""
        freed = [*(self._fixed.keys() - fixed.keys())]
        self._program.change_column_bounds(
            np.array(freed, dtype=np.intp), np.zeros(len(freed)), np.ones(len(freed))
        )
        values = np.array([*fixed.values()], dtype=np.float64)
        self._program.change_column_bounds(np.array([*fixed], dtype=np.intp), values, values)
        self._fixed = dict(fixed)

    def solve(self) -> FloatArray:
        """Return an optimal point, shape (blocks,)."""
        if not self._rows:
            return np.array([float(self._fixed.get(block, False)) for block in range(self._blocks)])
        self._solution = self._program.solve()
        if not self._solution.optimal:
            raise CertificateError("the linear program of a hitting set could not be solved")
        return self._solution.point

    def duals(self) -> list[tuple[int, float]]:
        """Return (inequality, multiplier) with nonzero multipliers, in units of the weights."""
        if self._solution is None:
            return []
        values = self._solution.duals * self._scale
        return [(index, float(value)) for index, value in zip(self._rows, values, strict=True) if value > 0.0]


Packing = dict[int, int]


def mended(
    packing: Mapping[int, int],
    inequalities: Sequence[Inequality],
    fixed: Mapping[int, bool],
    weight: Mapping[int, int],
    unit: int,
) -> Packing:
    """Other multipliers, which ask no free block for more than its weight and leave nothing to be gained.

    `packing` has the multiplier of each inequality that is used, by its place, ``unit`` times as large as it
    is; `fixed` are blocks that are given up (True) or kept. What they prove may be more or less; each is as
    large as all others allow.
    """
    left = {block: unit * own for block, own in weight.items() if block not in fixed}
    load = Counter[int]()
    for index, y in packing.items():
        for block, coefficient in inequalities[index].coefficients.items():
            load[block] += y * coefficient
    rest = {block: own - load[block] for block, own in left.items()}
    found = _lowered(packing, inequalities, rest)
    _raised(found, inequalities, fixed, rest)
    return {index: y for index, y in found.items() if y > 0}


def _lowered(packing: Mapping[int, int], inequalities: Sequence[Inequality], rest: dict[int, int]) -> Packing:
    """Lower multipliers until no block is overloaded; `rest` becomes the slack of each free block."""
    found = dict(packing)
    for index, y in packing.items():
        coefficients = inequalities[index].coefficients
        over = max((-(rest[block] // c) for block, c in coefficients.items() if block in rest), default=0)
        cut = min(y, max(0, over))
        if cut > 0:
            found[index] = y - cut
            _take(rest, coefficients, -cut)
    return found


def _raised(
    found: Packing, inequalities: Sequence[Inequality], fixed: Mapping[int, bool], rest: dict[int, int]
) -> None:
    """Raise each multiplier as far as the blocks allow, those in use first."""
    for index in [*found, *(at for at in range(len(inequalities)) if at not in found)]:
        coefficients = inequalities[index].coefficients
        free = [rest[block] // c for block, c in coefficients.items() if block in rest]
        room = min(free, default=0)
        if room <= 0:
            continue
        gained = inequalities[index].least - sum(c for block, c in coefficients.items() if fixed.get(block))
        if gained > 0:
            found[index] = found.get(index, 0) + room
            _take(rest, coefficients, room)


def _take(rest: dict[int, int], coefficients: Mapping[int, int], y: int) -> None:
    for block, coefficient in coefficients.items():
        if block in rest:
            rest[block] -= y * coefficient


_UNIT = 1 << 20
"""Parts of a unit of weight to which multipliers are rounded, if weights are few units."""

_NEAR = 1 << 20
"""Multipliers are repaired if their shortfall is below the total weight divided by this."""

_ROUNDS_AT_ROOT = 40
_ROUNDS = 3
_CORES_AT_ONCE = 300
_MOST_LEAVES = 20_000

Fixed = dict[int, bool]


class Hint(NamedTuple):
    """Branching of the engine: the block, and the hints for both children."""

    block: int
    given_up: Hint | None
    kept: Hint | None


def read_hint(splits: Sequence[int], names: Sequence[int]) -> Hint | None:
    """Read the tree searched by an engine (`Proof.splits`); `names` are the blocks' names here."""
    ready: list[Hint | None] = []
    for split in reversed(splits):
        ready.append(None if split < 0 else Hint(int(names[split]), ready.pop(), ready.pop()))
    return ready.pop()


class _Node:
    """Node of the tree: its fixings, its bound and its line of the certificate; children after a split."""

    def __init__(self, fixed: Fixed, value: int, line: list[Any], x: FloatArray, hint: Hint | None) -> None:
        self.fixed, self.value, self.line, self.x, self.hint = fixed, value, line, x, hint
        self.children: tuple[_Node, ...] = ()


class HittingTree:
    """Branch and cut for a proof that the blocks given up weigh at least `target`, within a time limit."""

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
        """Return the proof for the certificate, and the weight that it proves to be given up.

        After the hint, or where it branches on blocks without cores, the search chooses its own branches.
        """
        root = self._node({}, _ROUNDS_AT_ROOT, hint)
        waiting = [(root.value, 0, root)]
        count = 1
        while waiting[0][0] < self._target and self.leaves < _MOST_LEAVES:
            if time.perf_counter() > self._until:
                break
            _, _, node = heapq.heappop(waiting)
            block, hints = self._split(node)
            if block is None:  # an integral hitting set: no more can be proven
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
        """Choose the branching block, and the hints for both children."""
        if node.hint is not None and node.hint.block in self._place:
            return self._place[node.hint.block], (node.hint.given_up, node.hint.kept)
        return self._fractional(node), (None, None)

    def _node(self, fixed: Fixed, rounds: int, hint: Hint | None) -> _Node:
        """Solve a node with cuts; its value is that of its exact dual solution."""
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
        """Return a core whose blocks are all kept."""
        kept = np.zeros(len(self._names))
        kept[[block for block, given_up in fixed.items() if not given_up]] = 1.0
        sizes = np.diff(self._inequalities.matrix.indptr)
        closed = np.flatnonzero(self._inequalities.matrix @ kept >= sizes)
        return int(closed[0]) if closed.size else None

    def _leaf(self, fixed: Fixed) -> tuple[int, list[Any]]:
        """Round the dual solution to integers: any nonnegative multipliers are valid."""
        packing = {index: int(multiplier * self._unit) for index, multiplier in self._program.duals()}
        packing = {index: y for index, y in packing.items() if y > 0}
        value = self._value(packing, fixed)
        if 0 < self._target - value <= self._near:
            better = mended(packing, self._inequalities.found, fixed, self._weight, self._unit)
            if (more := self._value(better, fixed)) > value:
                packing, value = better, more
        return value, ["leaf", self._unit, [[index, y] for index, y in packing.items()]]

    def _value(self, packing: dict[int, int], fixed: Fixed) -> int:
        """Return the bound of multipliers, as `verify` computes it."""
        return dual_value(self._unit, packing.items(), self._inequalities.found, fixed, self._weight)

    def _fractional(self, node: _Node) -> int | None:
        """Return the branching block: far from integral, heavy, and in many cores."""
        if node.x.size == 0:
            return None
        score = np.minimum(node.x, 1.0 - node.x)
        score[list(node.fixed)] = 0.0
        if score.max(initial=0.0) < 1e-6:
            return None
        return int(np.argmax(score * (1.0 + self._degree)))

    def _written(self, root: _Node) -> dict[str, Any]:
        """Write the tree in preorder with the inequalities that it uses."""
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
