"""The page of a search of samples: its limit is not taken for a bound, nor the run for a proof."""

from __future__ import annotations

import pytest
from fit_runs import frames
from report_pages import Page

from linkrisk.solver import fit
from linkrisk.solver.report.page import render_report
from linkrisk.solver.run.errors import UsageError

OPTIONS = {"sample": 6, "samples": 3, "time_limit": None}


def page(result):
    return Page(render_report(result.to_dict())).text


def test_the_headline_states_the_confidence_and_what_it_rests_on():
    result = fit(*frames(3, 40, 3, noise=0.6), **OPTIONS)
    low, high = result.interval
    sample = result.details["sampling"]["sample"]
    text = page(result)
    assert f"At least {low} of 40 records" in text
    assert f"at most {high} (" in text
    assert ", with 95 % confidence) can be linked." in text
    assert (
        "The lower number was counted on all records. The upper one holds with 95 % confidence: it comes "
        f"from 3 random samples, of whose 18 records no parameters of this distance link more than "
        f"{sample['linked_upper_bound']}."
    ) in text
    assert "Upper limit of this family, 95 % confidence" in text
    assert "out of reach" not in text
    assert "Proven" not in text


def test_of_several_families():
    results = fit(*frames(3, 40, 3, noise=0.6), aggregator="weighted-mean,owa", **OPTIONS)
    text = page(results)
    assert "The upper number holds with 95 % confidence, for all these families together" in text
    assert text.count("95 % confidence") >= 4


def test_an_attack_that_was_not_counted_on_all_says_so():
    content = fit(*frames(3, 40, 3, noise=0.6), **OPTIONS).to_dict()
    content["sampling"]["counted"] = {"records": 30, "all": False, "linked_lower_limit": 9}
    assert "The lower number is what was counted, on 30 records." in Page(render_report(content)).text


def test_a_result_that_says_nothing_of_its_samples_is_refused():
    content = fit(*frames(3, 40, 3, noise=0.6), **OPTIONS).to_dict()
    del content["sampling"]
    with pytest.raises(UsageError, match="the result has no 'sampling'"):
        render_report(content)
