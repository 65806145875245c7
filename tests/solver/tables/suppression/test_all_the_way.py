"""Sliding levels that ask for all the way that there is: met by cells that go to both ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from random_tables import random_table
from small_tables import insider, plain_interval, protects, table_of

from linkrisk.formulations.tables.cell_table import CellTable, Insider
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.tables.operations.suppress_and_audit import from_insiders_too
from linkrisk.solver.tables.suppression.cell_suppression import suppress_cells
from linkrisk.solver.tables.suppression.large_tables import suppress_large
from linkrisk.solver.tables.suppression.reachability import unreachable


def table(inner, insiders=()) -> CellTable:
    """A cell that may be anything up to 1000: how far it goes is what the others of its relations let it."""
    made = table_of(inner, {(0, 0): (1, 1)})
    made = replace(
        made,
        upper=np.where(made.primary, 1000.0, made.upper),
        lower_level=np.zeros(len(made)),
        upper_level=np.zeros(len(made)),
        fixed=made.fixed | (np.arange(len(made)) == 0),
    )
    made = replace(made, insiders=tuple(insider(made, known) for known in insiders))
    (cell,) = np.flatnonzero(made.primary)
    views = (made, *(made.seen_by(one) for one in made.insiders))
    ends = [plain_interval(view, ~made.fixed, cell) for view in views]
    all_the_way = min(high - low for low, high in ends) * (1.0 - 1e-12)
    return replace(made, sliding_level=np.where(made.primary, all_the_way, 0.0))


INNER = [
    [[22, 31, 9], [17, 8, 40], [25, 12, 6]],
    [[90, 7, 6], [5, 8, 40], [3, 12, 6]],
    [[50, 7.3, 6.1], [5.7, 8.9, 40.3], [3.1, 12.7, 6.9]],
]


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("method", ["optimal", "modular", "heuristic"])
def test_from_outsiders(inner, method):
    asked = table(inner)
    clock = Clock(None)
    found = (
        suppress_cells(asked, None, clock) if method == "optimal" else suppress_large(asked, method, clock)
    )
    assert protects(replace(asked, sliding_level=asked.sliding_level * (1.0 - 1e-5)), found.suppressed)


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("method", ["optimal", "modular"])
def test_from_insiders(inner, method):
    asked = table(inner, [{10: None}])
    clock = Clock(None)
    if method == "optimal":
        found = suppress_cells(asked, None, clock)
    else:
        found = from_insiders_too(asked, suppress_large(asked, method, clock), clock)
    assert protects(replace(asked, sliding_level=asked.sliding_level * (1.0 - 1e-5)), found.suppressed)


@pytest.mark.parametrize("seed", [108, 114])
def test_a_level_that_was_lowered_as_far_as_it_goes(seed):
    generator = np.random.default_rng(seed)
    made = random_table(generator, ((3, 3), (3, 3)), share=0.2)
    known = np.sort(generator.choice(len(made), 4, replace=False))
    someone = Insider("a", known, made.value[known], made.value[known])
    beyond = [one for one in unreachable(replace(made, insiders=(someone,))) if one.owner]
    assert any(one.demand.up and one.demand.down for one in beyond)
    levels = {(one.demand.cell, one.demand.up, one.demand.down): one.found for one in beyond}
    asked = replace(made, insiders=(replace(someone, lowered=levels),))
    found = suppress_cells(asked, None, Clock(None))
    short = {key: level * (1.0 - 1e-5) for key, level in levels.items()}
    assert protects(replace(made, insiders=(replace(someone, lowered=short),)), found.suppressed)
