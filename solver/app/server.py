"""The server: pages, files and the queue behind the guard, on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import tempfile
import zipfile
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from linkrisk.errors import spelled_by
from linkrisk.solver.app.project import OWN, Project
from linkrisk.solver.app.runs import REPORT, Queue, Run, State, find_run
from linkrisk.solver.app.security import TOKEN, Guard, access_at
from linkrisk.solver.app.steps import label
from linkrisk.solver.options.data import AppCommand
from linkrisk.solver.run.errors import UsageError

PORT, COMMANDS = 8377, "commands.sh"
TICK = 0.2
"""Seconds between two looks at the queue."""

_REPORT_POLICY = "sandbox allow-scripts allow-downloads allow-modals"
"""A report runs its own scripts, and these reach nothing of this server."""

_KEPT_NOWHERE = {"cache-control": "no-store"}


def serve(asked: AppCommand) -> None:
    """Serve a project until Ctrl-C; its runs go on. UsageError if the folder or the port cannot be used."""
    host, number = asked.host, _port(asked.host, asked.port)
    os.umask(0o077)  # uploads, and all that is made of them
    project = Project.opened(asked.project)
    try:
        shown, access = access_at(host, number, asked.published_at, round(asked.max_upload * 1e6))
        queue = Queue(project, asked.runs or max(1, (os.cpu_count() or 1) // 2))
        state = State(project, queue, access)
        said = (
            f"project  {project.folder}\n"
            f"address  http://{shown}/?{TOKEN}={state.access.token}\n"
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
    """Register pages, files, queue and guard with NiceGUI, and the message at its start."""
    from nicegui import app, ui
    from nicegui.server import Server

    from linkrisk.solver.app.pages import data, masking, new_run, runs, tables

    app.add_middleware(Guard, access=state.access)
    ui.add_css((Path(__file__).parent / "style.css").read_text(encoding="utf-8"), shared=True)
    _serve_files(state)
    for module in (data, masking, new_run, runs, tables):
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


def _serve_files(state: State) -> None:
    """Register the addresses of files that leave: one by one, a run as a zip, its report to be looked at."""
    from nicegui import app

    from linkrisk.solver.app.pages.live import BUNDLE

    project = state.project
    app.get(BUNDLE)(_vega)

    @app.get("/download/{name:path}")
    def download(name: str) -> Response:
        try:
            path = project.inside(name)
        except UsageError:
            return _missing()
        return FileResponse(path, filename=path.name, headers=_KEPT_NOWHERE) if path.is_file() else _missing()

    @app.get("/report/{name}")
    def report(name: str) -> Response:
        run = find_run(project, name)
        if run is None or REPORT not in run.files():
            return _missing()
        headers = {**_KEPT_NOWHERE, "content-security-policy": _REPORT_POLICY}
        return FileResponse(run.folder / REPORT, media_type="text/html", headers=headers)

    @app.get("/zip/{name}")
    def zipped(name: str) -> Response:
        run = find_run(project, name)
        if run is None:
            return _missing()
        path = zip_of(project, run)
        task = BackgroundTask(path.unlink, missing_ok=True)
        return FileResponse(path, filename=f"{run.name}.zip", background=task, headers=_KEPT_NOWHERE)


async def _vega(request: Request) -> Response:
    """The drawing library, sent again only when it has changed."""
    from linkrisk.solver.app.pages.live import bundle, bundle_tag

    tag = f'"{await asyncio.to_thread(bundle_tag)}"'
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(bundle(), media_type="text/javascript", headers=headers)


def _missing() -> Response:
    return PlainTextResponse("linkrisk: there is no such file\n", 404)


def zip_of(project: Project, run: Run) -> Path:
    """A zip with the files of a run that may leave the house, schema and commands."""
    target = project.folder / OWN / "tmp" / f"{secrets.token_hex(8)}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name in run.leaving():
            file.write(run.folder / name, f"{run.name}/{name}")
        for what in ("masked", "schema"):
            named = run.command.get("inputs", {}).get(what)
            if named and (path := project.inside(named)).is_file():
                file.write(path, f"{run.name}/{Path(named).name}")
        file.writestr(f"{run.name}/{COMMANDS}", run.script)
    return target
