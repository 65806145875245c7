"""What `mask` and `suppress` add to a protocol."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Mapping
from typing import Any


def check_protocol(arguments: argparse.Namespace) -> None:
    """Refuse a protocol that cannot be gone on with, before any work is done.

    Raises
    ------
    UsageError, DataError
        If the input is no file, nothing is written, or it does not follow on from the last step.
    """
    from linkrisk.solver.api.masking_source import is_file
    from linkrisk.solver.commands import targets
    from linkrisk.solver.protocol.keeping import check_goes_on
    from linkrisk.solver.run.errors import UsageError

    if arguments.protocol is None:
        return
    targets.check_targets(arguments, "protocol")
    if arguments.output is None:
        raise UsageError("--protocol is for --output: say what to write, or leave it out")
    if not is_file(arguments.input):
        raise UsageError(f"--protocol: {arguments.input} is a public data set; give a file as --input")
    if arguments.protocol in (arguments.input, arguments.output):
        raise UsageError(f"--protocol {arguments.protocol} would overwrite another file; give another name")
    check_goes_on(arguments.protocol, arguments.input)


def add_to_protocol(
    arguments: argparse.Namespace, given: Mapping[str, Any], answer: str | None = None
) -> None:
    """Add what was done."""
    from linkrisk.solver.protocol.keeping import add_step

    add_step(arguments.protocol, arguments.input, arguments.output, given, answer)


def suppress_step(arguments: argparse.Namespace, request: Mapping[str, Any]) -> dict[str, Any]:
    """A suppression as a protocol says it: what was asked for beyond the usual."""
    from linkrisk.solver.api.suppress import suppress

    usual = {name: known.default for name, known in inspect.signature(suppress).parameters.items()}
    empty: tuple[Any, ...] = (None, (), [], {})
    plain = {key: value for key, value in request.items() if value not in empty and value != usual[key]}
    if request["drop"] is not None:
        plain["drop"] = request["drop"]
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}
    for key in ("tables", "hierarchies", "answer", "backend", "seed", "time_limit"):  # the answer is kept
        plain.pop(key, None)
    if arguments.table:
        plain["tables"] = list(arguments.table)
    if arguments.hierarchy:
        plain["hierarchies"] = dict(one.split("=", 1) for one in arguments.hierarchy)
    if isinstance(plain.get("threshold"), dict):
        plain["threshold"] = {str(size): value for size, value in plain["threshold"].items()}
    if arguments.shuffle:
        plain["shuffle"] = True
    return {"command": "suppress", **plain}
