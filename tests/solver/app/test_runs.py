"""Runs: folders, a queue, processes that outlive whoever started them."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pandas as pd
import pytest
from application import done, finished, opened, small_pair, until
from small_tables import write_table_files

from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.solver.app.answers import ProgressReader, answer, interval_of
from linkrisk.solver.app.project import Project
from linkrisk.solver.app.runs import Queue, Run, RunState, find_run, new_folder, runs_of
from linkrisk.solver.app.steps import SEARCHED, Asked, Step, add_mask, shuffled_by, spelled_method
from linkrisk.solver.app.table_steps import TableAsked, add


@pytest.fixture
def project(tmp_path: Path) -> Project:
    small_pair(tmp_path)
    return opened(tmp_path)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Commands are a script of the test instead of linkrisk: quick, and it does what it is told."""
    script = tmp_path / "stand_in.py"
    script.write_text(
        "import json, signal, sys, time\n"
        "what = sys.argv[1:]\n"
        "print('did', *what, flush=True)\n"
        "said = {'seconds': 0.5, 'phase': 'proving', 'about': 'owa', 'linked': 3, 'bound': 5, 'total': 9}\n"
        "print(json.dumps(said), file=sys.stderr, flush=True)\n"
        "print('a remark', file=sys.stderr, flush=True)\n"
        "if what[0] == 'wait':\n"
        "    try:\n"
        "        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})\n"
        "        while True: time.sleep(0.01)\n"
        "    except KeyboardInterrupt:\n"
        "        print('stopped', flush=True)\n"
        "sys.exit(int(what[1]) if what[0] == 'code' else 0)\n"
    )
    runner = tmp_path / "runner_of_test.py"
    runner.write_text(
        "import sys\n"
        "from linkrisk.solver.app import runner\n"
        f"runner.program = lambda *argv: [sys.executable, {str(script)!r}, *argv]\n"
        "sys.exit(runner.main(sys.argv[-1]))\n"
    )
    monkeypatch.setattr(
        "linkrisk.solver.app.runs.runner", lambda folder: [sys.executable, str(runner), folder]
    )
    return script


def asked(queue: Queue, *steps: list[str]) -> Run:
    run = queue.folder("fit")
    return queue.add("fit", "a run", steps, run=run)


def speaks(run: Run) -> bool:
    return "a remark" in run.text("log.txt")


@pytest.mark.usefixtures("stand_in")
def test_steps_follow_each_other_and_leave_their_words(project: Project) -> None:
    queue = Queue(project)
    run = queue.add(
        "fit", "two steps", [["first"], ["second"]], run=queue.folder("fit"), outputs={1: "second.txt"}
    )
    assert run.state is RunState.WAITING
    assert run.seconds is None
    finished(queue, run)
    assert run.state is RunState.DONE
    assert run.text("output.txt") == "$ python -m solver first\ndid first\n"
    assert run.text("second.txt") == "did second\n"
    assert run.text("log.txt") == "a remark\na remark\n"
    assert run.files() == ["output.txt", "second.txt"]
    reader = ProgressReader(run)
    assert reader.read()
    assert not reader.read()
    assert reader.sentence == "owa: 3 to 5 of 9, proving"


@pytest.mark.usefixtures("stand_in")
def test_a_step_that_fails_is_the_last(project: Project) -> None:
    queue = Queue(project)
    run = asked(queue, ["code", "2"], ["second"])
    finished(queue, run)
    assert run.state is RunState.FAILED
    assert "second" not in run.text("output.txt")
    assert answer(run) == "It failed; its output says why"
    (run.folder / "log.txt").write_text("error: data/A.csv has no column 'Einkommen'\n")
    assert answer(run) == "data/A.csv has no column 'Einkommen'"


@pytest.mark.usefixtures("stand_in")
def test_so_many_at_a_time_in_order_and_none_disturbs_another(project: Project) -> None:
    queue = Queue(project, at_once=2)
    runs = [asked(queue, ["wait"]) for _ in range(3)]
    until(lambda: queue.tick() or all(speaks(run) for run in runs[:2]))
    assert [run.state for run in runs] == [RunState.RUNNING, RunState.RUNNING, RunState.WAITING]
    runs[0].stop()
    until(lambda: queue.tick() or speaks(runs[2]))
    assert [run.state for run in runs] == [RunState.DONE, RunState.RUNNING, RunState.RUNNING]
    assert "stopped" in runs[0].text("output.txt")
    for run in runs[1:]:
        run.stop()
    finished(queue, *runs)
    assert [run.name for run in runs_of(project)] == ["0003-fit", "0002-fit", "0001-fit"]


@pytest.mark.usefixtures("stand_in")
def test_a_restarted_server_finds_its_runs_again(project: Project) -> None:
    before = Queue(project)
    running, waiting = asked(before, ["wait"]), asked(before, ["first"])
    until(lambda: before.tick() or speaks(running))
    after = Queue(Project(project.folder))
    after.tick()
    found = find_run(after.project, running.name)
    assert found is not None
    assert (found.state, waiting.state) == (RunState.RUNNING, RunState.WAITING)
    found.stop()
    finished(after, waiting)
    finished(before, running)
    assert running.state is RunState.DONE


@pytest.mark.usefixtures("stand_in")
def test_what_waits_is_cancelled_and_what_was_killed_is_lost(project: Project) -> None:
    queue = Queue(project)
    never, run = asked(queue, ["first"]), asked(queue, ["wait"])
    never.stop()
    queue.tick()
    assert never.state is RunState.CANCELLED
    assert answer(never) == "Was stopped before it had an answer"
    assert not (never.folder / "process.json").exists()
    until(lambda: queue.tick() or speaks(run))
    os.killpg(json.loads((run.folder / "process.json").read_text())["pid"], signal.SIGKILL)
    finished(queue, run)
    assert run.state is RunState.LOST
    assert answer(run).startswith("Ended without a word")


@pytest.mark.usefixtures("stand_in")
def test_a_stop_waits_for_a_command_that_has_not_begun(project: Project) -> None:
    queue = Queue(project)
    run = asked(queue, ["wait"], ["second"])
    queue.tick()
    run.stop()  # long before the process of the run knows of signals
    finished(queue, run)
    assert run.state is RunState.DONE
    assert "stopped" in run.text("output.txt")
    assert "did second" in run.text("output.txt")


def test_certificates_of_all_families_are_runs_of_their_own(project: Project) -> None:
    runs = add(Queue(project), Asked("fit", SEARCHED, certified=True))
    assert len(runs) > 3
    assert len({run.command["title"] for run in runs}) == len(runs)
    assert runs[1].command["steps"][0][:3] == ["fit", "--aggregator", "owa"]


@pytest.mark.parametrize(
    "line", ["", "{", "[1]", '{"seconds": 1}', '{"linked": null, "bound": null}', "\xff"]
)
def test_progress_never_falls_behind_and_lines_that_say_nothing_are_passed_over(
    project: Project, line: str
) -> None:
    run = Queue(project).folder("fit")
    said = [
        {"seconds": at, "phase": "compare", "about": "owa", "linked": linked, "bound": bound, "total": 9}
        for at, linked, bound in ((1.0, 3, 7), (2.0, 0, 9), (3.0, 4, 7))
    ]
    lines = [line, *(json.dumps(one) for one in said)]  # the family is searched again
    (run.folder / "progress.jsonl").write_text("".join(f"{one}\n" for one in lines), encoding="latin-1")
    reader = ProgressReader(run)
    reader.read()
    assert {name: one.points for name, one in reader.courses.items()} == {
        "owa": [(0.0, 3, 7), (1.0, 3, 7), (2.0, 4, 7)]
    }


def test_links_that_lead_out_of_the_project_are_no_part_of_a_run(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "command.json").write_text("{}")
    (outside / "secret.txt").write_text("secret")
    (project.folder / "runs" / "0001-elsewhere").symlink_to(outside)
    run = new_folder(project, "fit")
    (run.folder / "command.json").write_text("{}")
    (run.folder / "result.json").write_text("{}")
    (run.folder / "report.html").symlink_to(outside / "secret.txt")
    assert [one.name for one in runs_of(project)] == [run.name] == ["0002-fit"]
    assert run.files() == ["result.json"]


# With the command line itself: what was clicked is what is typed


def test_a_stop_in_the_first_moment_leaves_a_protecting_pattern(project: Project) -> None:
    write_table_files(project.folder / "data")
    queue = Queue(project)
    (table,) = add(queue, TableAsked(tables=(("data/cells.csv", "data/relations.csv"),)))
    queue.tick()
    table.stop()
    finished(queue, table)
    assert table.state is RunState.DONE, table.text("log.txt")
    assert table.result["protected"]
    assert 0 <= table.result["bound"] <= table.result["cost"]
    assert "protected from outsiders" in answer(table)


def test_a_mask_and_a_fit_with_its_certificate_and_the_same_again(project: Project) -> None:
    method = spelled_method("noise", {"percent": "20", "correlated": True, "attributes": []})
    assert method == "noise percent=20 correlated"
    queue = Queue(project)
    masking = done(add_mask(queue, "data/original.csv", [method], seed="1"))
    pair = {"original": "data/original.csv", "masked": f"runs/{masking.name}/original-masked.csv"}
    (fit,) = add(queue, Asked("fit", {**pair, "aggregator": "owa"}, certified=True))
    result = done(fit).result
    assert result["status"] == "optimal"
    assert f"At worst {result['linked']} of 24 records" in answer(fit)
    assert interval_of(result).proven
    assert "\nproved: " in fit.text("verification.txt")
    assert set(fit.files()) >= {"certificate.json", "result.json", "report.html", "verification.txt"}
    assert fit.command["steps"][0] == result["command"].split()[3:]
    courses = ProgressReader(fit)
    courses.read()
    assert list(courses.courses) == ["owa"]
    assert courses.courses["owa"].points[-1][1:] == (result["linked"], result["linked_upper_bound"])


def test_records_of_argus_and_between_tabs_are_masked(project: Project) -> None:
    data = project.folder / "data"
    lines = [(at % 2, 100 + 7 * at % 90) for at in range(30)]
    (data / "other.tab").write_text("sex\tamount\n" + "".join(f"{sex}\t{one}\n" for sex, one in lines))
    (data / "survey.rda").write_text("sex 1 1 9\n <RECODEABLE>\namount 3 4 9999\n <NUMERIC>\n")
    (data / "survey.asc").write_text("".join(f"{sex} {one:4d}\n" for sex, one in lines))
    for name in ("survey.rda", "survey.asc", "other.tab"):
        run = done(add_mask(Queue(project), f"data/{name}", ["noise percent=20 attributes=amount"], seed="1"))
        assert name.replace(".", "-masked.") in run.files()


def test_a_pair_that_was_shuffled_is_checked_by_its_record(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"drop": ["name", "a,b"], "shuffle": True, "renumber": ["id", "home"]}
    options = ["--drop", 'name,"a,b"', "--shuffle", "--renumber", "id,home"]
    for of, words in ({}, []), ({"drop": []}, ["--drop", "none"]), (asked, options):
        assert Step("mask", of).argv == ["mask", *words]
    original = "data/original.csv"
    monkeypatch.chdir(project.folder)
    queue, method = Queue(project), ["rounding base=0.1 attributes=age"]
    done(add_mask(queue, original, method, drop=["income"], shuffle=True))
    masked = "runs/0001-mask/original-masked.csv"
    assert list(pd.read_csv(masked).columns) == ["age"]
    record = shuffled_by(project, masked)
    assert record == "runs/0001-mask/masking-record.json"
    pair = make_file_pair(original, masked, id=record, attributes=["age"])
    assert abs(pair.original["age"] - pair.masked["age"].iloc[pair.partner].to_numpy()).max() < 0.06
    done(add_mask(queue, original, method))
    assert shuffled_by(project, "runs/0002-mask/original-masked.csv") == ""
    assert shuffled_by(project, original) == ""
