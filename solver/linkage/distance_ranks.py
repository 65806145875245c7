"""Rank partners by distance in compiled code: a record is linked if its partner is strictly nearest.

Candidates lie in a tree of bounding boxes; a box whose lower bound is too far is pruned with all its
candidates. The nearer half of a box is searched first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import ByteArray, FloatArray, IndexArray, WordArray
from linkrisk.formulations.compiled import kernel
from linkrisk.formulations.linkage.box_tree import KNOWN, SOME, place_of
from linkrisk.solver.linkage.distance_kernels import (
    WEIGHTED_SUM,
    Boxes,
    Compared,
    Form,
    Found,
    Tables,
    aggregate,
    compare,
    complete,
    differences,
    dot,
    fill_in,
    of_kind,
    to_partner,
    weighted_squares,
)

RANKING, COUNTING, NEAREST = 0, 1, 2
"""Purposes of `settle`: rank the partner, stop at any nearer rival, or find the nearest rival."""

_SAFE = 1.0 - 1e-9
"""Generous bound on the relative rounding error of a distance without cancellation."""


@kernel(inline="always")
def _too_far(purpose: int, bound: float, reach: float, best: float, widened: float) -> Any:
    """Whether rivals at this distance or beyond can be pruned."""
    if purpose == NEAREST:
        return bound > widened
    return bound > reach and (purpose == COUNTING or bound > best)


@kernel
def _least(
    point: FloatArray,
    low: FloatArray,
    high: FloatArray,
    shift: float,
    differences: int,
    c: FloatArray,
) -> None:
    """Compute the least attribute distances of a point to a box."""
    for k in range(c.size):
        gap = max(low[k] - point[k], point[k] - high[k], 0.0) - shift
        c[k] = of_kind(gap, differences) if gap > 0.0 else 0.0


@kernel
def _least_to_missing(
    point: FloatArray,
    low: FloatArray,
    high: FloatArray,
    lacking: ByteArray,
    unknown: FloatArray,
    differences: int,
    c: FloatArray,
) -> None:
    """Compute them for boxes with missing values; `unknown` has the differences of the point to those."""
    for k in range(c.size):
        if lacking[k] != KNOWN and point[k] == point[k]:
            gap = abs(unknown[k])
            if lacking[k] == SOME:
                gap = max(0.0, min(gap, max(low[k] - point[k], point[k] - high[k])))
            c[k] = of_kind(gap, differences)


@kernel
def _by_distance(point: FloatArray, tables: Tables, nearest: WordArray, distances: FloatArray) -> None:
    """Group the categories of every attribute by their distance from a point's, ascending.

    `nearest` and `distances` (attributes, categories + 1) get the categories of each group as bits, and their
    distance; the last one has no bits.
    """
    attributes, values, first, width = tables
    for at in range(attributes.shape[0]):
        row, groups = first[at] + int(point[attributes[at]]) * width[at], 0
        for category in range(width[at]):
            distance, bit, place = values[row + category], np.uint64(1) << np.uint64(category), groups
            while place > 0 and distances[at, place - 1] > distance:
                place -= 1
            if place > 0 and distances[at, place - 1] == distance:
                nearest[at, place - 1] |= bit
                continue
            for further in range(groups, place, -1):
                nearest[at, further] = nearest[at, further - 1]
                distances[at, further] = distances[at, further - 1]
            nearest[at, place], distances[at, place] = bit, distance
            groups += 1
        nearest[at, groups], distances[at, groups] = np.uint64(0), np.inf


@kernel
def _room(codes: WordArray, tables: Tables) -> tuple[WordArray, FloatArray]:
    """Make room for `_by_distance`, if boxes know their categories."""
    shape = (tables[0].shape[0], tables[3].max() + 1) if codes.size > 0 else (0, 0)
    return np.empty(shape, dtype=np.uint64), np.empty(shape)


@kernel
def _look_up_groups(
    codes: WordArray,
    attributes: IndexArray,
    nearest: WordArray,
    distances: FloatArray,
    differences: int,
    c: FloatArray,
) -> bool:
    """Look up the least distances of categories into `c` (`_by_distance`); False when all are infinite."""
    for at in range(attributes.size):
        group = 0
        while nearest[at, group] != 0 and nearest[at, group] & codes[attributes[at]] == 0:
            group += 1
        least = distances[at, group]
        if least == np.inf:
            return False
        c[attributes[at]] = least * least if differences == 0 else least
    return True


@kernel
def _look_up_least(
    point: FloatArray,
    low: FloatArray,
    high: FloatArray,
    differences: int,
    tables: Tables,
    c: FloatArray,
) -> bool:
    """Look them up where boxes do not know their categories."""
    attributes, values, first, width = tables
    for at in range(attributes.shape[0]):
        k = attributes[at]
        row = first[at] + int(point[k]) * width[at]
        least = np.inf
        for category in range(int(low[k]), int(high[k]) + 1):
            least = min(least, values[row + category])
        if least == np.inf:
            return False
        c[k] = least * least if differences == 0 else least
    return True


@kernel
def _partner(
    form: Form, compared: Compared, block: int, apart: FloatArray, c: FloatArray, ranks: IndexArray
) -> tuple[float, float]:
    """Compute the distance of a block's partner, infinite if impossible, and the tie tolerance."""
    own = compared.partner[block]
    query, candidate = compared.queries[block], compared.candidates[own]
    compare(query, candidate, form.differences, c)
    differences(query, candidate, compared.missing, block, own, apart)
    if complete(query, candidate, form.differences, compared.tables, compared.missing, block, own, c):
        return to_partner(form, apart, compared.rounding[block], compared.allowance, c, ranks)
    return np.inf, 0.0


@kernel
def _put(pending: IndexArray, bounds: FloatArray, box: int, first: float, second: float) -> None:
    """Push the halves of a box on the stack, the nearer one on top."""
    near = 1 if second < first else 0
    pending[0], bounds[0] = 2 * box + 1 - near, max(first, second)
    pending[1], bounds[1] = 2 * box + near, min(first, second)


@kernel
def _look_up_rows(
    candidate: FloatArray,
    rows: IndexArray,
    attributes: IndexArray,
    values: FloatArray,
    differences: int,
    c: FloatArray,
) -> bool:
    """Look up distances of categories (`look_up`) where the rows of the query's categories begin."""
    for at in range(rows.size):
        d = values[rows[at] + int(candidate[attributes[at]])]
        if d == np.inf:
            return False
        c[attributes[at]] = d * d if differences == 0 else d
    return True


@kernel
def settle(  # noqa: C901 - calls with arrays out of tuples would count their references
    form: Form, compared: Compared, boxes: Boxes, purpose: int, blocks: IndexArray, found: Found
) -> None:
    """Compare some of the blocks of `compared` with their rivals; write the results to `found`.

    `purpose` is `RANKING`; or `COUNTING`: stop at a block's first rival that prevents the link; or `NEAREST`:
    exclude candidates that cannot be the nearest rival. With the last two, `Found.rank` and `Found.ties` show
    only whether a rival prevents the link.
    """
    # Arrays as separate variables: from a tuple, each use would count references, for both threads.
    queries, candidates, number, group, partner, known, _, _, tables, missing = compared
    points, low, high, lacking, codes, levels, bounding, looked_up, shift, blur = boxes
    nearest, distances = _room(codes, looked_up)
    noise, n, many = form.noise, queries.shape[1], number.shape[0]
    last_box = 1 << levels
    at: Any
    c, apart, corner = np.empty(n), np.empty(n), np.empty(points.shape[1])
    ranks = np.empty(max(n, corner.size), dtype=np.intp)
    pending, bounds, halves = np.empty(levels + 2, dtype=np.intp), np.empty(levels + 2), np.empty(2)
    # Specialised: most files have neither categories nor missing values, and this loop visits all pairs.
    attributes, values, first, width = tables
    lacks = missing[2].shape[0] > 0
    rows = np.empty(attributes.shape[0], dtype=np.intp)
    nominal, whole = looked_up[0], lacking.shape[0]  # 1 where nothing is missing
    # A weighted sum by itself, as the arrays of a form would be counted, too.
    box_vector, box_sum = bounding.vector, bounding.kind == WEIGHTED_SUM
    vector, weighted = form.vector, form.kind == WEIGHTED_SUM
    # A rival at distance y (with rounding error e) ties with x only when y - e - x is at most
    # moved + noise * sum_k P_kk c_k**2. Without noise that is y <= x + moved, give or take a rounding; with
    # it, `Boxes.blur` has e and the last term of the farthest rival.
    widening = 1.0 + 1e-12
    for block in blocks:
        query, point, own = queries[block], points[block], group[partner[block]]
        unknown = missing[0][block] if missing[2].shape[0] > 0 else apart
        if codes.size > 0:
            _by_distance(point, looked_up, nearest, distances)
        for at in range(rows.size):
            rows[at] = first[at] + int(query[attributes[at]]) * width[at]
        mine, moved = _partner(form, compared, block, apart, c, ranks)
        # A quadratic form that is zero on paper may be slightly below it by rounding.
        reach = (max(mine, 0.0) + moved) * widening
        nearer, tied, best, clearest, who = 0, 0, known[block], np.inf, -1
        waiting = 1
        pending[0], bounds[0] = 1, -np.inf
        while waiting > 0:
            waiting -= 1
            box = pending[waiting]
            if _too_far(purpose, bounds[waiting], reach, best, (best + moved) * widening):
                continue
            if box < last_box:
                for half in range(2):
                    side = 2 * box + half
                    _least(point, low[side], high[side], shift, bounding.differences, corner)
                    if whole > 1:
                        _least_to_missing(
                            point, low[side], high[side], lacking[side], unknown, bounding.differences, corner
                        )
                    halves[half] = np.inf
                    if (
                        _look_up_groups(
                            codes[side], nominal, nearest, distances, bounding.differences, corner
                        )
                        if codes.size > 0
                        else _look_up_least(
                            point, low[side], high[side], bounding.differences, looked_up, corner
                        )
                    ):
                        bound = dot(box_vector, corner) if box_sum else aggregate(bounding, corner, ranks)
                        halves[half] = _SAFE * bound - blur
                _put(pending[waiting:], bounds[waiting:], box, halves[0], halves[1])
                waiting += 2
                continue
            for at in range(place_of(box, levels, many), place_of(box + 1, levels, many)):
                compare(query, candidates[at], form.differences, c)
                if lacks:
                    fill_in(query, candidates[at], form.differences, missing, block, at, c)
                if group[at] == own or not _look_up_rows(
                    candidates[at], rows, attributes, values, form.differences, c
                ):
                    continue
                slack = moved + (noise * weighted_squares(form.matrix, c) if noise > 0.0 else 0.0)
                other = dot(vector, c) if weighted else aggregate(form, c, ranks)
                best = min(best, other)
                clear = other - slack
                if clear < clearest or (clear == clearest and number[at] < number[who]):
                    clearest, who = clear, at
                farther = other - mine
                nearer += farther < -slack
                tied += -slack <= farther <= slack
            waiting = 0 if purpose == COUNTING and nearer + tied > 0 else waiting
        found.rank[block] = 1 + nearer
        found.ties[block] = tied
        found.distance[block] = mine
        found.nearest_other[block] = best
        found.rival[block] = number[who] if who >= 0 else -1
        found.clear[block] = clearest


@kernel
def _lot(seed: Any, number: int) -> Any:
    """Draw a random number for each candidate, by the finaliser of splitmix64."""
    z = seed + np.uint64(number + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def _halves(
    boxes: Boxes,
    point: FloatArray,
    nearest: WordArray,
    distances: FloatArray,
    unknown: FloatArray,
    box: int,
    corner: FloatArray,
    ranks: IndexArray,
) -> tuple[float, float]:
    """Bound the distance to the candidates in both halves of a box from below."""
    _, low, high, lacking, codes, _, bounding, looked_up, _, blur = boxes
    first = np.inf
    for half in range(2):
        side, bound = 2 * box + half, np.inf
        _least(point, low[side], high[side], boxes.shift, bounding.differences, corner)
        if lacking.shape[0] > 1:
            _least_to_missing(
                point, low[side], high[side], lacking[side], unknown, bounding.differences, corner
            )
        if (
            _look_up_groups(codes[side], looked_up[0], nearest, distances, bounding.differences, corner)
            if codes.size > 0
            else _look_up_least(point, low[side], high[side], bounding.differences, looked_up, corner)
        ):
            bound = _SAFE * aggregate(bounding, corner, ranks) - blur
        if half == 0:
            first = bound
    return first, bound


@kernel
def _descend(
    form: Form, compared: Compared, boxes: Boxes, block: int, moved: float, best: float, who: int, seed: Any
) -> tuple[float, int]:
    """Find the distance of the nearest candidate, `best` being the partner's; or with a `who`, one that ties.

    `who` is -2 for the first; else the partner, or -1, and of those that tie with `best` the least lot wins.
    """
    queries, candidates, number, _, partner, _, _, _, tables, missing = compared
    query, point, levels, n = queries[block], boxes.points[block], boxes.levels, queries.shape[1]
    drawing, many = who > -2, number.shape[0]
    least = _lot(seed, who)
    at: Any
    c, corner, ranks = np.empty(n), np.empty(point.size), np.empty(max(n, point.size), dtype=np.intp)
    unknown = missing[0][block] if missing[2].shape[0] > 0 else corner
    pending, bounds = np.empty(levels + 2, dtype=np.intp), np.empty(levels + 2)
    nearest, distances = _room(boxes.codes, boxes.tables)
    if boxes.codes.size > 0:
        _by_distance(point, boxes.tables, nearest, distances)
    waiting = 1
    pending[0], bounds[0] = 1, -np.inf
    while waiting > 0:
        waiting -= 1
        box = pending[waiting]
        if bounds[waiting] > (max(best, 0.0) + moved) * (1.0 + 1e-12):
            continue
        if box < 1 << levels:
            first, second = _halves(boxes, point, nearest, distances, unknown, box, corner, ranks)
            _put(pending[waiting:], bounds[waiting:], box, first, second)
            waiting += 2
            continue
        for at in range(place_of(box, levels, many), place_of(box + 1, levels, many)):
            compare(query, candidates[at], form.differences, c)
            if at == partner[block] or not complete(
                query, candidates[at], form.differences, tables, missing, block, at, c
            ):
                continue
            slack = moved + (form.noise * weighted_squares(form.matrix, c) if form.noise > 0.0 else 0.0)
            other = aggregate(form, c, ranks)
            if not drawing:
                best = min(best, other)
            elif other <= best + slack and (who < 0 or _lot(seed, number[at]) < least):
                who, least = number[at], _lot(seed, number[at])
    return best, who


@kernel
def draw(
    form: Form,
    compared: Compared,
    boxes: Boxes,
    partners: IndexArray,
    lots: NDArray[np.uint64],
    blocks: IndexArray,
    chosen: IndexArray,
) -> None:
    """Draw one of the nearest candidates of each of some blocks; -1 where none is possible.

    `partners` are the numbers of partners, `lots` a random number for each block.
    """
    n = compared.queries.shape[1]
    c, apart, ranks = np.empty(n), np.empty(n), np.empty(n, dtype=np.intp)
    for block in blocks:
        mine, moved = _partner(form, compared, block, apart, c, ranks)
        best, _ = _descend(form, compared, boxes, block, moved, mine, -2, lots[block])
        who = -1
        if mine < np.inf and mine <= (best + moved) * (1.0 + 1e-12):
            who = partners[block]
        else:  # the rounding error of a distant partner does not concern them
            moved = min(moved, form.tolerance * max(best, 0.0))
        chosen[block] = _descend(form, compared, boxes, block, moved, best, who, lots[block])[1]
