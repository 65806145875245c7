"""Commands about public data, one file, this machine: `datasets`, `describe`, `compile` and `app`."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkrisk.errors import needs_extra
from linkrisk.solver.commands.progress import progress_line
from linkrisk.solver.commands.targets import hand_over
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.options.data import (
        AppCommand,
        DescribeCommand,
        FetchCommand,
        ListCommand,
        ShowCommand,
    )
    from linkrisk.solver.options.operations import Nothing


def list_datasets(asked: ListCommand) -> int:
    """Print the names of all data sets, with their sources."""
    from linkrisk.datasets.public.registry import describe, names

    return _print(asked, "datasets", {"datasets": [asdict(describe(name)) for name in names()]})


def show_dataset(asked: ShowCommand) -> int:
    """Print the description of a data set."""
    from linkrisk.datasets.public.registry import describe

    return _print(asked, "dataset", asdict(describe(asked.name)))


def _print(asked: ListCommand, kind: str, content: dict[str, Any]) -> int:
    """Print JSON where it is asked for, else the same for people."""
    from linkrisk.datasets.microdata.strict_json import headed
    from linkrisk.solver.documents.short import short_of
    from linkrisk.solver.documents.terminal import terminal

    answer = headed(kind, content)
    print(json.dumps(answer, indent=2) if asked.json else terminal(short_of(answer)).rstrip("\n"))
    return 0


def fetch_dataset(asked: FetchCommand) -> int:
    """Fetch a data set, and write it where a file is named."""
    from linkrisk.datasets.microdata.writing import write_table
    from linkrisk.datasets.public.registry import fetch, load

    if asked.output is None:
        print(fetch(asked.name))
        return 0
    frame = load(asked.name)
    write_table(frame, asked.output)
    print(f"{asked.output}: {len(frame)} records, {len(frame.columns)} columns")
    return 0


def describe(asked: DescribeCommand) -> int:
    """Describe a file, print, write the files that were asked for."""
    from linkrisk.datasets.microdata.schema_files import check_suffix
    from linkrisk.solver.inputs.describe import describe

    if asked.output is not None:
        check_suffix(Path(asked.output))
    result = describe(asked.data, schema=asked.schema)
    if asked.output is None:
        hand_over(asked, result, "keep this with --output SCHEMA.toml, correct it, and use it as --schema\n")
        return 0
    result.write(asked.output)
    hand_over(asked, result)
    for note in result.losses(asked.output):
        print(f"note: {note}")
    print(f"wrote {asked.output}: correct it, and use it as --schema of the other commands")
    return 0


def compile_ahead(_: Nothing) -> int:
    """Compile all kernels, and print how long it took."""
    from linkrisk.solver.compiling.ahead import compile_everything

    began = time.perf_counter()
    with progress_line("compiling") as line:
        compile_everything(lambda name: None if line is None else line.show(f"compiling: {name}"))
    print(f"compiled: {time.perf_counter() - began:.0f} s")
    return 0


def app(asked: AppCommand) -> int:
    """Serve the application until Ctrl-C."""
    if asked.port is not None and not 0 < asked.port < 65536:
        raise UsageError(f"--port {asked.port} is no port: give one from 1 to 65535")
    if asked.runs is not None and asked.runs < 1:
        raise UsageError(f"--runs {asked.runs} is not allowed: give at least 1")
    if not asked.max_upload > 0:
        raise UsageError(f"--max-upload {asked.max_upload:g} is not allowed: give a number above 0")
    needs_extra("the app", "nicegui")

    from linkrisk.solver.app.server import serve
    from linkrisk.solver.options.data import LOOPBACK

    if asked.host not in LOOPBACK:
        print(
            f"warning: --host {asked.host} lets others on the network reach this server; whoever reads "
            "the traffic has the token, and the data",
            file=sys.stderr,
        )
    sys.stdout.flush()
    serve(asked)
    return 0
