"""An attacker of count tables who reasons in whole numbers: a plain program over `scipy.optimize.milp`.

He has what is published: the values of cells that are not suppressed, the relations, and which cells are
suppressed. He knows that they count persons, and that empty cells are shown where none is suppressed.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from linkrisk import make_table, suppress_table
from linkrisk.solver.run.errors import UsageError


def random_persons(generator, most_ways=5):
    """Few persons in a table of 1 to 5 variables, and hierarchies of some of these."""
    ways = int(generator.integers(1, most_ways + 1))
    most = {1: 8, 2: 6, 3: 4}.get(ways, 3)
    codes = {f"v{at}": list("ABCDEFG")[: int(generator.integers(2, most))] for at in range(ways)}
    count = int(generator.integers(4, 40))
    persons = pd.DataFrame({name: generator.choice(of, count) for name, of in codes.items()})
    trees = {}
    for name in codes:
        found = sorted(persons[name].unique())
        if len(found) > 2 and generator.random() < 0.4:
            cut = int(generator.integers(1, len(found)))
            parents = [f"{name}x"] * cut + [f"{name}y"] * (len(found) - cut)
            codes_, above = [*found, f"{name}x", f"{name}y"], [*parents, "Total", "Total"]
            trees[name] = pd.DataFrame({"code": codes_, "parent": above})
    return persons, trees


def interval(cells, relations, cell, *, shown=True, known=()):
    """The least and the most whole number that a suppressed cell can be.

    `shown` where empty cells always are, `known` are cells that somebody knows besides.
    """
    value, hidden = cells["value"].to_numpy(float), cells["status"].isin(["u", "m"]).to_numpy().copy()
    least = 1.0 if shown and not (value[hidden] == 0).any() else 0.0
    hidden[list(known)] = False
    if not hidden[cell]:
        return value[cell], value[cell]
    matrix = sparse.csc_array(
        (relations["coefficient"].to_numpy(float), (relations["relation"], relations["cell"])),
        shape=(int(relations["relation"].max()) + 1, len(cells)),
    )
    unknown = np.flatnonzero(hidden)
    right = -(matrix[:, ~hidden] @ value[~hidden])
    rows = np.unique(matrix[:, unknown].indices)
    part, right = matrix[:, unknown].tocsr()[rows], right[rows]
    ends = []
    for sign in (1.0, -1.0):
        goal = np.where(unknown == cell, sign, 0.0)
        found = milp(
            goal,
            integrality=np.ones(unknown.size),
            bounds=Bounds(least, 10.0 * value.max() + 10.0),
            constraints=LinearConstraint(part, right, right),
        )
        assert found.status == 0, found.message
        ends.append(round(float(sign * found.fun)))
    return ends[0], ends[1]


def known_too_closely(result, threshold=0, *, shown=True, most=12):
    """Sensitive cells of a result called protected that the attacker knows more closely than is said.

    Of a table with many, so many are attacked.
    """
    cells, relations = result.cells, result.table.relations
    excused = {one["cell"] for one in result.to_dict()["counts"]["threshold_out_of_reach"]}
    wrong = []
    sensitive = np.flatnonzero(cells["status"] == "u")
    for cell in sensitive[:: 1 + sensitive.size // most].tolist():
        low, high = interval(cells, relations, cell, shown=shown)
        value, of = cells["value"].iloc[cell], cells.iloc[cell]
        if of["low"] < low or of["high"] > high:
            wrong.append((cell, value, low, high, "the interval that is said is wider"))
        if high == low:
            wrong.append((cell, value, low, high, "it is known exactly"))
        if high < threshold and cell not in excused:
            wrong.append((cell, value, low, high, "it is known to be below the threshold"))
    return wrong


def attacked(seed, most_ways=5, **how):
    """What the attacker finds of one random table; None where it has no sensitive cell, or is refused."""
    generator = np.random.default_rng(seed)
    persons, trees = random_persons(generator, most_ways)
    threshold = int(generator.choice([2, 3, 5]))
    empty = str(generator.choice(["published", "suppressible"]))
    made = make_table(
        persons, list(persons.columns), rules=[f"frequency={threshold}"], hierarchies=trees, empty=empty
    )
    if not made.sensitive:
        return None
    try:
        result = suppress_table(made, **{"time_limit": 10.0, **how})
    except UsageError:  # a cell that is known exactly, whatever is suppressed
        return None
    if not result.protected:
        return None
    return known_too_closely(result, threshold, shown=empty == "published")
