"""Charts outside of reports: waterfalls that are filled in, files, notebooks, `.plot`."""

from __future__ import annotations

import html
import re
import subprocess
import sys

import pytest
from fit_runs import frames
from report_cases import AWKWARD, KEPT, kept_results, wide_result

from linkrisk import fit
from linkrisk.datasets.errors import DataError
from linkrisk.solver.charts.gallery import GALLERY, draw
from linkrisk.solver.charts.records import PICKED, blank, filled
from linkrisk.solver.run.errors import UsageError

GALLERY_FOLDER = KEPT.parent


def test_a_waterfall_is_filled_with_what_makes_the_distances():
    chart = filled(blank(["a", "distance"]), ["a", "distance"], [0.25, 0.5], [None, 1.0])
    assert chart.spec["datasets"][PICKED] == [
        {"attribute": "a", "to": "partner", "contribution": 0.25},
        {"attribute": "distance", "to": "partner", "contribution": 0.5},
        {"attribute": "distance", "to": "rival", "contribution": 1.0},
    ]
    assert chart.table.rows == [["a", 0.25, None], ["distance", 0.5, 1.0]]
    assert chart.description.startswith("Distance to the partner 0.750 and to the nearest rival 1.00.")
    assert blank(["a"]).spec["datasets"] == {PICKED: []}


def test_the_waterfall_of_a_record_by_its_name():
    result = kept_results()["risk"]
    records, attack = (result["measures"]["records"][key] for key in ("record", "attacks"))
    chart = draw("waterfall", result, record=records[7], family=attack[1]["attack"])
    assert [row[1] for row in chart.table.rows] == attack[1]["to_partner"][7]
    assert draw("waterfall", result, record="nobody") is None


@pytest.fixture(scope="module")
def awkward():
    return draw("weights", wide_result([AWKWARD, "b"]))


@pytest.mark.parametrize(
    ("suffix", "start"), [(".svg", b"<svg"), (".png", b"\x89PNG"), (".html", b"<!doctype html>")]
)
def test_files_are_what_their_names_say(tmp_path, awkward, suffix, start):
    path = tmp_path / f"chart{suffix}"
    awkward.save(path)
    content = path.read_bytes()
    assert content.startswith(start)
    assert b"<script>alert" not in content
    assert suffix != ".html" or not re.findall(rb"<(?:script|link)[^>]*(?:src|href)=", content)
    assert suffix != ".html" or content.count(b"</script>") == 2
    assert list(tmp_path.iterdir()) == [path]


def test_other_names_of_files_are_refused(tmp_path, awkward):
    with pytest.raises(UsageError, match=r"^a chart cannot be written as \.gif: use \.html, \.svg or \.png$"):
        awkward.save(tmp_path / "chart.gif")
    with pytest.raises(
        DataError, match=r"^cannot write .*chart\.svg: the folder .* does not exist; create it"
    ):
        awkward.save(tmp_path / "nowhere" / "chart.svg")
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_shows_the_picture_and_how_to_read_it(awkward):
    shown = awkward._repr_mimebundle_()
    assert set(shown) == {"text/html", "text/plain"}
    assert "<svg" in shown["text/html"]
    assert awkward.reading in shown["text/html"]
    assert "<script" not in shown["text/html"]


@pytest.fixture(scope="module")
def fitted():
    return fit(*frames(1, 20), time_limit=None, aggregator="weighted-mean")


def test_results_list_and_draw_their_charts(fitted):
    assert dir(fitted.plot) == ["bound", "headline", "interactions", "matrix", "shapley", "weights"]
    chart = fitted.plot.bound()
    assert chart == draw("bound", fitted.to_dict())
    assert chart.table.rows[-1][1] == fitted.linked
    assert fitted.plot.weights(family="weighted-mean").name == "weights"


def test_charts_that_a_result_has_not(fitted):
    with pytest.raises(
        UsageError, match=r"^the result has nothing for the chart 'groups'; it has: bound, headline"
    ):
        fitted.plot.groups()
    with pytest.raises(
        UsageError, match=r"^the result has nothing for the chart 'bound', family='owa'; it has: "
    ):
        fitted.plot.bound(family="owa")
    with pytest.raises(AttributeError, match=r"^there is no chart 'pie': choose from bound, headline, "):
        fitted.plot.pie()


def test_the_gallery_has_every_chart_and_no_other():
    page = (GALLERY_FOLDER.parent / "gallery.md").read_text(encoding="utf-8")
    assert re.findall(r"!\[([\w-]+)\]\(gallery/\1\.svg\)", page) != []
    assert set(re.findall(r"!\[([\w-]+)\]\(gallery/\1\.svg\)", page)) == set(GALLERY)
    assert {path.stem for path in GALLERY_FOLDER.glob("*.svg")} == set(GALLERY)
    for path in GALLERY_FOLDER.glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("<svg")
        assert len(text) < 150_000


def test_pictures_of_the_gallery_are_those_of_its_results():
    kept = kept_results()
    for name in ("headline", "withheld", "risk-utility"):
        chart = draw(name, kept["risk"]) or draw(name, kept["sweep"])
        picture = html.unescape((GALLERY_FOLDER / f"{name}.svg").read_text(encoding="utf-8"))
        assert chart.title in picture
        said = re.findall(r"\d+\.\d %|\d+\.\d points", chart.description)
        assert said
        assert sum(one in picture for one in set(said)) >= 1


def test_results_import_no_library_of_charts():
    script = "import sys, linkrisk.solver.measures.risk as _; "
    script += "print(sorted({'altair', 'vl_convert'} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
