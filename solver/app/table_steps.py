"""What is clicked of tables, as commands: a table that is there or one of microdata, and its treatment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

from linkrisk.datasets.microdata.names import shown_names, shown_pair
from linkrisk.solver.app.project import RUNS
from linkrisk.solver.app.run_folder import (
    CERTIFICATE,
    CONTRIBUTORS,
    INTERNAL,
    INTERNAL_STEM,
    OUTSIDE,
    PUBLISHED_STEM,
    REPORT,
    RESULT,
    VERIFICATION,
    Run,
)
from linkrisk.solver.app.run_queue import Queue
from linkrisk.solver.app.table_checks import check
from linkrisk.solver.app.table_question import (
    AUDIT,
    AUTOMATIC,
    LISTED,
    NOBODY,
    OPTIMAL,
    SUPPRESS,
    VERIFY,
    TableQuestion,
)

CELLS, RELATIONS, MADE = "table-cells.csv", "table-relations.csv", "table-rules.json"
"""The files of a table that a run has made of microdata, and by which rules."""

_DEFAULTS = {one.name: one.default for one in fields(TableQuestion)}


PROVEN = f"{INTERNAL_STEM}.jj"
"""Cells and relations in one file: with the certificate all that is needed to check it."""


def table_steps(question: TableQuestion, folder: str) -> list[list[str]]:
    """`tables make` where it is of microdata; then the action, and `verify` of its certificate."""
    if question.task == VERIFY:
        return [[VERIFY, question.proof, *_given(question), "--json", f"{folder}/{RESULT}"]]
    steps, table, contributors = [], _given(question), question.contributors
    if question.microdata:
        table = ["--cells", f"{folder}/{CELLS}", "--relations", f"{folder}/{RELATIONS}"]
        made = [*_made(question), *table, "--record", f"{folder}/{MADE}"]
        contributors = f"{folder}/{CONTRIBUTORS}" if question.contributing else ""
        steps = [[*made, *(["--contributors", contributors] if contributors else [])]]
        table = [*table, "--made", f"{folder}/{MADE}"]
    attackers = _attackers(question, contributors)
    done = _audited(question) if question.task == AUDIT else _searched(question)
    steps.append(["tables", question.task, *table, *attackers, *done, *_written(question, folder)])
    if question.certified:
        steps.append(verifying(f"{folder}/", beside=question.beside))
    return steps


def proven_files(*, beside: bool) -> tuple[str, ...]:
    """What a certificate is checked with: all in one file, which holds no numbers of respondents."""
    return (INTERNAL, RELATIONS) if beside else (PROVEN,)


def verifying(folder: str = "", *, beside: bool = False) -> list[str]:
    """What checks the certificate of a run, with the files that it has left in a folder."""
    options = ("--cells", "--relations") if beside else ("--table",)
    files = zip(options, proven_files(beside=beside), strict=True)
    given = [word for option, name in files for word in (option, f"{folder}{name}")]
    return [VERIFY, f"{folder}{CERTIFICATE}", *given]


def _searched(question: TableQuestion) -> list[str]:
    """How cells to be suppressed are looked for."""
    search = [] if question.method == AUTOMATIC else ["--method", question.method]
    search += _options(question, ["exact"])
    search += _options(question, ["backend"] if question.method in (AUTOMATIC, OPTIMAL) else [])
    search += ["--cost", question.cost, "--seed", str(question.seed)]
    return [*search, "--time-limit", f"{question.seconds:g}" if question.seconds else "none"]


def _audited(question: TableQuestion) -> list[str]:
    """How cells that are suppressed are audited."""
    known = [word for pair in question.also if pair[0] for word in ("--also", ",".join(filter(None, pair)))]
    limit = ["--time-limit", f"{question.audit_seconds:g}"] if question.audit_seconds else []
    return [*known, *_options(question, ("exact", "workers")), *limit]


def _written(question: TableQuestion, folder: str) -> list[str]:
    """What is left: for readers, for the house, and what was found."""
    whole = question.certified and not question.beside
    kept = [*question.house, *([Path(PROVEN).suffix] if whole else [])]
    house = [INTERNAL, *(f"{INTERNAL_STEM}{end}" for end in dict.fromkeys(kept))]
    written = ["--output", f"{folder}/{PUBLISHED_STEM}{question.published}"]
    written += [word for name in house for word in ("--internal", f"{folder}/{name}")]
    written += ["--json", f"{folder}/{RESULT}", "--report", f"{folder}/{REPORT}"]
    written += ["--external-report", f"{folder}/{OUTSIDE}"]
    return [*written, *(["--certificate", f"{folder}/{CERTIFICATE}"] if question.certified else [])]


def _given(question: TableQuestion) -> list[str]:
    """The table that is there; of linked ones, those with relations come first, as the command pairs them."""
    if question.whole:
        found = ["--table", question.cells, *_options(question, ["metadata"])]
    else:
        tables = sorted(question.ready, key=lambda pair: not pair[1])
        found = [word for cells, _ in tables for word in ("--cells", cells)]
        found += [word for _, relations in tables if relations for word in ("--relations", relations)]
    found += ["--by", shown_names(question.codes, ",")] if question.codes else []
    if question.by_codes:
        found += _trees(question)
        found += [
            word for name, code in question.totals for word in ("--total", shown_pair(name, code)) if code
        ]
    known = [] if question.linked_ready else ["apriori"]
    return [*found, *_options(question, ("value", *known, "counts", "recompute", "made"))]


def _made(question: TableQuestion) -> list[str]:
    """`tables make`, without what it writes."""
    asked = ["--input", question.microdata]
    asked += [word for names in (question.by, *question.linked) for word in ("--by", shown_names(names, ","))]
    asked += _options(question, ["response"])
    asked += _trees(question)
    asked += [word for rule in question.rules for word in ("--rule", rule)]
    asked += _options(question, ("holding", "weight"))
    asked += _options(question, ["weights_in_rules"] if question.weight else [])
    asked += _options(
        question, ("shadow", "cost_column", "request", "negative", "protection", "empty", "missing")
    )
    asked += _options(question, ("manual", "manual_range") if question.manual else ())
    asked += _options(question, ["publish_respondents"] if question.beside else [])
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
    return [word for name, file in question.trees for word in ("--hierarchy", shown_pair(name, file))]


def _attackers(question: TableQuestion, contributors: str) -> list[str]:
    if not question.attacked:
        return ["--insiders", NOBODY] if question.insiders == NOBODY else []
    who = question.listed if question.insiders == LISTED else question.insiders
    asked = ["--insiders", who] if who else []
    asked += ["--contributors", contributors] if contributors and question.contributing else []
    asked += ["--coalitions", question.coalitions] if question.coalitions else []
    return [*asked, *(["--as-far-as-possible"] if question.partly else [])]


def add_table(queue: Queue, question: TableQuestion) -> Run:
    """Ask for what is to be done with a table; UsageError where something is missing."""
    check(question)
    run = queue.folder("tables")
    steps = table_steps(question, f"{RUNS}/{run.name}")
    return queue.add(
        "tables",
        _title(question),
        steps,
        run=run,
        outputs={len(steps) - 1: VERIFICATION} if question.certified and question.task != VERIFY else {},
        inputs=question.inputs,
        asked=asdict(question),
        answers=(0,) if question.task == SUPPRESS else (0, 1),  # that it is not protected is an answer
    )


def _title(question: TableQuestion) -> str:
    """What people call it."""
    if question.microdata:
        return f"Table of {Path(question.microdata).name} by {' and '.join(question.by)}"
    name = " and ".join(Path(cells).name for cells in (question.cells, *_others(question)))
    if question.task == VERIFY:
        return f"Check of {Path(question.proof).name} about {name}"
    return f"Audit of {name}" if question.task == AUDIT else f"Table of {name}"


def _others(question: TableQuestion) -> list[str]:
    return [cells for cells, _ in question.ready[1:]]
