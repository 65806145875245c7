"""A token that ends a run from another thread, or from a function that the run calls."""

from __future__ import annotations

import threading

import pytest
from fit_runs import frames

from linkrisk import Cancel, compare, evaluate, fit, link
from linkrisk.solver.run.errors import CancelledError


def pair(n=200):
    return frames(12, n, 5, noise=1.2)


def valid(result):
    assert (result.status, result.limit) == ("interrupted", "user")
    assert result.linked < result.linked_upper_bound <= result.records
    assert result.linked == evaluate(*pair(result.records), parameters=result.to_dict()).linked
    return True


@pytest.mark.parametrize("phase", ["compare", "branch and cut"])
def test_a_callback_may_end_a_fit(phase):
    cancel = Cancel()

    def look(progress):
        if progress.phase == phase:
            cancel.cancel()

    assert valid(fit(*pair(), aggregator="choquet", time_limit=None, on_progress=look, cancel=cancel))


def test_another_thread_may_end_a_fit_that_runs_outside_the_main_thread():
    cancel, reached, results = Cancel(), threading.Event(), []

    def run():
        told = lambda progress: progress.phase == "branch and cut" and reached.set()  # noqa: E731
        results.append(fit(*pair(), aggregator="choquet", time_limit=None, on_progress=told, cancel=cancel))

    thread = threading.Thread(target=run)
    thread.start()
    assert reached.wait(600.0)
    cancel.cancel()
    thread.join()
    assert valid(results[0])


def test_a_token_that_has_been_used_ends_a_fit_at_once_and_no_other():
    cancel = Cancel()
    cancel.cancel()
    result = fit(*pair(60), cancel=cancel)
    assert (result.status, result.limit) == ("interrupted", "user")
    assert fit(*frames(0)).proven


def test_of_several_families_those_not_begun_are_left_out():
    cancel = Cancel()

    def look(progress):
        if progress.phase == "branch and bound":
            cancel.cancel()

    result = fit(*pair(), aggregator=["owa", "choquet"], time_limit=None, on_progress=look, cancel=cancel)
    assert [family.reason for family in result.families] == [None, "stopped before its search began"]
    assert result.results["owa"].limit == "user"


def test_a_certificate_is_not_begun_when_the_token_has_been_used():
    cancel = Cancel()
    cancel.cancel()
    result = fit(*pair(60), cancel=cancel, certificate=True)
    assert result.certificate is None
    assert result.details["certificate"]["reason"] == "stopped before it was made"


def test_a_comparison_ends_with_what_has_come_back():
    cancel = Cancel()
    result = compare(
        *frames(0),
        backends=["exact", "highs", "scipy"],
        cancel=cancel,
        on_progress=lambda told: told.about == "highs" and cancel.cancel(),
    )
    assert [row.name for row in result.rows] == ["exact", "highs"]
    assert result.rows[0].status == "optimal"


@pytest.mark.parametrize("name", ["exact", "highs"])
def test_a_competitor_that_is_running_is_stopped(name):
    cancel = Cancel()
    result = compare(
        *pair(),
        aggregator="choquet",
        backends=[name],
        time_limit=None,
        start=False,
        cancel=cancel,
        on_progress=lambda told: told.about == name and cancel.cancel(),
    )
    (row,) = result.rows
    assert (row.status, row.limit) == ("interrupted", "user")


def test_what_has_no_result_before_its_end_is_given_up():
    cancel, files = Cancel(), frames(0)
    learned = fit(*files).to_dict()
    assert evaluate(*files, parameters=learned, cancel=cancel).linked == learned["linked"]
    assert link(*files, method="prl", cancel=cancel).records == learned["records"]
    cancel.cancel()
    with pytest.raises(CancelledError, match=r"^the run was cancelled before there was a result$"):
        evaluate(*files, parameters=learned, cancel=cancel)
    with pytest.raises(CancelledError):
        link(*files, method="prl", cancel=cancel)


def test_a_token_ends_what_is_being_done(monkeypatch):
    cancel, release = Cancel(), threading.Event()

    def endless(*_, **__):
        cancel.cancel()
        release.wait()

    monkeypatch.setattr("linkrisk.solver.linkage.operations.link.linkage_task", endless)
    try:
        with pytest.raises(CancelledError):
            link(*frames(0), method="prl", cancel=cancel)
    finally:
        release.set()
