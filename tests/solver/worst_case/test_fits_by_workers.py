"""Fits and counts by processes and by a scheduler's workers: the same answers to the record."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from cli_runs import PAIR, refuse
from clusters import ADDRESS_OF_NOBODY
from fit_runs import frames, steered

from linkrisk import evaluate, fit
from linkrisk.solver.inputs import problem as problems
from linkrisk.solver.linkage import shared_counts
from linkrisk.solver.run import pool as clusters
from linkrisk.solver.run.pool import Cluster

FILES = frames(3, 300, 3, noise=0.6)


@pytest.fixture(autouse=True)
def all_is_shared_out(monkeypatch):
    monkeypatch.setattr(shared_counts, "WORTH", 1)
    monkeypatch.setattr(shared_counts, "FEWEST", 20)


def said(result) -> dict:
    left_out = ("seconds", "phases", "trace", "workers")
    return {key: value for key, value in result.to_dict().items() if key not in left_out}


@pytest.mark.parametrize(
    ("work", "options"),
    [
        ("samples", {"aggregator": "owa", "work_limit": 0.1, "sample": 20, "samples": 4}),
        ("counts", {"aggregator": "owa", "work_limit": 0.3}),
        # Of a file that is taken to be too large to have all rows.
        ("rows", {"work_limit": 0.1, "steering": steered(most_reduced=0)}),
    ],
)
def test_a_fit_says_the_same_whoever_works(address, work, options, monkeypatch):
    if work == "rows":
        monkeypatch.setattr(shared_counts, "STOPS_SOONER", 1)
    alone, told = fit(*FILES, **options), set()
    assert "workers" not in alone.to_dict()
    for way in ({"workers": 2}, {"scheduler": address}) if work == "samples" else ({"scheduler": address},):
        found = fit(*FILES, **options, **way, on_progress=lambda progress: told.add(progress.work))
        assert said(found) == said(alone)
        asked, scheduler = way.get("workers"), way.get("scheduler")
        assert found.details["workers"] == {"scheduler": scheduler, "asked": asked, "at_start": 2}
    assert work != "counts" or "1 of 8 tasks" in told


def test_a_worker_that_dies_in_the_middle_of_a_count_costs_no_record(address, monkeypatch):
    each, killed = Cluster.each, []

    def deadly(self, *given):
        for answer in each(self, *given):
            yield answer
            if not killed:
                killed.append(min(self.connection.client.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)

    parameters = {"aggregator": "owa", "parameters": {"weights": {"1": 0.5, "2": 0.3, "3": 0.2}}}
    alone = evaluate(*FILES, parameters=parameters)
    monkeypatch.setattr(Cluster, "each", deadly)
    assert said(evaluate(*FILES, parameters=parameters, scheduler=address)) == said(alone)
    assert killed


@pytest.mark.parametrize("there", [True, False])
def test_parquet_files_are_read_where_they_are_and_sent_where_they_are_not(
    address, tmp_path, monkeypatch, there
):
    monkeypatch.setattr(problems, "WORTH", 0)
    paths = [tmp_path / "original.parquet", tmp_path / "masked.parquet"]
    for frame, path in zip(FILES, paths, strict=True):
        frame.to_parquet(path, index=False)
    parameters = {"aggregator": "owa", "parameters": {"weights": {"1": 0.5, "2": 0.3, "3": 0.2}}}
    alone = evaluate(*paths, parameters=parameters)
    each, sent, sending = Cluster.each, [], Cluster.send_all

    def without_files(self, *given):
        if not there:
            for path in paths:
                path.unlink(missing_ok=True)
        return each(self, *given)

    monkeypatch.setattr(Cluster, "each", without_files)
    monkeypatch.setattr(Cluster, "send_all", lambda self: sent.append(0) or sending(self))
    assert said(evaluate(*paths, parameters=parameters, scheduler=address)) == said(alone)
    assert bool(sent) != there


# What cannot be done: one line, exit code 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scheduler", ""], "the scheduler must be an address such as tcp://127.0.0.1:8786, not ''"),
        (
            ["--scheduler", ADDRESS_OF_NOBODY],
            f"the scheduler at {ADDRESS_OF_NOBODY} does not answer: is it running? `dask scheduler` starts "
            "one and says its address",
        ),
    ],
)
@pytest.mark.usefixtures("survey_folder", "address")
def test_wrong_schedulers_are_refused_in_one_line(capsys, monkeypatch, options, message):
    monkeypatch.setattr(clusters, "PATIENCE", 0.2)
    refuse(capsys, message, "fit", *PAIR, *options, "--json", "fit.json")


@pytest.mark.usefixtures("survey_folder")
def test_without_dask_it_is_said_how_to_install_it(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    message = "a scheduler needs the extra 'dask': pip install 'linkrisk[dask]'"
    refuse(capsys, message, "fit", *PAIR, "--scheduler", ADDRESS_OF_NOBODY)
