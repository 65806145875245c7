"""Sweeps: the table of all maskings and the Pareto front."""

from __future__ import annotations

import json
from itertools import product

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measure_runs import MASKINGS, QUICK, numbers
from small_files import write_pair

from linkrisk import Cancel, sweep
from linkrisk.solver.risk_utility import course as sweep_course
from linkrisk.solver.risk_utility.maskings import maskings_of
from linkrisk.solver.risk_utility.runs import Status
from linkrisk.solver.risk_utility.sweep import Place, Point, places
from linkrisk.solver.run.workers import Sequential

FRONT, DOMINATED, OPEN = Place.FRONT, Place.DOMINATED, Place.OPEN


@st.composite
def small_maps(draw):
    """A few maskings whose risks and losses are small whole numbers, so that many of them are equal."""
    ends = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(sorted)
    found = draw(st.lists(st.tuples(ends, st.integers(0, 2)), min_size=1, max_size=4))
    return [Point(low, high, loss) for (low, high), loss in found]


def dominated(at, risks, losses):
    return any(
        risks[k] <= risks[at] and losses[k] <= losses[at] and (risks[k] < risks[at] or losses[k] < losses[at])
        for k in range(len(risks))
    )


@given(small_maps())
def test_against_all_values_of_the_risks(points):
    """The ends and whole numbers between them are enough: only the order of the risks matters."""
    losses = [point.loss for point in points]
    values = [sorted({point.low, point.high, *range(point.low, point.high + 1)}) for point in points]
    found = [{dominated(at, risks, losses) for risks in product(*values)} for at in range(len(points))]
    expected = [{True: DOMINATED, False: FRONT}[one.copy().pop()] if len(one) == 1 else OPEN for one in found]
    assert places(points) == expected


def test_by_hand():
    assert places([]) == []
    assert places([Point(0.2, 0.9, 1.0)]) == [FRONT]
    # The second costs more and links more for certain; the third is certain to link less than the first.
    assert places([Point(0.5, 0.5, 1.0), Point(0.6, 0.7, 2.0), Point(0.1, 0.2, 3.0)]) == [
        FRONT,
        DOMINATED,
        FRONT,
    ]
    # Intervals that overlap leave it open which of the two dominates.
    assert places([Point(0.4, 0.6, 1.0), Point(0.5, 0.7, 2.0)]) == [FRONT, OPEN]
    # Two that are alike dominate nobody.
    assert places([Point(0.5, 0.5, 1.0), Point(0.5, 0.5, 1.0)]) == [FRONT, FRONT]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    write_pair(folder)
    return folder / "original.csv"


@pytest.fixture
def counted(monkeypatch):
    """The maskings that are measured, as they are."""
    texts = []

    def run(job, task, clock):
        texts.append(task.masking.text)
        return RUN(job, task, clock)

    monkeypatch.setattr(sweep_course, "run_masking", run)
    return texts


RUN = sweep_course.run_masking


def test_a_second_sweep_measures_nothing(original, tmp_path, counted):
    folder = tmp_path / "runs"
    first = sweep(original, MASKINGS, folder=folder, **QUICK)
    assert counted == [run.masking for run in first.runs]
    again = sweep(original, MASKINGS, folder=folder, **QUICK)
    assert len(counted) == 5
    assert again.runs == first.runs
    pd.testing.assert_frame_equal(again.to_frame(), first.to_frame())
    assert (first.details["kept_before"], again.details["kept_before"]) == (0, 5)
    assert again.notes == ()
    # More maskings: only those that are new. Another one lost: only that.
    next(iter(sorted(folder.glob("*.json")))).unlink()
    sweep(original, [*MASKINGS, "noise percent=61"], folder=folder, **QUICK)
    assert len(counted) == 7
    assert counted[-1] == "noise percent=61"


def test_a_sweep_that_was_stopped_goes_on(original, tmp_path, counted):
    cancel, told = Cancel(), []

    def stop(progress):
        told.append(progress.work)
        if "1 of 5" in progress.work:
            cancel.cancel()

    first = sweep(original, MASKINGS, folder=tmp_path, cancel=cancel, on_progress=stop, **QUICK)
    assert len(first.runs) == 1
    assert first.unfinished == tuple(masking.text for masking in maskings_of(MASKINGS)[1:])
    assert told[-1].startswith("1 of 5 maskings; last microaggregation k=3 attributes=age,income: ")
    rest = sweep(original, MASKINGS, folder=tmp_path, **QUICK)
    assert numbers(rest) == numbers(sweep(original, MASKINGS, **QUICK))
    assert counted[:5] == [run.masking for run in rest.runs]


def test_a_run_that_was_stopped_is_none(original):
    cancel = Cancel()
    cancel.cancel()
    found = sweep(original, ["noise percent=60"], cancel=cancel, **QUICK)
    assert (found.runs, found.unfinished, found.front) == ((), ("noise percent=60",), ())
    assert found.to_frame().empty
    assert json.loads(found.to_json())["unfinished"] == ["noise percent=60"]


def test_what_has_changed_is_measured_again_and_said(original, tmp_path, counted):
    folder = tmp_path / "runs"
    one = ["noise percent=60"]
    sweep(original, one, folder=folder, **QUICK)
    changed = tmp_path / "changed.csv"
    changed.write_text(original.read_text(encoding="utf-8").replace("age", "years"), encoding="utf-8")
    assert sweep(changed, one, folder=folder, **QUICK).notes == (
        f"{folder} has 1 run of another original file; they do not count here",
    )
    assert sweep(original, one, folder=folder, ties="share", **QUICK).notes == (
        f"{folder} has 1 run of another original file; they do not count here",
        f"{folder} has 1 run with other options; they do not count here",
    )
    (folder / "broken.json").write_text('{"depends": {}', encoding="utf-8")
    found = sweep(original, one, folder=folder, **QUICK)
    assert f"{folder} has 1 run that cannot be read; they do not count here" in found.notes
    assert len(counted) == 3
    # The same content under another name is the same file.
    copy = tmp_path / "copy.csv"
    copy.write_bytes(original.read_bytes())
    assert sweep(copy, one, folder=folder, **QUICK).details["kept_before"] == 1


def test_what_a_file_of_a_method_says_counts(tmp_path, counted):
    levels = tmp_path / "levels.csv"
    file = pd.DataFrame({"age": [*range(20, 40)] * 2, "income": range(40)})  # each once, ages would be ids
    file.to_csv(tmp_path / "o.csv", index=False)
    options = {"folder": tmp_path / "runs", **QUICK}
    for width in (10, 5, 5):
        ages = pd.DataFrame({"age": range(20, 60)})
        ages.assign(coarse=ages["age"] // width * width).to_csv(levels, index=False)
        sweep(tmp_path / "o.csv", [f"global-recoding hierarchy=age={levels} attributes=age"], **options)
    assert len(counted) == 2


def test_a_fault_is_a_row_too_and_not_kept(original, tmp_path, monkeypatch):
    def broken(job, task, clock):
        if "k=4" in task.masking.text:
            raise MemoryError("no room")
        return MEASURED(job, task, clock)

    from linkrisk.solver.risk_utility import runs as sweep_run

    MEASURED = sweep_run._measured
    monkeypatch.setattr(sweep_run, "_measured", broken)
    found = sweep(original, MASKINGS[:1], folder=tmp_path, **QUICK)
    assert [run.status for run in found.runs] == [Status.DONE, Status.FAILED]
    assert found.runs[1].reason == "MemoryError: no room"
    monkeypatch.undo()
    again = sweep(original, MASKINGS[:1], folder=tmp_path, **QUICK)
    assert [run.status for run in again.runs] == [Status.DONE, Status.DONE]
    assert again.details["kept_before"] == 1


def test_a_process_that_died_is_a_fault(original, monkeypatch):
    class Dying(Sequential):
        def each(self, do, tasks, clock, share):
            return super().each(do, list(tasks)[:1], clock, share)

    monkeypatch.setattr(sweep_course, "Sequential", Dying)
    found = sweep(original, MASKINGS[:1], **QUICK)
    assert found.runs[1].status is Status.FAILED
    assert found.runs[1].reason == sweep_course.lost()
