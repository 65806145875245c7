"""What a table is made of or read from in the application: commands, runs, and what is wrong with it."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from application import finished, opened

from linkrisk import make_table
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.datasets.tables.writing import internal_files
from linkrisk.errors import LinkriskError
from linkrisk.solver.app.answers import answer
from linkrisk.solver.app.project import Project
from linkrisk.solver.app.runs import Queue, Run, RunState
from linkrisk.solver.app.table_steps import TableAsked, add, asked_before
from linkrisk.solver.commands.program import build_parser
from linkrisk.solver.commands.tables import read_table
from linkrisk.solver.options.command_line import asked_of
from linkrisk.solver.options.table_protection import SuppressCommand
from linkrisk.solver.tables.operations.make import MadeTable

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
    """The table of the microdata, made otherwise."""
    return TableAsked(made={**FIRMS, **changes})


def of(cells: str, **values: Any) -> TableAsked:
    """A question about a ready table whose relations follow from codes."""
    return TableAsked(tables=((cells, ""),), values=values)


def argv(asked: TableAsked) -> list[list[str]]:
    return [step.argv for step in asked.steps("x")]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    data = tmp_path / "data"
    data.mkdir()
    lines = [
        f"f{at},g{at // 2},{REGIONS[at % 6]},{'ab'[at % 5 % 2]},{10 + 7 * at},{1 + at % 3},{at % 4 == 0:d}"
        for at in range(40)
    ]
    head = "firm,group,region,size,turnover,weight,asked"
    (data / "firms.csv").write_text("\n".join([head, *lines]) + "\n")
    (data / "county.csv").write_text(COUNTY)
    (data / "zone.csv").write_text(ZONE)
    return opened(tmp_path)


def by_region_and_size(data: Path, *hierarchies: str, **settings: Any) -> MadeTable:
    """The table of the microdata, with hierarchies of regions."""
    return make_table(
        data / "firms.csv",
        ["region", "size"],
        response="turnover",
        rules=["frequency=3"],
        hierarchies={"region": [data / name for name in hierarchies]},
        **settings,
    )


def ready(project: Project, name: str) -> str:
    """A ready table of the microdata in a file of some kind, by name."""
    data = project.folder / "data"
    made = by_region_and_size(data, "county.csv")
    if name.endswith((".jj", ".tab")):
        write_all(internal_files(made.stored(), data / name))
    elif name.endswith(".parquet"):
        made.cells.to_parquet(data / name)
    else:
        made.cells.to_csv(data / name, index=False)
    return f"data/{name}"


def over(project: Project, asked: TableAsked) -> Run:
    queue = Queue(project)
    (run,) = add(queue, asked)
    finished(queue, run)
    return run


def parsed(asked: TableAsked) -> argparse.Namespace:
    """The arguments of the last command of a question."""
    *_, step = argv(asked)
    return build_parser([step[0]]).parse_args(step)


def test_weights_holdings_and_two_hierarchies_of_one_variable(project: Project) -> None:
    run = over(project, MICRODATA)
    assert run.state is RunState.DONE, run.text("log.txt")
    assert run.result["protected"]
    assert run.result["rules"] == ["frequency=3"]
    cells = pd.read_csv(run.folder / "table-cells.csv")
    made = by_region_and_size(
        project.folder / "data",
        *("county.csv", "zone.csv"),
        weight="weight",
        weights_in_rules="sample",
        holding="group",
    )
    assert {"N", "S", "coast", "inland", *REGIONS} < set(cells["region"])
    assert cells["value"].tolist() == made.cells["value"].tolist()
    assert cells["status"].tolist() == made.cells["status"].tolist()
    assert asked_before(run) == MICRODATA
    assert run.command["inputs"] == {
        "microdata": "data/firms.csv",
        "hierarchy region": "data/county.csv",
        "hierarchy region, 2": "data/zone.csv",
    }


def test_linked_tables_of_the_same_microdata(project: Project) -> None:
    asked = replace(made_by(by=[["region"], ["size"], ["region", "size"]]), values={"exact": True})
    run = over(project, asked)
    assert run.state is RunState.DONE, run.text("log.txt")
    made, suppressed = run.command["steps"]
    assert [made[at + 1] for at, word in enumerate(made) if word == "--by"] == [
        "region",
        "size",
        "region,size",
    ]
    assert "--exact" in suppressed
    assert run.result["cells"] == 11 * 3
    assert asked_before(run) == asked


@pytest.mark.parametrize("name", ["ready.jj", "ready.tab", "ready.csv", "ready.parquet"])
def test_a_ready_table_of_any_kind(project: Project, name: str) -> None:
    asked = of(ready(project, name))
    if not asked.whole:
        asked = replace(asked, values={"hierarchies": {"region": ["data/county.csv"]}})
    run = over(project, asked)
    assert run.state is RunState.DONE, run.text("log.txt")
    assert run.result["protected"]
    assert run.result["cells"] == 9 * 3
    assert asked_before(run) == asked


def test_two_hierarchies_of_a_ready_table(project: Project) -> None:
    made = make_table(
        project.folder / "data" / "firms.csv",
        ["region", "size"],
        rules=["frequency=3"],
        hierarchies={"region": [project.folder / "data" / f"{one}.csv" for one in ("county", "zone")]},
    )
    made.cells.rename(columns={"value": "firms"}).to_csv(project.folder / "data" / "counts.csv", index=False)
    asked = of("data/counts.csv", hierarchies=TREES, by=["region", "size"], value="firms")
    run = over(project, asked)
    assert run.state is RunState.DONE, run.text("log.txt")
    assert run.result["relations"] == int(made.relations["relation"].max()) + 1


def test_a_total_of_another_name_totals_made_again_and_what_is_known(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = project.folder / "data"
    (data / "small.csv").write_text("region,value,status,upper_protection\nall,7,s,\na,2,u,1\nb,4,s,\n")
    (data / "known.hst").write_text("b;p\n")
    asked = of("data/small.csv", totals={"region": "all"}, apriori="data/known.hst", recompute=True)
    monkeypatch.chdir(project.folder)
    table = read_table(asked_of(SuppressCommand, parsed(asked)))
    assert table.numbers["value"].tolist() == [6, 2, 4]
    assert table.status.tolist() == ["s", "u", "z"]


def test_every_option_of_microdata_is_an_option_of_the_command() -> None:
    asked = made_by(
        by=[["region", "size, in words"]],
        rules=["p=10", "request=70"],
        request="asked",
        shadow="staff",
        cost_column="weight",
        negative=True,
        protection="sliding",
        empty="suppressible",
        missing="leave-out",
        manual="data/hand.csv",
        manual_range=12.5,
    )
    asked = replace(asked, values={"cost": "given"})
    asked.check()
    made, suppressed = argv(asked)
    known = vars(build_parser([made[0]]).parse_args(made))
    assert known["by"] == ['region,"size, in words"']
    assert (known["weight"], known["weights_in_rules"], known["holding"]) == ("weight", "sample", "group")
    assert (known["shadow"], known["cost_column"], known["request"]) == ("staff", "weight", "asked")
    assert (known["protection"], known["empty"], known["negative"]) == ("sliding", "suppressible", True)
    assert known["missing"] == "leave-out"
    assert (known["manual"], known["manual_range"]) == ("data/hand.csv", "12.5")
    assert suppressed[suppressed.index("--made") + 1] == known["record"]
    usual = argv(TableAsked(made={"data": "m.csv", "by": [["a"]], "rules": ["p=10"]}))[0]
    assert {one for one in usual if one.startswith("--")} == {
        *("--input", "--by", "--rule", "--cells", "--relations", "--record")
    }


def test_what_does_not_matter_is_left_out() -> None:
    asked = TableAsked(made={name: value for name, value in FIRMS.items() if name != "weight"})
    asked = replace(asked, made={**(asked.made or {}), "manual_range": 5.0})
    assert not {"--weights-in-rules", "--manual-range"} & set(argv(asked)[0])
    values = {"hierarchies": {"region": ["t.csv"]}, "totals": {"region": "all"}}
    ready_one = TableAsked(tables=(("t.jj", "relations.csv"),), values=values)
    assert argv(ready_one)[0][2:4] == ["--table", "t.jj"]
    assert not {"--relations", "--hierarchy", "--total"} & set(argv(ready_one)[0])
    assert ready_one.inputs == {"cells": "t.jj"}
    assert of("T.JJ").whole
    described = of("t.csv", metadata="t.rda")
    assert argv(described)[0][2:6] == ["--table", "t.csv", "--metadata", "t.rda"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (made_by(rules=["p=ten"]), r"'p=ten' is no rule; write p=10 .*"),
        (made_by(rules=["nk=2,175"]), r"the rule \(2, 175\) is none: it needs .*"),
        (
            made_by(rules=["request=70"]),
            "the request rule needs a column: choose who asked for protection",
        ),
        (
            made_by(request="asked"),
            "only the request rule looks at who asked for protection: write it, or choose none",
        ),
        (
            replace(MICRODATA, values={"cost": "given"}),
            "the cost of a cell is in a column: choose that of the microdata, or another cost",
        ),
    ],
)
def test_what_cannot_be_is_said_before_a_run(project: Project, asked: TableAsked, message: str) -> None:
    with pytest.raises(LinkriskError, match=f"^{message}$"):
        add(Queue(project), asked)
    assert list((project.folder / "runs").iterdir()) == []


@pytest.mark.parametrize(
    ("asked", "wrong", "message"),
    [
        (
            MICRODATA,
            ("firms.csv", "f3,g1,R3,b,31,1,0", "f3,g1,R3,b,31,-2,0"),
            "data/firms.csv, column 'weight', row 4: a weight is negative; correct it, or leave the "
            "record out",
        ),
        (
            made_by(response="group"),
            None,
            "data/firms.csv, column 'group', row 1: 'g0' is not a number; fix it",
        ),
        (
            made_by(weights_in_rules="expanded"),
            None,
            "data/firms.csv: with holdings, weights cannot stand for more respondents, whose holdings nobody "
            "knows; choose the weighting sample or known",
        ),
        (
            made_by(hierarchies={"region": ["data/county.csv"]}),
            ("county.csv", "R5,S\n", ""),
            "data/firms.csv, column 'region', row 6: 'R5' is no code of its tree; correct it, or the tree",
        ),
        (
            MICRODATA,
            ("zone.csv", "R5,inland\n", ""),
            "hierarchy 2 of 'region' lacks the code 'R5', which another one has; add it there, since all "
            "sum to the same total",
        ),
        (
            of("data/firms.csv", by=["region", "size"], value="turnover"),
            None,
            "data/firms.csv, column 'region': no cell has the code 'Total' of the total; say which code "
            "is the total of 'region' (--total region=CODE)",
        ),
        (
            of("data/firms.csv"),
            None,
            "data/firms.csv has no column 'value': say which one holds the values (--value COLUMN); there "
            "are: firm, group, region, size, turnover, weight, asked",
        ),
        (of("data/bad.jj"), None, "data/bad.jj, line 1: a JJ file begins with a line 0"),
        (
            of("data/bad.tab"),
            None,
            "data/bad.tab: its metadata is missing; give bad.rda, or name it",
        ),
        (
            of("data/off.csv"),
            None,
            "data/off.csv: relation 0 (region: Total = a + b) does not add up: its terms sum to -1; give all "
            "hierarchies, or recompute totals if these are wrong",
        ),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    project: Project, asked: TableAsked, wrong: tuple[str, str, str] | None, message: str
) -> None:
    data = project.folder / "data"
    (data / "bad.jj").write_text("region,value\n")
    (data / "bad.tab").write_text('"Total";1\n')
    (data / "off.csv").write_text("region,value\nTotal,7\na,2\nb,4\n")
    if wrong is not None:
        name, before, after = wrong
        text = (data / name).read_text()
        assert before in text
        (data / name).write_text(text.replace(before, after))
    run = over(project, asked)
    assert run.state is RunState.FAILED
    assert re.fullmatch(re.escape(message), answer(run)), answer(run)
    assert run.files() == ["output.txt"]
