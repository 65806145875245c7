"""Carry out a step of a protocol, and add one to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import new_seed
from linkrisk.datasets.masking.release import check_new, sha256
from linkrisk.datasets.microdata.formats.number_text import number_signs
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.writing import SECRET, reason, together, write_all, write_whole
from linkrisk.solver.masking.mask import mask
from linkrisk.solver.protocol.document import Protocol, ProtocolStep, renamed, seen_from
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.suppression.operations.suppress import suppress

_OF_WRITING = {"shuffle": "shuffle", "renumber": "renumber", "order_seed": "seed"}


@dataclass(frozen=True, eq=False)
class StepDone:
    """What a step did."""

    command: str
    lines: tuple[str, ...]  # in words
    files: tuple[Path, ...]  # the output, and files beside it
    sha256: str  # of the output
    drawn: Mapping[str, str] = field(repr=False)  # seeds that it drew itself
    answer: str | None = field(repr=False)  # pattern of `suppress`, as JSON

    @property
    def output(self) -> str:
        """The file."""
        return str(self.files[0])


@dataclass(frozen=True)
class Described:
    """The codebook of the last step."""

    codebook: Path
    said: bool  # whether it says what was done
    before: tuple[str, ...]  # what earlier steps did

    def of(self, lines: Sequence[str]) -> dict[str, Any]:
        """How a step that did this writes it."""
        return {"codebook": self.codebook, "methods": [*self.before, *lines] if self.said else ()}


def done(
    step: ProtocolStep, source: str, output: str, report: Reporter | None, described: Described | None
) -> StepDone:
    """Carry out a step from a file to another in a folder of its own; errors are the command's."""
    make = _masked if step.command == "mask" else _suppressed
    lines, drawn, answer = make(dict(step.keywords), source, output, report, described)
    beside = sorted(part for part in Path(output).parent.iterdir() if part != Path(output))
    return StepDone(
        step.command,
        tuple(lines),
        (Path(output), *beside),
        sha256(Path(output).read_bytes()),
        drawn,
        answer,
    )


def _masked(
    keywords: dict[str, Any],
    source: str,
    output: str,
    report: Reporter | None,
    described: Described | None,
) -> tuple[list[str], dict[str, str], None]:
    given = "seed" in keywords
    result = mask(source, keywords.pop("method"), on_progress=report, **keywords)
    result.write(output, **({} if described is None else described.of(result.in_words)))
    drawn = {} if given or result.seed is None else {"seed": str(result.seed)}
    return result.in_words, drawn, None


def _suppressed(
    keywords: dict[str, Any],
    source: str,
    output: str,
    report: Reporter | None,
    described: Described | None,
) -> tuple[list[str], dict[str, str], str]:
    writing = {name: keywords.pop(key) for key, name in _OF_WRITING.items() if key in keywords}
    named = keywords.pop("hierarchies", {})
    hierarchies = [Hierarchy.read(name, path) for name, path in named.items()]
    drawn = {}
    if writing.get("shuffle") and "seed" not in writing:
        writing["seed"] = new_seed()
        drawn["order_seed"] = str(writing["seed"])
    result = suppress(source, hierarchies=hierarchies, on_progress=report, **keywords)
    if described is not None:
        writing |= described.of(result.in_words)
    result.write(output, **writing)
    return result.in_words, drawn, result.answer.to_json()


def kept_first(kept: Mapping[Path, str], files: Mapping[Path, bytes]) -> None:
    """Write what is to be kept, then the safe file: one whose seed is lost could not be made again.

    DataError, with nothing written, if one cannot be written or what is kept exists already.
    """
    for path in kept:
        check_new(path)
    with together():
        for path, content in kept.items():
            write_whole(path, content, mode=SECRET)
        write_all(files)


def check_goes_on(path: str | Path, source: str) -> None:
    """Check that an existing protocol ends with the input of a new step, whose answer is new."""
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
    """Add a step to a protocol, or begin one; paths in `given` are relative to the current folder.

    `answer` of `suppress` is kept in a file beside the protocol.
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
