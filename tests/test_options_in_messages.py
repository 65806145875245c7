"""Options in messages: a keyword to who calls a function, a flag to who types, a label to who fills in."""

from __future__ import annotations

import ast
import json
import pickle
import re
from pathlib import Path

import pandas as pd
import pytest

import linkrisk
from linkrisk import DataError, FormulationError, LinkriskError, mask
from linkrisk.datasets.masking.registry import masking_method
from linkrisk.datasets.microdata.formats.number_text import reading
from linkrisk.errors import NONE, Spelling, called, spelled_by, spelling
from linkrisk.formulations.linkage.pair import Ties
from linkrisk.solver.app.looking import main as looked
from linkrisk.solver.app.preview import main as previewed
from linkrisk.solver.app.steps import label
from linkrisk.solver.commands.program import main
from linkrisk.solver.options.command_line import flag
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.remote import Allowance
from linkrisk.solver.run.workers import Processes

HOUSE = Path(linkrisk.__file__).parent
FACES = (
    *("solver/commands", "solver/app", "solver/options/command_line.py", "solver/options"),
    "solver/certificates/core/__main__.py",
)
"""Where flags are at home: options have the texts of the help, the core of the verifier is a command."""

COMMANDS = {
    "datasets/masking/parameters.py": ["(default: the hierarchies of --schema)"],  # help of the command
    "datasets/tables/argus/batch_file.py": ["write tables suppress --table FILE.jj"],
    "solver/linkage/operations/evaluate.py": ["--original", "--masked"],  # words of a command that is read
    "solver/report/operations/report.py": [
        "give what fit, risk, sweep, report, suppress or tables wrote with --json"
    ],
    "solver/certificates/operations/verify.py": [
        *("fit --json", "fit --certificate", "report --certificate", "tables audit --certificate"),
    ],
    "solver/certificates/checking/verify.py": ["report --certificate"],
    "solver/linkage/parameters.py": ["the FILE.json that mask --record has written"],
    "solver/measures/known_masking.py": ["which mask --record wrote"],
    "solver/report/leaking.py": ["--table FILE of fit writes them all"],
    "solver/tables/pages/build.py": ["of this version wrote with --json"],
}
"""What names a command with its file, which both faces understand, and is not between backticks."""


def texts(tree: ast.AST) -> list[str]:
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "\0" for part in node.values)
            found.append("".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner | said:
            found.append(node.value)
    return found


def test_no_room_below_the_faces_speaks_flags() -> None:
    used: dict[str, set[str]] = {}
    for room in ("datasets", "formulations", "solver"):
        for path in sorted((HOUSE / room).rglob("*.py")):
            place = path.relative_to(HOUSE).as_posix()
            if place.startswith(FACES):
                continue
            content = path.read_text(encoding="utf-8")
            for text in texts(ast.parse(content)) if re.search(r"--[a-z{]", content) else ():
                left = re.sub(r"`[^`]*`", "", text)
                for known in COMMANDS.get(place, []):
                    if known in left:
                        used.setdefault(place, set()).add(known)
                        left = left.replace(known, "")
                assert not re.search(r"--[a-z\0]", left), (
                    f"{place} names a flag: use `errors.called` in {text!r}"
                )
    assert used == {place: set(known) for place, known in COMMANDS.items()}


@pytest.mark.parametrize(
    ("name", "value", "as_keyword", "as_flag"),
    [
        ("k_additive", None, "k_additive", "--k-additive"),
        ("k_additive", 2, "k_additive=2", "--k-additive 2"),
        ("row_by_row", True, "row_by_row=True", "--row-by-row"),
        ("id", "ROW", "id='ROW'", "--id ROW"),
        ("by", ["A", "B"], "by=['A', 'B']", "--by A,B"),
        ("thousands", "'", 'thousands="\'"', '--thousands "\'"'),
        ("counts", False, "counts=False", "--counts no"),
        ("sample", NONE, "sample=None", "--sample none"),
        ("ties", Ties.SHARE, "ties='share'", "--ties share"),
        ("hierarchies", None, "hierarchies", "--hierarchy"),
    ],
)
def test_keywords_and_flags(name: str, value: object, as_keyword: str, as_flag: str) -> None:
    assert called(name, value) == as_keyword
    with spelled_by(flag):
        assert called(name, value) == as_flag
    assert called(name, value) == as_keyword


def test_a_bad_option_is_named_as_who_gave_it_knows_it(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"sex": list("abab")}).to_csv("own.csv", index=False)
    said = "own.csv has no numeric attribute to mask; name at least one with {}"

    with pytest.raises(DataError) as error:
        mask("own.csv", "noise percent=5")
    assert (str(error.value), error.value.option) == (said.format("attributes"), "attributes")

    assert main(["mask", "--input", "own.csv", "--method", "noise percent=5", "--output", "masked.csv"]) == 2
    assert capsys.readouterr().err == f"error: {said.format('--attributes')}\n"

    assert previewed("own.csv", "tried.json", "{}", "noise percent=5") == 0
    shown = json.loads(Path("tried.json").read_text(encoding="utf-8"))["error"]
    assert shown == said.format("'attributes'")
    assert called("attributes") == "attributes"


@pytest.mark.parametrize("face", [flag, label])
def test_in_the_text_of_a_method_options_are_written_as_there(face: Spelling) -> None:
    with spelled_by(face), pytest.raises(DataError) as error:
        masking_method("top-coding categories=1 percent=5")
    said = "top-coding: give either categories or percent: how many categories to merge"
    assert (str(error.value), error.value.option) == (said, "categories")


def test_the_app_calls_fields_by_their_labels(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text("x\n1\n", encoding="utf-8")
    said = "{} and {} are both ','; give two signs"
    with pytest.raises(DataError) as error, reading(",", ","):
        pass
    assert str(error.value) == said.format("decimal", "thousands")

    assert main(["describe", "own.csv", "--decimal", ",", "--thousands", ","]) == 2
    assert capsys.readouterr().err == f"error: {said.format('--decimal', '--thousands')}\n"

    assert looked("own.csv", "look.json", '{"decimal": ",", "thousands": ","}') == 0
    shown = json.loads(Path("look.json").read_text(encoding="utf-8"))["error"]
    assert shown == said.format("'Before decimals'", "'Between thousands'")
    assert label("decimal", ",") == "'Before decimals' set to ','"
    assert label("row_by_row", True) == "--row-by-row"  # no form has it: commands are shown


def named(_given: None, name: str, _clock: Clock) -> str:
    return called(name)


def test_other_processes_name_options_as_the_one_that_they_work_for() -> None:
    def by_a_process() -> list[tuple[int, str]]:
        workers = Processes(None, 1)
        try:
            return list(workers.each(named, ["k_additive"], Clock(None), lambda _: None))
        finally:
            workers.close()

    with spelled_by(flag):
        assert by_a_process() == [(0, "--k-additive")]
        sent = pickle.dumps(Allowance.of(Clock(None), None, None))
    with spelled_by(spelling()):  # put back what the task leaves behind here
        pickle.loads(sent)
        assert called("k_additive") == "--k-additive"
    assert called("k_additive") == "k_additive"


@pytest.mark.parametrize("kind", [LinkriskError, DataError, FormulationError])
def test_errors_keep_their_option_on_the_way_from_another_process(kind: type[LinkriskError]) -> None:
    error = pickle.loads(pickle.dumps(kind("k_additive must be at least 2", option="k_additive")))
    assert (type(error), str(error), error.option) == (kind, "k_additive must be at least 2", "k_additive")
    assert kind("a message").option is None
