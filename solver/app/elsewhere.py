"""Processes of this application: commands, and those that read data for it; the server itself reads none."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import linkrisk
from linkrisk.solver.app.project import Project, read_json


def environment() -> dict[str, str]:
    """The environment of this process, in which the same linkrisk is found from whatever folder."""
    home = str(Path(linkrisk.__file__).resolve().parent.parent)
    before = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([home, *([before] if before else [])])}


async def found_by(module: str, project: Project, file: str, target: Path, *words: str) -> Any:
    """What a module of this application finds in a file of the project, and tells in the file `target`."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", module, file, str(target), json.dumps(project.signs), *words),
        cwd=project.folder,
        env=environment(),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await process.wait()
        return read_json(target)
    finally:
        if process.returncode is None:  # the tab was closed
            process.kill()


def tell(file: str, target: str, signs: str, find: Callable[[], dict[str, Any]]) -> int:
    """Write what is found with these signs in numbers, or ``error``: a line that says what is wrong."""
    from linkrisk.datasets.microdata.formats.reading import reading
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.errors import LinkriskError, spelled_by
    from linkrisk.solver.app.asking import label

    try:
        with spelled_by(label), reading(**json.loads(signs)):
            found = find()
    except LinkriskError as error:
        found = {"error": str(error)}
    except MemoryError:
        found = {"error": f"{file} is too large for the memory of this machine"}
    write_whole(target, json.dumps(found, ensure_ascii=False) + "\n")
    return 0
