"""Forms about tables as commands: a given table or one of microdata, and its protection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar

from linkrisk.datasets.options.option import options_of
from linkrisk.datasets.tables.reading import WHOLE
from linkrisk.solver.app.project import RUNS
from linkrisk.solver.app.runs import (
    CERTIFICATE,
    CONTRIBUTORS,
    INTERNAL,
    INTERNAL_STEM,
    OUTSIDE,
    PUBLISHED_STEM,
    REPORT,
    RESULT,
    VERIFICATION,
    Queue,
    Run,
)
from linkrisk.solver.app.steps import Asked, Step
from linkrisk.solver.options.operations import operation
from linkrisk.solver.options.table_protection import AUTOMATIC, OPTIMAL
from linkrisk.solver.options.tables import TableOptions
from linkrisk.solver.run.errors import UsageError

SUPPRESS, AUDIT, VERIFY = "suppress", "audit", "verify"
"""What is done with a table, as actions of `tables`: verified is a certificate of it."""

MAKE = "tables make"

NOBODY, SINGLETONS, EVERYBODY = "none", "singletons", "contributors"
"""Who attacks besides outsiders, where it is no file of insiders."""

CELLS, RELATIONS, MADE = "table-cells.csv", "table-relations.csv", "table-rules.json"
"""The files of a table that a run has made of microdata, and by which rules."""

PROVEN = f"{INTERNAL_STEM}.jj"
"""Cells and relations in one file: with the certificate all that is needed to check it."""

_INPUTS = {
    "certificate": "result",
    "rules": "made",
    "microdata": "data",
    **{name: name for name in ("metadata", "apriori", "manual", "insiders", "contributors", "coalitions")},
}
"""Files that are read, by what they are, and the options that name them."""

Pairs = Sequence[tuple[str, ...]]


def command_of(task: str) -> str:
    """The command that does it."""
    return VERIFY if task == VERIFY else f"tables {task}"


_COMMANDS = {command_of(task): task for task in (SUPPRESS, AUDIT, VERIFY)}


@dataclass(frozen=True)
class TableAsked:
    """A table, and what is to be done with it."""

    task: str = SUPPRESS  # `SUPPRESS`, `AUDIT` or `VERIFY`
    # cells and relations of a table that is there, and of those that are linked to it by common cells.
    # Without relations they follow from the codes of the cells, or the file of cells says them itself.
    tables: Pairs = ()
    # `values`, `made`: of the options of the command that does it, and of `tables make` where the table is of
    # microdata
    values: Mapping[str, Any] = field(default_factory=dict)
    made: Mapping[str, Any] | None = None
    certified: bool = False  # whether what is found is proven to others, and that proof checked
    # `published`, `house`: how the names of the published table and of further files for the house end: their
    # formats
    published: str = ".csv"
    house: tuple[str, ...] = ()

    kind: ClassVar[str] = "tables"

    @property
    def answers(self) -> tuple[int, ...]:
        """Exit codes of commands that have answered: that it is not protected is an answer to who asks."""
        return (0,) if self.task == SUPPRESS else (0, 1)

    def each(self) -> list[TableAsked]:
        """All in one run."""
        return [self]

    @property
    def whole(self) -> bool:
        """Whether the file of cells contains its relations."""
        cells = self.tables[0][0] if self.tables else ""
        return bool(cells) and ("metadata" in self.values or Path(cells).suffix.lower() in WHOLE)

    @property
    def ready(self) -> Pairs:
        """Cells and relations of each given table, but for one in a single file."""
        return () if self.made is not None or self.whole else [pair for pair in self.tables if pair[0]]

    @property
    def by_codes(self) -> bool:
        """Whether relations follow from codes: of a table that is there, with neither relations nor ARGUS."""
        return any(not relations for _, relations in self.ready)

    @property
    def attacked(self) -> bool:
        """Whether insiders are asked for."""
        return self.values.get("insiders", NOBODY) != NOBODY or "coalitions" in self.values

    @property
    def contributing(self) -> bool:
        """Whether it has to be known who contributed what."""
        return self.values.get("insiders") in (SINGLETONS, EVERYBODY) or "coalitions" in self.values

    @property
    def solved(self) -> bool:
        """Whether a program is solved."""
        return self.values.get("method", AUTOMATIC) in (AUTOMATIC, OPTIMAL)

    @property
    def beside(self) -> bool:
        """Whether numbers of respondents are published beside the sums of microdata."""
        made = self.made or {}
        return bool(made.get("publish_respondents") and made.get("response"))

    @property
    def given(self) -> dict[str, Any]:
        """Which table is there: of linked ones, those with relations first, as the command pairs them."""
        tables = sorted(self.ready, key=lambda pair: not pair[1])
        found = {
            "tables": [self.tables[0][0]] if self.whole else [],
            "cells": [cells for cells, _ in tables],
            "relations": [relations for _, relations in tables if relations],
        }
        return {name: files for name, files in found.items() if files}

    @property
    def treated(self) -> dict[str, Any]:
        """The values of the treatment that matter to this table."""
        matter = {
            **dict.fromkeys(("hierarchies", "totals"), self.by_codes),
            "metadata": self.whole,
            "apriori": len(self.ready) < 2,
            "backend": self.solved,
            "contributors": self.contributing or self.task == VERIFY,
            "as_far_as_possible": self.attacked,
            **(dict.fromkeys(options_of(TableOptions), False) if self.made is not None else {}),
        }
        values = {name: value for name, value in self.values.items() if matter.get(name, True)}
        if "by" in values and "hierarchies" in values:
            values["hierarchies"] = _chosen(values["hierarchies"], values["by"])
        return {name: value for name, value in values.items() if value not in ({}, [])}

    @property
    def making(self) -> dict[str, Any]:
        """The values that a table of microdata is made by, which matter."""
        values = dict(self.made or {})
        variables = {name for names in values.get("by", ()) for name in names}
        trees = _chosen(values.pop("hierarchies", {}), variables)
        if not values.get("response"):
            values.pop("publish_respondents", None)
        return {**values, **({"hierarchies": trees} if trees else {})}

    def steps(self, folder: str) -> list[Step]:
        """`tables make` where it is of microdata; then the action, and `verify` of its certificate."""
        values = {**self.treated, **self.given}
        if self.task == VERIFY:
            return [Step(VERIFY, {**values, "json": f"{folder}/{RESULT}"})]
        steps = []
        if self.made is not None:
            files = {"cells": CELLS, "relations": RELATIONS, "record": MADE}
            files |= {"contributors": CONTRIBUTORS} if self.contributing else {}
            written = {name: f"{folder}/{file}" for name, file in files.items()}
            steps = [Step(MAKE, {**self.making, **written})]
            values |= {**written, "made": written["record"]}
            values |= {name: [written[name]] for name in ("cells", "relations")}
            del values["record"]
        steps.append(Step(command_of(self.task), {**values, **self._written(folder)}))
        if self.certified:
            steps.append(_verified(f"{folder}/", beside=self.beside))
        return steps

    def _written(self, folder: str) -> dict[str, Any]:
        """What is left: for readers, for the house, and what was found."""
        whole = self.certified and not self.beside
        ends = dict.fromkeys([*self.house, *([Path(PROVEN).suffix] if whole else [])])
        files = {"json": RESULT, "report": REPORT, "external_report": OUTSIDE}
        files |= {"output": f"{PUBLISHED_STEM}{self.published}"}
        files |= {"certificate": CERTIFICATE} if self.certified else {}
        house = [INTERNAL, *(f"{INTERNAL_STEM}{end}" for end in ends)]
        written = {name: f"{folder}/{file}" for name, file in files.items()}
        return {**written, "internal": [f"{folder}/{name}" for name in house]}

    @property
    def inputs(self) -> dict[str, str]:
        """Its files, by what they are."""
        given = {name: value for step in reversed(self.steps(".")) for name, value in step.given.items()}
        named = {what: given.get(name) for what, name in _INPUTS.items()}
        for what, pairs in (("table", self.ready), ("another release", given.get("also", ()))):
            for at, pair in enumerate(pairs, 1):
                end = "" if what == "table" and at == 1 else f" of {what} {at}"
                for part, file in zip(("cells", "relations"), pair, strict=False):
                    named[f"{part}{end}"] = file
        if self.whole and self.made is None:
            named["cells"] = self.tables[0][0]
        if named["insiders"] in (NOBODY, SINGLETONS, EVERYBODY):
            del named["insiders"]
        for name, files in given.get("hierarchies", {}).items():
            for at, file in enumerate(files, 1):
                named[f"hierarchy {name}" + (f", {at}" if at > 1 else "")] = file
        return {what: file for what, file in named.items() if file and not file.startswith("./")}

    @property
    def title(self) -> str:
        """What people call it."""
        if self.made is not None:
            by = " and ".join(self.made["by"][0])
            return f"Table of {Path(self.made['data']).name} by {by}"
        name = " and ".join(Path(cells).name for cells, _ in self.ready or self.tables[:1])
        if self.task == VERIFY:
            return f"Check of {Path(self.values['result']).name} about {name}"
        return f"Audit of {name}" if self.task == AUDIT else f"Table of {name}"

    def check(self) -> None:
        """Refuse with a LinkriskError what lacks something, or what the commands would refuse."""
        if self.task == VERIFY and "result" not in self.values:
            raise UsageError("choose the certificate that is to be checked")
        if self.made is not None:
            self._check_making(self.made)
        elif not (self.tables and self.tables[0][0]):
            more = ", or one of microdata" if self.task == SUPPRESS else ""
            raise UsageError(f"choose a file of cells{more}")
        self._check_several()
        known = self.made is not None or "contributors" in self.values
        attacking = self.values.get("insiders") == EVERYBODY or "coalitions" in self.values
        if self.task != VERIFY and attacking and not known:
            raise UsageError("who attacks knows what it contributed: choose the file of contributions")
        for step in self.steps(RUNS):
            step.check()

    def _check_several(self) -> None:
        """Linked tables, and other releases."""
        for what, pairs in (("table", self.tables), ("release", self.values.get("also", ()))):
            lonely = next((pair[1] for pair in pairs if not pair[0]), None)
            if lonely is not None:
                raise UsageError(f"choose the file of cells of the {what} that {lonely} belongs to")
        twice = [name for name, times in Counter(cells for cells, _ in self.ready).items() if times > 1]
        if twice:
            raise UsageError(
                f"the file {twice[0]} is chosen twice: choose another table to be linked, or none"
            )
        if self.task == AUDIT and self.certified and self.values.get("also"):
            raise UsageError(
                "a certificate is about one table: leave the other releases out, or the certificate"
            )

    def _check_making(self, made: Mapping[str, Any]) -> None:
        from linkrisk.formulations.tables.primary_rules import RequestRule
        from linkrisk.solver.tables.operations.rules import primary_rule

        if "data" not in made:
            raise UsageError("choose a file of cells, or one of microdata")
        if not made.get("by"):
            raise UsageError("a table of microdata needs explanatory variables: choose one or more")
        if not made.get("rules") and "manual" not in made:
            raise UsageError("a table of microdata needs a rule, such as p=10: write at least one")
        asks = any(isinstance(primary_rule(rule), RequestRule) for rule in made.get("rules", ()))
        if asks and "request" not in made:
            raise UsageError("the request rule needs a column: choose who asked for protection")
        if "request" in made and not asks:
            raise UsageError(
                "only the request rule looks at who asked for protection: write it, or choose none"
            )
        if self.values.get("cost") == "given" and not {"cost_column", "manual"} & made.keys():
            raise UsageError(
                "the cost of a cell is in a column: choose that of the microdata, or another cost"
            )


def _chosen(trees: Mapping[str, Any], variables: Collection[str]) -> dict[str, Any]:
    """The hierarchies of these variables."""
    return {name: files for name, files in trees.items() if name in variables}


def proven_files(*, beside: bool) -> tuple[str, ...]:
    """What a certificate is checked with: all in one file, which holds no numbers of respondents."""
    return (INTERNAL, RELATIONS) if beside else (PROVEN,)


def _verified(folder: str, *, beside: bool) -> Step:
    """What checks the certificate of a run, with the files that it has left in a folder."""
    options = ("cells", "relations") if beside else ("tables",)
    files = zip(options, proven_files(beside=beside), strict=True)
    given = {name: [f"{folder}{file}"] for name, file in files}
    return Step(VERIFY, {"result": f"{folder}{CERTIFICATE}", **given})


def verifying(*, beside: bool = False) -> list[str]:
    """The command that checks the certificate of a run, in a folder with the files that it has left."""
    return _verified("", beside=beside).argv


def asked_before(run: Run) -> TableAsked:
    """What the commands of a run ask, without files that are gone; UsageError if they are not of now."""
    steps, project = [Step.read(argv) for argv in run.command["steps"]], run.project
    gone = {*run.command.get("inputs", {}).values()} - {*project.readable}
    made = next((_again(step, run, gone) for step in steps if step.command == MAKE), None)
    done = next((step for step in steps if step.command in _COMMANDS), None)
    if done is None:
        raise UsageError("it is about no table")
    values = _again(done, run, gone)
    cells, relations = values.pop("cells", ()), values.pop("relations", ())
    ends = [Path(name).suffix for name in done.values.get("internal", ())[1:]]
    certified = "certificate" in done.values
    return TableAsked(
        _COMMANDS[done.command],
        tuple(zip_longest((*values.pop("tables", ()), *cells), relations, fillvalue="")),
        values,
        made,
        certified=certified,
        published=Path(done.values.get("output", "table.csv")).suffix,
        house=tuple(end for end in ends if not (certified and end == Path(PROVEN).suffix)),
    )


def _again(step: Step, run: Run, gone: set[str]) -> dict[str, Any]:
    """The values of a step without files that are gone, or that its run has made."""
    known, own = options_of(operation(step.command)), f"{RUNS}/{run.name}/"
    kept = {
        name: _left(value, gone, own) for name, value in step.values.items() if not known[name].kind.written
    }
    return {name: value for name, value in kept.items() if value not in ("", (), [], {})}


def _left(value: Any, gone: set[str], own: str) -> Any:
    """What is left of a value without names of files that are gone; something empty if nothing."""
    if isinstance(value, str):
        return "" if value in gone or value.startswith(own) else value
    if isinstance(value, Mapping):
        found = {name: _left(one, gone, own) for name, one in value.items()}
        return {name: one for name, one in found.items() if one}
    if isinstance(value, list | tuple):
        parts = [_left(one, gone, own) for one in value]
        return (
            type(value)(one for one in parts if one) if parts[:1] != [""] or isinstance(value, list) else ()
        )
    return value


def add(queue: Queue, asked: Asked | TableAsked) -> list[Run]:
    """Put a question into the queue; LinkriskError, and nothing is made, where it cannot be answered."""
    asked.check()
    runs = []
    for one in asked.each():
        run = queue.folder(one.kind)
        steps = [step.argv for step in one.steps(f"{RUNS}/{run.name}")]
        outputs = {len(steps) - 1: VERIFICATION} if one.certified else {}
        more: dict[str, Any] = {"outputs": outputs, "inputs": one.inputs, "answers": one.answers}
        runs.append(queue.add(one.kind, one.title, steps, run=run, **more))
    return runs
