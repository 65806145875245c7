"""Every chart: valid, the same as its table, sensible where there is little, safe with any name."""

from __future__ import annotations

import copy
import html
import json
import math
import re
import subprocess
import sys

import altair as alt
import pytest
from cli_runs import check_refused_calls
from fit_runs import frames
from hypothesis import given, settings
from hypothesis import strategies as st
from report_cases import AWKWARD, KEPT, kept_results, wide_result

from linkrisk import fit
from linkrisk.datasets.errors import DataError
from linkrisk.solver.charts import risk_utility as naming
from linkrisk.solver.charts.chart import Chart, Of
from linkrisk.solver.charts.gallery import GALLERY, draw, offered
from linkrisk.solver.charts.records import PICKED, blank, filled
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.schemas.reading import Interval

every = pytest.mark.parametrize("name", GALLERY)


@pytest.fixture(scope="module")
def charts():
    kept = kept_results()
    return {name: draw(name, kept["risk"]) or draw(name, kept["sweep"]) for name in GALLERY}


def numbers_of(chart):
    """All numbers of the data, each also as a hundredth, as shares are drawn in per cent."""
    found = set()
    for rows in chart.spec["datasets"].values():
        for value in (value for row in rows for value in row.values()):
            if isinstance(value, int | float) and not isinstance(value, bool):
                found |= {rounded(value), rounded(value / 100.0)}
    return found


def rounded(value):
    return float(f"{value:.6g}")


@every
def test_the_definition_is_valid_and_complete(charts, name):
    chart = charts[name]
    alt.LayerChart.from_dict({**chart.spec}, validate=True)
    text = json.dumps(chart.spec, allow_nan=False)
    assert "http" not in text.replace(chart.spec["$schema"], "")
    assert "url" not in text
    named = {layer["data"]["name"] for layer in layers(chart.spec)}
    assert named <= set(chart.spec["datasets"])


def layers(spec):
    whole = [spec] if "data" in spec else []
    return [*whole, *(one for one in spec["layer"] if "data" in one)]


@every
def test_a_reader_who_cannot_see_it_is_told_the_same(charts, name):
    chart = charts[name]
    assert chart.name == name
    assert chart.title
    assert chart.reading.endswith(".")
    assert chart.description == chart.spec["description"]
    assert any(letter.isdigit() for letter in chart.description)
    assert chart.table.rows
    assert all(len(row) == len(chart.table.columns) for row in chart.table.rows)
    assert Chart.from_dict(json.loads(json.dumps(chart.to_dict()))) == Chart.from_dict(chart.to_dict())


DRAWN = {
    "headline": ("share",), "bound": ("seconds", "attack", "bound"), "weights": ("value", "low", "high"),
    "shapley": ("value", "low", "high"), "interactions": ("value",), "matrix": ("value",),
    "withheld": ("fall", "fall_low", "fall_high"), "waterfall": ("partner", "rival"), "groups": ("share",),
    "ranks": (), "learning-curve": ("held_out", "low", "high", "worst"), "releases": ("low", "high"),
    "loss": ("loss",), "disclosure": (), "reliability": ("share",), "risk-utility": ("loss", "low", "high"),
}  # fmt: skip
"""Columns of the table whose every number is drawn."""


@every
def test_the_table_says_what_is_drawn(charts, name):
    chart = charts[name]
    drawn, columns = numbers_of(chart), [column.name for column in chart.table.columns]
    cells = [row[columns.index(key)] for key in DRAWN[name] for row in chart.table.rows]
    assert set(DRAWN) == set(GALLERY)
    assert all(rounded(cell) in drawn for cell in cells if cell is not None)
    shares = [at for at, column in enumerate(chart.table.columns) if column.of is Of.SHARE]
    assert all(row[at] is None or -1.0 <= row[at] <= 1.0 for row in chart.table.rows for at in shares)


BY_ATTRIBUTE = ("weights", "shapley", "interactions", "matrix", "withheld", "waterfall", "loss", "disclosure")


@pytest.mark.parametrize("name", BY_ATTRIBUTE)
def test_attributes_are_called_by_their_labels(name):
    result = copy.deepcopy(kept_results()["risk"])
    families = result["worst_case"]["families"]
    raw = families[0]["attributes"]
    before = json.dumps(draw(name, result).to_dict())
    words = {one: f"Question {at} of the form" for at, one in enumerate(raw)}
    for family in families:
        family["labels"] = {one: {"label": text, "codes": {}} for one, text in words.items()}
    chart = draw(name, result)
    cells = {cell for row in chart.table.rows for cell in row if isinstance(cell, str)}
    assert not cells & set(raw)
    shown = json.dumps(chart.to_dict()["spec"])
    assert name == "disclosure" or any(text in shown for text in words.values())  # whose bands have no names
    assert cells & set(words.values()) or name in ("interactions", "matrix")
    families[0]["labels"][raw[0]]["label"] = words[raw[1]]  # one name for two: theirs are clearer
    assert json.dumps(draw(name, result).to_dict()) == before


def test_ranks_are_those_of_all_records():
    attack = kept_results()["risk"]["measures"]["records"]["attacks"][0]
    chart = draw("ranks", kept_results()["risk"])
    rows = [row for row in chart.table.rows if row[0] == chart.table.rows[0][0]]
    assert sum(row[2] for row in rows) == len(attack["rank"])
    assert rows[0][2] == sum(attack["linked"])


def test_no_chart_calls_all_records_a_bound():
    families = [
        {"aggregator": name, "linked": linked, "linked_upper_bound": most, "records": 120, "parameters": {}}
        for name, linked, most in (("owa", 0, 120), ("choquet", 60, 119.9), ("mahalanobis", 0.1 + 0.2, 0.3))
    ]
    chart = draw("headline", {"families": families})
    assert [row[-1] for row in chart.table.rows] == [
        "0.0 % or more, no bound in time",
        "50.0 % or more, no bound in time",
        "0.3 %, proven",
    ]
    assert [row[-2] for row in chart.table.rows] == [None, None, pytest.approx(0.0025)]


def test_the_headline_of_several_runs_has_their_names():
    chart = draw("headline", {}, worst={"run-1": Interval(10, 20, 40), "run-2": Interval(0.2, 1.0)})
    assert chart.table.rows == [
        ["Worst case, by run", "run-1", 0.25, 0.25, 0.5, "25.0 to 50.0 %"],
        ["Worst case, by run", "run-2", 0.2, 0.2, None, "20.0 % or more, no bound in time"],
    ]
    assert draw("headline", {}, worst={}) is None


def test_series_stand_beside_each_other_at_every_tick():
    rate = {"aggregator": "owa", "low": 0.2, "high": 0.4, "worst": 0.5}
    rates = [{**rate, "share": share, "held_out": 0.3} for share in (0.1, 0.5)]
    chart = draw("learning-curve", {"measures": {"held-out": {"rates": rates, "chance": 0.01}}})
    rows = chart.spec["datasets"]["rows"]
    assert [(row["a"], row["b"], row["g"]) for row in rows] == [
        ("10 %", 30.0, True),
        ("50 %", 30.0, True),
        ("all: worst case", 50.0, False),
    ]
    assert chart.spec["datasets"]["level"] == [{"b": 1.0, "e": "random guess: 1.0 %"}]
    assert chart.description.endswith("OWA 30.0 % (20.0 to 40.0 %), worst case 50.0 %. Random guess: 1.0 %.")


def test_simple_attacks_are_those_of_their_measure_where_it_was_taken():
    result = kept_results()["risk"]
    found = {
        "key": "simple_x", "words": "one to one", "value": 0.25, "unit": "share", "low": 0.2, "high": 0.3,
    }  # fmt: skip
    result["measures"]["simple-attacks"] = {"findings": [{**found, "worse": "higher", "kind": "range"}]}
    simple = [row for row in draw("headline", result).table.rows if row[0] == "Simple attacks"]
    assert simple == [["Simple attacks", "one to one", 0.25, 0.2, 0.3, "25.0 % (20.0 to 30.0 %)"]]


def test_simple_attacks_of_a_weighted_fit_are_shares_of_what_records_stand_for():
    fitted = {**kept_results()["risk"]["worst_case"]["families"][0], "weight": "w", "total_weight": 200.0}
    fitted |= {"weighted_links": 40.0, "weighted_links_upper_bound": 50.0}
    chart = draw("headline", {**fitted, "baselines": {"euclid": 30.0, "mahalanobis": 20.0}})
    assert [row[2] for row in chart.table.rows if row[0] == "Simple attacks"] == [0.15, 0.1]
    assert chart.table.columns[2].title == "Share of what records stand for"


@every
def test_nothing_is_drawn_of_nothing(name):
    for result in ({}, {"measures": {}}, {"runs": []}, {"families": []}, {"measures": ["a"]}):
        assert draw(name, result) is None


@pytest.mark.parametrize("many", [1, 40])
@every
def test_names_may_be_anything_and_many(name, many):
    names = [f"{AWKWARD}{at}{'x' * 30}" for at in range(many)]
    result = wide_result(names)
    chart = draw(name, result)
    if chart is None:
        assert name not in offered(result) or (name == "interactions" and many == 1)
        return
    alt.LayerChart.from_dict({**chart.spec}, validate=True)
    text = json.dumps([chart.spec.get("layer"), chart.spec.get("encoding")])
    fields = {value for value in found_fields(json.loads(text)) if value and not value.isidentifier()}
    assert fields == set()


def found_fields(part):
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "field":
                yield value
            else:
                yield from found_fields(value)
    elif isinstance(part, list):
        for value in part:
            yield from found_fields(value)


def test_an_empty_trace_and_one_of_a_single_point():
    fit = {
        "aggregator": "owa", "records": 4, "linked": 1, "linked_upper_bound": 4,
        "parameters": {"weights": {}},
    }  # fmt: skip
    assert draw("bound", {**fit, "trace": []}) is None
    chart = draw("bound", {**fit, "trace": [[0.5, 1, 4]], "seconds": 2.0})
    assert [row[:3] for row in chart.table.rows] == [[0.5, 1.0, 4.0], [2.0, 1.0, 4.0]]
    live = draw("bound", {"aggregator": "owa", "records": 4, "trace": [[0.5, 1, 4]]}, live=True)
    assert live.spec["datasets"]["trace"] == [{"t": 0.5, "low": 1.0, "high": 4.0}]


number = st.one_of(
    st.none(), st.sampled_from([math.nan, math.inf]), st.floats(-1e300, 1e300), st.integers(-(10**9), 10**9)
)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(number, number, number), max_size=5), st.integers(1, 10**6))
def test_any_trace_is_drawn_or_none(trace, records):
    result = {"aggregator": "x", "records": records, "trace": [list(point) for point in trace]}
    chart = draw("bound", result)
    finite = [point for point in trace if all(one is not None and math.isfinite(one) for one in point)]
    assert (chart is None) == (not finite)
    if chart is not None:
        json.dumps(chart.to_dict(), allow_nan=False)
        assert len(chart.table.rows) == len(finite)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=8), number, number, number), min_size=1, max_size=5))
def test_any_weights_are_drawn_or_none(values):
    names, weights, low, high = (list(column) for column in zip(*values, strict=True))
    family = {
        "aggregator": "owa",
        "parameters": {"weights": {"a": 1}},
        "owners": names,
        "importance": weights,
    }
    result = {"measures": {"attributes": {"families": [{**family, "low": low, "high": high}]}}}
    chart = draw("weights", result)
    known = [one for one in weights if one is not None and math.isfinite(one)]
    assert (chart is None) == (not known)
    if chart is not None:
        assert [row[0] for row in chart.table.rows] == names
        json.dumps(chart.to_dict(), allow_nan=False)


def mapped(*runs, tolerated=0.05):
    verdict = {"tolerated": tolerated} if tolerated is not None else {}
    made = [
        {"masking": name, "loss": loss, "verdict": verdict | {"low": low, "high": high}, "pareto": place}
        for name, loss, low, high, place in runs
    ]
    return draw("risk-utility", {"runs": made, "loss": "pmse"})


def test_points_of_the_map_are_named_by_what_tells_them_apart():
    shared = "attributes=age,income"
    chart = mapped(
        (f"microaggregation k=3 {shared}", 0.1, 0.6, 0.7, "on the front"),
        (f"noise percent=5 {shared}", 0.4, 0.2, 0.3, "open"),
    )
    names = {one["masking"]: one["j"] for one in chart.spec["datasets"]["names"]}
    assert set(names.values()) == {"microaggregation k=3", "noise percent=5"}
    assert set(names) == {f"microaggregation k=3 {shared}", f"noise percent=5 {shared}"}
    alone = mapped((f"noise {shared}", 0.1, 0.6, 0.7, "open")).spec["datasets"]["names"]
    assert [one["j"] for one in alone] == ["noise"]


def test_the_map_names_its_points_and_has_a_line_at_what_is_tolerated():
    front = "on the front"
    chart = mapped(
        ("a" * 40, 0.1, 0.5, 0.9, front), ("b", 0.2, 0.02, 0.04, front), ("c", 0.2, 0.02, 0.3, "open")
    )
    assert chart.spec["height"] == 440
    data = chart.spec["datasets"]
    assert data["level"] == [{"b": 5.0, "e": "tolerated: 5.0 %"}]
    assert [one["masking"] for one in data["names"]] == ["a" * 40, "b", "c"]
    assert [len(one["j"]) for one in data["names"]] == [27, 1, 1]
    places = {(one["k"], one["l"]) for one in data["names"][1:]}
    assert len(places) == 2  # of the two at the same place
    assert chart.description.endswith(" Tolerated: 5.0 %.")
    assert "Loss, pMSE" in json.dumps(chart.spec)
    without = mapped(("b", 0.2, 0.02, 0.04, front), tolerated=None)
    assert "level" not in without.spec["datasets"]
    assert "Tolerated" not in without.description


share = st.floats(0.0, 1.0)


@given(
    st.lists(st.tuples(share, share, share, st.text("mn", max_size=20)), max_size=12),
    st.lists(share, max_size=1),
)
def test_no_name_of_a_map_covers_anything(found, lines):
    points = [naming.Point(x, min(low, high), max(low, high), name, (x,)) for x, low, high, name in found]
    places = naming.sides(points, lines)
    assert len(places) == len(points)
    names = [
        naming._name(point, place[0], *naming.SIDES[place[1]])
        for point, place in zip(points, places, strict=True)
        if place is not None
    ]
    assert not any(one.meets(other) for at, one in enumerate(names) for other in names[:at])
    assert not any(one.meets(box) for one in names for point in points for box in naming._drawn(point))
    assert all(one.left >= 0 and one.right <= naming.WIDTH for one in names)


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
    cases = [("groups", {}), ("bound", {"family": "owa"})]
    check_refused_calls("charts", lambda one: getattr(fitted.plot, one[0])(**one[1]), cases)
    with pytest.raises(AttributeError, match=r"^there is no chart 'pie': choose from bound, headline, "):
        fitted.plot.pie()


def test_the_gallery_has_every_chart_and_no_other():
    page = (GALLERY_FOLDER.parent / "results" / "gallery.md").read_text(encoding="utf-8")
    assert re.findall(r"!\[([\w-]+)\]\(\.\./gallery/\1\.svg\)", page) != []
    assert set(re.findall(r"!\[([\w-]+)\]\(\.\./gallery/\1\.svg\)", page)) == set(GALLERY)
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
