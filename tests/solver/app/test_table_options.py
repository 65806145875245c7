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
from app_projects import finished, opened
from linked_tables import write_linked_tables
from table_files import write_table_files

from linkrisk.solver.app.answers import answer, grounds, verdict
from linkrisk.solver.app.project import Project
from linkrisk.solver.app.run_folder import Run, State
from linkrisk.solver.app.run_queue import Queue
from linkrisk.solver.app.table_question import (
    AUDIT,
    LISTED,
    NOBODY,
    SINGLETONS,
    SUPPRESS,
    VERIFY,
    TableQuestion,
)
from linkrisk.solver.app.table_steps import add_table, table_steps, verifying
from linkrisk.solver.commands.program import build_parser, main
from linkrisk.solver.run.errors import UsageError

BY_SIZE, BY_AGE = "data/by_size.csv", "data/by_age.csv"
LINKED = TableQuestion(BY_SIZE, further=((BY_AGE, ""),))
SINGLE = TableQuestion("data/cells.csv", "data/relations.csv")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    data = tmp_path / "project" / "data"
    data.mkdir(parents=True)
    write_linked_tables(data)
    write_table_files(data)
    return opened(data.parent)


def over(project: Project, asked: TableQuestion) -> Run:
    queue = Queue(project)
    run = add_table(queue, asked)
    assert run.command["steps"] == table_steps(asked, f"runs/{run.name}")
    for step in run.command["steps"]:
        build_parser([step[0]]).parse_args(step)
    finished(queue, run)
    return run


def done(project: Project, asked: TableQuestion) -> Run:
    run = over(project, asked)
    assert run.state is State.DONE, run.text("log.txt")
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
    assert TableQuestion.again(run.command["asked"], project) == LINKED
    (project.folder / BY_AGE).unlink()
    assert TableQuestion.again(run.command["asked"], project) == TableQuestion(BY_SIZE)


def test_tables_with_relations_come_first_as_the_command_pairs_them() -> None:
    asked = TableQuestion("a.csv", further=(("b.csv", "b-relations.csv"), ("c.csv", "")), apriori="k.hst")
    (step,) = table_steps(replace(asked, hierarchies=(("region", "tree.csv"),)), "x")
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
    (step,) = table_steps(TableQuestion("a.jj", further=(("b.csv", ""),)), "x")
    assert step[2:5] == ["--table", "a.jj", "--cost"]


# Certificates


@pytest.mark.parametrize("asked", [LINKED, SINGLE])
def test_a_stranger_needs_two_files_and_one_line(
    project: Project, asked: TableQuestion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
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
    attacked = replace(SINGLE, insiders="contributors", contributors="data/who.csv", partly=True)
    run = done(project, replace(attacked, certified=True))
    assert "PROTECTED" in run.text("verification.txt")


def test_certificates_are_checked(project: Project) -> None:
    made = done(project, replace(SINGLE, certified=True))
    left = f"runs/{made.name}"
    asked = TableQuestion(f"{left}/table-internal.jj", task=VERIFY, proof=f"{left}/certificate.json")
    right = done(project, asked)
    assert right.command["title"] == "Check of certificate.json about table-internal.jj"
    assert answer(right) == "PROVEN: the table is protected from outsiders, 4 of 4 levels are met"
    assert verdict(right) == "good"
    assert TableQuestion.again(right.command["asked"], project) == asked
    wrong = done(project, replace(asked, cells="data/cells.csv", relations="data/relations.csv"))
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
    checked = done(project, replace(SINGLE, task=VERIFY, proof=proof))
    assert answer(checked) == "NOT PROTECTED: 0 of 4 levels are met, 4 missed, 0 undecided"
    cells.write_text(cells.read_text().replace("411", "412"))
    failed = over(project, replace(SINGLE, task=VERIFY, proof=proof))
    assert failed.state is State.FAILED
    assert "data/cells.csv: relation 0" in answer(failed)


def test_a_file_that_is_no_certificate(project: Project) -> None:
    (project.folder / "data" / "proof.json").write_text("[]")
    run = over(project, replace(SINGLE, task=VERIFY, proof="data/proof.json"))
    assert run.state is State.FAILED
    assert answer(run).startswith("data/proof.json ")
    assert run.result is None
    assert verdict(run) == ""


# Audits


def test_an_audit_with_another_release(project: Project) -> None:
    hidden = done(project, TableQuestion(BY_SIZE))
    left = f"runs/{hidden.name}/table-internal.csv"
    alone = done(project, TableQuestion(left, task=AUDIT))
    assert verdict(alone) == "good"
    assert alone.command["title"] == "Audit of table-internal.csv"
    asked = TableQuestion(left, task=AUDIT, also=((BY_SIZE, ""),))
    both = done(project, asked)  # which shows all cells
    assert after(both.command["steps"][0], "--also") == [BY_SIZE]
    assert verdict(both) == "bad"
    assert both.command["inputs"] == {"cells": left, "cells of another release 1": BY_SIZE}
    assert TableQuestion.again(both.command["asked"], project) == asked


def test_options_of_an_audit() -> None:
    asked = TableQuestion(
        "c.csv", task=AUDIT, also=(("d.csv", "r.csv"),), workers=2, audit_seconds=9.0, made="rules.json"
    )
    (step,) = table_steps(asked, "x")
    assert after(step, "--also") == ["d.csv,r.csv"]
    assert (after(step, "--workers"), after(step, "--time-limit")) == (["2"], ["9"])
    assert after(step, "--made") == ["rules.json"]
    assert not {"--method", "--cost", "--seed", "--backend"} & set(step)
    assert "--time-limit" not in table_steps(replace(asked, audit_seconds=0.0), "x")[0]


# Searches and files


def test_another_backend_no_limit_and_other_formats(project: Project) -> None:
    asked = replace(SINGLE, backend="highs", seconds=0.0, published=".xlsx", house=(".jj", ".sbs"))
    run = done(project, asked)
    (step,) = run.command["steps"]
    assert (after(step, "--backend"), after(step, "--time-limit")) == (["highs"], ["none"])
    assert run.result["backend"] == "highs"
    assert {"table-published.xlsx", "table-internal.jj", "table-internal.sbs"} < set(run.files())
    assert "--backend" not in table_steps(replace(asked, method="modular"), "x")[0]
    assert TableQuestion.again(run.command["asked"], project) == asked


def test_a_format_that_cannot_hold_a_table_is_refused_before_the_search(project: Project) -> None:
    run = over(project, replace(LINKED, house=(".tab",)))
    assert run.state is State.FAILED
    assert answer(run) == (
        f"runs/{run.name}/table-internal.tab: cells of ARGUS have codes, each variable in one tree, and no "
        "other relations; write .jj"
    )
    assert run.files() == ["output.txt"]


def test_rules_of_a_ready_table() -> None:
    asked = replace(SINGLE, made="data/rules.json")
    assert after(table_steps(asked, "x")[0], "--made") == ["data/rules.json"]
    assert asked.inputs["rules"] == "data/rules.json"


def test_no_option_is_left_without_the_one_that_it_belongs_to() -> None:
    """Whatever stays of what was chosen before, such as a level of statuses whose file is taken back."""
    chosen = itertools.product(
        (TableQuestion("c.csv"), TableQuestion(microdata="m.csv", by=("a",))),
        ({}, {"weight": "w"}),
        ({}, {"manual": "s.csv"}),
        (
            {},
            {"insiders": NOBODY},
            {"insiders": SINGLETONS},
            {"insiders": LISTED, "listed": "i.csv"},
            {"coalitions": "t.csv"},
        ),
        (SUPPRESS, AUDIT),
    )
    left = {"weights_in_rules": "sample", "manual_range": 5.0, "respondent": "r", "partly": True}
    for asked, *given, task in chosen:
        known = {name: value for one in given for name, value in one.items()}
        steps = table_steps(replace(asked, **left, contributors="who.csv", **known, task=task), "x")
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
        (TableQuestion(task=AUDIT), "choose a file of cells"),
        (TableQuestion("c.csv", task=VERIFY), "choose the certificate that is to be checked"),
        (TableQuestion(task=VERIFY, proof="p.json"), "choose a file of cells"),
        (
            TableQuestion("c.csv", further=(("", "r.csv"),)),
            "choose the file of cells of the table that r.csv belongs to",
        ),
        (
            TableQuestion("c.csv", task=AUDIT, also=(("", "r.csv"),)),
            "choose the file of cells of the release that r.csv belongs to",
        ),
        (
            TableQuestion("c.csv", further=(("d.csv", ""), ("c.csv", ""))),
            "the file c.csv is chosen twice: choose another table to be linked, or none",
        ),
        (
            TableQuestion("c.csv", task=AUDIT, also=(("d.csv", ""),), certified=True),
            "a certificate is about one table: leave the other releases out, or the certificate",
        ),
    ],
)
def test_what_is_missing_is_said(project: Project, asked: TableQuestion, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        add_table(Queue(project), asked)
    assert list((project.folder / "runs").iterdir()) == []


# Counts, and numbers of respondents beside sums


def test_whether_values_count_is_passed_on() -> None:
    step = table_steps(replace(SINGLE, counts="no"), "runs/1")[0]
    assert after(step, "--counts") == ["no"]
    assert "--counts" not in table_steps(SINGLE, "runs/1")[0]


def test_numbers_of_respondents_are_published_protected_and_proven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [(region, size, 10.0 + at) for at, (region, size) in enumerate(itertools.product("NSW", "ab"))]
    data = pd.DataFrame([lines[0], *(3 * lines[1:])], columns=["region", "size", "turnover"])
    data.to_csv("firms.csv", index=False)
    asked = TableQuestion(
        microdata="firms.csv",
        by=("region", "size"),
        response="turnover",
        rules=("frequency=2",),
        publish_respondents=True,
        certified=True,
    )
    steps = table_steps(asked, ".")
    assert "--publish-respondents" in steps[0]
    assert [main(step) for step in steps] == [0, 0, 0]
    assert "proven      PROTECTED" in capsys.readouterr().out
    assert "respondents" in pd.read_csv("table-published.csv").columns
    assert after(steps[-1], "--cells") == ["./table-internal.csv"]
    assert "--publish-respondents" not in table_steps(replace(asked, response=""), ".")[0]
    result = json.loads(Path("result.json").read_text(encoding="utf-8"))
    run = SimpleNamespace(result=result, command={"kind": "tables"})
    assert "Numbers of respondents are published beside the values, in the same cells." in grounds(
        cast("Run", run)
    )
