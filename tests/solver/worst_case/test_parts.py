"""Parts of a file: the sum of their bounds is never below the truth, and grows to it as parts do."""

from __future__ import annotations

import functools
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fit_runs import PARTS, STEERING, check, hopeless, in_parts, noisy, one_round

from linkrisk import fit
from linkrisk.solver.engines.base import EngineOptions, Proof
from linkrisk.solver.engines.registry import get_engine
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.linkage.lexicographic import best_order
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run import limits
from linkrisk.solver.run.clock import Clock, Limit
from linkrisk.solver.run.progress import Progress
from linkrisk.solver.worst_case import parts, single_fit
from linkrisk.solver.worst_case.parts import Part, PartSearch, UntilHopeless, search_whole
from linkrisk.solver.worst_case.search import SearchTask

FAMILIES = ["weighted-mean", "owa", "choquet", "mahalanobis"]


def files_of(family):
    """Small enough for the optimum, and not proven at the first step."""
    return noisy(3, 18) if family == "mahalanobis" else noisy()


def weighted(files):
    original, masked = files
    values = np.random.default_rng(0).integers(1, 60, len(original)) / 10
    return (original.assign(W=values), masked), {
        "schema": {"attributes": [{"name": "W", "role": "weight"}]},
        "attributes": list(masked.columns),
    }


@functools.cache
def optimum(family, ties, weights=False):
    files, options = weighted(files_of(family)) if weights else (files_of(family), {})
    result = fit(*files, aggregator=family, ties=ties, time_limit=None, **options)
    assert result.proven
    return result.interval[0]


@pytest.mark.parametrize(
    ("family", "ties", "weights"),
    [
        *((family, ties, False) for family in FAMILIES for ties in ("strict", "share")),
        *((family, "strict", True) for family in ("weighted-mean", "mahalanobis")),
    ],
)
def test_rounds_end_at_the_optimum_and_no_bound_on_the_way_is_below_it(family, ties, weights, monkeypatch):
    hopeless(monkeypatch)
    best = optimum(family, ties, weights=weights)
    files, options = weighted(files_of(family)) if weights else (files_of(family), {})
    result, told = in_parts(files, aggregator=family, ties=ties, **options)
    assert "parts" in result.details["phases"]
    assert result.status == "optimal"
    assert result.interval == pytest.approx((best, best))
    unit = make_problem(*files, ProblemOptions(aggregator=family, **options)).survey.unit if weights else 1.0
    bounds = [progress.bound for progress in told]
    assert min(bounds) * unit >= best * (1 - 1e-9)
    assert bounds == sorted(bounds, reverse=True)
    assert any(progress.phase == "parts" for progress in told)
    if not weights:
        check(result, files)


@pytest.mark.parametrize("family", ["choquet", "mahalanobis"])
def test_one_round_gives_a_bound_that_holds(family, monkeypatch):
    """The sum of small parts is not the optimum; lost records are in none, and all others in one."""
    one_round(monkeypatch)
    files, seen = files_of(family), []
    monkeypatch.setattr(single_fit, "search_whole", lambda task: seen.append(search_whole(task)) or seen[-1])
    result, _ = in_parts(files, aggregator=family)
    ((run, found),) = seen
    assert result.linked_upper_bound >= optimum(family, "strict")
    everyone = np.concatenate([part.blocks for part in found])
    assert sorted(everyone) == np.flatnonzero(~run.system.lost).tolist()
    assert result.details["parts"] == {
        "parts": len(found),
        "largest": max(part.blocks.size for part in found),
        "searched": len(found),
        "proven": sum(part.settled for part in found),
    }
    assert len(found) == max(1, everyone.size // PARTS.size) > 1
    assert sum(part.bound for part in found) == pytest.approx(result.linked_upper_bound)
    assert result.limit is None
    assert result.status == "feasible"


def far_out(seed):
    """The smaller of two differences says who is who; a code makes those of y a millionth of those of x."""
    random = np.random.default_rng(seed)
    original = random.normal(size=(30, 2))
    masked = original + np.where(np.arange(30)[:, None] % 2 == [0, 1], 0.0, random.normal(size=(30, 2)))
    return [
        pd.DataFrame(np.vstack([values, [0.0, 99999999.0]]), columns=["x", "y"])
        for values in (original, masked)
    ]


@pytest.mark.parametrize("family", ["owa"])
def test_no_sum_is_below_an_order_of_the_whole_file(family):
    """What is far out makes ties of differences in y, which comparing ranks tells apart."""
    result, told = in_parts(far_out(3), aggregator=family, standardisation="pooled")
    pair = make_problem(*far_out(3), ProblemOptions(standardisation="pooled")).pair
    assert "parts" in result.details["phases"]
    least = best_order(pair, ranked=True).weight
    bounds = [progress.bound for progress in told if not np.isnan(progress.bound)]  # none while compiling
    assert result.linked_upper_bound >= least > min(bounds)
    assert result.limit == "ties"
    assert any("the bound is not lower" in note for note in result.details["notes"])


# ---------------------------------------------------------------- what a part knows


def searched(bound, linked):
    empty = np.empty(0)
    return PartSearch(np.arange(3), empty, linked, bound, np.zeros(3, bool), 0.1, Proof("lost"), None)


def test_a_part_has_the_better_of_two_bounds():
    blocks = np.arange(3)
    first, second = Part(blocks, 3.0, searched(2.0, 2.0)), Part(blocks + 3, 3.0)
    assert (first.bound, second.bound) == (2.0, 3.0)
    assert (first.settled, second.settled) == (True, False)
    both = Part(np.arange(6), 6.0, None, (first, second))
    assert both.bound == 5.0
    assert not both.settled
    assert list(both.deciding()) == [first, second]
    worse, better = replace(both, search=searched(5.5, 4.0)), replace(both, search=searched(4.5, 4.0))
    assert (worse.bound, better.bound) == (5.0, 4.5)
    assert list(worse.deciding()) == [first, second]
    assert list(better.deciding()) == [better]
    assert replace(both, search=searched(5.5, 5.0)).settled  # by what its halves have proven
    above = Part(np.arange(12), 12.0, None, (better, worse))
    assert above.bound == 9.5
    assert list(above.deciding()) == [better, first, second]


# ---------------------------------------------------------------- when a search is hopeless


def hopeless_clock(clock, total, steering):
    searched = SimpleNamespace(pair=SimpleNamespace(weight=np.array([total])))
    options = EngineOptions(steering=replace(STEERING, parts=steering))
    return UntilHopeless(SearchTask(searched, None, clock, options))


def steps(clock, gap, phase):
    clock.note(Progress(0.0, 10.0, 10.0 + gap, phase))
    return clock.expired


@pytest.mark.usefixtures("virtual_time")
def test_a_search_is_hopeless_only_late_at_work_and_with_a_wide_gap():
    steering = replace(PARTS, before=0.0, wide=0.1)
    first = hopeless_clock(Clock(1e6), 100.0, steering)
    assert not steps(first, 90.0, "compare")
    assert not steps(first, 10.0, "branch and cut")
    assert not first.ended_early
    assert steps(first, 10.1, "attack")  # beside the proof
    assert first.ended_early
    assert steps(first, 0.0, "branch and cut")  # for good
    first.end()
    assert not first.expired
    for limit, least in ((None, 50.0), (1000.0, 50.0), (100.0, 35.0)):
        whole = Clock(limit)
        early = hopeless_clock(whole, 100.0, replace(PARTS, before=50.0, before_share=0.35))
        seconds = whole.seconds
        while not steps(early, 90.0, "branch and bound"):
            pass
        assert early.ended_early
        assert least - 1.0 < whole.seconds - seconds < least + 1.0


def test_its_clock_tells_the_run_and_is_told():
    whole = Clock(100.0, work_limit=3.0)
    first = hopeless_clock(whole, 1.0, PARTS)
    first.spend(4e8)
    first.reserve(40.0)
    assert (whole.now, first.remaining, whole.latest) == (1.0, 2.0, 60.0)
    part = whole.part(1.0)
    assert not part.stopped
    assert not part.out_of_memory
    first.run_out_of_memory()
    assert whole.limit is part.limit is first.limit is Limit.MEMORY
    whole.stop()
    assert whole.limit is part.limit is first.limit is Limit.USER
    assert not first.ended_early


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize(("family", "work"), [("choquet", 0.06), ("mahalanobis", 0.15)])
def test_the_same_work_gives_the_same_answer(family, work, monkeypatch):
    hopeless(monkeypatch)

    def found():
        result = in_parts(noisy(5, 60), None, aggregator=family, work_limit=work)[0]
        trace = [moment[1:] for moment in result.details["trace"]]
        assert "parts" in result.details["phases"]
        assert (result.limit, result.status) == ("work", "feasible")
        return result.interval, result.parameters, result.details["work"], trace, result.details.get("parts")

    one = found()
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)))
    assert found() == one


@pytest.mark.parametrize("phase", ["branch and cut", "parts"])
def test_ctrl_c_reaches_the_search_of_all_records_and_a_part(phase):
    """Both run on clocks of their own; 11 is what the whole search proves in some seconds."""
    problem = make_problem(*noisy(), ProblemOptions(aggregator="mahalanobis"))
    options, clock = EngineOptions(steering=STEERING), Clock(60.0)

    def report(progress):
        if progress.phase == phase:
            clock.stop()

    run, _ = search_whole(SearchTask(problem.searched, get_engine("exact", options), clock, options, report))
    assert run.outcome.limit is Limit.USER
    assert clock.seconds < 20.0
    assert run.incumbent.value <= 11.0 <= run.incumbent.bound
    assert ("parts" in run.phases) == (phase == "parts")


def test_a_part_that_does_not_notice_its_time_is_not_waited_for(monkeypatch):
    """The time of the run began with the search of all records, not with the parts."""
    release, began = threading.Event(), time.monotonic()
    monkeypatch.setattr(limits, "GRACE", 0.05)
    monkeypatch.setattr(parts, "search_part", lambda *_: release.wait(20.0))
    try:
        before = replace(STEERING, parts=replace(PARTS, before=1.0, before_share=0.9))
        result = fit(*noisy(7, 60), aggregator="mahalanobis", steering=before, time_limit=1.5)
    finally:
        release.set()
    assert time.monotonic() - began < 2.3
    assert result.limit == "time"
    assert "parts" not in result.details
    limits._unfinished[-1].join()


def test_no_memory_in_the_middle(monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr(parts, "search_part", full)
    result, _ = in_parts(files_of("mahalanobis"), aggregator="mahalanobis")
    assert (result.status, result.limit) == ("feasible", "memory")
    assert result.linked_upper_bound >= optimum("mahalanobis", "strict")


def test_without_a_limit_all_records_are_searched_once_more(monkeypatch):
    """Where parts prove nothing; what the first search has shown is not shown anew."""
    inner = parts.search_part

    def little(shared, task, clock):
        found = inner(shared, task, clock)
        return replace(found, bound=float(len(task)))

    monkeypatch.setattr(parts, "search_part", little)
    result, told = in_parts(files_of("weighted-mean"), 600.0)
    content = check(result, files_of("weighted-mean"))
    assert "all again" in content["phases"]
    assert "parts" not in content
    assert result.interval[1] == optimum("weighted-mean", "strict")
    values = [progress.value for progress in told]
    assert values == sorted(values)


def test_small_files_and_engines_without_proofs_have_no_parts():
    result, _ = in_parts(noisy(3, 12), engine="milp")
    assert not {"parts", "all again"} & set(result.details["phases"])
    few = replace(STEERING, parts=replace(PARTS, fewest=31))
    whole = fit(*noisy(), steering=few, time_limit=60.0)
    assert "parts" not in whole.details["phases"]
    assert whole.linked == optimum("weighted-mean", "strict")
