"""The hunt for wrong bounds: some of it every time, ten minutes in the slow suite; and that it finds them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hunting import session
from hunting.quarry import KINDS, draw
from hunting.reached import corners, reached

from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.linkage.evaluator import Evaluator

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def test_no_bound_is_wrong(tmp_path, capsys):
    """Every kind twice, with other families; each search alone where there are few records."""
    pairs = 2 * len(KINDS)
    bag = session.hunt(seed=0, pairs=pairs, folder=tmp_path)
    assert bag.wrong == [], capsys.readouterr().out
    assert bag.tried.total() + bag.unfit == pairs
    assert bag.unfit < pairs // 4


@pytest.mark.slow
def test_no_bound_is_wrong_in_ten_minutes(tmp_path, capsys):
    assert session.main(["--minutes", "10", "--seed", "50000", "--output", str(tmp_path)]) == 0, (
        capsys.readouterr().out
    )


def planted(monkeypatch, change):
    """Let the engine end with another incumbent than it has come to."""
    run = ExactEngine.run

    def wrong(engine, system, incumbent, *rest):
        result = run(engine, system, incumbent, *rest)
        change(incumbent)
        return result

    monkeypatch.setattr(ExactEngine, "run", wrong)


def one_less(incumbent):
    incumbent.bound -= 1.0


def no_search(incumbent):
    """Equal weights taken for the best there are."""
    incumbent.solution = np.full_like(incumbent.solution, 1.0 / incumbent.solution.size)
    incumbent.value = incumbent.bound = 0.0


@pytest.mark.parametrize("change", [one_less, no_search])
def test_a_bound_that_is_too_small_is_found_and_comes_again(change, monkeypatch, tmp_path, capsys):
    planted(monkeypatch, change)
    asked = ["--families", "weighted-mean,owa", "--output", str(tmp_path)]
    assert session.main(["--pairs", "8", "--seed", "3", *asked]) == 1
    printed = capsys.readouterr().out
    assert "WRONG: " in printed
    assert "above the bound" in printed
    first, *others = sorted(tmp_path.glob("hunt-*.json"))
    assert f"{1 + len(others)} wrong" in printed.splitlines()[-1]
    written = json.loads(first.read_text())
    again = ["--families", written["family"], "--seed", str(written["seed"]), "--pairs", "1"]
    assert f"again with --kinds '{written['kind']}' {' '.join(again)}" in printed
    quarry = draw(written["kind"], written["family"], written["seed"])
    assert json.loads(quarry.to_json()) == written
    assert session.main(["--kinds", written["kind"], *again, "--output", str(tmp_path)]) == 1


def test_an_interrupt_ends_it_with_what_it_has_and_an_error_is_a_find(monkeypatch, tmp_path, capsys):
    tried = []

    def third(quarry):
        tried.append(quarry.seed)
        if len(tried) == 3:
            raise KeyboardInterrupt
        return []

    monkeypatch.setattr(session, "pursue", third)
    assert session.main(["--pairs", "9", "--output", str(tmp_path)]) == 0
    stopped, summary = capsys.readouterr().out.splitlines()
    assert stopped == "stopped"
    assert summary.startswith("2 pairs, 0 unfit, 0 wrong (")
    monkeypatch.setattr(session, "pursue", lambda _: 1 / 0)
    assert session.main(["--pairs", "1", "--output", str(tmp_path)]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_the_script_is_the_hunt():
    sys.path.append(str(SCRIPTS))
    import hunt

    assert hunt.main is session.main


@pytest.mark.parametrize(
    ("name", "n"),
    [("weighted-mean", 2), ("weighted-mean", 3), ("owa", 3), ("choquet", 2), ("mahalanobis", 2)],
)
def test_cells_hold_what_hundreds_of_random_parameters_find(name, n):
    aggregator = make_aggregator(name, tuple("ABC"[:n]))
    outline = corners(aggregator)
    assert all(aggregator.domain.rows.violation(corner) <= 1e-9 for corner in outline)
    for seed in range(2):
        random = np.random.default_rng(seed)
        original = random.normal(size=(8, n))
        pair = make_pair(original, original + 1.2 * random.normal(size=(8, n)))
        evaluator = Evaluator(pair, 1)
        points = aggregator.domain.sample(300, random)
        most = max(
            evaluator.count(aggregator.form(aggregator.domain.repair(point))).linked_weight
            for point in points
        )
        assert reached(pair, aggregator, random).weight >= most
