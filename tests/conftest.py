"""Puts this folder on the path, so that every test can import its helpers; fixtures that rooms share."""

from __future__ import annotations

import signal
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from survey_files import write_pair

# The first example of a fresh clone may wait for code to be compiled, and any of them for a busy machine.
settings.register_profile("linkrisk", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("linkrisk")

# Who starts the suite in the background of a script has Ctrl-C ignored, in the processes that tests start too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest.register_assert_rewrite("cli_runs", "fit_runs", "report_pages")


@pytest.fixture
def survey_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the small file pair in it: printed names are short and the same everywhere."""
    write_pair(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class VirtualTime:
    """Stands in for `time` in `solver.clock`: a second passes with every so many questions, and with nothing else.

    Parameters
    ----------
    questions : int
        Questions in a second.
    """

    def __init__(self, questions: int) -> None:
        self._asked, self._questions = count(), questions

    def perf_counter(self) -> float:
        """Seconds since some moment."""
        return next(self._asked) / self._questions


@pytest.fixture
def virtual_time(monkeypatch: pytest.MonkeyPatch) -> VirtualTime:
    """Time limits that end a run after the same work on every machine: a second is a hundred questions."""
    time = VirtualTime(100)
    monkeypatch.setattr("solver.clock.time", time)
    return time
