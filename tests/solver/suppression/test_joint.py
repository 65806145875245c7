"""Joint: recoding and suppression together, against brute force and code that knows only pandas."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk import mask, suppress
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.key_table import KeyTable
from linkrisk.formulations.suppression.nodes import nodes_of
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.suppression.node_search import NodeSearch
from linkrisk.solver.suppression.operations import suppress as suppression_run

AGE = Hierarchy("age", (("1", "2", "3", "4"), ("low", "low", "high", "high"), ("*", "*", "*", "*")))
TOWN = Hierarchy("town", (("u", "v", "w"), ("uv", "uv", "w")))
SHARES = {"low": 1 / 3, "high": 1 / 3, "*": 1.0, "uv": 1 / 2}


def least(frame, k, costs):
    """By trying every level and every suppression."""
    best = None
    for age, town in product(range(3), range(2)):
        coded = frame.copy()
        for name, levels, level in (("age", AGE.levels, age), ("town", TOWN.levels, town)):
            coded[name] = coded[name].map(dict(zip(levels[0], levels[level], strict=True)))
        every = product(range(len(frame)), frame)
        places = [(row, name) for row, name in every if isinstance(coded.at[row, name], str)]
        for size in range(len(places) + 1):
            for taken in combinations(places, size):
                trial = coded.copy()
                for row, name in taken:
                    trial.at[row, name] = None
                if trial.groupby(list(trial), dropna=False).size().min() < k:
                    continue
                lost = sum(costs[name] for _, name in taken)
                lost += sum(costs[name] * trial[name].map(SHARES).fillna(0.0).sum() for name in trial)
                best = lost if best is None else min(best, lost)
    return best


@settings(max_examples=6)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["1", "2", "3", "4", None]), st.sampled_from("uvw")), min_size=2, max_size=4
    ),
    k=st.integers(2, 3),
    weight=st.sampled_from([0.5, 1.0, 3.0]),
)
def test_it_is_what_trying_everything_finds(rows, k, weight):
    frame = pd.DataFrame(rows, columns=["age", "town"]).astype(object)
    asked = {"problem": "joint", "keys": ["age", "town"], "k": k, "hierarchies": [AGE, TOWN]}
    asked |= {"cost": "priority", "priorities": {"town": weight}}
    best = least(frame, k, {"age": 1.0, "town": weight})
    if best is None:
        with pytest.raises(FormulationError, match="no level of recoding leaves every record"):
            suppress(frame, **asked)
        return
    result = suppress(frame, **asked)
    assert result.cost == pytest.approx(best, abs=1e-5)
    assert (result.bound, result.proven, result.recounted) == (result.cost, True, 0)
    assert result.table.groupby(["age", "town"], dropna=False).size().min() >= k


def some_frame(records=120):
    random = np.random.default_rng(7)
    age = np.minimum(random.integers(1, 5, records), random.integers(1, 5, records)).astype(str)
    town = random.choice(["u", "v", "w"], records, p=[0.6, 0.3, 0.1])
    return pd.DataFrame({"age": age, "town": town, "sex": random.choice(["f", "m"], records)})


def test_what_is_written_and_said(tmp_path):
    result = suppress(some_frame(), problem="joint", k=4, hierarchies=[AGE, TOWN])
    result.write(tmp_path / "safe.csv")
    written = pd.read_csv(tmp_path / "safe.csv", dtype=str)
    assert written.groupby(["age", "town", "sex"], dropna=False).size().min() >= 4
    said = result.to_dict()
    assert said["levels"] == dict(result.levels)
    assert set(said["levels"]) == {"age", "town", "sex"}
    assert said["cost_of_recoding"] <= said["cost"]
    assert said["cost_per_record"] == pytest.approx(said["cost"] / 120)
    assert said["lattice"] == {"points": 6, "open": 0}
    assert said["proof"] == "branch and bound of levels"


def test_what_is_untouched_is_not_recoded():
    frame = some_frame()[["age", "town"]]
    attributes = []
    for one in (AGE, TOWN):
        groups = {code: list(row) for code, row in one.rows().items()}
        attributes.append({"name": one.attribute, "role": "key", "scale": "nominal", "hierarchy": groups})
    schema = {"attributes": attributes}
    asked = {"problem": "joint", "schema": schema, "cost": "priority", "priorities": {"town": 0.1}}
    assert suppress(frame, **asked, k=20).levels["town"] == 1
    with pytest.raises(FormulationError, match="no level of recoding leaves every record"):
        suppress(frame, **asked, k=20, untouched=["town"])
    result = suppress(frame, **asked, k=9, untouched=["town"])
    assert (result.levels["town"], result.suppressed["town"]) == (0, 0)
    assert result.table["town"].tolist() == frame["town"].tolist()
    with pytest.raises(UsageError, match="hierarchies: 'town' is untouched, and keeps all values"):
        suppress(frame, problem="joint", k=9, hierarchies=[AGE, TOWN], untouched=["town"])


def test_a_stop_leaves_an_answer_and_a_bound():
    cancel, said = Cancel(), []
    cancel.cancel()
    result = suppress(
        some_frame(), problem="joint", k=4, hierarchies=[AGE, TOWN], cancel=cancel, on_progress=said.append
    )
    assert result.recounted == 0
    assert 0 <= result.bound <= result.cost
    assert result.limit == (None if result.proven else "user")
    assert any("points left" in one.work for one in said)


def test_a_loss_that_is_not_what_was_counted_is_no_answer(monkeypatch):
    monkeypatch.setattr(suppression_run, "information_lost", lambda *_: 1e9)
    with pytest.raises(AssertionError, match="when counted again"):
        suppress(some_frame(), problem="joint", k=4, hierarchies=[AGE])


def test_what_is_of_use_is_counted_in_multiples_of_the_costs():
    """A bound on what else may cost that is no multiple of the costs hides nothing that costs less."""
    frame = some_frame(40)[["age", "town"]]
    table = KeyTable(("a", "b"), frame.apply(lambda one: pd.factorize(one)[0]).to_numpy(np.int32))
    nodes = nodes_of(table.types, np.full(2, 10, dtype=np.int64), 3, 4)

    def search():
        return NodeSearch(nodes, table.types, 10, get_backend("highs"), lambda *_: None)

    best = search()
    best.run(Clock(30.0))
    assert best.proven
    for enough in (best.answer.cost - 9, best.answer.cost, best.answer.cost + 1, best.answer.cost + 9):
        again = search()
        again.run(Clock(30.0), enough)
        assert again.bound <= best.answer.cost
        assert again.bound >= enough or again.answer.cost == best.answer.cost


def test_groups_are_called_by_the_labels_of_their_codes_and_not_by_those_of_codes_spelled_alike(tmp_path):
    frame = pd.DataFrame({"area": [1, 1, 2, 2, 3, 3, 4, 5], "sex": [1, 2, 1, 2, 1, 2, 1, 2]})
    labels = {1: "Wien", 2: "Burgenland", 3: "Tirol", 4: "Salzburg", 5: "Vorarlberg"}
    pyreadstat.write_sav(
        frame, str(tmp_path / "a.sav"), variable_value_labels={"area": labels, "sex": {1: "m", 2: "f"}}
    )
    groups = Hierarchy("area", (("1", "2", "3", "4", "5"), ("1", "1", "2", "2", "2")))
    found = suppress(tmp_path / "a.sav", keys=["area", "sex"], k=2, problem="joint", hierarchies=[groups])
    assert found.levels["area"] == 1
    found.write(tmp_path / "safe.sav")
    written, meta = pyreadstat.read_sav(str(tmp_path / "safe.sav"))
    assert written["area"].astype(int).tolist() == [1, 1, 1, 1, 2, 2, 2, 2]
    assert {int(code): text for code, text in meta.variable_value_labels["area"].items()} == {
        1: "Wien, Burgenland",
        2: "Tirol, Salzburg, Vorarlberg",
    }


def test_masking_takes_labels_of_codes_from_the_schema_too():
    frame = pd.DataFrame({"area": [1, 1, 1, 1, 2, 2, 3], "pay": range(7)})
    labels = {"1": "Wien", "2": "Tirol", "3": "Kärnten"}
    said = {"name": "area", "role": "key", "scale": "nominal", "labels": labels}
    found = mask(frame, "global-recoding categories=2 attributes=area", schema={"attributes": [said]})
    assert list(found.labels["area"].values()) == ["Wien", "Tirol, Kärnten"]
