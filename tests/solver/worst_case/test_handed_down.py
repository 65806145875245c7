"""Time goes where it settles something, and a bound of a family is one of every family inside of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fit_runs import frames
from report_cases import said

from linkrisk import fit
from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.solver.documents.notebook import notebook
from linkrisk.solver.documents.short import short_of
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.report.outside import for_external
from linkrisk.solver.schemas.intervals import says_more
from linkrisk.solver.worst_case import families as searches
from linkrisk.solver.worst_case.families import handed_down
from linkrisk.solver.worst_case.result import Family, FitResult

NAMES = ("weighted-mean", "owa", "choquet", "mahalanobis")


def contains(outer, inner):
    made = {name: make_aggregator(name, ("A", "B", "C")) for name in (outer, inner)}
    return made[outer].lift_from(made[inner]) is not None


@pytest.fixture(scope="module")
def proven():
    results = fit(*frames(5, 14, noise=0.9), aggregator="all")
    assert results.proven
    return results


def opened(family, **changes):
    """A family as if its search had ended without any bound."""
    result = family.result
    details = {**result.details, "parts": {"parts": 2, "largest": 7, "searched": 2, "proven": 1}, **changes}
    limit = changes.pop("limit", "time")
    open_one = replace(
        result, linked_upper_bound=result.records, status="feasible", limit=limit, details=details
    )
    return replace(family, result=open_one)


def given(proven, open_ones, **changes):
    return [opened(one, **changes) if one.aggregator in open_ones else one for one in proven.families]


def test_a_bound_goes_to_what_its_family_contains_and_nowhere_else(proven):
    choquet = proven.results["choquet"]
    found = {
        one.aggregator: one.result
        for one in handed_down(given(proven, ("weighted-mean", "owa", "mahalanobis")), contains)
    }
    least = min(choquet.linked, proven.results["choquet"].linked_upper_bound)
    for name in ("weighted-mean", "owa"):
        result = found[name]
        assert result.linked == proven.results[name].linked
        assert result.linked_upper_bound == least
        assert result.details["bound_from"] == "choquet"
        assert "parts" not in result.details
        # Proven only where this attack itself meets the bound.
        assert result.proven == (result.linked == least)
    assert found["mahalanobis"].linked_upper_bound == 14
    assert "bound_from" not in found["mahalanobis"].details
    assert found["choquet"] is choquet


def test_of_two_that_contain_it_the_lower_bound(proven):
    rows = given(proven, ("weighted-mean",))
    lower = min(("choquet", "mahalanobis"), key=lambda name: proven.results[name].linked_upper_bound)
    found = handed_down(rows, contains)[0].result
    assert found is not None
    assert found.linked_upper_bound == proven.results[lower].linked_upper_bound
    assert found.details["bound_from"] == lower


@pytest.mark.parametrize("changes", [{"margin": 1e-5}, {"limit": "ties"}])
def test_what_is_about_other_distances_stays_as_it_is(proven, changes):
    """A bound up to a margin, and one that an order of attributes has raised."""
    rows = given(proven, ("weighted-mean",), **changes)
    assert handed_down(rows, contains)[0].result is rows[0].result


def test_a_certificate_stays_that_of_the_family(proven):
    kept = fit(*frames(5, 14, noise=0.9), aggregator="owa")
    mark = object()
    rows = [replace(one, fitted=mark) for one in given(proven, ("owa",))]
    assert handed_down(rows, contains)[1].fitted is mark
    assert kept.linked_upper_bound <= handed_down(rows, contains)[1].result.linked_upper_bound


def test_expected_links_and_sums_of_weights_go_down_as_well():
    results = fit(*frames(7, 12, twins=True), aggregator="all", ties="share")
    rows = list(results.families)
    rows[0] = opened(rows[0], expected_links_upper_bound=12.0)
    found = handed_down(rows, contains)[0].result
    assert found is not None
    name = found.details["bound_from"]
    assert found.interval[1] == results.results[name].interval[1] < 12.0


def test_whose_bound_it_is_is_said_wherever_it_is_shown(proven):
    rows = handed_down(given(proven, ("weighted-mean", "owa")), contains)
    results = FitResult(tuple(rows), proven.details)
    lines = str(results).splitlines()
    assert sum("bound of the " in line for line in lines) == 2
    assert any(line.endswith(", bound of the Choquet integral") for line in lines)
    content = results.to_dict()
    assert content["families"][1]["bound_from"] == "choquet"
    words = "its bound is that of the Choquet integral, which contains it."
    assert words in said(content)
    outside = for_external(content)["worst_case"]["families"]
    assert outside[1]["bound_from"] == "choquet"
    assert "parts" not in content["families"][1]


def test_a_card_says_no_share_of_all_where_there_is_no_bound(proven):
    content = FitResult(tuple(given(proven, ("mahalanobis",))), proven.details).to_dict()
    card = notebook(short_of(content))
    assert "100.0 %" not in card
    assert "these kinds: weighted mean, ordered weighted average (OWA), Choquet integral" in card


# Searches


class Slow:
    """`fit_one` that gives a family no time at first, and notes who was searched and for how long."""

    def __init__(self, monkeypatch, slow):
        self.whole, self.slow, self.seen = searches.fit_one, slow, []
        monkeypatch.setattr(searches, "fit_one", self)

    def __call__(self, problem, request, clock, starts):
        name = problem.aggregator.name
        first = name not in [one for one, _ in self.seen]
        self.seen.append((name, clock.time_limit))
        used = clock.part(1e-9) if first and name in self.slow else clock
        return self.whole(problem, request, used, starts)

    @property
    def order(self):
        return [name for name, _ in self.seen]


def test_the_rest_goes_to_the_family_that_decides(monkeypatch):
    slow = Slow(monkeypatch, ("choquet", "mahalanobis"))
    results = fit(*frames(5, 14, noise=0.9), aggregator="all", time_limit=4000.0)
    assert slow.order[:4] == list(NAMES)
    assert set(slow.order[4:]) <= {"choquet", "mahalanobis"}
    assert slow.order[4:]
    assert all(share > 1900.0 for _, share in slow.seen[4:])
    assert results.proven


def test_what_cannot_change_the_worst_case_is_not_searched_again(monkeypatch):
    """The OWA is inside of the Choquet integral, whose bound is its own; and is not searched again."""
    slow = Slow(monkeypatch, ("weighted-mean", "owa"))
    results = fit(*frames(5, 14, noise=0.9), aggregator="all", time_limit=4000.0)
    assert slow.order == list(NAMES)
    assert results.proven
    assert all(result.bounded for result in results.results.values())


def test_every_family_has_an_attack_and_the_richer_links_no_less(monkeypatch):
    Slow(monkeypatch, NAMES)
    results = fit(*frames(5, 14, noise=0.9), aggregator="all", time_limit=4000.0)
    assert list(results.results) == list(NAMES)
    linked = {name: result.linked for name, result in results.results.items()}
    assert linked["choquet"] >= max(linked["weighted-mean"], linked["owa"])
    assert results.proven


def test_a_second_search_knows_what_the_first_has_proved(monkeypatch):
    files = frames(5, 14, noise=0.9)
    alone = fit(*files, aggregator="choquet")
    slow = Slow(monkeypatch, ("choquet",))
    told = []
    whole = slow.whole
    slow.whole = lambda problem, request, clock, starts: (
        told.append([start.bound for start in starts]) or whole(problem, request, clock, starts)
    )
    results = fit(*files, aggregator=["weighted-mean", "choquet", "mahalanobis"], time_limit=4000.0)
    assert slow.order.count("choquet") == 2
    assert all(np.isinf(bound) for bounds in told[:3] for bound in bounds)
    assert told[3][0] <= 14.0
    found = results.results["choquet"]
    assert found.linked == alone.linked
    seconds = [moment[0] for moment in found.details["trace"]]
    assert seconds == sorted(seconds)
    assert found.details["seconds"] <= results.details["seconds"] + 0.01


def test_the_same_work_gives_the_same_answers():
    def once():
        results = fit(*frames(3, 60, noise=0.9), aggregator="all", time_limit=None, work_limit=0.05)
        return [
            (one.aggregator, one.result.interval, one.result.parameters, one.result.details.get("work"))
            for one in results.families
            if one.result is not None
        ]

    first = once()
    assert len(first) == 4
    assert first == once()


def test_a_search_begins_with_the_bound_that_is_known():
    from linkrisk.solver.engines.base import EngineOptions
    from linkrisk.solver.run.clock import Clock, Limits
    from linkrisk.solver.worst_case.operations.fit import fit_request
    from linkrisk.solver.worst_case.search import SearchTask, Start, search

    problem = make_problem(*frames(5, 14, noise=0.9), ProblemOptions(aggregator="choquet"))
    request = fit_request(EngineOptions(seed=0), Limits(time=10.0))
    start = Start(problem.aggregator.equal(), np.zeros(14, dtype=np.bool_), bound=13.0)
    run = search(SearchTask(problem.searched, request.engine, Clock(1e-9), request.options, starts=[start]))
    assert run.incumbent.bound <= 13.0


def test_a_family_without_a_result_is_left_alone(proven):
    rows = [*given(proven, ("weighted-mean",))[:1], Family("choquet", None, "too many attributes")]
    assert handed_down(rows, contains) == rows


@pytest.mark.parametrize(
    ("low", "high", "more"),
    [(300, 1000, False), (300, 994, False), (300, 992, True), (992, 996, True), (1000, 1000, False)],
)
def test_a_bound_that_rules_out_hardly_anything_is_none(low, high, more):
    """A hundredth of what lies between the attack and all; 99.4 % of all settles as little as 100 %."""
    assert says_more(low, high, 1000.0) is more
