"""Tables for tests: with margins, linked, circular, to be rounded, with insiders; a plain audit of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

import highspy
import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from random_tables import bounded_table
from scipy import sparse

from linkrisk.datasets.tables.code_trees import CodeTree
from linkrisk.datasets.tables.stored_table import StoredTable, stored_table
from linkrisk.formulations.tables.cell_table import CellTable, Insider
from linkrisk.formulations.tables.controlled_rounding import ControlledRounding

WORKED = ((20, 3, 10, 30), (15, 25, 35, 40), (45, 12, 28, 18), (32, 22, 16, 60))
LEVELS = {(1, 3): 3.0, (3, 2): 4.0}
ASKED = ["--cells", "cells.csv", "--relations", "relations.csv"]
"""Options that name the two files."""


def write_table_files(
    folder: Path,
    inner: Sequence[Sequence[float]] = WORKED,
    levels: Mapping[tuple[int, int], float] = LEVELS,
    *,
    status: Mapping[tuple[int, int], str] | None = None,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    names: tuple[str, str] = ("row", "column"),
) -> dict[str, str]:
    """Write ``cells.csv`` and ``relations.csv``; the keywords of the functions that read them.

    Places count from 1 inside, 0 is the total; sensitive are those with a level. Bounds are 0 and twice the
    value.
    """
    whole = margins(np.array(inner))[0].astype(np.array(inner).dtype)
    rows = ["T", *(rows or map(str, range(1, len(whole))))]
    columns = ["T", *(columns or map(str, range(1, whole.shape[1])))]
    lines = [",".join([*(f'"{name}"' for name in names), "value", "status", "lower_protection"])]
    lines[0] += ",upper_protection,lower_bound,upper_bound"
    for (i, j), value in np.ndenumerate(whole):
        level = levels.get((i, j), 0)
        mark = "u" if level else (status or {}).get((i, j), "s")
        lines.append(f'"{rows[i]}","{columns[j]}",{value},{mark},{level},{level},0,{2 * value}')
    number = np.arange(whole.size).reshape(whole.shape)
    terms = ["relation,cell,coefficient"]
    for at, line in enumerate([*number, *number.T]):
        terms += [f"{at},{cell},{-1 if place == 0 else 1}" for place, cell in enumerate(line)]
    paths = {name: str(folder / f"{name}.csv") for name in ("cells", "relations")}
    Path(paths["cells"]).write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path(paths["relations"]).write_text("\n".join(terms) + "\n", encoding="utf-8")
    return paths


# Tables of any codes and values, whatever they sum to

CODES = st.lists(
    st.text("abcÄ7,:;_ ", min_size=1, max_size=4).map(str.strip).filter(bool),
    min_size=1,
    max_size=4,
    unique=True,
)
"""Codes of a variable."""


def flat_table(codes: Mapping[str, Sequence[str]], values: Sequence[float]) -> StoredTable:
    """Return a table with all combinations of codes and totals, with these values again and again."""
    index = pd.MultiIndex.from_product([["Total", *one] for one in codes.values()], names=list(codes))
    frame = index.to_frame(index=False).assign(value=np.resize(values, len(index)))
    trees = [CodeTree.flat(name, one) for name, one in codes.items()]
    nothing = pd.DataFrame({"relation": [], "cell": [], "coefficient": []})
    return stored_table(frame, nothing, "the table", by=list(codes), trees=trees)


# Two ready tables of the same records, by region and size and by region and age, with common cells


SIZES = {"small": (50, 60), "large": (70, 80)}
AGES = {"young": (30, 70), "old": (90, 70)}


def write_linked_tables(folder: Path) -> None:
    """Write ``by_size.csv`` and ``by_age.csv``, each with a sensitive cell in the North."""
    for name, parts, sensitive, level in (("size", SIZES, "large", 8), ("age", AGES, "young", 5)):
        lines = [f"region,{name},value,status,lower_protection,upper_protection"]
        for region, of in (("Total", (0, 1)), ("North", (0,)), ("South", (1,))):
            values = {code: sum(part[at] for at in of) for code, part in parts.items()}
            for code, value in {"Total": sum(values.values()), **values}.items():
                secret = (region, code) == ("North", sensitive)
                lines.append(f"{region},{code},{value}," + (f"u,{level},{level}" if secret else "s,,"))
        (folder / f"by_{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


# Tables of two variables whose hierarchies do not nest: relations of a line run in circles


CIRCLE = np.array([[-1, 1, 1, 0, 0, 0], [0, 0, -1, 1, 1, 0], [0, 1, 0, 1, 0, -1]])
"""A line of six codes, of which three are free: 0 = 1 + 2, 2 = 3 + 4, 5 = 1 + 3."""


def circles(generator, count, leaves):
    """Random sums over codes, each of two or three codes before it, which overlap, shape (count, n)."""
    rows = np.zeros((count, leaves + count))
    for number in range(count):
        before = leaves + number
        parts = generator.choice(before, min(before, generator.integers(2, 4)), replace=False)
        rows[number, parts], rows[number, leaves + number] = 1.0, -1.0
    return rows


def circle_table(generator, lines, *, share=0.3, zeros=0.1):
    """A table whose variables have these lines: relations of codes, of shapes (m_k, n_k)."""
    widths = [line.shape[1] for line in lines]
    kernels = [_codes(line) for line in lines]
    values = np.zeros(widths)
    inner = generator.integers(1, 60, [kernel.shape[1] for kernel in kernels]).astype(float)
    inner[generator.random(inner.shape) < zeros] = 0.0
    values = inner
    for axis, kernel in enumerate(kernels):
        values = np.moveaxis(np.tensordot(kernel, values, axes=(1, axis)), 0, axis)
    number = np.arange(values.size).reshape(widths)
    rows = []
    for axis, line in enumerate(lines):
        for along in np.moveaxis(number, axis, 0).reshape(widths[axis], -1).T:
            for relation in line:
                rows.append(np.zeros(values.size))
                rows[-1][along] = relation
    value = values.ravel()
    primary = (generator.random(value.size) < share) & (value > 0)
    level = np.where(primary, np.ceil(0.2 * value), 0.0)
    return bounded_table(value, sparse.csr_array(np.array(rows)), np.array([level, level, 0.0 * level]))


def _codes(line):
    """All codes of a line as sums of those that are free: the codes that no relation computes."""
    computed = [int(np.flatnonzero(relation < 0)[0]) for relation in line]
    free = [code for code in range(line.shape[1]) if code not in computed]
    parts = np.zeros((line.shape[1], len(free)))
    parts[free] = np.eye(len(free))
    for _ in line:
        for relation, code in zip(line, computed, strict=True):
            parts[code] = np.maximum(relation, 0.0) @ parts
    return parts


# Tables with margins in every dimension, to be rounded


def margins(inner):
    """Values with a total at place 0 of every dimension, and their relations."""
    cells = np.zeros([size + 1 for size in inner.shape])
    cells[tuple(slice(1, None) for _ in inner.shape)] = inner
    for axis in range(inner.ndim):
        first = tuple(slice(0, 1) if at == axis else slice(None) for at in range(inner.ndim))
        cells[first] = cells.sum(axis=axis, keepdims=True)
    number, lines = np.arange(cells.size).reshape(cells.shape), []
    for axis in reversed(range(inner.ndim)):
        lines += list(np.moveaxis(number, axis, 0).reshape(cells.shape[axis], -1).T)
    relations = sparse.lil_array((len(lines), cells.size))
    for at, line in enumerate(lines):
        relations[at, line] = [-1.0] + [1.0] * (line.size - 1)
    return cells, sparse.csr_array(relations)


def with_margins(inner, base=5, weight=None):
    """A table with margins, to be rounded."""
    cells, relations = margins(inner)
    weight = np.ones(cells.size) if weight is None else weight
    return ControlledRounding(
        value=cells.ravel(), relations=relations, weight=weight, base=base, zero_restricted=True
    )


def drawn(shape, seed=0, base=5):
    return with_margins(np.random.default_rng(seed).integers(0, 60, shape).astype(float), base)


# Small tables with insiders, and what attackers find out of them by plain programs on values


def table_of(inner, sensitive, *, sliding=False, cost="value", width=2.0):
    """A two-way table with margins, known up to `width` times each value; levels below and above."""
    whole, relations = margins(np.array(inner, dtype=float))
    number, value = np.arange(whole.size).reshape(whole.shape), whole.ravel()
    levels = np.zeros((3, value.size))
    for (row, column), (low, high) in sensitive.items():
        at = number[row + 1, column + 1]
        levels[:2, at] = min(low, value[at]), min(high, value[at] * (width - 1.0))
        if sliding:
            levels[:, at] = 0.0, 0.0, levels[:2, at].sum()
    cost = np.ones(value.size) if cost == "unit" else None
    return bounded_table(value, relations, levels, width=width, cost=cost)


def insider(table, known, name="one"):
    """Who knows at least so much of some cells, or them exactly."""
    cells = np.array(sorted(known), dtype=np.int64)
    lower = np.array([table.value[at] if known[at] is None else known[at] for at in cells], dtype=float)
    upper = np.array([table.value[at] if known[at] is None else table.upper[at] for at in cells], dtype=float)
    return Insider(name, cells, lower, upper)


def protects(table, suppressed):
    """Whether a pattern protects from the outsider and from every insider."""
    return not any(plain_short(view, suppressed) for view in (table, *map(table.seen_by, table.insiders)))


def cheapest(table):
    """The least cost over all patterns that protect, the cheapest first; None where none does."""
    free = np.flatnonzero(table.free)
    inside = table.relations.toarray() != 0
    patterns = []
    for bits in product((False, True), repeat=free.size):
        suppressed = table.primary.copy()
        suppressed[free] = bits
        if not (inside[:, suppressed].sum(axis=1) == 1).any():
            patterns.append((table.cost[suppressed & table.free].sum(), suppressed))
    for cost, suppressed in sorted(patterns, key=lambda one: one[0]):
        if protects(table, suppressed):
            return cost
    return None


def frames_of(table, suppressed=None):
    """The cells and the relations as files have them."""
    shown = "s" if suppressed is None else np.where(suppressed, "m", np.where(table.fixed, "z", "s"))
    cells = pd.DataFrame(
        {
            "cell": np.arange(len(table)),
            "value": table.value,
            "status": np.where(table.primary, "u", shown),
            "lower_protection": table.lower_level,
            "upper_protection": table.upper_level,
            "sliding_protection": table.sliding_level,
            "lower_bound": table.lower,
            "upper_bound": table.upper,
        }
    )
    terms = table.relations.tocoo()
    rows, columns = terms.coords
    return cells, pd.DataFrame({"relation": rows, "cell": columns, "coefficient": terms.data})


# The audit written plainly: two programs of scipy for each suppressed cell, all relations at once


def _attack_program(table, unknown):
    """How far suppressed cells can move together; nothing is minimised yet."""
    relations = sparse.csr_array(table.relations)[:, unknown]
    relations = relations[np.diff(relations.indptr) > 0]
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = relations.shape
    program.col_cost_ = np.zeros(unknown.size)
    program.col_lower_, program.col_upper_ = -table.below[unknown], table.above[unknown]
    program.row_lower_ = program.row_upper_ = np.zeros(relations.shape[0])
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_, program.a_matrix_.index_ = relations.indptr, relations.indices
    program.a_matrix_.value_ = relations.data.astype(float)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    assert solver.passModel(program) != highspy.HighsStatus.kError
    return solver


def plain_intervals(table, suppressed, cells=None):
    """Low and high of every suppressed cell, in their order, or of those of `cells` alone."""
    unknown = np.flatnonzero(suppressed)
    solver, found = _attack_program(table, unknown), []
    for place, cell in enumerate(unknown):
        if cells is not None and not cells[cell]:
            continue
        ends = []
        for sign in (1.0, -1.0):
            solver.changeColCost(place, sign)
            solver.run()
            assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
            ends.append(solver.getInfo().objective_function_value)
        solver.changeColCost(place, 0.0)
        found.append((table.value[cell] + ends[0], table.value[cell] - ends[1]))
    return np.array(found).reshape(-1, 2)


def plain_interval(table, suppressed, cell):
    """What a cell can be at least and at most."""
    if not suppressed[cell]:
        return table.value[cell], table.value[cell]
    return tuple(plain_intervals(table, suppressed, np.arange(len(table)) == cell)[0])


def plain_shortfall(table, suppressed, cell):
    """By how much the worst level of a cell is missed."""
    low, high = plain_interval(table, suppressed, cell)
    down, up = table.value[cell] - low, high - table.value[cell]
    levels = (table.lower_level[cell], table.upper_level[cell], table.sliding_level[cell])
    return max(levels[0] - down, levels[1] - up, levels[2] - up - down)


def plain_short(table, suppressed, close=1e-5):
    """The sensitive cells that are short of a level."""
    asked = np.asarray(suppressed, dtype=bool) & table.primary
    found = plain_intervals(table, suppressed, asked)
    intervals = dict(zip(np.flatnonzero(asked).tolist(), found, strict=True))
    short = []
    for cell in np.flatnonzero(table.primary).tolist():
        value = table.value[cell]
        low, high = intervals.get(cell, (value, value))
        reached = (value - low, high - value, high - low)
        levels = (table.lower_level[cell], table.upper_level[cell], table.sliding_level[cell])
        if any(reach < level * (1.0 - close) for reach, level in zip(reached, levels, strict=True)):
            short.append(cell)
    return short


# Tables of the benchmarks beside the public data


def bench_folder() -> Path:
    """The folder of the tables of the reference; a test that asks for it is skipped where there is none."""
    data = os.environ.get("LINKRISK_DATA")
    folder = Path(str(data)).parent / "bench" / "tables"
    if data is None or not folder.is_dir():
        pytest.skip("needs the tables of the reference beside the public data of LINKRISK_DATA")
    return folder


def bench_table(frame: pd.DataFrame, terms: pd.DataFrame) -> CellTable:
    """A table by its files of cells and equations, without its pattern."""
    value = frame["value"].to_numpy(float)
    primary = ((frame["status"] == "u") if "status" in frame else (frame["sensitive"] == 1)).to_numpy()
    levels = [np.where(primary, frame[f"{side}_protection"].fillna(0.0), 0.0) for side in ("lower", "upper")]
    places = (terms["coefficient"].astype(float), (terms["equation"], terms["cell"]))
    return CellTable(
        value=value,
        relations=sparse.csr_array(places, shape=(terms["equation"].max() + 1, value.size)),
        lower=frame["lower_bound"].to_numpy(float),
        upper=frame["upper_bound"].to_numpy(float),
        primary=primary,
        fixed=(frame["lower_bound"] == frame["upper_bound"]).to_numpy(),
        cost=np.ones(value.size),
        lower_level=levels[0],
        upper_level=levels[1],
        sliding_level=np.zeros(value.size),
    )
