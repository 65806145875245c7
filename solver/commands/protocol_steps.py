"""What `mask` and `suppress` add to a protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkrisk.datasets.options.option import PROTOCOL, options_of


def check_protocol(protocol: str | None, source: str, output: str | None) -> None:
    """Refuse a protocol that cannot be gone on with, before any work is done.

    Raises UsageError, DataError if the input is no file, nothing is written, or it does not follow on from
    the last step.
    """
    from linkrisk.solver.inputs.source import is_file
    from linkrisk.solver.protocol.steps import check_goes_on
    from linkrisk.solver.run.errors import UsageError

    if protocol is None:
        return
    if output is None:
        raise UsageError("--protocol is for --output: say what to write, or leave it out")
    if not is_file(source):
        raise UsageError(f"--protocol: {source} is a public data set; give a file as --input")
    if protocol in (source, output):
        raise UsageError(f"--protocol {protocol} would overwrite another file; give another name")
    check_goes_on(protocol, source)


def step_of(command: str, asked: Any, leave_out: Sequence[str] = ()) -> dict[str, Any]:
    """A step as a protocol says it: what was asked for beyond the usual."""
    said: dict[str, Any] = {"command": command}
    for name, one in options_of(type(asked), PROTOCOL).items():
        value = getattr(asked, name)
        if name not in leave_out and value != one.default:
            said[name] = one.kind.untyped(value)
    return said
