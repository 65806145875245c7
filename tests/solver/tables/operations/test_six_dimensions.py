"""Tables of six explanatory variables: made as plain sums are, with a hierarchy each; and protected."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from plain_audit import plain_short

from linkrisk import make_table, suppress_table
from linkrisk.datasets.tables.code_trees import CodeTree
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.operations.source import cell_table, table_from

NAMES = list("uvwxyz")
BELOW = {"Total": "abc", "g": "ab", "a": "a", "b": "b", "c": "c"}
PARENTS = {"g": "Total", "a": "g", "b": "g", "c": "Total"}


def records(many, codes):
    generator = np.random.default_rng(3)
    frame = pd.DataFrame({name: generator.choice(list(codes), many) for name in NAMES})
    return frame.assign(value=generator.integers(1, 50, many))


def test_cells_are_plain_sums_of_records():
    frame = records(200, "abc")
    trees = {name: CodeTree.of(name, PARENTS, "a tree") for name in NAMES}
    made = make_table(frame, NAMES, response="value", rules=["p=10"], hierarchies=trees)
    assert len(made.cells) == 5**6
    for row in made.cells.sample(300, random_state=0).itertuples(index=False):
        inside = np.all([frame[name].isin(list(BELOW[getattr(row, name)])) for name in NAMES], axis=0)
        assert (row.value, row.respondents) == (frame.loc[inside, "value"].sum(), inside.sum())


@pytest.mark.parametrize("method", ["heuristic", "modular"])
def test_sensitive_cells_are_protected(method):
    frame = records(400, "ab")
    made = make_table(frame, NAMES, response="value", rules=["p=5"])
    assert 0 < (made.cells["status"] == "u").sum() < 60
    found = suppress_table(made, method=method, insiders="none", time_limit=None)
    suppressed = found.to_frame()["status"].isin(["u", "m"]).to_numpy()
    assert not plain_short(cell_table(table_from(made), "value"), suppressed)


def test_seven_are_refused():
    frame = records(5, "ab").assign(t="a")
    with pytest.raises(UsageError, match="one to 6 explanatory variables, not 7"):
        make_table(frame, [*NAMES, "t"])
