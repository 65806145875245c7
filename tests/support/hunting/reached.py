"""What is reached in a file pair: parameters that link much, found without the engine.

Where the parameters have one or two dimensions they are enumerated: rows cut the domain into cells, and in a
cell nothing changes. BlockWorkers random parameters are improved step by step. The evaluator counts them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.block_system import block_system
from linkrisk.formulations.linkage.domains import Measures, Simplex, Spectrahedron
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.linkage.evaluator import Evaluator

_SAMPLES = 150
_STEPS = 60
_DIRECTIONS = 48
_MOST_LINES = 45
_MOST_CELLS = 1_500


@dataclass(frozen=True)
class Reached:
    """The most that some parameters link, by weight and by number; the parameters may differ."""

    weight: float
    count: int


def reached(pair: LinkagePair, aggregator: Aggregator, random: np.random.Generator) -> Reached:
    """Look for parameters that link much."""
    evaluator = Evaluator(pair, 1)
    weights, counts = [0.0], [0]

    def judge(theta: FloatArray) -> float:
        linked = evaluator.count(aggregator.form(theta)).linked
        weights.append(float(pair.weight[linked].sum()))
        counts.append(int(linked.sum()))
        return weights[-1]

    points = [aggregator.domain.repair(point) for point in aggregator.domain.sample(_SAMPLES, random)]
    points += [aggregator.domain.repair(point) for point in cells(pair, aggregator, random)]
    best = max([aggregator.equal(), *points], key=judge)
    for _ in range(_STEPS):
        share = 10.0 ** random.uniform(-8, 0)
        other = points[random.integers(len(points))]
        moved = aggregator.domain.repair((1.0 - share) * best + share * other)
        if judge(moved) >= max(weights[:-1]):
            best = moved
    return Reached(max(weights), max(counts))


def cells(pair: LinkagePair, aggregator: Aggregator, random: np.random.Generator) -> Iterable[FloatArray]:
    """A point of every cell that rows cut the domain into, where that has at most two dimensions."""
    outline = corners(aggregator)
    if outline is None:
        return []
    system = block_system(pair, aggregator)
    rows = np.asarray(system.matrix.todense()).reshape(-1, aggregator.dimension)
    if len(outline) == 2:
        return _middles(outline, rows)
    chosen = random.permutation(len(rows))[:_MOST_LINES]
    return _centres(outline, rows[chosen])


def corners(aggregator: Aggregator) -> FloatArray | None:
    """Parameters around the domain, in their order; None where it has more than two dimensions."""
    domain = aggregator.domain
    if isinstance(domain, Simplex) and domain.dimension <= 3:
        return np.eye(domain.dimension)
    if len(aggregator.attributes) != 2 or not isinstance(domain, Spectrahedron | Measures):
        return None
    a, b = aggregator.attributes
    if isinstance(domain, Spectrahedron):
        angles = np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS
        rays = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        return np.array([aggregator.encode({"matrix": np.outer(ray, ray).tolist()}) for ray in rays])
    measures = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    return np.array([aggregator.encode({"measure": {a: x, b: y, f"{a},{b}": 1.0}}) for x, y in measures])


def _middles(ends: FloatArray, rows: FloatArray) -> FloatArray:
    """Both ends of an edge, all points where a row changes its sign, and between these."""
    first, second = rows @ ends[0], rows @ ends[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        at = first / (first - second)
    at = np.unique(np.concatenate([[0.0, 1.0], at[(at > 0.0) & (at < 1.0)]]))
    at = np.sort(np.concatenate([at, 0.5 * (at[1:] + at[:-1])]))
    return np.outer(1.0 - at, ends[0]) + np.outer(at, ends[1])


def _centres(outline: FloatArray, rows: FloatArray) -> FloatArray:
    """The centre of every cell of a polygon that is cut along the lines where rows vanish."""
    parts = [outline]
    for row in rows:
        if len(parts) > _MOST_CELLS:
            break
        parts = [half for part in parts for half in _halves(part, row)]
    return np.array([part.mean(axis=0) for part in parts])


def _halves(polygon: FloatArray, row: FloatArray) -> list[FloatArray]:
    """The parts of a polygon where a row is positive and where it is negative."""
    values = polygon @ row
    if (values >= 0.0).all() or (values <= 0.0).all():
        return [polygon]
    sides: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for at, value in enumerate(values):
        before = values[at - 1]
        if value * before < 0.0:
            crossing = (before * polygon[at] - value * polygon[at - 1]) / (before - value)
            for side in sides:
                side.append(crossing)
        for side, belongs in zip(sides, (value >= 0.0, value <= 0.0), strict=True):
            if belongs:
                side.append(polygon[at])
    return [np.array(side) for side in sides]
