"""What is clicked of tables, as commands: a table that is there or one of microdata, and its suppression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from linkrisk.solver.app.project import RUNS, Project
from linkrisk.solver.app.run_folder import CONTRIBUTORS, INTERNAL, OUTSIDE, PUBLISHED, REPORT, RESULT, Run
from linkrisk.solver.app.run_queue import Queue
from linkrisk.solver.run.errors import UsageError

CELLS, RELATIONS = "table-cells.csv", "table-relations.csv"
"""The files of a table that a run has made of microdata."""

AUTOMATIC = "auto"
"""The method that fits the size of a table."""

OUTSIDERS, SINGLETONS, EVERYBODY, LISTED = "", "singletons", "contributors", "file"
"""Who attacks: outsiders alone, or insiders, too."""


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
    hierarchies : tuple of (str, str)
        Variables or columns of codes, each with the file of its tree.
    insiders : str
        `OUTSIDERS`, `SINGLETONS`, `EVERYBODY` or `LISTED`.
    listed : str
        The file of insiders, where these are `LISTED`.
    contributors : str
        The file of contributions to a table that is there.
    coalitions : str
        The file of respondents who tell one another everything.
    respondent : str
        The column of microdata that names them; empty where records have numbers.
    partly : bool
        Whether levels that cannot be kept from somebody are lowered.
    method : str
        As `tables suppress --method` reads it.
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
    hierarchies: tuple[tuple[str, str], ...] = ()
    insiders: str = OUTSIDERS
    listed: str = ""
    contributors: str = ""
    coalitions: str = ""
    respondent: str = ""
    partly: bool = False
    method: str = AUTOMATIC
    cost: str = "value"
    seconds: float = 60.0
    seed: int = 0

    @classmethod
    def again(cls, asked: Mapping[str, Any], project: Project) -> TableQuestion:
        """What was asked before, without files that are not there any more."""
        known = {one.name: asked[one.name] for one in fields(cls) if one.name in asked}
        files = {*project.data_files, *project.trees}
        for what in ("cells", "relations", "microdata", "listed", "contributors", "coalitions"):
            if known.get(what) not in files:
                known.pop(what, None)
        trees = known.get("hierarchies", ())
        known["hierarchies"] = tuple((name, file) for name, file in trees if file in files)
        for what in ("by", "rules"):
            if what in known:
                known[what] = tuple(known[what])
        return cls(**known)

    @property
    def inputs(self) -> dict[str, str]:
        """Its files, by what they are."""
        named = {
            "cells": self.cells,
            "relations": self.relations,
            "microdata": self.microdata,
            "insiders": self.listed if self.insiders == LISTED else "",
            "contributors": "" if self.microdata else self.contributors,
            "coalitions": self.coalitions,
            **{f"hierarchy {variable}": file for variable, file in self.trees},
        }
        return {what: name for what, name in named.items() if name}

    @property
    def attacked(self) -> bool:
        """Whether anybody but outsiders attacks."""
        return bool(self.insiders or self.coalitions)

    @property
    def contributing(self) -> bool:
        """Whether it has to be known who contributed what."""
        return self.insiders in (SINGLETONS, EVERYBODY) or bool(self.coalitions)

    @property
    def trees(self) -> tuple[tuple[str, str], ...]:
        """The hierarchies that count: those of chosen variables, or of codes that relations follow from."""
        if self.microdata:
            return tuple((name, file) for name, file in self.hierarchies if name in self.by and file)
        return () if self.relations else tuple(one for one in self.hierarchies if one[1])

    def check(self) -> None:
        """UsageError where something is missing."""
        if not (self.cells or self.microdata):
            raise UsageError("choose a file of cells, or one of microdata")
        if self.microdata and not self.by:
            raise UsageError("a table of microdata needs explanatory variables: choose one or more")
        if self.microdata and not self.rules:
            raise UsageError("a table of microdata needs a rule, such as p=10: write at least one")
        if self.insiders == LISTED and not self.listed:
            raise UsageError("choose the file of insiders, or other attackers")
        if not self.microdata and not self.contributors and (self.insiders == EVERYBODY or self.coalitions):
            raise UsageError("who attacks knows what it contributed: choose the file of contributions")


def table_steps(question: TableQuestion, folder: str) -> list[list[str]]:
    """`tables make` where it is of microdata, and `tables suppress`."""
    steps, table = [], _given(question)
    contributors = question.contributors
    if question.microdata:
        table = ["--cells", f"{folder}/{CELLS}", "--relations", f"{folder}/{RELATIONS}"]
        contributors = f"{folder}/{CONTRIBUTORS}" if question.contributing else ""
        steps.append([*_made(question), *table, *(["--contributors", contributors] if contributors else [])])
    search = [] if question.method == AUTOMATIC else ["--method", question.method]
    search += ["--cost", question.cost, "--seed", str(question.seed)]
    search += ["--time-limit", f"{question.seconds:g}"]
    written = ["--output", f"{folder}/{PUBLISHED}", "--internal", f"{folder}/{INTERNAL}"]
    written += ["--json", f"{folder}/{RESULT}", "--report", f"{folder}/{REPORT}"]
    written += ["--external-report", f"{folder}/{OUTSIDE}"]
    attackers = _attackers(question, contributors)
    return [*steps, ["tables", "suppress", *table, *attackers, *search, *written]]


def _given(question: TableQuestion) -> list[str]:
    relations = ["--relations", question.relations] if question.relations else []
    return ["--cells", question.cells, *relations, *([] if question.microdata else _trees(question))]


def _made(question: TableQuestion) -> list[str]:
    """`tables make`, without what it writes."""
    asked = ["--input", question.microdata, "--by", ",".join(question.by)]
    asked += ["--response", question.response] if question.response else []
    asked += _trees(question)
    asked += [word for rule in question.rules for word in ("--rule", rule)]
    named = question.respondent if question.contributing else ""
    return ["tables", "make", *asked, *(["--respondent", named] if named else [])]


def _trees(question: TableQuestion) -> list[str]:
    return [word for name, file in question.trees for word in ("--hierarchy", f"{name}={file}")]


def _attackers(question: TableQuestion, contributors: str) -> list[str]:
    if not question.attacked:
        return []
    who = question.listed if question.insiders == LISTED else question.insiders
    asked = ["--insiders", who] if who else []
    asked += ["--contributors", contributors] if contributors and question.contributing else []
    asked += ["--coalitions", question.coalitions] if question.coalitions else []
    return [*asked, *(["--as-far-as-possible"] if question.partly else [])]


def add_table(queue: Queue, question: TableQuestion) -> Run:
    """Ask for a protected table; UsageError where something is missing."""
    question.check()
    run = queue.folder("tables")
    steps = table_steps(question, f"{RUNS}/{run.name}")
    if question.microdata:
        title = f"Table of {Path(question.microdata).name} by {', '.join(question.by)}, protected"
    else:
        title = f"Table of {Path(question.cells).name}, protected"
    asked = asdict(question)
    return queue.add("tables", title, steps, run=run, inputs=question.inputs, asked=asked)
