"""Random tables of any dimensions, hierarchical or not, with random patterns."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import sparse

from linkrisk.formulations.tables.cell_table import CellTable


def bounded_table(value, relations, levels, *, primary=None, width=2.0, cost=None):
    """Known between 0 and twice each value, which is its cost; levels below, above and sliding."""
    return CellTable(
        value=value,
        relations=relations,
        lower=np.zeros(value.size),
        upper=width * value,
        primary=levels.sum(axis=0) > 0 if primary is None else primary,
        fixed=value == 0,
        cost=np.maximum(value, 1.0) if cost is None else cost,
        lower_level=levels[0],
        upper_level=levels[1],
        sliding_level=levels[2],
    )


def tree(leaves, fan):
    """Nodes of a tree over leaves, and the relations (total, parts): each `fan` neighbours have a total."""
    level, count, relations = list(range(leaves)), leaves, []
    while len(level) > 1:
        above = []
        for at in range(0, len(level), fan):
            parts = level[at : at + fan]
            if len(parts) == 1:
                above += parts
                continue
            relations.append((count, parts))
            above.append(count)
            count += 1
        level = above
    return count, relations


def random_table(generator, dimensions, *, zeros=0.1, share=0.15, level=0.2, decimals=0, most=100):
    """A table with a tree of (leaves, fan) in every dimension; a share of its inner cells is sensitive."""
    trees = [tree(*one) for one in dimensions]
    values = np.zeros([count for count, _ in trees])
    inner = tuple(slice(0, leaves) for leaves, _ in dimensions)
    drawn = generator.integers(1, most, [leaves for leaves, _ in dimensions]).astype(float)
    drawn[generator.random(drawn.shape) < zeros] = 0.0
    values[inner] = drawn
    number = np.arange(values.size).reshape(values.shape)
    rows, cells, coefficients = [], [], []
    count = itertools.count()
    for axis, (_, relations) in enumerate(trees):
        lines, numbers = np.moveaxis(values, axis, 0), np.moveaxis(number, axis, 0)
        for total, parts in relations:
            lines[total] = lines[parts].sum(axis=0)
        for total, parts in relations:
            for line in numbers[[total, *parts]].reshape(len(parts) + 1, -1).T:
                rows += [next(count)] * line.size
                cells += line.tolist()
                coefficients += [-1.0, *[1.0] * len(parts)]
    value = np.round(values.ravel() / 10.0**decimals, decimals)
    primary = np.zeros(values.shape, dtype=bool)
    primary[inner] = (generator.random(drawn.shape) < share) & (drawn > 0)
    primary = primary.ravel()
    lower = np.where(primary, np.round(level * value, decimals), 0.0)
    relations = sparse.csr_array((coefficients, (rows, cells)), shape=(next(count), value.size))
    levels = np.array([lower, np.where(primary, np.minimum(np.ceil(2.0 * level * value), value), 0.0), value])
    levels[2] *= 1.5 * (primary & (generator.random(value.size) < 0.3))
    return bounded_table(value, relations, levels, primary=primary)


def random_pattern(generator, table, share):
    """All sensitive cells, and a share of the others that may be suppressed."""
    return table.primary | (~table.fixed & (generator.random(len(table)) < share))


def linked_table(generator, leaves, crossed, *, common=1.0):
    """A variable with two hierarchies, crossed with others: two tables that have their inner cells in common.

    The second hierarchy groups the leaves by their number modulo 2; it knows a share of the other variables'
    lines only, all of them when `common` is 1.
    """
    base = random_table(generator, [(leaves, 3), *crossed], zeros=0.05)
    shape = [tree(leaves, 3)[0], *(tree(*one)[0] for one in crossed)]
    number = np.arange(len(base)).reshape(shape)
    lines = number.reshape(shape[0], -1).T
    lines = lines[generator.random(len(lines)) < common] if common < 1.0 else lines
    rows, value, count = [], base.value.tolist(), len(base)
    for line in lines:
        groups = []
        for which in (0, 1):
            inside = line[which:leaves:2].tolist()
            value.append(float(sum(value[cell] for cell in inside)))
            groups.append(count)
            rows.append((count, inside))
            count += 1
        rows.append((int(line[-1]), groups))
    relations = np.zeros((len(rows), count))
    for row, (total, parts) in enumerate(rows):
        relations[row, total], relations[row, parts] = -1.0, 1.0
    more, values = count - len(base), np.array(value)
    old = sparse.hstack([base.relations, sparse.csr_array((base.relations.shape[0], more))])
    levels = np.zeros((3, count))
    levels[:, : len(base)] = base.lower_level, base.upper_level, base.sliding_level
    together = sparse.csr_array(sparse.vstack([old, sparse.csr_array(relations)]))
    return bounded_table(
        values, together, levels, primary=np.append(base.primary, np.zeros(more, dtype=bool))
    )
