"""`fit` for several families: one table and one maximum, time shared out, bounds handed down."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cli_runs import PAIR, flat, refuse, run
from fit_runs import frames
from report_cases import said

from linkrisk import evaluate, fit
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.aggregators import make_aggregator
from linkrisk.formulations.linkage.pair import make_pair
from linkrisk.solver.documents.notebook import notebook
from linkrisk.solver.documents.short import short_of
from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.report.outside import for_external
from linkrisk.solver.run.clock import Limits
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.schemas.intervals import says_more
from linkrisk.solver.worst_case import families as searches
from linkrisk.solver.worst_case.families import handed_down, several
from linkrisk.solver.worst_case.operations.fitting import fit_request
from linkrisk.solver.worst_case.result import FitResult

ALL = ["weighted-mean", "owa", "choquet", "mahalanobis"]
CONTAINED = [("weighted-mean", "choquet"), ("owa", "choquet"), ("weighted-mean", "mahalanobis")]


# Which families


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("all", ALL),
        (["all"], ALL),
        ("mahalanobis,owa", ["owa", "mahalanobis"]),
        ("choquet , weighted-mean", ["weighted-mean", "choquet"]),
        (["all", "owa"], ALL),
        (("owa",), ["owa"]),
    ],
)
def test_names_in_the_order_of_search(asked, names):
    assert list(several(asked) or ()) == names


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("owa,choquett", "unknown aggregator 'choquett': did you mean 'choquet'?"),
        ("choquet, owa ,choquet", "the aggregator 'choquet' is given twice; give it once"),
        ([], "the aggregators must be names, such as weighted-mean, owa, choquet, mahalanobis, or all"),
        ([1], "unknown aggregator 1: choose one of weighted-mean, owa, choquet, mahalanobis, all"),
    ],
)
def test_what_is_no_list_of_names(asked, message):
    with pytest.raises((UsageError, FormulationError)) as error:
        fit("no.csv", "no.csv", aggregator=asked)
    assert str(error.value) == message


# Answers handed on


@pytest.mark.parametrize(("poor", "rich"), CONTAINED)
@pytest.mark.parametrize("k", [None, 2, 3])
def test_a_lifted_answer_is_the_same_distance(poor, rich, k):
    random = np.random.default_rng(3)
    original = random.normal(size=(40, 3))
    pair = make_pair(original, original + random.normal(size=(40, 3)))
    options = {"k_additive": k} if rich == "choquet" else {}
    richer, poorer = make_aggregator(rich, pair.attributes, **options), make_aggregator(poor, pair.attributes)
    lift = richer.lift_from(poorer)
    if poor == "owa" and k == 2:
        assert lift is None  # of three attributes, a 2-additive measure is not every symmetric one
        return
    evaluator = Evaluator(pair)
    for theta in poorer.domain.sample(10, random):
        lifted = lift(theta)
        assert richer.domain.rows.violation(lifted) < 1e-9
        counts = [evaluator.count(a.form(t)).linked.tolist() for a, t in ((poorer, theta), (richer, lifted))]
        assert counts[0] == counts[1]


def test_other_differences_are_not_contained():
    names = ("A", "B")
    assert (
        make_aggregator("choquet", names).lift_from(make_aggregator("owa", names, differences="absolute"))
        is None
    )
    assert make_aggregator("owa", names).lift_from(make_aggregator("weighted-mean", names)) is None


@pytest.mark.parametrize("limit", [1e-9, 4.0])
@pytest.mark.parametrize("seed", range(2))
def test_a_richer_family_never_links_less(seed, limit):
    results = fit(*frames(seed, 25, noise=0.9), aggregator="all", time_limit=limit)
    linked = {name: result.linked for name, result in results.results.items()}
    # On a busy machine, no time may be left for the last of them.
    assert list(linked) == ALL[: len(linked)]
    assert linked
    for poor, rich in CONTAINED:
        assert rich not in linked or linked[rich] >= linked[poor]
    if "mahalanobis" in linked:
        baselines = results.results["mahalanobis"].details["baselines"]
        assert linked["mahalanobis"] >= max(baselines.values())
    assert results.linked == max(linked.values()) == results.worst.linked


# The result


def test_one_json_one_frame_and_a_readable_line_for_each():
    files = frames(6, 15)
    results = fit(*files, aggregator=["owa", "weighted-mean"])
    content = json.loads(results.to_json())
    assert content == json.loads(json.dumps(results.to_dict()))
    assert [family["aggregator"] for family in content["families"]] == ["weighted-mean", "owa"]
    assert content["worst"] == results.worst.details["aggregator"]
    assert (content["records"], content["linked"]) == (15, results.linked)
    frame = results.to_frame()
    assert frame["aggregator"].tolist() == ["weighted-mean", "owa"]
    assert frame["linked"].max() == results.linked
    lines = repr(results).splitlines()
    assert lines[0] == f"FitResult(worst: {content['worst']}"
    assert lines[1].startswith("  FamilyFit(weighted-mean, original-to-masked: ")
    single = fit(*files, aggregator="owa")
    assert isinstance(single, FitResult)
    assert single.alone
    assert set(content["families"][1]) == set(single.content())


def test_a_family_that_cannot_take_the_attributes_is_a_row():
    random = np.random.default_rng(8)
    original = pd.DataFrame(random.normal(size=(12, 13)), columns=[f"V{k}" for k in range(13)])
    results = fit(original, original + 0.1, aggregator=["choquet", "weighted-mean"])
    assert list(results.results) == ["weighted-mean"]
    reason = results.families[1].reason
    assert reason is not None
    assert reason.startswith("a fuzzy measure on 13 attributes has 8,191 non-empty subsets")
    assert results.to_dict()["families"][1] == {"aggregator": "choquet", "reason": reason}
    frame = results.to_frame()
    assert frame["reason"].isna().tolist() == [True, False]
    assert frame["reason"][1] == reason
    assert "choquet: no result, a fuzzy measure" in repr(results)
    page = said(results.to_dict())
    assert "no result: a fuzzy measure on 13 attributes" in page
    assert "Without a result, and so not covered: Choquet integral." in page


def test_differences_choose_families():
    results = fit(*frames(9, 10), aggregator="all", differences="signed")
    assert list(results.results) == ["mahalanobis"]
    assert results.families[0].reason == (
        "the weighted-mean aggregator takes squared or absolute differences, not signed"
    )
    additive = fit(*frames(9, 10), aggregator="all", k_additive=2)
    assert additive.results["choquet"].details["aggregator_options"] == {"k_additive": 2}
    assert additive.results["owa"].details["aggregator_options"] == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"differences": "signed", "aggregator": ["owa"]}, "the owa aggregator takes squared or absolute"),
        ({"k_additive": 2, "aggregator": ["owa"]}, "k_additive is an option of choquet, not of owa"),
        ({"certificate": True}, "a certificate is about one family: name one aggregator"),
    ],
)
def test_what_no_family_can_do(options, message):
    with pytest.raises((UsageError, FormulationError)) as error:
        fit(*frames(10, 8), **{"aggregator": "all", **options})
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("limit", [5.0, 10.0, 60.0])
@pytest.mark.parametrize("end", [0.0, 0.9, 2.5])
def test_the_ends_of_all_searches_together_keep_the_limit(limit, end, monkeypatch):
    """Each takes a while beyond its share, of large files: once 8.7 s of 5, with four families."""
    time, whole, files = SimpleNamespace(now=0.0), searches.fit_one, frames(12, 8)
    time.perf_counter = lambda: time.now

    def late(problem, request, clock, starts):
        fitted = whole(problem, request, clock, starts)
        time.now += clock.time_limit + end
        return fitted

    monkeypatch.setattr("linkrisk.solver.run.clock.time", time)
    monkeypatch.setattr(searches, "fit_one", late)
    results = fit(*files, aggregator="all", time_limit=limit)
    # What the first takes beyond its share is not known before it has.
    assert time.now <= 1.1 * limit + 1.0 + max(0.0, end - 1.0)
    missing = [family.reason for family in results.families if family.result is None]
    assert set(missing) <= {"no time was left for it; a longer time_limit would search it too"}
    assert (not missing) or end > 0.0
    assert limit < 60.0 or not missing


# The command


@pytest.mark.usefixtures("survey_folder")
def test_the_command_prints_one_table_and_writes_one_json_and_one_page(capsys):
    argv = ["fit", *PAIR, "--aggregator", "all", "--json", "all.json", "--report", "all.html"]
    lines = run(capsys, *argv).splitlines()
    content = json.loads(Path("all.json").read_text("utf-8"))
    assert lines[1].startswith("4 families of distances, from each original record")
    assert lines[3].startswith("At worst ")
    lines = lines[lines.index("", 3) - 2 :]
    head = ["Family", "of", "distances", "Re-identified", "At", "most", "Seconds", "State"]
    assert lines[3].split() == head
    table = {family["aggregator"]: family for family in content["families"]}
    assert list(table) == ALL
    assert [int(line.split()[-4]) for line in lines[4:8]] == [family["linked"] for family in table.values()]
    assert any("in the worst case" in line and f" {content['linked']} of 30" in line for line in lines)
    page = Path("all.html").read_text("utf-8")
    for title in ("Weighted mean", "Ordered weighted average (OWA)", "Choquet integral", "Mahalanobis-type"):
        assert title in page


@pytest.mark.usefixtures("survey_folder")
def test_evaluate_takes_the_worst_or_the_one_that_is_named(capsys):
    run(capsys, "fit", *PAIR, "--aggregator", "all", "--json", "all.json")
    content = json.loads(Path("all.json").read_text("utf-8"))
    argv = ["evaluate", *PAIR, "--parameters", "all.json"]
    assert f"re-identified {content['linked']} of 30" in flat(run(capsys, *argv))
    owa = next(family for family in content["families"] if family["aggregator"] == "owa")
    printed = run(capsys, *argv, "--aggregator", "owa")
    assert "rdered weighted average (OWA)" in printed
    assert f"re-identified {owa['linked']} of 30" in flat(printed)
    assert evaluate("original.csv", "masked.csv", parameters=content).linked == content["linked"]
    only = {**content, "families": [owa], "worst": "owa"}
    Path("only.json").write_text(json.dumps(only), encoding="utf-8")
    refuse(
        capsys,
        "only.json has no parameters of 'choquet', only of owa: choose with --aggregator",
        *["evaluate", *PAIR, "--parameters", "only.json", "--aggregator", "choquet"],
    )


@pytest.mark.usefixtures("survey_folder")
def test_a_certificate_and_a_model_are_about_one_family(capsys):
    argv = ["fit", *PAIR, "--aggregator", "all"]
    message = "a certificate is about one family: name one aggregator, or leave the certificate out"
    refuse(capsys, message, *argv, "--json", "all.json", "--certificate", "p.json")
    message = "--write-model writes the model of one family: name one --aggregator"
    refuse(capsys, message, *argv, "--write-model", "m.lp")
    run(capsys, *argv, "--json", "all.json")
    run(capsys, "fit", *PAIR, "--json", "one.json", "--certificate", "p.json")
    message = (
        "all.json is about several families, and a certificate about one: run `fit` with one --aggregator "
        "and --certificate"
    )
    refuse(capsys, message, "verify", "all.json", "--certificate", "p.json", *PAIR)


def test_time_is_left_to_what_lists_records():
    """Writing JSON and page of 100,000 records of four families took 9 s beyond a limit of 15 s."""
    problem = make_problem(*frames(5, 14), ProblemOptions())
    request = fit_request(EngineOptions(seed=0), Limits(time=10.0))
    assert request.clock(problem).ends == 10.0
    assert replace(request, listed=0.05).clock(problem, 2).ends == pytest.approx(10.0 - 2 * 14 * 0.05)
    assert replace(request, page=1.0, certificate=True).clock(problem).ends == pytest.approx(10.0 - 1.0 - 2.5)
    assert replace(request, listed=9.0).clock(problem).ends == pytest.approx(7.0)


# ---------------------------------------------------------------- handed down


def contains(outer, inner):
    made = {name: make_aggregator(name, ("A", "B", "C")) for name in (outer, inner)}
    return made[outer].lift_from(made[inner]) is not None


@pytest.fixture(scope="module")
def proven():
    results = fit(*frames(5, 14, noise=0.9), aggregator="all")
    assert results.proven
    return results


def opened(family, **changes):
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


@pytest.mark.parametrize("changes", [{"margin": 1e-5}, {"limit": "ties"}])
def test_what_is_about_other_distances_stays_as_it_is(proven, changes):
    """A bound up to a margin, and one that an order of attributes has raised."""
    rows = given(proven, ("weighted-mean",), **changes)
    assert handed_down(rows, contains)[0].result is rows[0].result


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
    assert slow.order[:4] == ALL
    assert set(slow.order[4:]) <= {"choquet", "mahalanobis"}
    assert slow.order[4:]
    assert all(share > 1900.0 for _, share in slow.seen[4:])
    assert results.proven


def test_what_cannot_change_the_worst_case_is_not_searched_again(monkeypatch):
    """The OWA is inside of the Choquet integral, whose bound is its own; and is not searched again."""
    slow = Slow(monkeypatch, ("weighted-mean", "owa"))
    results = fit(*frames(5, 14, noise=0.9), aggregator="all", time_limit=4000.0)
    assert slow.order == ALL
    assert results.proven
    assert all(result.bounded for result in results.results.values())


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


@pytest.mark.parametrize(
    ("low", "high", "more"),
    [(300, 1000, False), (300, 994, False), (300, 992, True), (992, 996, True), (1000, 1000, False)],
)
def test_a_bound_that_rules_out_hardly_anything_is_none(low, high, more):
    """A hundredth of what lies between the attack and all; 99.4 % of all settles as little as 100 %."""
    assert says_more(low, high, 1000.0) is more
