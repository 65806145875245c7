"""What tests do in pages of the application: choose of lists, and look for what hinders readers."""

from __future__ import annotations

import importlib.util
import re
import shutil
from typing import Any

import pytest

SCRIPT = "<script>alert(1)</script>"

MISSING = [
    name
    for name in ("nicegui", "playwright", "axe_playwright_python")
    if importlib.util.find_spec(name) is None
]
IN_BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}"),
    pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium"),
]
"""Marks of tests that need a browser, and what drives it."""


def base(address: str) -> str:
    return address.split("/?")[0]


def no_serious_violation(page: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"]) for one in serious] == []


def choose(page: Any, label: str, option: str) -> None:
    """Choose of a list, and wait until it is gone."""
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()
    _list_is_gone(page)


def choose_several(page: Any, label: str, *options: str) -> None:
    """Choose some of a list, which stays open until it is left."""
    page.get_by_label(label, exact=True).click()
    for option in options:
        page.get_by_role("option", name=option, exact=True).click()
    page.keyboard.press("Escape")
    _list_is_gone(page)


def _list_is_gone(page: Any) -> None:
    """Wait for the place of a list that faded away: when it goes, the field takes the focus back.

    What was typed into another field before that would be lost.
    """
    page.wait_for_function("!document.querySelector('[id^=q-portal--menu]')")


def started(page: Any) -> str:
    """What is asked for can be read by everybody, also on a phone; then the headline at its end."""
    no_serious_violation(page)
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    page.set_viewport_size({"width": 1280, "height": 720})
    page.get_by_role("button", name="Start").click()
    page.get_by_text(re.compile("^(done|failed)$")).wait_for()
    no_serious_violation(page)
    return str(page.locator(".headline").inner_text())
