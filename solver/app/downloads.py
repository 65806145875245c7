"""Files that leave: one by one, a run as a zip, and its report to be looked at."""

from __future__ import annotations

import asyncio
import secrets
import zipfile
from pathlib import Path

from nicegui import app
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from linkrisk.solver.app.project import OWN, Project
from linkrisk.solver.app.run_folder import REPORT, Run, find_run
from linkrisk.solver.app.state import State
from linkrisk.solver.app.vega import BUNDLE, bundle, bundle_tag
from linkrisk.solver.run.errors import UsageError

COMMANDS = "commands.sh"

_REPORT_POLICY = "sandbox allow-scripts allow-downloads allow-modals"
"""A report runs its own scripts, and these reach nothing of this server."""


_KEPT_NOWHERE = {"cache-control": "no-store"}


def register(state: State) -> None:
    """Register the addresses of files."""
    project = state.project
    app.get(BUNDLE)(_vega)

    @app.get("/download/{name:path}")
    def download(name: str) -> Response:
        try:
            return _file(project.inside(name), attached=True)
        except UsageError:
            return _missing()

    @app.get("/report/{name}")
    def report(name: str) -> Response:
        run = find_run(project, name)
        if run is None or REPORT not in run.files():
            return _missing()
        return _file(run.folder / REPORT, attached=False)

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
    tag = f'"{await asyncio.to_thread(bundle_tag)}"'
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(bundle(), media_type="text/javascript", headers=headers)


def _missing() -> Response:
    return PlainTextResponse("linkrisk: there is no such file\n", 404)


def _file(path: Path, *, attached: bool) -> Response:
    """A file to be kept, or a report to be looked at."""
    if not path.is_file():
        return _missing()
    if attached:
        return FileResponse(path, filename=path.name, headers=_KEPT_NOWHERE)
    headers = {**_KEPT_NOWHERE, "content-security-policy": _REPORT_POLICY}
    return FileResponse(path, media_type="text/html", headers=headers)


def zip_of(project: Project, run: Run) -> Path:
    """A zip with the files of a run that may leave the house, schema and commands."""
    target = project.folder / OWN / "tmp" / f"{secrets.token_hex(8)}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name in run.leaving():
            file.write(run.folder / name, f"{run.name}/{name}")
        for what in ("masked", "schema"):
            named = run.command.get("inputs", {}).get(what)
            if named:
                path = project.inside(named)
                if path.is_file():
                    file.write(path, f"{run.name}/{Path(named).name}")
        file.writestr(f"{run.name}/{COMMANDS}", commands_text(run))
    return target


def commands_text(run: Run) -> str:
    """The commands of a run as a script, to be run in the project folder."""
    return (
        "\n".join(["#!/bin/sh", f"# {run.name}: run this in the project folder", "set -e", *run.lines]) + "\n"
    )
