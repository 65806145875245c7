"""The application in a real browser, for the tests of its pages."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from application import PATIENCE, SCRIPT, small_pair


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("app") / "project"
    small_pair(folder)
    (folder / "data" / "odd.csv").write_text(f'"{SCRIPT}",b\n1,<b>x</b>\n2,y\n3,<b>x</b>\n')
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "linkrisk", "app", str(folder), "--runs", "2", "--max-upload", "1"],
        stdout=subprocess.PIPE,
        text=True,
        env={key: value for key, value in os.environ.items() if key != "PYTEST_CURRENT_TEST"},
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(2)]
    yield re.findall(r"http://\S+", lines[1])[0]
    process.send_signal(signal.SIGINT)
    process.wait(PATIENCE)
    process.stdout.close()


@pytest.fixture(scope="module")
def browser(address: str) -> Iterator[Any]:
    """A browser that has shown the token; whatever asks another host, or complains, fails the test."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as engine:
        process = engine.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        context = process.new_context(accept_downloads=True)
        context.set_default_timeout(PATIENCE * 1000)
        page = context.new_page()
        page.goto(address)
        page.close()
        yield context
        process.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    page, wrong = browser.new_page(), []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    page.on(
        "request",
        lambda asked: (
            None if re.match(r"http://127\.0\.0\.1|data:|blob:", asked.url) else wrong.append(asked.url)
        ),
    )
    yield page
    page.close()
    assert wrong == []
