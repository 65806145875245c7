"""What is clicked of tables, as commands: a table that is there or one of microdata, and its suppression."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from linkrisk.solver.app.project import RUNS
from linkrisk.solver.app.run_folder import INTERNAL, OUTSIDE, PUBLISHED, REPORT, RESULT, Run
from linkrisk.solver.app.run_queue import Queue
from linkrisk.solver.run.errors import UsageError

CELLS, RELATIONS = "table-cells.csv", "table-relations.csv"
"""The files of a table that a run has made of microdata."""


@dataclass(frozen=True)
class TableQuestion:
    """A table, and how it is to be protected.

    Attributes
    ----------
    cells, relations : str
        Names of files of the project; without relations they follow from the codes of the cells.
    microdata : str
        Instead of them, a file with a record for each respondent.
    by : tuple of str
        Its explanatory variables.
    response : str
        What is summed; empty where records are counted.
    rules : tuple of str
        What is sensitive, as `tables make --rule` reads it.
    cost : str
        Of a cell that is suppressed.
    seconds : float
        Time limit.
    seed : int
    """

    cells: str = ""
    relations: str = ""
    microdata: str = ""
    by: tuple[str, ...] = ()
    response: str = ""
    rules: tuple[str, ...] = ("p=10",)
    cost: str = "value"
    seconds: float = 60.0
    seed: int = 0

    @property
    def inputs(self) -> dict[str, str]:
        """Its files, by what they are."""
        named = {"cells": self.cells, "relations": self.relations, "microdata": self.microdata}
        return {what: name for what, name in named.items() if name}

    def check(self) -> None:
        """UsageError where something is missing."""
        if not (self.cells or self.microdata):
            raise UsageError("choose a file of cells, or one of microdata")
        if self.microdata and not self.by:
            raise UsageError("a table of microdata needs explanatory variables: choose one or more")
        if self.microdata and not self.rules:
            raise UsageError("a table of microdata needs a rule, such as p=10: write at least one")


def table_steps(question: TableQuestion, folder: str) -> list[list[str]]:
    """`tables make` where it is of microdata, and `tables suppress`."""
    steps, cells, relations = [], question.cells, question.relations
    if question.microdata:
        cells, relations = f"{folder}/{CELLS}", f"{folder}/{RELATIONS}"
        asked = ["--input", question.microdata, "--by", ",".join(question.by)]
        asked += ["--response", question.response] if question.response else []
        asked += [word for rule in question.rules for word in ("--rule", rule)]
        steps.append(["tables", "make", *asked, "--cells", cells, "--relations", relations])
    table = ["--cells", cells, *(["--relations", relations] if relations else [])]
    search = ["--cost", question.cost, "--seed", str(question.seed), "--time-limit", f"{question.seconds:g}"]
    written = ["--output", f"{folder}/{PUBLISHED}", "--internal", f"{folder}/{INTERNAL}"]
    written += ["--json", f"{folder}/{RESULT}", "--report", f"{folder}/{REPORT}"]
    written += ["--external-report", f"{folder}/{OUTSIDE}"]
    return [*steps, ["tables", "suppress", *table, *search, *written]]


def add_table(queue: Queue, question: TableQuestion) -> Run:
    """Ask for a protected table; UsageError where something is missing."""
    question.check()
    run = queue.folder("tables")
    steps = table_steps(question, f"{RUNS}/{run.name}")
    if question.microdata:
        title = f"Table of {Path(question.microdata).name} by {', '.join(question.by)}, protected"
    else:
        title = f"Table of {Path(question.cells).name}, protected"
    return queue.add("tables", title, steps, run=run, inputs=question.inputs)
