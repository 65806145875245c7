"""Projects of the application: small files, and runs followed to their end without a browser."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd

from linkrisk.solver.app.project import Project
from linkrisk.solver.app.runs import Queue, Run

PATIENCE = 240.0
"""Seconds after which a test fails that would hang."""


def small_pair(folder: Path, records: int = 24) -> tuple[str, str]:
    """Two files in the data folder of a project, by name."""
    chance = np.random.default_rng(5)
    original = pd.DataFrame(chance.normal(size=(records, 2)).round(3), columns=["age", "income"])
    (folder / "data").mkdir(parents=True, exist_ok=True)
    original.to_csv(folder / "data" / "original.csv", index=False)
    masked = original + chance.normal(scale=0.4, size=original.shape).round(3)
    masked.to_csv(folder / "data" / "masked.csv", index=False)
    return "data/original.csv", "data/masked.csv"


def opened(folder: Path) -> Project:
    """A project of a folder, as a server has it that is not there."""
    project = Project.opened(folder)
    project.release()
    return project


def finished(queue: Queue, *runs: Run) -> None:
    """Let the queue work until these runs are over."""
    until(lambda: queue.tick() or (all(run.state.over for run in runs) and queue.idle))


def until(true: object, what: str = "") -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + PATIENCE
    while not true():  # type: ignore[operator]
        assert time.monotonic() < end, f"waited in vain {what}"
        time.sleep(0.02)
