"""`python -m solver app`: the local web application."""

from __future__ import annotations

import argparse
import importlib.util

from linkrisk.solver.commands.arguments import number, whole_number
from linkrisk.solver.run.errors import UsageError

_HERE = "127.0.0.1"
_LOOPBACK = (_HERE, "localhost", "::1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Serve the application for this machine: data, masking, runs whose bounds close before your eyes, "
        "reports. Open the address that is printed; it holds a token that nobody else has."
    )
    parser.epilog = "example: app survey-2026"
    parser.add_argument(
        "project",
        nargs="?",
        default="linkrisk-project",
        metavar="FOLDER",
        help="project folder, made where it is missing; default: linkrisk-project",
    )
    parser.add_argument("--port", metavar="N", help="port; default: 8377, or a free one where that is taken")
    parser.add_argument(
        "--runs", metavar="N", help="runs at a time, others wait; default: one for two processors"
    )
    parser.add_argument(
        "--max-upload", metavar="MB", default="500", help="megabytes of the largest file taken; default: 500"
    )
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        default=_HERE,
        help="listen at another address than the loopback one: others on the network can then reach it, and "
        "nothing is encrypted",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    port = whole_number(arguments.port, "--port")
    if port is not None and not 0 < port < 65536:
        raise UsageError(f"--port {port} is no port: give one from 1 to 65535")
    at_once = whole_number(arguments.runs, "--runs")
    if at_once is not None and at_once < 1:
        raise UsageError(f"--runs {at_once} is not allowed: give at least 1")
    most = number(arguments.max_upload, "--max-upload")
    if not most > 0:
        raise UsageError(f"--max-upload {most:g} is not allowed: give a number above 0")
    if importlib.util.find_spec("nicegui") is None:
        raise UsageError("the app needs NiceGUI: pip install 'linkrisk[app]'")

    import sys

    from linkrisk.solver.app.server import serve

    if arguments.host not in _LOOPBACK:
        print(
            f"warning: --host {arguments.host} lets others on the network reach this server; whoever reads "
            "the traffic has the token, and the data",
            file=sys.stderr,
        )
    sys.stdout.flush()
    serve(arguments.project, host=arguments.host, port=port, at_once=at_once, most=round(most * 1e6))
    return 0
