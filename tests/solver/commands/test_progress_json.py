"""Progress as JSON lines: what programs read of a run."""

import io
import json
import math
import sys
from pathlib import Path

import pytest
from cli_runs import PAIR

from linkrisk.solver.commands import progress as display
from linkrisk.solver.commands.program import main
from linkrisk.solver.commands.progress import SILENT, ProgressJson, progress_line, reporter
from linkrisk.solver.compiling.parts import PHASE
from linkrisk.solver.run.progress import Progress, of_search, part_of_call

KEYS = ["seconds", "phase", "about", "linked", "cost", "bound", "total", "work", "done", "limit"]


def lines(stream: io.StringIO) -> list[dict]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_the_last_state_is_always_written(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setenv(SILENT, "json")
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_line("reading", 30.0) as line:
        tell = reporter(line)
        for linked in range(500):
            tell(Progress(1.0, float(linked), 600.0, "attack", about="owa", total=600.0))
        tell(Progress(1.0, 500.0, 501.5, "hitting sets", "7 cores", "owa", 600.0, 0.25))
    written = lines(stream)
    assert all(list(line) == KEYS for line in written)
    first = {"seconds": 0, "phase": "reading", "limit": 30.0}
    assert written[0] | {"seconds": 0} == dict.fromkeys(KEYS) | first
    assert written[-1] | {"seconds": 0} == {
        "seconds": 0, "phase": "proving", "about": "owa", "linked": 500.0, "cost": None,
        "bound": 501.5, "total": 600.0, "work": "7 cores", "done": 0.25, "limit": 30.0,
    }  # fmt: skip
    assert [line["seconds"] for line in written] == sorted(line["seconds"] for line in written)


def test_the_last_state_of_every_family_is_written(monkeypatch):
    monkeypatch.setattr(ProgressJson, "every", 1e6)
    stream = io.StringIO()
    line = ProgressJson(stream, "reading")
    for family in ("owa", "choquet", "mahalanobis"):
        for linked in (1.0, 2.0, 3.0):
            line.report(Progress(0.0, linked, 3.0, "attack", about=family))
    line.close()
    last = {line["about"]: line["linked"] for line in lines(stream) if line["about"]}
    assert last == {"owa": 3.0, "choquet": 3.0, "mahalanobis": 3.0}


def test_the_cost_of_what_shall_be_least():
    stream = io.StringIO()
    line = ProgressJson(stream, "reading")
    line.report(
        Progress.of_cost("suppressing cells", 80.0, 69.0, "cost 80, at least 69", about="the outsider")
    )
    line.close()
    last = lines(stream)[-1]
    assert (last["linked"], last["cost"], last["bound"], last["about"]) == (None, 80.0, 69.0, "the outsider")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_known_is_null(value):
    stream = io.StringIO()
    line = ProgressJson(stream, "reading")
    line.report(Progress(0.0, value, value, "attack"))
    line.close()
    assert (lines(stream)[-1]["linked"], lines(stream)[-1]["bound"]) == (None, None)


def test_a_reader_that_goes_away_costs_nothing():
    class Gone(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    line = ProgressJson(Gone(), "reading")
    line.report(Progress(0.0, 1.0, 2.0, "attack"))
    line.close()


def test_values_of_a_search_are_in_units_of_the_sampling_weights():
    told = []
    tell = of_search(told.append, "owa", 300.0, 2.5)
    tell(Progress(1.0, 4.0, 10.0, "attack"))
    assert told == [Progress(1.0, 10.0, 25.0, "attack", "", "owa", 300.0)]
    assert of_search(None, "owa", 300.0, 2.5) is None


def test_the_part_of_a_part():
    told = []
    tell = part_of_call(part_of_call(told.append, 0.5, 1.0), 0.2, 0.4)
    for done in (None, 0.0, 0.5, 1.0):
        tell(Progress(0.0, 0.0, 0.0, "attack", done=done))
    assert [progress.done for progress in told] == pytest.approx([0.6, 0.6, 0.65, 0.7])
    assert part_of_call(None, 0.0, 1.0) is None


# What commands write


def written(monkeypatch, capsys, *argv: str) -> list[dict]:
    monkeypatch.setenv(SILENT, "json")
    assert main(list(argv)) == 0
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def last(found: list[dict]) -> dict[str, dict]:
    return {line["about"]: line for line in found if line["about"]}


@pytest.mark.usefixtures("survey_folder")
def test_fit_tells_of_every_family(monkeypatch, capsys):
    argv = ("fit", *PAIR, "--aggregator", "owa,choquet", "--json", "fit.json")
    found = last(written(monkeypatch, capsys, *argv))
    fitted = {row["aggregator"]: row for row in json.loads(Path("fit.json").read_text())["families"]}
    assert list(found) == ["owa", "choquet"]
    assert [line["done"] for line in found.values()] == [
        0.0,
        0.3,
    ]  # slices first: the rest is for who needs it
    for name, line in found.items():
        assert line["linked"] == fitted[name]["linked"]
        assert line["bound"] == fitted[name]["linked_upper_bound"]
        assert line["total"] == fitted[name]["records"]


@pytest.mark.usefixtures("survey_folder")
def test_risk_tells_of_families_and_then_of_measures(monkeypatch, capsys):
    argv = ("risk", *PAIR, "--aggregator", "owa,weighted-mean", "--measures", "uniqueness,references")
    found = last(written(monkeypatch, capsys, *argv))
    assert {name: line["done"] for name, line in found.items()} == {
        "weighted-mean": 0.0, "owa": 0.15, "uniqueness": 0.5, "references": 0.75,
    }  # fmt: skip
    assert found["references"]["phase"] == "measuring"


@pytest.mark.usefixtures("survey_folder")
def test_sweep_tells_of_every_masking(monkeypatch, capsys):
    methods = ("--method", "noise percent=5,10 attributes=age", "--measures", "worst-case", "--workers", "1")
    argv = ("sweep", "--original", PAIR[1], *methods, "--aggregator", "owa")
    found = written(monkeypatch, capsys, *argv)
    assert [line["done"] for line in last(found).values()] == [0.5, 1.0]
    assert all(line["phase"] == "sweep" for line in last(found).values())


def test_compiling_is_no_part_of_the_limit(monkeypatch):
    """The limit is not said while kernels are compiled, and the seconds after it are those that it counts."""
    now = [100.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])

    class Still(display.Display):
        def _run(self) -> None:
            pass

    line = Still(io.StringIO(), "reading", 30.0)
    now[0] = 102.0
    assert line._line.split() == ["2.0", "of", "30", "s", "reading"]
    line.report(Progress(0.0, math.nan, math.nan, PHASE))
    now[0] = 162.0
    assert line._line.split()[:3] == ["62.0", "s", "compiling,"]
    line.report(Progress(0.0, 1.0, 2.0, "rows"))
    now[0] = 163.0
    assert line._line.split()[:4] == ["3.0", "of", "30", "s"]
