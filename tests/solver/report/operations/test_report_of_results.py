"""`report` looks at what it is given: two files, or results that were made before."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from cli_runs import check_refused_calls
from fit_runs import frames

from linkrisk import fit, report, suppress, sweep
from linkrisk.solver.documents.document import Audience
from linkrisk.solver.run.errors import UsageError

OPTIONS = {"time_limit": None, "seed": 3}


@pytest.fixture(scope="module")
def files():
    return frames(3, 12)


@pytest.fixture(scope="module")
def found(files):
    return fit(*files, aggregator="owa", **OPTIONS)


def _said(made):
    said = made.to_dict()
    return json.dumps({name: part for name, part in said.items() if name != "made"}, sort_keys=True)


def test_results_mappings_and_files_make_the_same_report(found, tmp_path):
    path = tmp_path / "FIT.JSON"
    path.write_text(found.to_json(), encoding="utf-8")
    made = report(found)
    assert made.risk is None
    assert "33.3 % of the records" in made.document.headline.verdict
    for given in (found.to_dict(), path, str(path), [found], made, made.to_dict()):
        assert _said(report(given)) == _said(made)


def test_a_sweep_stands_beside_a_worst_case(files, found):
    maps = sweep(files[0], methods=["noise percent=30"], aggregator="owa", **OPTIONS)
    both = _said(report(found, maps))
    assert _said(report([found, maps])) == both
    assert _said(report([maps, found.to_dict()])) == both
    assert len(both) > max(len(_said(report(found))), len(_said(report(maps))))


def test_frames_are_files(files):
    made = report(*files, aggregator="owa", certificates=False, measures="worst-case", **OPTIONS)
    assert made.risk is not None
    assert hasattr(files[0], "to_dict")  # as results have


def test_the_file_of_a_suppression_makes_the_page_that_it_makes_itself(tmp_path):
    made = suppress(pd.DataFrame({"sex": list("ffmmm"), "town": list("aabbc")}), keys=["sex", "town"], k=2)
    path = tmp_path / "suppression.json"
    path.write_text(made.to_json(), encoding="utf-8")
    for audience in Audience:
        assert _said(report(path, audience=audience.value)) == _said(made.document(audience))


def test_what_is_no_such_request(found):
    asked = [{"masked": "masked.csv"}, {"time_limit": 3.0}, {"certificates": True}]
    check_refused_calls("report-of-results", lambda one: report(found, **one), asked)


def test_a_file_that_holds_no_result_is_named(tmp_path):
    (tmp_path / "list.json").write_text("[]", encoding="utf-8")
    with pytest.raises(UsageError, match=r"list\.json is no JSON of results"):
        report(tmp_path / "list.json")
