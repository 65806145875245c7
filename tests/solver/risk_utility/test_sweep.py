"""`sweep`: the numbers of `mask` and `risk` by hand, kept and found again, and the front."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measure_runs import MASKINGS, QUICK, numbers
from refusals import refusal
from small_files import NAMES, survey, write_pair

from linkrisk import Cancel, fit, mask, risk, sweep
from linkrisk.solver.risk_utility import course as sweep_course
from linkrisk.solver.risk_utility.maskings import maskings_of
from linkrisk.solver.risk_utility.runs import Status, SweepRun, il1s_of_all
from linkrisk.solver.risk_utility.sweep import LOSSES, OF_ALL, Place, Point, places
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.workers import Sequential


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    write_pair(folder)
    return folder / "original.csv"


@pytest.fixture(scope="module")
def swept(original):
    return sweep(original, MASKINGS, **{**QUICK, "aggregator": "all"})


# ---- the numbers


def test_a_masking_has_the_numbers_of_mask_fit_and_risk_by_hand(original, swept, tmp_path):
    for run, masking in zip(swept.done, maskings_of(MASKINGS), strict=False):
        masked = tmp_path / "masked.csv"
        mask(original, list(masking.methods), seed=run.seed).write(masked)
        for family in fit(original, masked, aggregator="all", ties="share", time_limit=None).families:
            own = next(each for each in run.families if each.aggregator == family.aggregator)
            assert (own.linked, own.most) == family.result.interval
            assert own.proven
        assert run.interval == (run.verdict["low"], run.verdict["high"])
        assert run.interval[0] >= max(each.linked for each in run.families) / 30


def test_all_measures_are_those_of_risk(original, tmp_path):
    names = ("held-out", "reidentification", "information-loss")
    options = {"measures": ",".join(names), "aggregator": "owa", "time_limit": None}
    found = sweep(original, ["noise percent=60"], workers=1, **options)
    (run,) = found.runs
    mask(original, "noise percent=60", seed=run.seed).write(tmp_path / "masked.csv")
    by_hand = risk(original, tmp_path / "masked.csv", masking=["noise percent=60"], **options)
    assert set(run.findings) == set(by_hand.measures) == set(names)
    for name, result in by_hand.measures.items():
        assert list(run.findings[name]) == list(result.findings)
    rate = run.finding("held-out", "held_out_owa")
    row = found.to_frame().iloc[0]
    assert (row["held_out"], row["held_out_low"], row["held_out_high"]) == (rate.value, rate.low, rate.high)


def test_with_a_work_limit_intervals_are_those_of_fit_too(tmp_path):
    """Half of the work is for the worst cases, as in `risk`; the intervals stay open."""
    original, masked = tmp_path / "original.csv", tmp_path / "masked.csv"
    pd.DataFrame(survey(80), columns=list(NAMES)).to_csv(original, index=False)
    options = {"aggregator": ("weighted-mean", "choquet"), "work_limit": 0.04}
    (run,) = sweep(original, ["noise percent=80"], workers=1, measures="worst-case", **options).runs
    mask(original, "noise percent=80", seed=run.seed).write(masked)
    found = fit(original, masked, aggregator=options["aggregator"], work_limit=0.02)
    assert [(own.linked, own.most) for own in run.families] == [
        family.result.interval for family in found.families
    ]
    assert run.interval[0] < run.interval[1]


def test_categories_by_a_schema(tmp_path):
    random = np.random.default_rng(3)
    frame = pd.DataFrame({"code": random.choice(["01", "02", "10"], 40), "income": random.normal(size=40)})
    frame.to_csv(tmp_path / "original.csv", index=False)
    schema = {"attributes": [{"name": "code", "scale": "nominal"}]}
    (tmp_path / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    where = {"schema": tmp_path / "schema.json"}
    (run,) = sweep(tmp_path / "original.csv", ["pram change=0.3 + noise percent=50"], **where, **QUICK).runs
    methods = [f"{text} schema={where['schema']}" for text in ("pram change=0.3", "noise percent=50")]
    mask(tmp_path / "original.csv", methods, seed=run.seed).write(tmp_path / "masked.csv")
    both = tmp_path / "original.csv", tmp_path / "masked.csv"
    found = fit(*both, aggregator="weighted-mean,owa", time_limit=None, **where)
    assert [own.linked for own in run.families] == [each.result.linked for each in found.families]
    assert run.loss is None, "IL1s does not see what became of categories"
    assert run.finding("information-loss", "pmse").value > 0


def test_a_masking_that_does_not_fit_costs_its_own_row(original, swept):
    refused = swept.runs[-1]
    assert refused.status is Status.REFUSED
    assert refused.reason == f"{original}: k is 40, but there are only 30 records; choose a smaller k"
    assert [run.status for run in swept.runs[:-1]] == [Status.DONE] * 4


ALL_ALIKE = {"measures": "information-loss", "aggregator": "owa", "work_limit": 0.05}


@pytest.fixture(scope="module")
def alone(original):
    return sweep(original, MASKINGS[1:], workers=1, **ALL_ALIKE)


def test_processes_say_the_same(original, alone):
    together = sweep(original, MASKINGS[1:], workers=2, **ALL_ALIKE)
    assert numbers(alone) == numbers(together)
    assert (alone.details["workers"], together.details["workers"]) == (1, 2)


@pytest.mark.slow
def test_workers_of_a_scheduler_say_the_same(original, alone, address):
    told = []
    found = sweep(original, MASKINGS[1:], scheduler=address, on_progress=told.append, **ALL_ALIKE)
    assert numbers(alone) == numbers(found)
    counts = [progress.work.partition(";")[0] for progress in told[-4:]]
    assert counts == [f"{many} of 3 maskings" for many in range(4)]


def test_other_maskings_change_nothing(original, swept):
    one = sweep(original, ["noise percent=60"], **{**QUICK, "aggregator": "all"})
    assert numbers(one) == [run for run in numbers(swept) if run.masking == "noise percent=60"]


def test_the_seed_changes_the_masking(original, swept):
    other = sweep(original, ["noise percent=60"], seed=1, **QUICK)
    same = next(run for run in swept.runs if run.masking == "noise percent=60")
    assert (other.runs[0].seed, other.runs[0].loss) != (same.seed, same.loss)


# ---- the loss


def test_il1s_of_all_attributes_counts_those_that_are_left_alone(original):
    frame = pd.read_csv(original)
    masked = mask(frame, "noise percent=60 attributes=age", seed=1).table
    found = risk(frame, masked, measures="information-loss", aggregator="owa", time_limit=None)
    loss = found["information-loss"]
    by_hand = (frame - masked).abs().mean() / (np.sqrt(2) * frame.std())
    assert il1s_of_all(loss) == pytest.approx(by_hand.mean(), rel=1e-12)
    assert loss.numeric.il1s == pytest.approx(by_hand["age"], rel=1e-12)


def test_every_loss_of_a_release_can_be_asked_for():
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.normal(size=(60, 2)), columns=["a", "b"])
    frame["c"] = random.integers(3, size=60)
    masked = frame + random.normal(size=(60, 3)) * [0.1, 0.1, 0.0]
    masked["c"] = random.permutation(frame["c"])
    masked.loc[0, "a"] = np.nan
    found = risk(frame, masked, measures="information-loss", aggregator="owa", nominal=["c"], time_limit=None)
    assert {each.key for each in found["information-loss"].findings} == set(LOSSES) - {OF_ALL}


def test_the_loss_that_is_asked_for(original, swept):
    found = sweep(original, MASKINGS, loss="correlation_difference", **QUICK)
    own = found.runs[2].finding("information-loss", "correlation_difference").value
    assert found.to_frame()["loss"][2] == own
    assert swept.loss == OF_ALL


# ---- what is returned


def test_the_table(swept):
    frame = swept.to_frame().set_index("masking")
    assert frame["status"].tolist() == ["done"] * 4 + ["refused"]
    assert frame["name"].tolist()[-2:] == ["rank-swapping + noise", "microaggregation"]
    done = frame[frame["status"] == "done"]
    families = [name.removesuffix("_high") for name in frame if name.endswith("_high")]
    assert families == ["worst", "weighted_mean", "owa", "choquet", "mahalanobis"]
    four = ["weighted_mean", "owa", "choquet", "mahalanobis"]
    assert (done["worst_low"] >= done[[f"{name}_low" for name in four]].max(axis=1)).all()
    assert (done["loss"] == done["il1s_of_all"]).all()
    assert (done["pareto"] == [swept.places[text] for text in done.index]).all()
    assert frame.loc["microaggregation k=40", "reason"] == swept.runs[-1].reason
    kinds = frame.drop(columns=["name", "status", "reason", "pareto"]).dtypes
    assert kinds.map(pd.api.types.is_numeric_dtype).all()


def test_json_is_strict_and_can_be_read_again(swept):
    read = json.loads(swept.to_json(), parse_constant=pytest.fail)
    assert [run["masking"] for run in read["runs"]] == [run.masking for run in swept.runs]
    for content, run in zip(read["runs"], swept.runs, strict=True):
        assert content.pop("pareto") == swept.places.get(run.masking)
        assert SweepRun.from_dict(content) == run
    assert repr(swept).startswith("SweepResult(")
    assert "microaggregation k=40: refused" in repr(swept)


def test_a_family_that_one_masking_has_not_been_measured_for_may_link_anything(swept):
    first = swept.runs[0]
    other = replace(first, masking="other", loss=first.loss / 2)
    assert replace(swept, runs=(first, other)).places == {first.masking: "dominated", "other": "on the front"}
    unknown = replace(other, families=first.families[:2])
    assert replace(swept, runs=(first, unknown)).places == {first.masking: "open", "other": "on the front"}


# ---- what is refused


@pytest.mark.parametrize(
    ("maskings", "options", "message"),
    [
        (["microaggregation k=40,50"], {}, "none of the 2 maskings can be measured; microaggregation k=40: "),
        (["noise percent=5 attributes=wage"], {}, "the masking cannot be measured; noise percent=5"),
        (["M4-33"], {"loss": "pmse", "measures": "held-out"}, "a loss needs the measure information-loss:"),
    ],
)
def test_what_is_refused(original, maskings, options, message):
    assert refusal(lambda: sweep(original, maskings, **{**QUICK, **options})).startswith(message)


def test_folders_that_are_refused(original, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match=r"folder='.*file' is a file; give the name of a folder"):
        sweep(original, ["noise percent=5"], folder=tmp_path / "file", **QUICK)
    with pytest.raises(UsageError, match=r"folder='.*' cannot be made: no such file or directory; give"):
        sweep(original, ["noise percent=5"], folder=tmp_path / "no" / "where", **QUICK)


def test_a_method_that_was_made_in_python_is_as_good_as_its_text(original):
    found = sweep(pd.read_csv(original), maskings_of(["noise percent=60"]), **QUICK)
    assert numbers(found) == numbers(sweep(Path(original), ["noise percent=60"], **QUICK))


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
