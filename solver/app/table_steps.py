"""What is clicked of tables, as commands: a table that is there or one of microdata, and its suppression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

from linkrisk.datasets.microdata.names import shown_names
from linkrisk.solver.app.project import RUNS
from linkrisk.solver.app.run_folder import CONTRIBUTORS, INTERNAL, OUTSIDE, PUBLISHED, REPORT, RESULT, Run
from linkrisk.solver.app.run_queue import Queue
from linkrisk.solver.app.table_question import AUTOMATIC, LISTED, TableQuestion

CELLS, RELATIONS, MADE = "table-cells.csv", "table-relations.csv", "table-rules.json"
"""The files of a table that a run has made of microdata, and by which rules."""

_DEFAULTS = {one.name: one.default for one in fields(TableQuestion)}


def table_steps(question: TableQuestion, folder: str) -> list[list[str]]:
    """`tables make` where it is of microdata, and `tables suppress`."""
    steps, table, contributors = [], _given(question), question.contributors
    if question.microdata:
        table = ["--cells", f"{folder}/{CELLS}", "--relations", f"{folder}/{RELATIONS}"]
        made = [*_made(question), *table, "--record", f"{folder}/{MADE}"]
        contributors = f"{folder}/{CONTRIBUTORS}" if question.contributing else ""
        steps = [[*made, *(["--contributors", contributors] if contributors else [])]]
        table = [*table, "--made", f"{folder}/{MADE}"]
    search = [] if question.method == AUTOMATIC else ["--method", question.method]
    search += _options(question, ["exact"])
    search += ["--cost", question.cost, "--seed", str(question.seed)]
    search += ["--time-limit", f"{question.seconds:g}"]
    written = ["--output", f"{folder}/{PUBLISHED}", "--internal", f"{folder}/{INTERNAL}"]
    written += ["--json", f"{folder}/{RESULT}", "--report", f"{folder}/{REPORT}"]
    written += ["--external-report", f"{folder}/{OUTSIDE}"]
    attackers = _attackers(question, contributors)
    return [*steps, ["tables", "suppress", *table, *attackers, *search, *written]]


def _given(question: TableQuestion) -> list[str]:
    """The table that is there."""
    found = ["--table" if question.whole else "--cells", question.cells]
    found += _options(question, ["metadata"] if question.whole else ["relations"])
    found += ["--by", shown_names(question.codes, ",")] if question.codes else []
    if question.by_codes:
        found += _trees(question)
        found += [word for name, code in question.totals for word in ("--total", f"{name}={code}") if code]
    return [*found, *_options(question, ("value", "apriori", "recompute"))]


def _made(question: TableQuestion) -> list[str]:
    """`tables make`, without what it writes."""
    asked = ["--input", question.microdata]
    asked += [word for names in (question.by, *question.linked) for word in ("--by", shown_names(names, ","))]
    asked += _options(question, ["response"])
    asked += _trees(question)
    asked += [word for rule in question.rules for word in ("--rule", rule)]
    asked += _options(question, ("holding", "weight"))
    asked += _options(question, ["weights_in_rules"] if question.weight else [])
    asked += _options(question, ("shadow", "cost_column", "request", "negative", "protection", "empty"))
    asked += _options(question, ("manual", "manual_range") if question.manual else ())
    return ["tables", "make", *asked, *_options(question, ["respondent"] if question.contributing else [])]


def _options(question: TableQuestion, names: Sequence[str]) -> list[str]:
    """Options that are called as the fields are, for those that differ from what is usual."""
    found = []
    for name in names:
        value, option = getattr(question, name), f"--{name.replace('_', '-')}"
        if value == _DEFAULTS[name]:
            continue
        found += [option] if value is True else [option, f"{value:g}" if type(value) is float else str(value)]
    return found


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
        title = f"Table of {Path(question.microdata).name} by {' and '.join(question.by)}"
    else:
        title = f"Table of {Path(question.cells).name}"
    asked = asdict(question)
    return queue.add("tables", title, steps, run=run, inputs=question.inputs, asked=asked)
