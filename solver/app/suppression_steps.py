"""What is clicked of unsafe combinations, as commands: they are counted, or values are suppressed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from linkrisk.datasets.microdata.names import shown_names, shown_pair
from linkrisk.solver.app.project import RUNS
from linkrisk.solver.app.run_folder import OUTSIDE, REPORT, RESULT, Run
from linkrisk.solver.app.run_queue import Queue
from linkrisk.solver.app.steps import masked_name
from linkrisk.solver.run.errors import UsageError

UNSAFE, SUPPRESS = "unsafe", "suppress"
"""Commands: combinations are counted, or values are taken out."""

COVER, RECOUNT, JOINT = "cover", "recount", "joint"
"""Problems of `suppress`."""

TOGETHER, SMALL_TABLES = "k", "dimension"
"""What is rare: a combination of all key variables, or one of any few of them."""


@dataclass(frozen=True)
class SuppressionQuestion:
    """What is asked of the key variables of a file.

    Attributes
    ----------
    file, schema : str
        Names of files of the project; the second is empty where there is none.
    task : str
        `UNSAFE` or `SUPPRESS`.
    keys : tuple of str
        Key variables; empty for those of the schema.
    rare : str
        `TOGETHER`: fewer than `k` records are alike in all keys. `SMALL_TABLES`: tables of up to `dimension`
        keys have a cell of at most `threshold` records.
    k, dimension, threshold : int
    problem : str
        `COVER`, `RECOUNT` or `JOINT`; a recount goes by `k`.
    hierarchies : tuple of (str, str)
        Key variables, each with the file of its hierarchy.
    weight, household : str
        Columns; empty where there is none.
    code : str
        What is written for a value that is taken out, and is missing to who counts; empty for a gap.
    untouched : tuple of str
        Key variables that keep all values.
    seconds : float
        Time limit of the search.
    """

    file: str = ""
    schema: str = ""
    task: str = UNSAFE
    keys: tuple[str, ...] = ()
    rare: str = TOGETHER
    k: int = 3
    dimension: int = 2
    threshold: int = 1
    problem: str = COVER
    hierarchies: tuple[tuple[str, str], ...] = ()
    weight: str = ""
    household: str = ""
    code: str = ""
    untouched: tuple[str, ...] = ()
    seconds: float = 60.0

    @property
    def grouped(self) -> tuple[tuple[str, str], ...]:
        """The hierarchies that are used: counted by level, or chosen from together with suppression."""
        used = self.task == UNSAFE or self.problem == JOINT
        return self.hierarchies if used else ()

    @property
    def by_k(self) -> bool:
        """Whether only `k` says what is rare."""
        return self.rare == TOGETHER or (self.task == SUPPRESS and self.problem != COVER)


def suppression_steps(question: SuppressionQuestion, folder: str) -> list[list[str]]:
    """`unsafe`, or `suppress` with the released file and both reports.

    Raises
    ------
    UsageError
        If no file is chosen, or levels of recoding are to be chosen and there is no hierarchy.
    """
    if not question.file:
        raise UsageError("choose a file")
    asked = [question.task, "--input", question.file, *_rare(question)]
    asked += [word for name, file in question.grouped for word in ("--hierarchy", shown_pair(name, file))]
    if question.task == UNSAFE:
        return [[*asked, "--json", f"{folder}/{RESULT}"]]
    if question.problem == JOINT and not (question.hierarchies or question.schema):
        raise UsageError("levels of recoding need a hierarchy of at least one key variable: choose its file")
    asked += ["--problem", question.problem]
    asked += ["--household", question.household] if question.household else []
    asked += ["--untouched", shown_names(question.untouched, ",")] if question.untouched else []
    asked += ["--time-limit", f"{question.seconds:g}" if question.seconds else "none"]
    asked += ["--output", f"{folder}/{masked_name(question.file)}", "--json", f"{folder}/{RESULT}"]
    return [[*asked, "--report", f"{folder}/{REPORT}", "--external-report", f"{folder}/{OUTSIDE}"]]


def _rare(question: SuppressionQuestion) -> list[str]:
    """The arguments that say what is unsafe."""
    asked = ["--keys", shown_names(question.keys, ",")] if question.keys else []
    if question.by_k:
        asked += ["--k", str(question.k)]
    else:
        asked += ["--dimension", str(question.dimension), "--threshold", str(question.threshold)]
    asked += ["--weight", question.weight] if question.weight else []
    asked += ["--missing", f"code={question.code}"] if question.code else []
    return [*asked, *(["--schema", question.schema] if question.schema else [])]


def add_suppression(queue: Queue, question: SuppressionQuestion) -> Run:
    """Ask for the count of unsafe combinations, or for a file without any (see `suppression_steps`)."""
    suppression_steps(question, RUNS)
    run = queue.folder(question.task)
    steps = suppression_steps(question, f"{RUNS}/{run.name}")
    name = Path(question.file).name
    titles = {UNSAFE: f"Unsafe combinations of {name}", SUPPRESS: f"Values of {name} suppressed"}
    inputs = {"original": question.file, **({"schema": question.schema} if question.schema else {})}
    return queue.add(question.task, titles[question.task], steps, run=run, inputs=inputs)
