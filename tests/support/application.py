"""The application without and with a browser: forms, pages, projects, requests."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import io
import json
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from browsers import violations

from linkrisk.solver.app.project import Project
from linkrisk.solver.app.runs import LOG, PROGRESS, Queue, Run, RunState, State
from linkrisk.solver.app.security import Access
from linkrisk.solver.app.table_steps import AUDIT, SUPPRESS, VERIFY, TableAsked
from linkrisk.solver.commands.program import main

FILE, FOUND = "data/original.csv", {"columns": [{"name": "age"}, {"name": "income"}]}
PAIR = {"original": FILE, "masked": "data/masked.csv"}
TABLES = {
    "tables make": TableAsked(made={"data": FILE, "by": [["age"]], "rules": ["frequency=3"]}),
    "tables suppress": TableAsked(SUPPRESS, tables=((FILE, ""),)),
    "tables audit": TableAsked(AUDIT, tables=((FILE, ""),)),
    "verify": TableAsked(VERIFY, tables=((FILE, ""),), values={"result": "data/proof.json"}),
}
COMMANDS = ("fit", "risk", "sweep", "link", "unsafe", "suppress", "mask", *TABLES)
"""Those that the application offers."""


def _form(command: str) -> Callable[[State], Any]:
    """What makes the form of a command."""
    from linkrisk.solver.app.pages import masking, new_run, tables

    if command in TABLES:
        return lambda state: tables._Tables(state, TABLES[command])
    if command == "mask":
        return lambda state: masking._Mask(state, FILE, FOUND)
    if command in new_run.TASKS:
        return lambda state: new_run._Unsafe(state, FILE, command, FOUND)
    return lambda state: new_run._New(state, PAIR, command)


class Shown:
    """The form of one of `COMMANDS`, for a project with a file pair in a folder."""

    def __init__(self, command: str, folder: Path) -> None:
        from nicegui import Client
        from nicegui.page import page

        small_pair(folder)
        (folder / "data" / "proof.json").write_text("{}")
        project = opened(folder)
        self.client = Client(page("/form"), request=None)
        with self.client:
            _form(command)(State(project, Queue(project), Access(frozenset(), 1, 1))).show()

    @property
    def _elements(self) -> list[Any]:
        return list(self.client.elements.values())

    @property
    def marks(self) -> list[str]:
        """What its fields are marked by: the keywords of options."""
        return [mark for one in self._elements for mark in one._markers]

    @property
    def texts(self) -> list[str]:
        """All that it says."""
        return [one.text for one in self._elements if isinstance(getattr(one, "text", None), str)]

    @property
    def command(self) -> str:
        """The command that it shows, or what stands there instead."""
        (found,) = (one.text for one in self._elements if one.tag == "pre")
        return str(found)

    def field(self, name: str) -> Any:
        """The field of an option."""
        (found,) = (one for one in self._elements if name in one._markers)
        return found


# What tests do in pages of the application: choose of lists, and look for what hinders readers


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
    assert violations(page) == []


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


# Projects of the application: small files, and runs followed to their end without a browser


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


def executed(run: Run) -> Run:
    """Execute the commands of a run as its process would, but in this one."""
    codes, command = [], run.command
    with contextlib.chdir(run.project.folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("LINKRISK_PROGRESS", "json")
        for at, (argv, output) in enumerate(zip(command["steps"], command["outputs"], strict=True)):
            out, said = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
                codes.append(main(argv))
            lines: dict[bool, list[str]] = {True: [], False: []}
            for line in said.getvalue().splitlines():
                lines[line.startswith("{")].append(line)
            told = [json.dumps({**json.loads(line), "step": at}) for line in lines[True]]
            for name, text in (
                (output, out.getvalue()),
                (PROGRESS, "\n".join(told)),
                (LOG, "\n".join(lines[False])),
            ):
                with (run.folder / name).open("a", encoding="utf-8") as file:
                    file.write(text.rstrip("\n") + "\n" if text else "")
            if codes[-1]:
                break
    run.end(codes)
    return run


def done(run: Run) -> Run:
    """Execute a run that must end well."""
    assert executed(run).state is RunState.DONE, run.text(LOG)
    return run


def until(true: object, what: str = "") -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + PATIENCE
    while not true():  # type: ignore[operator]
        assert time.monotonic() < end, f"waited in vain {what}"
        time.sleep(0.02)


# Requests to an ASGI application without a server


@dataclass
class Answer:
    """What came back."""

    status_code: int
    headers: dict[str, str]
    text: str


def ask_app(
    app: Any, method: str, path: str, headers: Mapping[str, str | None], content: Sequence[bytes] = (b"",)
) -> Answer:
    """One request; its length is said unless the headers say that it is not."""
    said = {"content-length": str(sum(map(len, content))), **headers}
    where, _, query = path.partition("?")
    scope = {"type": "http", "method": method, "path": where, "query_string": query.encode()}
    left = list(content)
    sent = _sent(
        app,
        {**scope, "headers": raw(said)},
        lambda: {"type": "http.request", "body": left.pop(0), "more_body": bool(left)},
    )
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return Answer(sent[0]["status"], found, body.decode())


def ask_socket(app: Any, headers: Mapping[str, str | None]) -> str:
    """The first message that answers a socket: accepted or closed."""
    scope = {"type": "websocket", "path": "/_nicegui_ws/", "query_string": b"", "headers": raw(headers)}
    return str(_sent(app, scope, lambda: {"type": "websocket.connect"})[0]["type"])


def _sent(app: Any, scope: dict[str, Any], asks: Callable[[], dict[str, Any]]) -> list[Any]:
    """Everything that an application sends as its answer."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return asks()

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent


def raw(headers: Mapping[str, str | None]) -> list[tuple[bytes, bytes]]:
    """Headers as they travel."""
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items() if value is not None]
