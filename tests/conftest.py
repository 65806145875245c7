"""Puts this folder on the path, so that every test can import its helpers; fixtures that rooms share."""

from __future__ import annotations

from pathlib import Path

import pytest
from survey_files import write_pair

pytest.register_assert_rewrite("cli_runs", "fit_runs", "report_pages")


@pytest.fixture
def survey_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the small file pair in it: printed names are short and the same everywhere."""
    write_pair(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path
