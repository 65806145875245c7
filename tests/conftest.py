"""Puts this folder on the path, so that every test can import its helpers; fixtures that rooms share."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import quick_processes
from clusters import small_cluster
from extras import TestFile
from hypothesis import HealthCheck, settings
from small_files import write_pair

# The first example of a fresh clone may wait for code to be compiled, and any of them for a busy machine.
# The same examples everywhere: what is red is red for all; scripts/hunt.py looks for new ones.
settings.register_profile(
    "linkrisk", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("linkrisk")

# A busy machine must not put lines of progress into outputs that tests compare.
os.environ["LINKRISK_PROGRESS"] = "none"
# A suite in the background of a script has Ctrl-C ignored, and so have the processes that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

quick_processes.install()

pytest.register_assert_rewrite("cli_runs", "fit_runs", "report_cases")


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    """Files that import what is not installed are skipped."""
    return TestFile.from_parent(parent, path=module_path)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a scheduler with workers in processes of their own."""
    pytest.importorskip("distributed", reason="needs Dask: pip install 'linkrisk[dask]'")
    with small_cluster() as found:
        yield found


@pytest.fixture
def fresh_processes() -> Iterator[None]:
    """Processes start as they do for users: each imports all that it needs."""
    with quick_processes.fresh():
        yield


@pytest.fixture
def survey_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the small file pair in it: printed names are short and the same everywhere."""
    write_pair(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class VirtualTime:
    """Stands in for `time` in `solver.run.clock`: every so many questions are a second, and nothing else is.

    Parameters
    ----------
    questions : int
        Questions in a second.

    Attributes
    ----------
    asked : int
        Questions so far.
    """

    def __init__(self, questions: int) -> None:
        self._count, self._questions, self.asked = count(1), questions, 0

    def perf_counter(self) -> float:
        """Seconds since some moment."""
        self.asked = next(self._count)  # several threads may ask at once
        return self.asked / self._questions


@pytest.fixture
def virtual_time(monkeypatch: pytest.MonkeyPatch) -> VirtualTime:
    """Time limits that end a run after the same work on every machine: a second is a hundred questions."""
    return _pass(VirtualTime(100), monkeypatch)


@pytest.fixture
def still_time(monkeypatch: pytest.MonkeyPatch) -> VirtualTime:
    """No time passes: what depends on how long something took is as on a machine without end of speed."""
    return _pass(VirtualTime(10**9), monkeypatch)


def _pass(time: VirtualTime, monkeypatch: pytest.MonkeyPatch) -> VirtualTime:
    """Let this time pass for every clock, and no answer be taken before its search has ended."""
    monkeypatch.setattr("linkrisk.solver.run.clock.time", time)
    monkeypatch.setattr("linkrisk.solver.run.limits.GRACE", math.inf)
    return time
