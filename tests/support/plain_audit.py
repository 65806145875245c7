"""The audit written plainly: two programs of HiGHS for each cell that is asked for, all relations at once."""

from __future__ import annotations

import highspy
import numpy as np
from scipy import sparse


def _program(table, unknown):
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
    solver, found = _program(table, unknown), []
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
