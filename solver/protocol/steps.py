"""One step of a protocol: the command of its name, from one file to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linkrisk.datasets.masking.base import new_seed
from linkrisk.datasets.masking.release import sha256
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.names import level_in_words, shown_names
from linkrisk.solver.masking.mask import mask
from linkrisk.solver.protocol.document import ProtocolStep
from linkrisk.solver.run.counts import count
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.suppression.operations.suppress import suppress

_OF_WRITING = {"shuffle": "shuffle", "renumber": "renumber", "order_seed": "seed"}


@dataclass(frozen=True, eq=False)
class StepDone:
    """What a step did.

    Attributes
    ----------
    command : str
    lines : tuple of str
        In words.
    files : tuple of Path
        What it wrote: the file itself, and what belongs beside it.
    sha256 : str
        Digest of the file.
    drawn : mapping of str to str
        Seeds that it drew, as it was given none.
    answer : str or None
        What `suppress` took, as JSON.
    """

    command: str
    lines: tuple[str, ...]
    files: tuple[Path, ...]
    sha256: str
    drawn: Mapping[str, str] = field(repr=False)
    answer: str | None = field(repr=False)

    @property
    def output(self) -> str:
        """The file."""
        return str(self.files[0])


def done(step: ProtocolStep, source: str, output: str, report: Reporter | None) -> StepDone:
    """Do a step.

    Parameters
    ----------
    step : ProtocolStep
        Its files are seen from the current folder.
    source, output : str
        Files from which and to which, this one in a folder of its own.
    report : callable or None

    Raises
    ------
    UsageError, DataError, FormulationError
        As the command does.
    """
    make = _masked if step.command == "mask" else _suppressed
    lines, drawn, answer = make(dict(step.keywords), source, output, report)
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
    keywords: dict[str, Any], source: str, output: str, report: Reporter | None
) -> tuple[list[str], dict[str, str], None]:
    given = "seed" in keywords
    result = mask(source, keywords.pop("method"), on_progress=report, **keywords)
    result.write(output)
    drawn = {} if given or result.seed is None else {"seed": str(result.seed)}
    return [step.method.describe(result.original) for step in result.steps], drawn, None


def _suppressed(
    keywords: dict[str, Any], source: str, output: str, report: Reporter | None
) -> tuple[list[str], dict[str, str], str]:
    writing = {name: keywords.pop(key) for key, name in _OF_WRITING.items() if key in keywords}
    named = keywords.pop("hierarchies", {})
    hierarchies = [Hierarchy.read(name, path) for name, path in named.items()]
    drawn = {}
    if writing.get("shuffle") and "seed" not in writing:
        writing["seed"] = new_seed()
        drawn["order_seed"] = str(writing["seed"])
    result = suppress(source, hierarchies=hierarchies, on_progress=report, **keywords)
    result.write(output, **writing)
    words = "proven" if result.proven else "as given" if result.answer_given else f"at least {result.bound:g}"
    keys = shown_names(result.details["keys"])
    said = f"suppression ({result.details['problem']}) of {keys}: {count(result.cells)} values, {words}"
    named = result.details.get("level_names", {})
    levels = [
        f"{name} at {level_in_words(level, named.get(name, ()))}"
        for name, level in result.levels.items()
        if level
    ]
    return [said, *levels], drawn, result.answer.to_json()
