"""The server: pages, files and the queue behind the guard, on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import tempfile
from pathlib import Path

from linkrisk.errors import spelled_by
from linkrisk.solver.app.asking import label
from linkrisk.solver.app.project import OWN, Project
from linkrisk.solver.app.run_queue import Queue
from linkrisk.solver.app.security import TOKEN, Access, Guard
from linkrisk.solver.app.state import State
from linkrisk.solver.run.errors import UsageError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PORT = 8377
TICK = 0.2
"""Seconds between two looks at the queue."""


def serve(folder: str, *, host: str, port: int | None, at_once: int | None, most: int) -> None:
    """Serve a project until Ctrl-C; its runs go on.

    Parameters
    ----------
    folder : str
        Of the project.
    host : str
        Address to listen at.
    port : int, optional
        The usual one, or where that is taken any free one, when absent.
    at_once : int, optional
        Runs at a time; one for two processors when absent.
    most : int
        Bytes of the largest file that is taken.

    Raises
    ------
    UsageError
        If the folder or the port cannot be used.
    """
    number = _port(host, port)
    os.umask(0o077)  # uploads, and all that is made of them
    project = Project.opened(folder)
    try:
        names = {host, *(LOOPBACK if host in LOOPBACK else ())}
        hosts = frozenset(f"[{name}]:{number}" if ":" in name else f"{name}:{number}" for name in names)
        queue = Queue(project, at_once or max(1, (os.cpu_count() or 1) // 2))
        state = State(project, queue, Access(hosts, number, most))
        shown = f"[{host}]" if ":" in host else host
        said = (
            f"project  {project.folder}\n"
            f"address  http://{shown}:{number}/?{TOKEN}={state.access.token}\n"
            "Ctrl-C ends the server; runs go on, and are found again at the next start"
        )
        with spelled_by(label), contextlib.suppress(KeyboardInterrupt):  # the way to end it
            _run(state, host, number, said)
    finally:
        project.release()


def _run(state: State, host: str, port: int, said: str) -> None:
    # Before NiceGUI is imported: it keeps nothing for this application, and if, then inside of the project.
    own = state.project.folder / OWN
    os.environ["NICEGUI_STORAGE_PATH"] = str(own / "pages")
    tempfile.tempdir = str(own / "tmp")  # where uploads are until they are whole
    from nicegui import ui

    build(state, said)
    ui.run(
        host=host,
        port=port,
        title="linkrisk",
        favicon=FAVICON,
        dark=None,
        language="en-US",
        reload=False,
        show=False,
        tailwind=False,
        show_welcome_message=False,
        reconnect_timeout=10.0,
        server_header=False,
        proxy_headers=False,
        access_log=False,
    )


FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    '<rect width="32" height="32" rx="6" fill="#0060a0"/>'
    '<path d="M6 22h8v-5h6v-4h6" stroke="#fff" stroke-width="3" fill="none"/>'
    '<path d="M6 8h8v3h6v2h6" stroke="#ffb27d" stroke-width="3" fill="none"/></svg>'
)


def build(state: State, said: str) -> None:
    """Register pages, files, the queue and the guard with NiceGUI, and what is said once it listens."""
    from nicegui import app, ui
    from nicegui.server import Server

    from linkrisk.solver.app import downloads
    from linkrisk.solver.app.pages import (
        compare,
        data,
        file_view,
        masking,
        new_run,
        one_run,
        runs,
        suppressing,
        tables,
    )

    app.add_middleware(Guard, access=state.access)
    ui.add_css((Path(__file__).parent / "style.css").read_text(encoding="utf-8"), shared=True)
    downloads.register(state)
    for module in (compare, data, file_view, masking, new_run, one_run, runs, suppressing, tables):
        module.register(state)

    async def keep_queue() -> None:
        while True:
            with contextlib.suppress(OSError):  # such as a full disk: tried again
                await asyncio.to_thread(state.queue.tick)
            await asyncio.sleep(TICK)

    async def say() -> None:
        while not Server.instance.started:  # an address that is opened too early answers nothing
            await asyncio.sleep(0.01)
        print(said, flush=True)

    @app.on_startup
    async def start() -> None:
        tasks.extend(map(asyncio.create_task, (keep_queue(), say())))

    tasks: list[asyncio.Task[None]] = []


def _port(host: str, port: int | None) -> int:
    """The port, free a moment ago."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in (PORT, 0) if port is None else (port,):
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, candidate))
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                continue
            found: int = probe.getsockname()[1]
            return found
    raise UsageError(
        f"cannot listen at {host}, port {port or PORT}: {reason}; choose another one with --port"
    )
