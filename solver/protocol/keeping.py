"""What is kept of a step: written before the safe file, and added to a protocol that is there already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.release import check_new, sha256
from linkrisk.datasets.microdata.formats.reading import number_signs
from linkrisk.datasets.microdata.writing import SECRET, reason, together, write_all, write_whole
from linkrisk.solver.protocol.document import Protocol, ProtocolStep
from linkrisk.solver.protocol.named_files import renamed, seen_from


def kept_first(kept: Mapping[Path, str], files: Mapping[Path, bytes]) -> None:
    """Write what is to be kept, then the safe file: one whose seed is lost could not be made again.

    Raises
    ------
    DataError
        If one cannot be written, or what is kept is there already; then nothing is written.
    """
    for path in kept:
        check_new(path)
    with together():
        for path, content in kept.items():
            write_whole(path, content, mode=SECRET)
        write_all(files)


def check_goes_on(path: str | Path, source: str) -> None:
    """See that a protocol, where there is one, ends with the file that a step is to begin with.

    Raises
    ------
    DataError
        If it does not, or cannot be read; or if there is an answer already of a step that is not.
    """
    path = Path(path)
    steps = Protocol.read(path).steps if path.exists() else ()
    check_new(_answer_of(path, len(steps) + 1))
    if not steps:
        return
    try:
        content = Path(source).read_bytes()
    except OSError as error:
        raise DataError(f"{source} cannot be read: {reason(error)}") from error
    if steps[-1].sha256 != sha256(content):
        raise DataError(f"{source} is not the file that the last step of {path} wrote; go on with that one")


def add_step(
    path: str | Path, source: str, output: str, given: Mapping[str, Any], answer: str | None = None
) -> None:
    """Add a step that was done to a protocol, or begin one.

    Parameters
    ----------
    path : path
        Of the protocol.
    source, output : str
        Files from which and to which.
    given : mapping
        The command and its keywords, files as seen from the current folder.
    answer : str, optional
        What `suppress` took, to be kept in a file beside the protocol.

    Raises
    ------
    DataError
        If it cannot be written.
    """
    path = Path(path)
    there = seen_from(path.parent)
    if path.exists():
        plan = Protocol.read(path)
    else:
        digest = sha256(Path(source).read_bytes())
        plan = Protocol(there(source), (), digest, signs=number_signs().said)
    said = renamed(given, there)
    if answer is not None:
        kept = _answer_of(path, len(plan.steps) + 1)
        said["answer"] = kept.name
        write_whole(kept, answer, mode=SECRET)
    step = ProtocolStep.read({**said, "sha256": sha256(Path(output).read_bytes())})
    write_whole(path, replace(plan, steps=(*plan.steps, step)).to_toml(), mode=SECRET)


def _answer_of(path: Path, step: int) -> Path:
    """Where what `suppress` took in a step is kept."""
    return path.parent / f"{path.stem}.answer{step}.json"
