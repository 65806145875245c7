"""Compiling is outside the clock, is announced, and can be done beforehand: then nothing is left to do."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import pkgutil
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import numba
import numpy as np
import pandas as pd
import pytest
from cli_runs import PAIR
from fit_runs import frames, steered

import linkrisk.datasets
import linkrisk.formulations
import linkrisk.solver
from linkrisk import fit
from linkrisk.formulations import compiled
from linkrisk.formulations.linkage.aggregators import AGGREGATORS
from linkrisk.solver.commands import program as cli
from linkrisk.solver.commands import progress
from linkrisk.solver.commands.progress import SILENT
from linkrisk.solver.compiling import ahead, parts
from linkrisk.solver.compiling.ahead import compile_everything
from linkrisk.solver.compiling.parts import CERTIFICATES, LINKAGE, MASKING, RISK, TABLES
from linkrisk.solver.inputs import reading

ROOT = Path(__file__).resolve().parents[3]
ANNOUNCEMENT = "compiling, once for this machine"
FAMILIES = [
    *({"aggregator": name} for name in AGGREGATORS),
    *({"aggregator": "choquet", "k_additive": k} for k in (2, 3)),
]


# ---------------------------------------------------------------- beforehand


def import_everything() -> None:
    for package in (linkrisk.datasets, linkrisk.formulations, linkrisk.solver):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)


def signatures() -> set[str]:
    """Every kernel with all types of arguments that it has been called with in this process."""
    return {
        f"{kernel.py_func.__module__}.{kernel.__name__}{signature}"
        for kernel in compiled.kernels()
        for signature in kernel.signatures
    }


def small_files(*, nominal: bool, missing: bool = False) -> tuple[pd.DataFrame, pd.DataFrame]:
    original, masked = frames(3, 10, twins=True)
    if missing:
        original.loc[2:4, "A"] = masked.loc[3:6, "B"] = np.nan
    if nominal:
        random = np.random.default_rng(4)
        for frame in (original, masked):
            frame["D"] = random.choice(["x", "y"], len(frame))
    return original, masked


def fit_every_family() -> None:
    for nominal, ties in ((False, "strict"), (True, "share")):
        files = small_files(nominal=nominal)
        for options in FAMILIES:
            fit(*files, nominal=["D"] if nominal else [], ties=ties, time_limit=2, **options)
    for options in FAMILIES:
        fit(*small_files(nominal=False, missing=True), time_limit=2, **options)


def fit_as_large_files() -> None:
    grown = steered(most_reduced=0, most_unreduced=0)
    for options in FAMILIES:
        fit(*small_files(nominal=False), time_limit=2, steering=grown, **options)


def count_many_blocks() -> None:
    """So many that a quadratic form has a tree of its own; with missing values and categories, none has."""
    for missing, nominal in product((False, True), repeat=2):
        original, masked = frames(7, 300)
        if missing:
            original.loc[2:40, "A"] = masked.loc[30:60, "B"] = np.nan
        if nominal:
            original["C"], masked["C"] = [(frame["C"] > 0.0).map(str) for frame in (original, masked)]
        schema = {"nominal": ["C"]} if nominal else {}
        for name in AGGREGATORS:
            fit(original, masked, aggregator=name, time_limit=0.01, **schema)


def run_other_commands() -> None:
    for name, frame in zip(("original", "masked"), frames(5, 10), strict=True):
        frame.to_csv(f"{name}.csv", index=False)
    frames(6, 5100)[0].to_csv("many.csv", index=False)
    proof = ["--certificate", "proof.json"]
    commands = [["link", *PAIR, "--method", "prl"]]
    for name in AGGREGATORS:
        commands.append(["fit", *PAIR, "--aggregator", name, "--json", "fit.json", *proof])
        commands.append(["verify", "fit.json", *PAIR, *proof])
    methods = ("microaggregation", "optimal-microaggregation", "rank-swapping percent=5")
    masking = ["mask", "--input", "many.csv", "--output", "out.csv", "--method"]
    commands += [[*masking, method] for method in methods]
    for command in commands:
        with contextlib.redirect_stdout(io.StringIO()):
            assert cli.main(command) == 0, command


def compile_and_run() -> None:
    """What a process of its own does for the first test; its last line says what it has found."""
    import_everything()
    compile_everything(lambda _: None)
    # What only other kernels call is inside of them, and need not be compiled for itself where they are kept.
    inside = {name for kernel in compiled.kernels() for name in kernel.py_func.__code__.co_names}
    left = [kernel.__name__ for kernel in compiled.missing() if kernel.__name__ not in inside]
    ahead = signatures()
    fit_every_family()
    run_other_commands()
    fit_as_large_files()
    count_many_blocks()
    print(json.dumps({"ahead": len(ahead), "left": left, "new": sorted(signatures() - ahead)}))


def process(code: str, folder: Path) -> str:
    """What Python code prints in a process of its own, which can import this file."""
    tests = ROOT / "tests"
    path = os.pathsep.join(map(str, (ROOT, tests / "support", Path(__file__).parent)))
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_compiles_all_that_any_run_needs(tmp_path):
    """Whether anything is kept on disk already or not: what counts is what is called, with which types."""
    found = json.loads(
        process("import test_compiling_ahead as t; t.compile_and_run()", tmp_path).splitlines()[-1]
    )
    assert found["ahead"] > 20
    assert (found["left"], found["new"]) == ([], [])


# ---------------------------------------------------------------- the mark


def test_the_mark_does_not_depend_on_what_has_been_imported(tmp_path):
    """Whoever writes `from linkrisk import fit` has imported other modules than the command `compile`."""
    alone = process("from linkrisk.formulations.compiled import _mark; print(_mark('choquet'))", tmp_path)
    assert alone.strip() == str(compiled._mark("choquet"))
    assert alone.strip().endswith(".compiled")


def test_a_mark_is_of_one_part_and_of_these_sources(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled, "_own_digests", lambda: {"file": "before"})
    assert not compiled.is_marked("owa")
    compiled.mark("owa")
    assert (compiled.is_marked("owa"), compiled.is_marked("choquet")) == (True, False)
    monkeypatch.setattr(compiled, "_own_digests", lambda: {"file": "after"})
    assert not compiled.is_marked("owa")
    compiled.mark("owa")
    assert compiled.is_marked("owa")
    assert len(list(tmp_path.rglob("*.compiled"))) == 1, "no heap of old marks"


def test_where_nothing_can_be_kept_nothing_is_marked(monkeypatch):
    def fail() -> None:
        raise RuntimeError("no locator available")

    monkeypatch.setattr(compiled, "_folder", fail)
    compiled.mark("owa")
    assert not compiled.is_marked("owa")


# ---------------------------------------------------------------- announced, and outside the clock


class Machine:
    """A machine where compiling takes an hour and nothing else any time; some parts are compiled already."""

    def __init__(self, *marked: str) -> None:
        self.marked, self.compiled, self.now = set(marked), [], 0.0

    def perf_counter(self) -> float:
        return self.now

    def compile_part(self, part: str) -> None:
        self.compiled.append(part)
        self.marked.add(part)
        self.now += 3600.0


@pytest.fixture
def cold(monkeypatch):
    return instead(monkeypatch, Machine())


@pytest.fixture
def warm(monkeypatch):
    return instead(monkeypatch, Machine(*AGGREGATORS, MASKING, LINKAGE))


def instead(monkeypatch, machine):
    monkeypatch.setattr(parts, "is_marked", machine.marked.__contains__)
    monkeypatch.setattr(ahead, "compile_part", machine.compile_part)
    monkeypatch.setattr("linkrisk.solver.run.clock.time", machine)
    monkeypatch.delenv(SILENT)
    return machine


COMMANDS = {
    "fit": (["fit", *PAIR], ["weighted-mean"]),
    "families": (["fit", *PAIR, "--aggregator", "owa,weighted-mean"], ["weighted-mean", "owa"]),
    "compare": (["compare", *PAIR, "--backends", "exact"], ["weighted-mean"]),
    "evaluate": (["evaluate", *PAIR, "--parameters", "weights.json"], [LINKAGE]),
    "link": (["link", *PAIR, "--method", "prl"], [LINKAGE]),
    "mask": (
        ["mask", "--input", "original.csv", "--method", "noise percent=5", "--output", "new.csv"],
        [MASKING],
    ),
}


@pytest.fixture
def folder(survey_folder):
    names = pd.read_csv("original.csv").columns
    weights = {name: float(name == names[0]) for name in names}
    (survey_folder / "weights.json").write_text(json.dumps({"parameters": {"weights": weights}}))
    return survey_folder


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("command", "parts"), COMMANDS.values(), ids=COMMANDS)
def test_compiling_is_announced_once_where_not_all_is_compiled(command, parts, cold, capsys, monkeypatch):
    monkeypatch.setattr(progress.threading, "Timer", Passed)
    assert cli.main(command) == 0
    assert capsys.readouterr().err.splitlines()[:1] == [ANNOUNCEMENT]
    assert cli.main(command) == 0
    assert "compiling" not in capsys.readouterr().err
    assert cold.compiled == parts


class Passed:
    """A timer whose time has passed."""

    def __init__(self, seconds, call, arguments):
        assert seconds == progress.ProgressLog.patience
        self.start = lambda: call(*arguments)


def test_what_is_compiled_within_a_second_is_not_announced(capsys, cold, monkeypatch):
    waiting = []

    class Later(Passed):
        def __init__(self, seconds, call, arguments):
            super().__init__(seconds, call, arguments)
            self.later, self.start = self.start, lambda: waiting.append(self.later)

    monkeypatch.setattr(progress.threading, "Timer", Later)
    line = progress.ProgressLog(sys.stderr, "reading")
    parts.compile_once(MASKING, line.report)
    for later in waiting:
        later()
    line.close()
    assert (cold.compiled, len(waiting), capsys.readouterr().err) == ([MASKING], 1, "")


@pytest.mark.parametrize("aggregator", ["weighted-mean", "weighted-mean,owa"])
def test_compiling_is_outside_the_clock(aggregator, cold):
    """An hour of it in a run with a limit of a minute: the run has its minute all the same."""
    result = fit(*frames(3, 14), aggregator=aggregator, time_limit=60.0)
    assert cold.compiled == aggregator.split(",")
    details = result.to_dict()
    assert details["seconds"] == 0.0
    runs = details.get("families", [details])
    assert [row.get("result", row)["status"] for row in runs] == ["optimal"] * len(runs)


@pytest.mark.parametrize("aggregator", ["weighted-mean", "weighted-mean,owa"])
def test_setting_the_problem_up_is_inside_the_clock(aggregator, warm, monkeypatch):
    """An hour of it: nothing is left for the search, and a valid interval comes at once, for one family."""
    whole = reading.make_pair

    def slow(*arguments, **options):
        warm.now += 3600.0
        return whole(*arguments, **options)

    monkeypatch.setattr(reading, "make_pair", slow)
    result = fit(*frames(3, 14), aggregator=aggregator, time_limit=60.0, memory_limit=None)
    assert result.to_dict()["seconds"] == 3600.0
    if aggregator == "weighted-mean":
        assert (result.limit, result.linked < result.linked_upper_bound) == ("time", True)
    else:
        assert [family.result is None for family in result.families] == [False, True]


def test_the_command_says_how_long_it_took(cold, capsys):
    assert cli.main(["compile"]) == 0
    assert re.fullmatch(r"compiled: \d+ s\n", capsys.readouterr().out)
    assert cold.compiled == [*AGGREGATORS, CERTIFICATES, MASKING, LINKAGE, RISK, TABLES]
