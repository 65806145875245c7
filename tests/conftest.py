"""Puts this folder on the path, so that every test can import its helpers; fixtures that rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings
from survey_files import write_pair

# The first example of a fresh clone may wait for code to be compiled.
settings.register_profile("linkrisk", deadline=None)
settings.load_profile("linkrisk")

# A busy machine must not put lines of progress into outputs that tests compare.
os.environ["LINKRISK_PROGRESS"] = "none"

pytest.register_assert_rewrite("cli_runs", "fit_runs", "report_pages")


@pytest.fixture
def survey_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the small file pair in it: printed names are short and the same everywhere."""
    write_pair(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path
