"""`python -m solver sweep`: what is printed and written, plans, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import check_refusals, run

pytestmark = pytest.mark.usefixtures("survey_folder")

SWEEP = [
    *("sweep", "--original", "original.csv", "--method", "noise percent=60..80:20", "--workers", "1"),
    *("--aggregator", "owa", "--measures", "information-loss", "--time-limit", "none"),
]

PRINTED = r"""original\.csv: 30 records; 3 maskings

2 of 3 maskings were measured; \d of these (is|are) not dominated: no other one has
both less risk and less loss\.

  Worst case  At most  Held-out  Loss, IL1s  Seconds  Place +Masking
      [\d.]+ %   [\d.]+ %         -  +0\.\d+ +[\d.]+  [a-z ]+  noise percent=60
      [\d.]+ %   [\d.]+ %         -  +0\.\d+ +[\d.]+  [a-z ]+  noise percent=80

  Not measured
    microaggregation k=40  .*30.*

seed 0, 1 worker, \d+\.\d s
"""


def test_the_map(capsys):
    printed = run(
        capsys, *SWEEP, "--method", "microaggregation k=40", "--table", "map.csv", "--json", "map.json"
    )
    assert re.fullmatch(rf"{PRINTED}wrote map\.json\nwrote map\.csv\n", printed), printed
    table, content = pd.read_csv("map.csv"), json.loads(Path("map.json").read_text(encoding="utf-8"))
    assert table["masking"].tolist() == [each["masking"] for each in content["runs"]]
    assert table["pareto"].tolist()[:2] == [each["pareto"] for each in content["runs"]][:2]
    assert content["command"].startswith("python -m solver sweep --original original.csv")
    assert len(list(Path("map.runs").glob("*.json"))) == 3
    again = run(capsys, *SWEEP, "--method", "microaggregation k=40", "--table", "map.csv")
    assert again.startswith("original.csv: 30 records; 3 maskings, 3 of them measured before\n")


def test_identical_records_are_spoken_of(capsys):
    """A worst case of 0 % by ties alone is not to be misread."""
    groups = [*SWEEP, "--method", "microaggregation k=3"]
    about = (
        r"note: after microaggregation k=3, (\d+) records are nearest to several identical records, and so "
    )
    assert int(re.search(about, run(capsys, *groups, "--ties", "strict"))[1]) > 0
    assert re.search(about, run(capsys, *groups)) is None, "guessing among them is counted"
    more = run(capsys, *groups, "--method", "microaggregation k=5", "--ties", "strict")
    assert re.search(r"note: after 2 maskings, up to \d+ records are nearest to several", more)


def test_without_an_output_nothing_is_kept(capsys):
    run(capsys, *SWEEP)
    assert [path for path in Path().iterdir() if path.is_dir()] == []


def test_a_plan_and_what_the_command_line_says_otherwise(capsys):
    plan = """
        [sweep]
        original = "nowhere.csv"
        attributes = ["age", "income"]
        aggregator = "owa"
        measures = ["information-loss"]
        workers = 1
        work-limit = 0.5
        seed = 3
        json = "map.json"

        [[masking]]
        name = "both"
        methods = ["rank-swapping percent=10,20 attributes=age", "noise percent=60 attributes=income"]
    """
    Path("plan.toml").write_text(plan, encoding="utf-8")
    argv = ["sweep", "--plan", "plan.toml", "--original", "original.csv", "--method", "noise percent=60"]
    run(capsys, *argv)
    content = json.loads(Path("map.json").read_text(encoding="utf-8"))
    assert [each["name"] for each in content["runs"]] == ["both", "both", "noise"]
    assert (content["seed"], content["work_limit"], content["time_limit"]) == (3, 0.5, None)
    assert (content["families"], content["attributes"]) == (["owa"], ["age", "income"])
    assert content["measures"] == ["worst-case", "information-loss"]


def test_methods_go_by_the_hierarchies_of_the_schema_in_plans_and_out_of_them(capsys):
    """And the verdict is beside the share that is tolerated."""
    rows = [f"{code},{code * 7 % 31 + row % 5}" for row in range(10) for code in (1, 2, 3, 4)]
    Path("codes.csv").write_text("\n".join(["code,v", *rows]), encoding="utf-8")
    Path("tree.csv").write_text("code,l1\n1,low\n2,low\n3,high\n4,high\n", encoding="utf-8")
    column = '[[attributes]]\nname = "code"\nscale = "nominal"\nrole = "key"\nhierarchy = "tree.csv"\n'
    Path("codes.toml").write_text(column, encoding="utf-8")
    options = 'original = "codes.csv"\nworkers = 1\nwork-limit = 0.1\naggregator = "owa"\njson = "map.json"\n'
    method = "global-recoding level=1"
    plan = f'[sweep]\n{options}measures = "worst-case"\ntolerated = 0.3\n[[masking]]\nmethod = "{method}"\n'
    Path("plan.toml").write_text(plan, encoding="utf-8")
    Path("own.toml").write_text(plan.replace("[sweep]", '[sweep]\nschema = "codes.toml"'), encoding="utf-8")
    ways = (["--plan", "plan.toml", "--schema", "codes.toml"], ["--plan", "own.toml"])
    for way in (*ways, [*ways[0], "--method", method]):
        run(capsys, "sweep", *way)
        (only,) = json.loads(Path("map.json").read_text(encoding="utf-8"))["runs"]
        assert (only["masking"], only["status"]) == (method, "done")
        assert only["verdict"]["tolerated"] == 0.3


def test_a_sweep_that_is_stopped_says_so(capsys, monkeypatch):
    from linkrisk.solver.risk_utility import sweep as operation
    from linkrisk.solver.run.interruption import Cancel

    real = operation.sweep

    def stopped(*given, **options):
        cancel = Cancel()

        def stop(progress):
            if "1 of" in progress.work:
                cancel.cancel()

        return real(*given, **{**options, "cancel": cancel, "on_progress": stop})

    monkeypatch.setattr(operation, "sweep", stopped)
    printed = run(capsys, *SWEEP, "--table", "map.csv")
    assert "note: stopped: 1 of 2 maskings are not measured; the same command goes on\n" in printed
    assert len(pd.read_csv("map.csv")) == 1
    printed = run(capsys, *SWEEP)
    assert "measured; give --folder, and the next sweep could go on\n" in printed
    monkeypatch.setattr(operation, "sweep", real)
    assert "2 maskings, 1 of them measured before\n" in run(capsys, *SWEEP, "--table", "map.csv")


def test_what_is_not_on_the_map_is_said(capsys):
    printed = run(capsys, *SWEEP, "--loss", "hellinger")
    assert "note: 2 without hellinger are not on the map; --loss takes another one\n" in printed


def test_what_is_refused(capsys):
    def asked():
        yield ["sweep", "--method", "noise percent=5"]
        yield [*SWEEP, "--table", "map.doc"]
        for line in ("drop-constant = 'yes'", "seed = true", "plan = 'other.toml'"):
            Path("plan.toml").write_text(f"[sweep]\n{line}\n", encoding="utf-8")
            yield line, [*SWEEP, "--plan", "plan.toml"]

    check_refusals(capsys, "sweep", asked())
