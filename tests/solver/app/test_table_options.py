"""Linked ready tables, certificates, audits and backends in the application: commands, runs, refusals."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest
from application import finished, opened
from small_tables import write_linked_tables, write_table_files

from linkrisk.solver.app.answers import answer, grounds, verdict
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
from linkrisk.solver.commands.program import build_parser, main
from linkrisk.solver.run.errors import UsageError

BY_SIZE, BY_AGE = "data/by_size.csv", "data/by_age.csv"
LINKED = TableAsked(tables=((BY_SIZE, ""), (BY_AGE, "")))
SINGLE = TableAsked(tables=(("data/cells.csv", "data/relations.csv"),))


def of(cells: str, **values: Any) -> TableAsked:
    """A question about one table whose relations follow from codes."""
    return TableAsked(tables=((cells, ""),), values=values)


def argv(asked: TableAsked, folder: str = "x") -> list[list[str]]:
    return [step.argv for step in asked.steps(folder)]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    data = tmp_path / "project" / "data"
    data.mkdir(parents=True)
    write_linked_tables(data)
    write_table_files(data)
    return opened(data.parent)


def over(project: Project, asked: TableAsked) -> Run:
    queue = Queue(project)
    (run,) = add(queue, asked)
    assert run.command["steps"] == argv(asked, f"runs/{run.name}")
    for step in run.command["steps"]:
        build_parser([step[0]]).parse_args(step)
    finished(queue, run)
    return run


def done(project: Project, asked: TableAsked) -> Run:
    run = over(project, asked)
    assert run.state is RunState.DONE, run.text("log.txt")
    return run


def after(step: list[str], option: str) -> list[str]:
    """What stands after an option, each time that it is given."""
    return [step[at + 1] for at, word in enumerate(step) if word == option]


# Linked ready tables


def test_ready_tables_are_protected_together(project: Project) -> None:
    run = done(project, LINKED)
    assert after(run.command["steps"][0], "--cells") == [BY_SIZE, BY_AGE]
    assert run.command["title"] == "Table of by_size.csv and by_age.csv"
    assert run.command["inputs"] == {"cells": BY_SIZE, "cells of table 2": BY_AGE}
    assert (run.result["cells"], run.result["sensitive"], run.result["protected"]) == (15, 2, True)
    assert verdict(run) == "good"
    assert "Protection of by_size.csv and by_age.csv" in run.text("report.html", 10**7)
    assert asked_before(run) == LINKED
    (project.folder / BY_AGE).unlink()
    assert asked_before(run) == of(BY_SIZE)


def test_tables_with_relations_come_first_as_the_command_pairs_them() -> None:
    tables = (("a.csv", ""), ("b.csv", "b-relations.csv"), ("c.csv", ""))
    asked = TableAsked(tables=tables, values={"apriori": "k.hst"})
    (step,) = argv(replace(asked, values={**asked.values, "hierarchies": {"region": ["tree.csv"]}}))
    assert after(step, "--cells") == ["b.csv", "a.csv", "c.csv"]
    assert after(step, "--relations") == ["b-relations.csv"]
    assert after(step, "--hierarchy") == ["region=tree.csv"]  # as relations of two of them follow from codes
    assert "--apriori" not in step
    assert asked.inputs == {
        "cells": "a.csv",
        "cells of table 2": "b.csv",
        "relations of table 2": "b-relations.csv",
        "cells of table 3": "c.csv",
    }


def test_a_file_that_says_itself_what_it_is_stands_alone() -> None:
    (step,) = argv(TableAsked(tables=(("a.jj", ""), ("b.csv", ""))))
    assert step[2:5] == ["--table", "a.jj", "--output"]


# Certificates


@pytest.mark.parametrize("asked", [LINKED, SINGLE])
def test_a_stranger_needs_two_files_and_one_line(
    project: Project, asked: TableAsked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    run = done(project, replace(asked, certified=True))
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
    who = pd.DataFrame({"cell": [8, 17], "contributor": ["f1", "f2"], "amount": [9, 11]})
    who.to_csv(project.folder / "data" / "who.csv", index=False)
    who = {"insiders": "contributors", "contributors": "data/who.csv", "as_far_as_possible": True}
    attacked = replace(SINGLE, values=who)
    run = done(project, replace(attacked, certified=True))
    assert "PROTECTED" in run.text("verification.txt")


def test_certificates_are_checked(project: Project) -> None:
    made = done(project, replace(SINGLE, certified=True))
    left = f"runs/{made.name}"
    asked = replace(of(f"{left}/table-internal.jj", result=f"{left}/certificate.json"), task=VERIFY)
    right = done(project, asked)
    assert right.command["title"] == "Check of certificate.json about table-internal.jj"
    assert answer(right) == "PROVEN: the table is protected from outsiders, 4 of 4 levels are met"
    assert verdict(right) == "good"
    assert asked_before(right) == asked
    wrong = done(project, replace(asked, tables=SINGLE.tables))
    assert re.fullmatch(
        r"REJECTED: the certificate is about other suppressed cells: "
        r"cell \d+ \(row=\d, column=\d\) is published here\. Nothing is proven",
        answer(wrong),
    )
    assert verdict(wrong) == "bad"


def test_what_is_proven_not_to_be_protected(project: Project) -> None:
    cells = project.folder / "data" / "cells.csv"
    audited = done(project, replace(SINGLE, task=AUDIT, certified=True))
    assert verdict(audited) == "bad"
    assert answer(audited).startswith("2 of 2 sensitive cells are NOT protected")
    assert len(audited.command["steps"]) == 2  # the second of which has nothing to check any more
    proof = f"runs/{audited.name}/certificate.json"
    checked = done(project, replace(SINGLE, task=VERIFY, values={"result": proof}))
    assert answer(checked) == "NOT PROTECTED: 0 of 4 levels are met, 4 missed, 0 undecided"
    cells.write_text(cells.read_text().replace("411", "412"))
    failed = over(project, replace(SINGLE, task=VERIFY, values={"result": proof}))
    assert failed.state is RunState.FAILED
    assert "data/cells.csv: relation 0" in answer(failed)


def test_a_file_that_is_no_certificate(project: Project) -> None:
    (project.folder / "data" / "proof.json").write_text("[]")
    run = over(project, replace(SINGLE, task=VERIFY, values={"result": "data/proof.json"}))
    assert run.state is RunState.FAILED
    assert answer(run).startswith("data/proof.json ")
    assert run.result is None
    assert verdict(run) == ""


def test_a_result_of_another_version_is_said_not_to_be_readable() -> None:
    result = {"format": "linkrisk-suppressed-table", "protection": "suppression", "sensitive": 1}
    run = cast("Run", SimpleNamespace(result=result, command={"kind": "tables"}, state=RunState.DONE))
    assert answer(run).startswith("these results cannot be shown, they lack 'protected'")
    assert (grounds(run), verdict(run)) == ((), "")


# Audits


def test_an_audit_with_another_release(project: Project) -> None:
    hidden = done(project, of(BY_SIZE))
    left = f"runs/{hidden.name}/table-internal.csv"
    alone = done(project, replace(of(left), task=AUDIT))
    assert verdict(alone) == "good"
    assert alone.command["title"] == "Audit of table-internal.csv"
    asked = replace(of(left, also=[(BY_SIZE,)]), task=AUDIT)
    both = done(project, asked)  # which shows all cells
    assert after(both.command["steps"][0], "--also") == [BY_SIZE]
    assert verdict(both) == "bad"
    assert both.command["inputs"] == {"cells": left, "cells of another release 1": BY_SIZE}
    assert asked_before(both) == asked


def test_options_of_an_audit() -> None:
    options = {"also": [("d.csv", "r.csv")], "workers": 2, "time_limit": 9.0, "made": "rules.json"}
    asked = replace(of("c.csv", **options), task=AUDIT)
    (step,) = argv(asked)
    assert after(step, "--also") == ["d.csv,r.csv"]
    assert (after(step, "--workers"), after(step, "--time-limit")) == (["2"], ["9"])
    assert after(step, "--made") == ["rules.json"]
    assert not {"--method", "--cost", "--seed", "--backend"} & set(step)
    assert "--time-limit" not in argv(replace(asked, values={**options, "time_limit": None}))[0]


# Searches and files


def test_another_backend_no_limit_and_other_formats(project: Project) -> None:
    search = {"backend": "highs", "time_limit": None}
    asked = replace(SINGLE, values=search, published=".xlsx", house=(".jj", ".sbs"))
    run = done(project, asked)
    (step,) = run.command["steps"]
    assert (after(step, "--backend"), after(step, "--time-limit")) == (["highs"], ["none"])
    assert run.result["backend"] == "highs"
    assert {"table-published.xlsx", "table-internal.jj", "table-internal.sbs"} < set(run.files())
    assert "--backend" not in argv(replace(asked, values={**search, "method": "modular"}))[0]
    assert asked_before(run) == asked


def test_a_format_that_cannot_hold_a_table_is_refused_before_the_search(project: Project) -> None:
    run = over(project, replace(LINKED, house=(".tab",)))
    assert run.state is RunState.FAILED
    assert answer(run) == (
        f"runs/{run.name}/table-internal.tab: cells of ARGUS have codes, each variable in one tree, and no "
        "other relations; write .jj"
    )
    assert run.files() == ["output.txt"]


def test_rules_of_a_ready_table() -> None:
    asked = replace(SINGLE, values={"made": "data/rules.json"})
    assert after(argv(asked)[0], "--made") == ["data/rules.json"]
    assert asked.inputs["rules"] == "data/rules.json"


def test_no_option_is_left_without_the_one_that_it_belongs_to() -> None:
    """Whatever stays of what was chosen before, such as a level of statuses whose file is taken back."""
    chosen = itertools.product(
        (of("c.csv"), TableAsked(made={"data": "m.csv", "by": [["a"]]})),
        ({}, {"weight": "w"}),
        ({}, {"manual": "s.csv"}),
        (
            {},
            {"insiders": NOBODY},
            {"insiders": SINGLETONS},
            {"insiders": "i.csv"},
            {"coalitions": "t.csv"},
        ),
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


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (TableAsked(AUDIT), "choose a file of cells"),
        (replace(of("c.csv"), task=VERIFY), "choose the certificate that is to be checked"),
        (TableAsked(VERIFY, values={"result": "p.json"}), "choose a file of cells"),
        (
            TableAsked(tables=(("c.csv", ""), ("", "r.csv"))),
            "choose the file of cells of the table that r.csv belongs to",
        ),
        (
            replace(of("c.csv", also=[("", "r.csv")]), task=AUDIT),
            "choose the file of cells of the release that r.csv belongs to",
        ),
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
def test_what_is_missing_is_said(project: Project, asked: TableAsked, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        add(Queue(project), asked)
    assert list((project.folder / "runs").iterdir()) == []


# Counts, and numbers of respondents beside sums


def test_whether_values_count_is_passed_on() -> None:
    (step,) = argv(replace(SINGLE, values={"counts": False}))
    assert after(step, "--counts") == ["no"]
    assert "--counts" not in argv(SINGLE)[0]


def test_numbers_of_respondents_are_published_protected_and_proven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [(region, size, 10.0 + at) for at, (region, size) in enumerate(itertools.product("NSW", "ab"))]
    data = pd.DataFrame([lines[0], *(3 * lines[1:])], columns=["region", "size", "turnover"])
    data.to_csv("firms.csv", index=False)
    made = {"data": "firms.csv", "by": [["region", "size"]], "rules": ["frequency=2"]}
    made |= {"publish_respondents": True}
    asked = TableAsked(made={**made, "response": "turnover"}, certified=True)
    steps = argv(asked, ".")
    assert "--publish-respondents" in steps[0]
    assert [main(step) for step in steps] == [0, 0, 0]
    assert "proven      PROTECTED" in capsys.readouterr().out
    assert "respondents" in pd.read_csv("table-published.csv").columns
    assert after(steps[-1], "--cells") == ["./table-internal.csv"]
    assert "--publish-respondents" not in argv(replace(asked, made=made))[0]
    result = json.loads(Path("result.json").read_text(encoding="utf-8"))
    run = SimpleNamespace(result=result, command={"kind": "tables"})
    assert "Numbers of respondents are published beside the values, in the same cells." in grounds(
        cast("Run", run)
    )
