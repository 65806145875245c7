"""Tables in the application: what is asked for as commands, their runs, certificates, audits, refusals."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest
from application import done, executed, opened
from small_tables import write_linked_tables, write_table_files

from linkrisk import make_table
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.datasets.tables.writing import internal_files
from linkrisk.errors import LinkriskError
from linkrisk.solver.app.answers import ProgressReader, answer, grounds, verdict
from linkrisk.solver.app.project import Project
from linkrisk.solver.app.runs import Queue, Run, RunState
from linkrisk.solver.app.table_steps import (
    AUDIT,
    NOBODY,
    SINGLETONS,
    SUPPRESS,
    VERIFY,
    TableAsked,
    add,
    asked_before,
    verifying,
)
from linkrisk.solver.charts.worst_case import costs
from linkrisk.solver.commands.program import main
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.operations.make import MadeTable

BY_SIZE, BY_AGE = "data/by_size.csv", "data/by_age.csv"
LINKED = TableAsked(tables=((BY_SIZE, ""), (BY_AGE, "")))
SINGLE = TableAsked(tables=(("data/cells.csv", "data/relations.csv"),))
FILES = {
    *("output.txt", "report-outside.html", "report.html", "result.json"),
    *("table-internal.csv", "table-published.csv"),
}
MADE = {"table-cells.csv", "table-relations.csv", "table-rules.json"}

REGIONS = [f"R{at}" for at in range(6)]
COUNTY, ZONE = (
    "code,parent\n"
    + "".join(f"{code},{parent}\n" for code, parent in [*above, *zip(REGIONS, below, strict=True)])
    for above, below in (
        ([("N", "Total"), ("S", "Total")], "NNNSSS"),
        ([("coast", "Total"), ("inland", "Total")], ["coast", "inland"] * 3),
    )
)
TREES = {"region": ["data/county.csv", "data/zone.csv"]}
FIRMS = {
    "data": "data/firms.csv",
    "by": [["region", "size"]],
    "response": "turnover",
    "rules": ["frequency=3"],
    "hierarchies": TREES,
    "weight": "weight",
    "weights_in_rules": "sample",
    "holding": "group",
}
MICRODATA = TableAsked(made=FIRMS)


def made_by(**changes: Any) -> TableAsked:
    return TableAsked(made={**FIRMS, **changes})


def of(cells: str, **values: Any) -> TableAsked:
    """A question about one table whose relations follow from codes."""
    return TableAsked(tables=((cells, ""),), values=values)


def argv(asked: TableAsked, folder: str = "x") -> list[list[str]]:
    return [step.argv for step in asked.steps(folder)]


def after(step: list[str], option: str) -> list[str]:
    """What stands after an option, each time that it is given."""
    return [step[at + 1] for at, word in enumerate(step) if word == option]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with ready tables, linked ones, and microdata of firms."""
    data = tmp_path / "project" / "data"
    data.mkdir(parents=True)
    write_linked_tables(data)
    write_table_files(data)
    lines = [
        f"f{at},g{at // 2},{REGIONS[at % 6]},{'ab'[at % 5 % 2]},{10 + 7 * at},{1 + at % 3},{at % 4 == 0:d}"
        for at in range(40)
    ]
    (data / "firms.csv").write_text(
        "\n".join(["firm,group,region,size,turnover,weight,asked", *lines]) + "\n"
    )
    (data / "county.csv").write_text(COUNTY)
    (data / "zone.csv").write_text(ZONE)
    return opened(data.parent)


def added(project: Project, asked: TableAsked) -> Run:
    (run,) = add(Queue(project), asked)
    assert run.command["steps"] == argv(asked, f"runs/{run.name}")
    return run


def protected(project: Project, asked: TableAsked) -> Run:
    """A run that has ended well, and can be asked again."""
    run = done(added(project, asked))
    assert asked_before(run) == asked
    return run


# Ready tables


def test_ready_tables_are_protected_together(project: Project) -> None:
    run = protected(project, LINKED)
    assert after(run.command["steps"][0], "--cells") == [BY_SIZE, BY_AGE]
    assert run.command["title"] == "Table of by_size.csv and by_age.csv"
    assert run.command["inputs"] == {"cells": BY_SIZE, "cells of table 2": BY_AGE}
    assert (run.result["cells"], run.result["sensitive"], run.result["protected"]) == (15, 2, True)
    assert verdict(run) == "good"
    assert "Protection of by_size.csv and by_age.csv" in run.text("report.html", 10**7)
    (project.folder / BY_AGE).unlink()
    assert asked_before(run) == of(BY_SIZE)


def by_region_and_size(data: Path, *hierarchies: str, **settings: Any) -> MadeTable:
    trees = {"region": [data / f"{name}.csv" for name in hierarchies]}
    settings |= {"rules": ["frequency=3"], "hierarchies": trees}
    return make_table(data / "firms.csv", ["region", "size"], **settings)


@pytest.mark.parametrize("name", ["ready.jj", "ready.tab", "ready.csv", "ready.parquet"])
def test_a_ready_table_of_any_kind(project: Project, name: str) -> None:
    file = project.folder / "data" / name
    made = by_region_and_size(file.parent, "county", response="turnover")
    if name.endswith((".jj", ".tab")):
        write_all(internal_files(made.stored(), file))
    elif name.endswith(".parquet"):
        made.cells.to_parquet(file)
    else:
        made.cells.to_csv(file, index=False)
    asked = of(f"data/{name}")
    if not asked.whole:
        asked = replace(asked, values={"hierarchies": {"region": ["data/county.csv"]}})
    run = protected(project, asked)
    assert (run.result["protected"], run.result["cells"]) == (True, 9 * 3)


def test_another_backend_no_limit_and_other_formats(project: Project) -> None:
    search = {"backend": "highs", "time_limit": None}
    asked = replace(SINGLE, values=search, published=".xlsx", house=(".jj", ".sbs"))
    run = protected(project, asked)
    assert answer(run) == (
        "Both sensitive cells are protected from outsiders only; respondents of single cells were not looked "
        "at, because the table does not say how many respondents each of its cells has. 4 cells are "
        "suppressed with them, at a cost of 69: proven least, every pattern that protects costs as much or "
        "more."
    )
    (step,) = run.command["steps"]
    assert (after(step, "--backend"), after(step, "--time-limit")) == (["highs"], ["none"])
    assert run.result["backend"] == "highs"
    more = {"table-published.xlsx", "table-internal.jj", "table-internal.sbs"}
    assert more < set(run.files())
    assert "--backend" not in argv(replace(asked, values={**search, "method": "modular"}))[0]


# Tables of microdata


def test_weights_holdings_and_two_hierarchies_of_one_variable(project: Project) -> None:
    run = protected(project, MICRODATA)
    assert run.result["protected"]
    assert run.result["rules"] == ["frequency=3"]
    assert set(run.files()) == FILES | MADE
    cells = pd.read_csv(run.folder / "table-cells.csv")
    known = {"response": "turnover", "weight": "weight", "weights_in_rules": "sample", "holding": "group"}
    made = by_region_and_size(project.folder / "data", "county", "zone", **known)
    assert {"N", "S", "coast", "inland", *REGIONS} < set(cells["region"])
    assert cells["value"].tolist() == made.cells["value"].tolist()
    assert cells["status"].tolist() == made.cells["status"].tolist()
    assert run.command["inputs"] == {
        "microdata": "data/firms.csv",
        "hierarchy region": "data/county.csv",
        "hierarchy region, 2": "data/zone.csv",
    }


def test_hierarchies_and_insiders_of_microdata(project: Project) -> None:
    data = project.folder / "data"
    cells = [(at, region, size) for at, region in enumerate("NNNNSSSSEEEE" * 2) for size in "ab"]
    lines = [f"f{at // 2},{region}{at % 3},{size},{10 + 7 * at}\n" for at, region, size in cells]
    (data / "firms.csv").write_text("firm,region,size,turnover\n" + "".join(lines))
    tree = "".join(f"{one}\n" + "".join(f"@{one}{at}\n" for at in range(3)) for one in "NSE")
    (data / "regions.hrc").write_text(tree)
    made = {name: FIRMS[name] for name in ("data", "by", "response", "rules")}
    made |= {"hierarchies": {"region": ["data/regions.hrc"]}, "respondent": "firm"}
    values = {"insiders": "contributors", "as_far_as_possible": True, "method": "optimal"}
    asked = TableAsked(values=values, made=made)
    trees = {"region": ["data/regions.hrc"], "gone": ["data/regions.hrc"]}
    run = done(added(project, replace(asked, made={**made, "hierarchies": trees})))
    assert asked_before(run) == asked
    first, suppressed = run.command["steps"]
    assert after(first, "--hierarchy") == ["region=data/regions.hrc"]
    assert {"--insiders", "--as-far-as-possible"} < set(suppressed)
    assert set(run.files()) == FILES | MADE | {"table-contributors.csv"}
    assert len(pd.read_csv(run.folder / "table-cells.csv")) == 13 * 3
    assert run.result["insiders"]["attackers"] == 12
    assert "12 insiders" in answer(run)
    reader = ProgressReader(run)
    reader.read()
    last = list(reader.courses.values())[-1]
    assert last.costs
    assert last.points[-1][1:] == (run.result["bound"], run.result["cost"])
    (data / "regions.hrc").unlink()
    assert "hierarchies" not in (asked_before(run).made or {})


def test_numbers_of_respondents_are_published_protected_and_proven(project: Project) -> None:
    lines = [(region, size, 10.0 + at) for at, (region, size) in enumerate(itertools.product("NSW", "ab"))]
    frame = pd.DataFrame([lines[0], *(3 * lines[1:])], columns=["region", "size", "turnover"])
    frame.to_csv(project.folder / "data" / "firms.csv", index=False)
    made = {"data": "data/firms.csv", "by": [["region", "size"]], "rules": ["frequency=2"]}
    made |= {"publish_respondents": True}
    asked = TableAsked(made={**made, "response": "turnover"}, certified=True)
    run = protected(project, asked)
    first, *_, last = run.command["steps"]
    assert "--publish-respondents" in first
    assert "proven      PROTECTED" in run.text("verification.txt")
    assert "respondents" in pd.read_csv(run.folder / "table-published.csv").columns
    assert after(last, "--cells") == [f"runs/{run.name}/table-internal.csv"]
    assert "--publish-respondents" not in argv(replace(asked, made=made))[0]
    assert "Numbers of respondents are published beside the values, in the same cells." in grounds(run)


# What is asked for, as words of commands


def test_what_does_not_matter_is_left_out(project: Project) -> None:
    assert argv(TableAsked(tables=(("a.jj", ""), ("b.csv", ""))))[0][2:5] == ["--table", "a.jj", "--output"]
    values = {"hierarchies": {"region": ["t.csv"]}, "totals": {"region": "all"}}
    asked = TableAsked(tables=(("t.jj", "relations.csv"),), values=values)
    assert argv(asked)[0][2:5] == ["--table", "t.jj", "--output"]
    assert asked.inputs == {"cells": "t.jj"}
    assert of("T.JJ").whole
    assert argv(of("t.csv", metadata="t.rda"))[0][2:6] == ["--table", "t.csv", "--metadata", "t.rda"]
    queue = Queue(project)
    for step, message in (
        (["fit", "--seed", "3"], "about no table"),
        (["tables", "shake"], "no command tables"),
    ):
        with pytest.raises(UsageError, match=message):
            asked_before(queue.add("tables", "of old", [step], run=queue.folder("tables")))


def test_no_option_is_left_without_the_one_that_it_belongs_to() -> None:
    """Whatever stays of what was chosen before, such as a level of statuses whose file is taken back."""
    insiders = [{"insiders": who} for who in (NOBODY, SINGLETONS, "i.csv")]
    attackers = ({}, *insiders, {"coalitions": "t"})
    chosen = itertools.product(
        (of("c.csv"), TableAsked(made={"data": "m.csv", "by": [["a"]]})),
        ({}, {"weight": "w"}),
        ({}, {"manual": "s.csv"}),
        cast("tuple[Mapping[str, str], ...]", attackers),
        (SUPPRESS, AUDIT),
    )
    left = {"weights_in_rules": "sample", "manual_range": 5.0, "respondent": "r"}
    for asked, weight, manual, who, task in chosen:
        values = {"as_far_as_possible": True, "contributors": "who.csv", **who}
        made = None if asked.made is None else {**asked.made, **left, **weight, **manual}
        steps = argv(replace(asked, values=values, made=made, task=task))
        for option, partners in (
            ("--weights-in-rules", {"--weight"}),
            ("--manual-range", {"--manual"}),
            ("--respondent", {"--contributors"}),
            ("--as-far-as-possible", {"--insiders", "--coalitions"}),
        ):
            assert all(option not in step or partners & set(step) for step in steps)
        assert "--contributors" not in steps[-1] or {"--insiders", "--coalitions"} & set(steps[-1])


# Certificates and audits


def test_a_stranger_needs_two_files_and_one_line(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    run = protected(project, replace(LINKED, certified=True))
    assert "proven      PROTECTED: 4 levels of 4 met" in run.text("verification.txt")
    names = ("certificate.json", "table-internal.jj")
    assert {*names, "table-internal.csv"} < set(run.files())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in names:
        shutil.copy(run.folder / name, elsewhere)
    monkeypatch.chdir(elsewhere)
    assert main(verifying()) == 0
    assert "PROTECTED: 4 levels of 4 met" in capsys.readouterr().out


def test_a_certificate_where_insiders_attack_and_levels_are_lowered(project: Project) -> None:
    frame = pd.DataFrame({"cell": [8, 17], "contributor": ["f1", "f2"], "amount": [9, 11]})
    frame.to_csv(project.folder / "data" / "who.csv", index=False)
    who = {"insiders": "contributors", "contributors": "data/who.csv", "as_far_as_possible": True}
    run = protected(project, replace(SINGLE, values=who, certified=True))
    assert "PROTECTED" in run.text("verification.txt")


def test_certificates_are_checked(project: Project) -> None:
    made = protected(project, replace(SINGLE, certified=True))
    left = f"runs/{made.name}"
    asked = replace(of(f"{left}/table-internal.jj", result=f"{left}/certificate.json"), task=VERIFY)
    right = protected(project, asked)
    assert right.command["title"] == "Check of certificate.json about table-internal.jj"
    assert answer(right) == "PROVEN: the table is protected from outsiders, 4 of 4 levels are met"
    assert verdict(right) == "good"
    wrong = protected(project, replace(asked, tables=SINGLE.tables))
    assert re.fullmatch(
        r"REJECTED: the certificate is about other suppressed cells: "
        r"cell \d+ \(row=\d, column=\d\) is published here\. Nothing is proven",
        answer(wrong),
    )
    assert verdict(wrong) == "bad"


def test_what_is_proven_not_to_be_protected(project: Project) -> None:
    audited = protected(project, replace(SINGLE, task=AUDIT, certified=True))
    assert verdict(audited) == "bad"
    assert answer(audited).startswith("2 of 2 sensitive cells are NOT protected")
    assert len(audited.command["steps"]) == 2  # the second of which has nothing to check any more
    proof = f"runs/{audited.name}/certificate.json"
    asked = replace(SINGLE, task=VERIFY, values={"result": proof})
    assert answer(protected(project, asked)) == (
        "NOT PROTECTED: 0 of 4 levels are met, 4 missed, 0 undecided"
    )
    cells = project.folder / "data" / "cells.csv"
    cells.write_text(cells.read_text().replace("411", "412"))
    failed = executed(added(project, asked))
    assert failed.state is RunState.FAILED
    assert "data/cells.csv: relation 0" in answer(failed)


def test_an_audit_with_another_release(project: Project) -> None:
    hidden = protected(project, of(BY_SIZE))
    left = f"runs/{hidden.name}/table-internal.csv"
    alone = protected(project, replace(of(left), task=AUDIT))
    assert verdict(alone) == "good"
    assert alone.command["title"] == "Audit of table-internal.csv"
    both = protected(project, replace(of(left, also=[(BY_SIZE,)]), task=AUDIT))  # which shows all cells
    assert after(both.command["steps"][0], "--also") == [BY_SIZE]
    assert verdict(both) == "bad"
    assert both.command["inputs"] == {"cells": left, "cells of another release 1": BY_SIZE}


def test_a_result_of_another_version_is_said_not_to_be_readable() -> None:
    result = {"format": "linkrisk-suppressed-table", "protection": "suppression", "sensitive": 1}
    run = cast("Run", SimpleNamespace(result=result, command={"kind": "tables"}, state=RunState.DONE))
    assert answer(run).startswith("these results cannot be shown, they lack 'protected'")
    assert (grounds(run), verdict(run)) == ((), "")


# Refusals


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (TableAsked(), "choose a file of cells, or one of microdata"),
        (TableAsked(made={}), "choose a file of cells, or one of microdata"),
        (TableAsked(AUDIT), "choose a file of cells"),
        (TableAsked(VERIFY, values={"result": "p.json"}), "choose a file of cells"),
        (replace(of("c.csv"), task=VERIFY), "choose the certificate that is to be checked"),
        (
            replace(SINGLE, values={"insiders": "contributors"}),
            "who attacks knows what it contributed: choose",
        ),
        (
            replace(SINGLE, values={"coalitions": "c.csv"}),
            "who attacks knows what it contributed: choose the",
        ),
        (made_by(by=[]), "a table of microdata needs explanatory variables: choose one or more"),
        (made_by(rules=[]), "a table of microdata needs a rule, such as p=10: write at least one"),
        (made_by(rules=["p=ten"]), "'p=ten' is no rule; write p=10 "),
        (made_by(rules=["nk=2,175"]), "the rule (2, 175) is none: it needs "),
        (made_by(rules=["request=70"]), "the request rule needs a column: choose who asked for protection"),
        (made_by(request="asked"), "only the request rule looks at who asked for protection: write it, or"),
        (replace(MICRODATA, values={"cost": "given"}), "the cost of a cell is in a column: choose that of"),
        (TableAsked(tables=(("c.csv", ""), ("", "r.csv"))), "choose the file of cells of the table that"),
        (replace(of("c.csv", also=[("", "r.csv")]), task=AUDIT), "choose the file of cells of the release"),
        (
            TableAsked(tables=(("c.csv", ""), ("d.csv", ""), ("c.csv", ""))),
            "the file c.csv is chosen twice: choose another table to be linked, or none",
        ),
        (
            replace(of("c.csv", also=[("d.csv",)]), task=AUDIT, certified=True),
            "a certificate is about one table: leave the other releases out, or the certificate",
        ),
    ],
)
def test_what_cannot_be_is_said_before_a_run(project: Project, asked: TableAsked, message: str) -> None:
    with pytest.raises(LinkriskError, match="^" + re.escape(message)):
        add(Queue(project), asked)
    assert list((project.folder / "runs").iterdir()) == []


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            made_by(weights_in_rules="expanded"),
            "data/firms.csv: with holdings, weights cannot stand for more respondents, whose holdings nobody "
            "knows; choose the weighting sample or known",
        ),
        (
            of("data/firms.csv"),
            "data/firms.csv has no column 'value': say which one holds the values (--value COLUMN); there "
            "are: firm, group, region, size, turnover, weight, asked",
        ),
        (
            replace(SINGLE, task=VERIFY, values={"result": "data/county.csv"}),
            "data/county.csv is not valid JSON; give the file that `fit --json`, `report --certificate` or "
            "`tables audit --certificate` wrote",
        ),
        (
            replace(LINKED, house=(".tab",)),
            "runs/0001-tables/table-internal.tab: cells of ARGUS have codes, each variable in one tree, and "
            "no other relations; write .jj",
        ),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(project: Project, asked: TableAsked, message: str) -> None:
    run = executed(added(project, asked))
    assert run.state is RunState.FAILED
    assert (answer(run), run.result, verdict(run)) == (message, None, "")
    assert run.files() == ["output.txt"]


# Progress of searches for the least cost


@pytest.mark.parametrize(
    ("about", "work", "sentence"),
    [
        (None, "cost 80, at least 69", "Cost 80, at least 69, suppressing cells"),
        ("A", "A: repair: 7 levels left", "Against A: cost 80, at least 69, repair: 7 levels left"),
    ],
)
def test_what_a_search_says_of_its_cost(
    project: Project, about: str | None, work: str, sentence: str
) -> None:
    run = Queue(project).folder("tables")
    said = {"seconds": 1.0, "phase": "suppressing cells", "about": about, "linked": None, "work": work}
    lines = [{**said, "cost": None, "bound": 60.0}, {**said, "cost": 80.0, "bound": 69.0}]
    (run.folder / "progress.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    reader = ProgressReader(run)
    assert not reader.end({"cost": 69.0, "bound": 69.0})  # nothing was told yet that could end
    quick = ProgressReader(run)  # and of this nothing ever, so quickly it ended
    assert quick.end({"format": "linkrisk-suppressed-table", "cost": 69.0, "bound": 69.0})
    assert quick.courses[""].interval == "cost 69, proven least"
    reader.read()
    assert reader.sentence == sentence
    (course,) = reader.courses.values()
    assert course.points == [(0.0, 69.0, 80.0)]
    assert "costs 80, and none costs less than 69" in costs(course.points).description
    if about is None:
        assert reader.end({"cost": 69.0, "bound": 69.0, "seconds": 3.5})
        assert not reader.end({"cost": 69.0, "bound": 69.0})
        assert not reader.end(None)
        assert course.points[-1] == (2.5, 69.0, 69.0)
        assert course.interval == "cost 69, proven least"
