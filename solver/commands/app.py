"""`python -m solver app`: the local web application."""

from __future__ import annotations

import importlib.util
import sys

from linkrisk.solver.options.data import LOOPBACK, AppCommand
from linkrisk.solver.run.errors import UsageError

ASKED = AppCommand
DESCRIPTION = (
    "Serve the application for this machine: data, masking, runs whose bounds close before your eyes, "
    "reports. Open the address that is printed; it holds a token that nobody else has."
)
EXAMPLE = "example: app survey-2026"


def run(asked: AppCommand) -> int:
    """Serve until Ctrl-C."""
    if asked.port is not None and not 0 < asked.port < 65536:
        raise UsageError(f"--port {asked.port} is no port: give one from 1 to 65535")
    if asked.runs is not None and asked.runs < 1:
        raise UsageError(f"--runs {asked.runs} is not allowed: give at least 1")
    if not asked.max_upload > 0:
        raise UsageError(f"--max-upload {asked.max_upload:g} is not allowed: give a number above 0")
    if importlib.util.find_spec("nicegui") is None:
        raise UsageError("the app needs NiceGUI: pip install 'linkrisk[app]'")

    from linkrisk.solver.app.server import serve

    if asked.host not in LOOPBACK:
        print(
            f"warning: --host {asked.host} lets others on the network reach this server; whoever reads "
            "the traffic has the token, and the data",
            file=sys.stderr,
        )
    sys.stdout.flush()
    serve(asked)
    return 0
