"""`run_protocol`: make the safe file that a protocol describes, or the file that it was some steps before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.release import sha256, version
from linkrisk.datasets.microdata.codebooks import check_codebook
from linkrisk.datasets.microdata.formats.argus_metadata import code_lists
from linkrisk.datasets.microdata.formats.number_text import number_signs, reading
from linkrisk.datasets.microdata.formats.registry import format_of, with_suffix_of
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.errors import LinkriskError, called
from linkrisk.solver.documents.document import Document
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.inputs.source import check_targets, is_file, is_input
from linkrisk.solver.options.masking import RunProtocolOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.protocol.document import Protocol, ProtocolStep, renamed, seen_from, seen_from_here
from linkrisk.solver.protocol.steps import Described, StepDone, done, kept_first
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.number_format import several
from linkrisk.solver.run.result import Result
from linkrisk.solver.schemas.keys import Json


@dataclass(frozen=True, eq=False)
class ProtocolResult(Result):
    r"""What running a protocol did.

    Attributes
    ----------
    protocol : Protocol
        With all seeds, and the digest of every file: it gives the same file again.
    steps : tuple of StepDone
        Those that were done.
    undone : int
        How many of the last ones were not.
    output : str
    name : str
        Of the file of the protocol.

    Examples
    --------
    >>> import hashlib
    >>> import pandas as pd
    >>> import linkrisk
    >>> from pathlib import Path
    >>> pd.DataFrame({"age": [31, 47, 52]}).to_csv("people.csv", index=False)
    >>> digest = hashlib.sha256(Path("people.csv").read_bytes()).hexdigest()
    >>> step = '[[step]]\ncommand = "mask"\nmethod = ["rounding base=10"]\n'
    >>> text = f'[input]\nfile = "people.csv"\nsha256 = "{digest}"\n\n{step}'
    >>> written = Path("steps.toml").write_text(text)
    >>> done = linkrisk.run_protocol("steps.toml", "safe.csv")
    >>> len(done.steps), done.undone
    (1, 0)
    """

    kind: ClassVar[str] = "protocol"

    protocol: Protocol
    steps: tuple[StepDone, ...]
    undone: int
    output: str
    name: str

    @property
    def repeatable(self) -> bool:
        """Whether the protocol as it was given makes the same file again."""
        return not any(step.drawn for step in self.steps)

    def content(self) -> dict[str, Any]:
        """The JSON of `run-protocol --json`, without seeds."""
        return {
            "linkrisk": version(),
            "protocol": self.name,
            "input": {"file": self.protocol.file, "sha256": self.protocol.sha256},
            "steps": [
                {"command": step.command, "done": list(step.lines), "sha256": step.sha256}
                for step in self.steps
            ],
            "undone": self.undone,
            "output": self.output,
            "repeatable": self.repeatable,
        }

    def __repr__(self) -> str:
        return f"ProtocolResult({self.protocol.file}: {len(self.steps)} steps, to {self.output})"


def said(result: Json) -> Document:
    """Of the JSON of `run_protocol`, in short: what each step did, and how many were undone."""
    steps, undone = result["steps"], result["undone"]
    rows = [
        ("" if before else f"step {at}", line)
        for at, step in enumerate(steps, start=1)
        for before, line in enumerate(step["done"])
    ]
    if undone:
        last = "the last step" if undone == 1 else f"the last {undone} steps"
        back = f"the file after step {len(steps)}" if steps else "the input, byte for byte"
        rows.append(("undone", f"{last}: this is {back}"))
    drawn = f"seeds were drawn: nothing makes this file again but these, which {called('record')} keeps"
    return short(
        [pairs(*rows)],
        said=f"{len(steps)} of {several(len(steps) + undone, 'step')} done.",
        asked=[f"{result['protocol']}: {result['input']['file']} to {result['output']}"],
        notes=[] if result["repeatable"] else [drawn],
    )


@taking(RunProtocolOptions)
def run_protocol(asked: RunProtocolOptions) -> ProtocolResult:
    r"""Make a file by the steps of a protocol, and write it whole or not at all.

    Every step is the command of its name, from file to file. Files that the protocol names are seen from its
    folder.

    Parameters
    ----------
    {options}

    Returns
    -------
    ProtocolResult

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the protocol or a file cannot be used, or a file is not what the protocol says.

    Examples
    --------
    >>> import hashlib
    >>> import pandas as pd
    >>> import linkrisk
    >>> from pathlib import Path
    >>> pd.DataFrame({"age": [31, 47, 52]}).to_csv("people.csv", index=False)
    >>> digest = hashlib.sha256(Path("people.csv").read_bytes()).hexdigest()
    >>> step = '[[step]]\ncommand = "mask"\nmethod = ["rounding base=10"]\n'
    >>> text = f'[input]\nfile = "people.csv"\nsha256 = "{digest}"\n\n{step}'
    >>> written = Path("steps.toml").write_text(text)
    >>> done = linkrisk.run_protocol("steps.toml", "safe.csv")
    >>> pd.read_csv("safe.csv")["age"].tolist()
    [30.0, 50.0, 50.0]
    """
    plan = Protocol.read(asked.protocol)
    plan = replace(plan, signs={**plan.signs, **number_signs().said})
    with reading(**plan.signs):
        return _made(plan, asked)


def _made(plan: Protocol, asked: RunProtocolOptions) -> ProtocolResult:
    """Make the safe file of a protocol that has been read; see `run_protocol`."""
    protocol, undo, record = asked.protocol, asked.undo, asked.record
    many = len(plan.steps)
    if not 0 <= undo <= many:
        raise UsageError(f"undo = {undo}: the protocol has {many} steps; give 0 to {many}")
    source = plan.file
    source = seen_from_here(plan.folder)(source) if is_file(source) else source
    output = with_suffix_of(str(asked.output), source)
    check_targets(source, output, record)
    if any(is_input(name, output) for name in plan.files):
        raise UsageError(f"the output {output} is a file that the protocol names; give it another name")
    _check_digest(plan.sha256, source, f"{protocol}: the input {plan.file}")
    if asked.codebook is not None:
        check_codebook(asked.codebook)
        if undo == many:
            raise UsageError(
                f"{called('codebook', asked.codebook)} is of a file that is released; with all steps undone "
                "there is none",
                option="codebook",
            )
    if undo == many:
        _copy(source, Path(output))
        return ProtocolResult(plan, (), many, output, str(protocol))
    with TemporaryDirectory(prefix="linkrisk-") as folder:
        steps = _run(plan, source, Path(folder), output, asked)
        files = {Path(output): steps[-1].files[0]} | _beside(steps[-1], Path(output))
        if asked.codebook is not None:
            files[Path(asked.codebook)] = Path(folder) / _CODEBOOK
        made = _completed(plan, source, steps)
        content = {path: part.read_bytes() for path, part in files.items()}
        if record is not None:
            made, kept = _recorded(made, steps, Path(record))
            kept_first(kept, content)
        else:
            write_all(content)
    return ProtocolResult(made, tuple(steps), undo, output, str(protocol))


_CODEBOOK = "codebook.xml"


def _run(plan: Protocol, source: str, folder: Path, output: str, asked: RunProtocolOptions) -> list[StepDone]:
    """Do the first steps, from file to file in a folder of their own."""
    steps: list[StepDone] = []
    many = len(plan.steps) - asked.undo
    here, shown = seen_from_here(plan.folder), {source: plan.file}
    for at, step in enumerate(plan.steps[:many], start=1):
        name = str(folder / str(at) / Path(output).name)  # what belongs beside it is named after it
        Path(name).parent.mkdir()
        ready = ProtocolStep.read({"command": step.command, **renamed(step.given, here)})
        with _about(f"step {at}", shown):
            described = None
            if at == many and asked.codebook is not None:
                before = tuple(line for each in steps for line in each.lines)
                described = Described(folder / _CODEBOOK, asked.say_methods, before)
            steps.append(done(ready, source, name, asked.on_progress, described))
            if step.sha256 is not None and _same_format(plan, output):
                _check_digest(step.sha256, name, f"the file after step {at}")
        shown = {name: f"the file after step {at}"}
        source = name
    return steps


def _same_format(plan: Protocol, output: str) -> bool:
    """Digests are those of files of the format of the input."""
    return Path(plan.file).suffix.lower() == Path(output).suffix.lower()


def _completed(plan: Protocol, source: str, steps: Sequence[StepDone]) -> Protocol:
    """The protocol with seeds and digests; of steps that were undone it stays as it was."""
    alike, done_steps = _same_format(plan, steps[-1].output), []
    for step, made in zip(plan.steps, steps, strict=False):
        seeds = step.with_given(**made.drawn) if made.drawn else step
        done_steps.append(replace(seeds, sha256=made.sha256) if alike else seeds)
    digest = sha256(Path(source).read_bytes()) if is_file(source) else None
    return replace(plan, steps=tuple(done_steps), sha256=digest)


def _recorded(made: Protocol, steps: Sequence[StepDone], record: Path) -> tuple[Protocol, dict[Path, str]]:
    """The protocol as seen from the folder of the record, and all that is to be kept of it."""
    there, here = seen_from(record.parent), seen_from_here(made.folder)
    told, kept = [], {}
    for at, (step, one) in enumerate(zip(made.steps, steps, strict=True), start=1):
        given = renamed(renamed(step.given, here), there)
        if one.answer is not None:
            given["answer"] = f"{record.stem}.answer{at}.json"
            kept[record.parent / given["answer"]] = one.answer
        told.append(replace(step, given=given))
    file = there(here(made.file)) if is_file(made.file) else made.file
    found = replace(made, file=file, steps=tuple(told), folder=record.parent)
    return found, {**kept, record: found.to_toml()}


def _beside(step: StepDone, output: Path) -> dict[Path, Path]:
    """The files that belong beside an output, such as metadata."""
    return {output.with_name(part.name): part for part in step.files[1:]}


def _copy(source: str, output: Path) -> None:
    """The input, byte for byte."""
    if not is_file(source):
        raise UsageError(f"with all steps undone there is only {source}, a public data set: undo fewer")
    if Path(source).suffix.lower() != output.suffix.lower():
        raise UsageError(
            f"with all steps undone the output is the input itself: end its name in {Path(source).suffix}"
        )
    files = {
        output.with_suffix(part.suffix): part.read_bytes()
        for part in format_of(source).files(Path(source))
        if part.exists()
    }
    for part in code_lists(Path(source)):  # the metadata calls them by these names
        if not output.with_name(part.name).exists():
            files[output.with_name(part.name)] = part.read_bytes()
    write_all(files)


def _check_digest(expected: str | None, path: str, what: str) -> None:
    if expected is None:
        return
    try:
        found = sha256(Path(path).read_bytes())
    except OSError as error:
        raise DataError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from error
    if found != expected:
        raise DataError(
            f"{what} is not the file that the protocol was made with (SHA-256 {found[:12]}..., not "
            f"{expected[:12]}...)"
        )


@contextmanager
def _about(step: str, shown: dict[str, str]) -> Iterator[None]:
    """Say which step a message is about, and call files in between by what they are."""
    try:
        yield
    except LinkriskError as error:
        message = str(error)
        for path, name in shown.items():
            message = message.replace(path, name)
        raise DataError(f"{step}: {message}") from None
