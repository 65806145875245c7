"""Description and first rows of a file, read by a child process: the server itself reads no data."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from linkrisk.solver.app.project import OWN, Project, environment, read_json


async def found_by(module: str, project: Project, file: str, target: Path, *words: str) -> Any:
    """Run a module of this application on a file of the project, and read its answer from `target`."""
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
    """Write the answer, read with these signs in numbers, or ``error`` with a message."""
    from linkrisk.datasets.microdata.formats.number_text import reading
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.errors import LinkriskError, spelled_by
    from linkrisk.solver.app.steps import label

    try:
        with spelled_by(label), reading(**json.loads(signs)):
            found = find()
    except LinkriskError as error:
        found = {"error": str(error)}
    except MemoryError:
        found = {"error": f"{file} is too large for the memory of this machine"}
    write_whole(target, json.dumps(found, ensure_ascii=False) + "\n")
    return 0


ROWS = 1000
"""So many rows are kept to be looked at."""

HIDDEN = "•"
VERSION = 2


async def look(project: Project, file: str) -> dict[str, Any]:
    """What is in a file of the project: its description, and its first rows.

    Returns: of `describe --json`, with ``rows``; or only ``error``, a line that says what is wrong with the
    file.
    """
    path = project.inside(file)
    stat = path.stat()
    what = f"{VERSION} {file} {project.signs} {stat.st_size} {stat.st_mtime_ns}"
    key = hashlib.sha256(what.encode()).hexdigest()[:24]
    kept = project.folder / OWN / "looks" / f"{key}.json"
    found = read_json(kept)
    if found is None:
        found = await found_by(__name__, project, file, kept)
    return dict(found or {"error": f"{file} cannot be read"})


def main(file: str, target: str, signs: str = "{}") -> int:
    """Read a file, with these signs in numbers, and write what is in it."""
    return tell(file, target, signs, lambda: _described(file))


def _described(file: str) -> dict[str, Any]:
    from linkrisk.datasets.microdata.roles import NAMES_RECORDS
    from linkrisk.datasets.microdata.tables import load_table
    from linkrisk.solver.inputs.describe import description_of

    table = load_table(file, file)
    described = description_of(table)
    hidden = {one.attribute.name for one in described.columns if one.attribute.role in NAMES_RECORDS}
    head = table.frame.head(ROWS)
    columns = [
        [HIDDEN] * len(head) if name in hidden else [shown_value(value) for value in head[name]]
        for name in head.columns
    ]
    return {**described.to_dict(), "rows": list(zip(*columns, strict=True))}


def shown_value(value: Any) -> str:
    """A value as people write it; nothing where there is none."""
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    return str(value).removesuffix(" 00:00:00")[:200]  # how pandas writes a date


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
