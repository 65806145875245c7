"""What runs say to whoever listens to the logger `linkrisk`, and that nobody else hears of it."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fit_runs import frames

from linkrisk import fit

QUIET = "import logging, sys; from fit_runs import frames; from linkrisk import fit; fit(*frames(0))"


def said(caplog, level):
    """What has been said at a level."""
    return [record.getMessage() for record in caplog.records if record.levelno == level]


def test_phases_improvements_and_the_end(caplog):
    # A search that an earlier test has not waited for may still have something to say.
    # The threads themselves: a new one may get the number of one that has ended meanwhile.
    others = set(threading.enumerate()) - {threading.current_thread()}
    with (
        caplog.at_level(logging.DEBUG, logger="linkrisk"),
        caplog.filtering(lambda _: threading.current_thread() not in others),
    ):
        result = fit(*frames(0, 60, noise=0.8), aggregator="choquet", work_limit=0.02)
    assert result.limit == "work"
    informed = said(caplog, logging.INFO)
    assert informed[-1].endswith("work: the limit is 0.02 units")
    assert informed[0].endswith(" s: compare")
    assert any(text.endswith(" s: branch and cut") for text in informed)
    improvements = [text.partition(": value ")[2] for text in said(caplog, logging.DEBUG)]
    trace = [f"{linked:g}, bound {bound:g}" for _, linked, bound in result.details["trace"]]
    assert len(trace) > 2
    assert set(trace) <= set(improvements)
    assert all(record.name.startswith("linkrisk.") for record in caplog.records)


@pytest.mark.parametrize("level", [logging.INFO, logging.WARNING])
def test_a_level_is_kept(level, caplog):
    with caplog.at_level(level, logger="linkrisk"):
        fit(*frames(0))
    assert all(record.levelno >= level for record in caplog.records)
    assert bool(caplog.records) is (level == logging.INFO)


def test_nothing_is_said_to_who_does_not_listen():
    root = Path(__file__).parents[3]
    paths = [str(root), str(root / "tests" / "support"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", QUIET],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")
