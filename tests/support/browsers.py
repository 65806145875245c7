"""Debian's chromium through playwright: pages opened as their readers open them, with the network off."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
AXE_SERIOUS = ("serious", "critical")


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """A browser without windows; a test that asks for one is skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("needs a browser: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install -e '.[dev]'")
    with sync_api.sync_playwright() as playwright:
        # Root may not have the sandbox, and containers have a small /dev/shm.
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


class Opened:
    """A page in a browser, and whatever went wrong in it."""

    def __init__(self, browser: Any, html: str, folder: Path, *, width: int = 1280, scheme: str = "light"):
        file = folder / "page.html"
        file.write_text(html, encoding="utf-8")
        self.context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            offline=True,
            reduced_motion="reduce",
            accept_downloads=True,
        )
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.asked: list[str] = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on(
            "console", lambda said: said.type in ("error", "warning") and self.wrong.append(said.text)
        )
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.address = file.as_uri()
        self.page.goto(self.address)
        self.page.wait_for_selector("html[data-ready]", state="attached")

    def violations(self) -> list[str]:
        return violations(self.page)


def violations(page: Any) -> list[str]:
    """What axe-core finds that is serious or worse."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found if one["impact"] in AXE_SERIOUS]


@contextlib.contextmanager
def opened(browser: Any, html: str, folder: Path, **options: Any) -> Iterator[Opened]:
    """The page of this text, opened from the disk, in which nothing went wrong when it is closed."""
    one = Opened(browser, html, folder, **options)
    try:
        yield one
        assert one.wrong == []
        assert [address for address in one.asked if not address.startswith(("file:", "blob:", "data:"))] == []
    finally:
        one.context.close()
