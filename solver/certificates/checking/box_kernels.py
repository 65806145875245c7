"""Compiled tree searches over boxes of candidates: lists possible ties, and finds nearest rivals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.formulations.compiled import kernel

NUMERIC, TABLE, LACKING = 0, 1, 2
"""Kinds of attributes: numbers, categories, and numbers with missing values."""

SUM, ORDERED, MEASURE, PAIRS, FORM = 0, 1, 2, 3, 4
"""Kinds of distances: a weighted sum, that of the descending values, a Choquet integral, a weighted sum with
the smaller and the larger of each two, and the squared length of an image."""

LEAF = 16
"""Candidates in a leaf of the tree: more cost comparisons, fewer cost visits."""


class Compared(NamedTuple):
    """Blocks with the kinds and tables of their attributes; table k begins at ``offsets[k]``."""

    queries: FloatArray
    lacking: FloatArray
    kinds: LongArray
    table: FloatArray
    offsets: LongArray
    widths: LongArray


class Ends(NamedTuple):
    """Minimum and maximum of each attribute in boxes, and whether values are missing.

    Candidates are boxes of their own: their values may be missing (NaN), and `lacks` is empty. Shadows are
    differences to a missing value.
    """

    least: FloatArray
    most: FloatArray
    lacks: BoolArray
    shadow_least: FloatArray
    shadow_most: FloatArray


class Boxed(NamedTuple):
    """Boxes 2 i and 2 i + 1 halve box i of candidates; `twins` are no rivals of each other."""

    boxes: Ends
    points: Ends
    held: LongArray
    twins: LongArray


class Distance(NamedTuple):
    """Distance of one of the kinds above; `signed` if signs of differences count."""

    kind: int
    weights: FloatArray
    squared: bool
    signed: bool


@kernel
def rows_of_tables(query: FloatArray, kinds: LongArray, offsets: LongArray, widths: LongArray,
                   starts: LongArray) -> None:  # fmt: skip
    """Return the row of each categorical attribute's table with the distances of a query."""
    for k in range(kinds.size):
        if kinds[k] == TABLE:
            starts[k] = offsets[k] + int(query[k]) * widths[k]


@kernel
def spans(at: int, query: FloatArray, lacking: FloatArray, compared: Compared, starts: LongArray,
          ends: Ends, low: FloatArray, high: FloatArray) -> int:  # fmt: skip
    """Compute the extreme differences of a query to the candidates of a box, by attribute.

    Returns 0 if all candidates are impossible, 1 if some are, 2 if none is; ends are of possible ones.
    """
    kinds, table = compared.kinds, compared.table
    least, most, lacks, shadow_least, shadow_most = ends
    possible = 2
    for k in range(kinds.size):
        if kinds[k] == NUMERIC:
            low[k], high[k] = query[k] - most[at, k], query[k] - least[at, k]
        elif kinds[k] == TABLE:
            low[k], high[k] = np.inf, -np.inf
            for code in range(int(least[at, k]), int(most[at, k]) + 1):
                distance = table[starts[k] + code]
                if distance < np.inf:
                    low[k], high[k] = min(low[k], distance), max(high[k], distance)
                else:
                    possible = 1
            if low[k] == np.inf:
                return 0
        elif np.isnan(query[k]):
            low[k], high[k] = shadow_least[at, k], shadow_most[at, k]
        elif np.isnan(least[at, k]):
            low[k] = high[k] = lacking[k]
        else:
            low[k], high[k] = query[k] - most[at, k], query[k] - least[at, k]
            if lacks.size > 0 and lacks[at, k]:
                low[k], high[k] = min(low[k], lacking[k]), max(high[k], lacking[k])
    return possible


@kernel
def to_sizes(low: FloatArray, high: FloatArray) -> None:
    """Convert the ends of differences to those of absolute values, in place."""
    for k in range(low.size):
        least, most = low[k], high[k]
        low[k] = max(least, -most, 0.0)
        high[k] = max(most, -least)


@kernel
def sort_descending(values: FloatArray) -> None:
    """Sort a few values in place."""
    for i in range(1, values.size):
        value, j = values[i], i
        while j > 0 and values[j - 1] < value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@kernel
def _integral(c: FloatArray, measure: FloatArray, own: FloatArray, places: LongArray) -> float:
    """Return the Choquet integral: steps times the measure of the attributes at least as large."""
    for i in range(c.size):
        value, j = c[i], i
        while j > 0 and own[j - 1] > value:
            own[j], places[j] = own[j - 1], places[j - 1]
            j -= 1
        own[j], places[j] = value, i
    total, before, subset = 0.0, 0.0, measure.size - 1
    for i in range(c.size):
        total += (own[i] - before) * measure[subset]
        before = own[i]
        subset ^= 1 << places[i]
    return total


@kernel
def _with_pairs(c: FloatArray, weights: FloatArray) -> float:
    """Sum weights of attributes, of the smaller of each two, and of the larger of each two."""
    total, at = 0.0, c.size
    pairs = c.size * (c.size - 1) // 2
    for k in range(c.size):
        total += weights[k] * c[k]
        for m in range(k + 1, c.size):
            total += weights[at] * min(c[k], c[m]) + weights[at + pairs] * max(c[k], c[m])
            at += 1
    return total


@kernel
def distance_of(kind: int, weights: FloatArray, squared: bool, c: FloatArray, own: FloatArray,
                places: LongArray) -> tuple[float, float]:  # fmt: skip
    """Return the distance of nonnegative differences, and the largest attribute distance.

    It is monotone in every difference.
    """
    largest, total = 0.0, 0.0
    for k in range(c.size):
        c[k] = c[k] * c[k] if squared else c[k]
        largest = max(largest, c[k])
    if kind == MEASURE:
        return _integral(c, weights[0], own, places), largest
    if kind == PAIRS:
        return _with_pairs(c, weights[0]), largest
    if kind == ORDERED:
        sort_descending(c)
    for k in range(c.size):
        if weights[0, k] != 0.0:
            total += weights[0, k] * c[k]
    return total, largest


@kernel
def form_of(images: FloatArray, low: FloatArray, high: FloatArray) -> tuple[float, float]:
    """Enclose the squared length of the image of differences between two ends."""
    shortest, longest = 0.0, 0.0
    for j in range(images.shape[0]):
        least, most = 0.0, 0.0
        for k in range(low.size):
            first, second = images[j, k] * low[k], images[j, k] * high[k]
            least += min(first, second)
            most += max(first, second)
        near, far = max(least, -most, 0.0), max(most, -least)
        shortest += near * near
        longest += far * far
    return shortest, longest


@kernel
def enclosed(distance: Distance, error: float, low: FloatArray, high: FloatArray, own: FloatArray,
             places: LongArray) -> tuple[float, float]:  # fmt: skip
    """Enclose the distances of differences between two ends; NaN if unknown.

    `error` times the largest attribute distance bounds the rounding error of a distance.
    """
    kind, weights, squared, signed = distance
    if kind == FORM:
        if not signed:
            to_sizes(low, high)
        shortest, longest = form_of(weights, low, high)
        size = 0.0
        for k in range(low.size):
            size = max(size, low[k] * low[k], high[k] * high[k])
        return shortest - error * size, longest + error * size
    to_sizes(low, high)
    shortest, small = distance_of(kind, weights, squared, low, own, places)
    longest, large = distance_of(kind, weights, squared, high, own, places)
    return shortest - error * small, longest + error * large


DEEPEST = 256
"""Depth of the stack of boxes: two per level of the tree would do."""

_UNKNOWN = 1e308


class Asked(NamedTuple):
    """Blocks, the excluded number in `Boxed.twins`, and two limits of distances.

    Candidates certainly below `near` are counted only; those certainly above `far` are skipped.
    """

    blocks: LongArray
    twins: LongArray
    near: FloatArray
    far: FloatArray


class Near(NamedTuple):
    """Result of `list_near`: numbers of certainly nearer rivals, whether all others are listed, and pairs.

    A pair is the place of the block among `Asked.blocks` and the place of the candidate among the points.
    """

    nearer: LongArray
    complete: BoolArray
    of_block: LongArray
    listed: LongArray


@kernel
def list_near(  # noqa: C901
    asked: Asked, first_only: bool, most_listed: int, distance: Distance, error: float, compared: Compared,
    boxed: Boxed, found: Near,
) -> tuple[int, int]:  # fmt: skip
    """List the candidates of each block within `far`, and count the certainly nearer ones.

    With `first_only` a block ends with the first certainly nearer rival, which is listed, and with
    `most_listed` listed ones. `error` is that of the distance, relative to the largest attribute distance.
    Returns how many blocks were done before the space was full, and the length of their list.
    """
    blocks, own_twins, near, far = asked
    nearer, complete, of_block, listed = found
    queries, lackings, kinds, offsets, widths = (
        compared.queries, compared.lacking, compared.kinds, compared.offsets, compared.widths
    )  # fmt: skip
    held, twins = boxed.held, boxed.twins
    attributes, leaves, used = kinds.size, held.size // 2, 0
    low, high, own = np.empty(attributes), np.empty(attributes), np.empty(attributes)
    places, starts = np.empty(attributes, dtype=np.int64), np.zeros(attributes, dtype=np.int64)
    stack, nothing, bounds = np.empty(DEEPEST, dtype=np.int64), np.full(attributes, np.nan), np.empty(2)
    for one in range(blocks.size):
        query = queries[blocks[one]]
        lacking = lackings[blocks[one]] if lackings.shape[0] > 0 else nothing
        rows_of_tables(query, kinds, offsets, widths, starts)
        began, waiting, nearer[one], complete[one] = used, 1, 0, True
        stack[0] = 1
        while waiting > 0:
            waiting -= 1
            at = stack[waiting]
            if at < leaves:
                for side in range(2):
                    child, bounds[side] = 2 * at + side, np.inf
                    possible = held[child] and spans(
                        child, query, lacking, compared, starts, boxed.boxes, low, high
                    )  # fmt: skip
                    if possible == 0:
                        continue
                    shortest, longest = enclosed(distance, error, low, high, own, places)
                    if shortest > far[one]:
                        continue
                    if possible == 2 and longest < near[one] and not first_only:
                        nearer[one] += held[child]
                        continue
                    bounds[side] = shortest if shortest < _UNKNOWN else _UNKNOWN
                waiting = _push(at, bounds, stack, waiting)
                continue
            begins = (at - leaves) * LEAF
            for place in range(begins, begins + held[at]):
                if twins[place] == own_twins[one] or not spans(
                    place, query, lacking, compared, starts, boxed.points, low, high
                ):  # fmt: skip
                    continue
                shortest, longest = enclosed(distance, error, low, high, own, places)
                if shortest > far[one]:
                    continue
                if longest < near[one]:
                    nearer[one] += 1
                    if not first_only:
                        continue
                if used == of_block.size:
                    return one, began
                of_block[used], listed[used] = one, place
                used += 1
                if (nearer[one] > 0 and first_only) or used - began >= most_listed:
                    complete[one], waiting = False, 0
                    break
    return blocks.size, used


@kernel
def _push(at: int, bounds: FloatArray, stack: LongArray, waiting: int) -> int:
    """Push the two children of a box, the nearer one on top."""
    upper = 1 if bounds[1] < bounds[0] else 0
    for side in (1 - upper, upper):
        if bounds[side] < np.inf:
            stack[waiting] = 2 * at + side
            waiting += 1
    return waiting


@kernel
def find_nearest(blocks: LongArray, own_twins: LongArray, distance: Distance,  # noqa: C901
                 compared: Compared, boxed: Boxed, nearest: LongArray) -> None:  # fmt: skip
    """Return the nearest rival of each block, up to rounding; -1 without any."""
    queries, lackings, kinds, offsets, widths = (
        compared.queries, compared.lacking, compared.kinds, compared.offsets, compared.widths
    )  # fmt: skip
    held, twins = boxed.held, boxed.twins
    attributes, leaves = kinds.size, held.size // 2
    low, high, own = np.empty(attributes), np.empty(attributes), np.empty(attributes)
    places, starts = np.empty(attributes, dtype=np.int64), np.zeros(attributes, dtype=np.int64)
    stack, nothing = np.empty(DEEPEST, dtype=np.int64), np.full(attributes, np.nan)
    bounds, least_of = np.empty(2), np.empty(DEEPEST)
    for one in range(blocks.size):
        query = queries[blocks[one]]
        lacking = lackings[blocks[one]] if lackings.shape[0] > 0 else nothing
        rows_of_tables(query, kinds, offsets, widths, starts)
        waiting, nearest[one], best = 1, -1, np.inf
        stack[0], least_of[0] = 1, -np.inf
        while waiting > 0:
            waiting -= 1
            at = stack[waiting]
            if least_of[waiting] >= best:
                continue
            if at < leaves:
                for side in range(2):
                    child, bounds[side] = 2 * at + side, np.inf
                    if held[child] > 0 and spans(
                        child, query, lacking, compared, starts, boxed.boxes, low, high
                    ):  # fmt: skip
                        shortest, _ = enclosed(distance, 0.0, low, high, own, places)
                        bounds[side] = shortest if shortest < _UNKNOWN else _UNKNOWN
                before = waiting
                waiting = _push(at, bounds, stack, waiting)
                for pushed in range(before, waiting):
                    least_of[pushed] = bounds[stack[pushed] - 2 * at]
                continue
            begins = (at - leaves) * LEAF
            for place in range(begins, begins + held[at]):
                if twins[place] == own_twins[one] or not spans(
                    place, query, lacking, compared, starts, boxed.points, low, high
                ):  # fmt: skip
                    continue
                shortest, _ = enclosed(distance, 0.0, low, high, own, places)
                if shortest < best or nearest[one] < 0:
                    best, nearest[one] = shortest, place


@kernel
def settle_order(blocks: LongArray, own_twins: LongArray, partners: tuple[FloatArray, FloatArray],
                 ranked: bool, sequence: LongArray, compared: Compared, boxed: Boxed,
                 state: LongArray) -> None:  # fmt: skip
    """Set `state` to 1 where an order links a block, 0 where ties are left, else -1.

    `partners` are distances of partners (some, attributes), and up to which a rival is not farther; by rank,
    if `ranked`.
    """
    mine, tied = partners
    queries, lackings, kinds, offsets, widths = (
        compared.queries, compared.lacking, compared.kinds, compared.offsets, compared.widths
    )  # fmt: skip
    held, twins = boxed.held, boxed.twins
    attributes, leaves = kinds.size, held.size // 2
    low, high, starts = np.empty(attributes), np.empty(attributes), np.zeros(attributes, dtype=np.int64)
    stack, nothing, bounds = np.empty(DEEPEST, dtype=np.int64), np.full(attributes, np.nan), np.empty(2)
    for one in range(blocks.size):
        query = queries[blocks[one]]
        lacking = lackings[blocks[one]] if lackings.shape[0] > 0 else nothing
        rows_of_tables(query, kinds, offsets, widths, starts)
        waiting, state[one], stack[0] = 1, 1, 1
        while waiting > 0:
            waiting -= 1
            at = stack[waiting]
            if at < leaves:
                for side in range(2):
                    child, bounds[side] = 2 * at + side, np.inf
                    if held[child] == 0 or not spans(
                        child, query, lacking, compared, starts, boxed.boxes, low, high
                    ):  # fmt: skip
                        continue
                    found = _compare(low, high, mine[one], tied[one], ranked, sequence)
                    if found == 1 or (found == 0 and state[one] == 0):
                        continue  # farther, or one more that ties
                    ahead = low.sum() if ranked else low[sequence[-1]]
                    bounds[side] = ahead if ahead < _UNKNOWN else _UNKNOWN
                waiting = _push(at, bounds, stack, waiting)
                continue
            begins = (at - leaves) * LEAF
            for place in range(begins, begins + held[at]):
                if twins[place] == own_twins[one] or not spans(
                    place, query, lacking, compared, starts, boxed.points, low, high
                ):  # fmt: skip
                    continue
                found = _compare(low, high, mine[one], tied[one], ranked, sequence)
                state[one] = min(state[one], found)
                if found < 0:
                    waiting = 0
                    break


@kernel
def _compare(low: FloatArray, high: FloatArray, mine: FloatArray, tied: FloatArray, ranked: bool,
             sequence: LongArray) -> int:  # fmt: skip
    """Return 1 if all between two ends are farther than the partner, 0 if all tie with it, else -1.

    The first attribute without a tie decides. A single candidate has equal ends and is decided exactly.
    """
    to_sizes(low, high)
    if ranked:
        sort_descending(low)
        sort_descending(high)
    for k in sequence:
        if low[k] > tied[k]:
            return 1
        if low[k] != mine[k] or high[k] != mine[k]:
            return -1
    return 0
