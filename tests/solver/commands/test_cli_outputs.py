"""Output files: refused before the work when they could not be written, and whole or not at all."""

from __future__ import annotations

import errno
import io
import json
import os
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest
from cli_runs import PAIR, check_refusals, contents, refuse
from small_files import NAMES

from linkrisk.solver.commands.program import main

FIT, COMPARE = ["fit", *PAIR], ["compare", *PAIR, "--backends", "scipy"]
EVALUATE = ["evaluate", *PAIR, "--parameters", "fit.json"]
TARGETS = [
    (FIT, "--json", "out.json"),
    (FIT, "--report", "out.html"),
    (FIT, "--certificate", "out.json"),
    (COMPARE, "--table", "out.csv"),
    (EVALUATE, "--table", "out.parquet"),
]


@pytest.fixture(autouse=True)
def parameters(survey_folder: Path) -> None:
    weights = {"parameters": {"weights": dict.fromkeys(NAMES, 1 / 3)}}
    (survey_folder / "fit.json").write_text(json.dumps(weights), encoding="utf-8")


@pytest.fixture
def no_work(monkeypatch) -> None:
    def read(*_: object) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr("linkrisk.solver.inputs.reading._files", read)
    monkeypatch.setattr("linkrisk.solver.linkage.operations.evaluate.read_parameters", read)


@pytest.mark.usefixtures("no_work")
def test_refused_before_the_work(monkeypatch, capsys):
    def refused():
        yield from [
            *([*FIT, "--write-model", "m.txt"], [*EVALUATE, "--table", "out.xls"]),
            *([*FIT, "--write-model", "m.lp", "--json", "out.json"], [*COMPARE, "--table", "./masked.csv"]),
            [*FIT, "--json", "out", "--report", "out"],
        ]
        for argv, option, name in TARGETS:
            Path(f"a.{name}").mkdir(exist_ok=True)
            yield from ([*argv, option, given] for given in (f"no/{name}", f"a.{name}", ""))
        monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)  # root may write everywhere
        yield from ([*argv, option, name] for argv, option, name in TARGETS)

    check_refusals(capsys, "outputs", refused())


def full_disk(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


class HalfWritten(io.BytesIO):
    """A file on a disk that is full after half of what is written."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def write(self, content) -> int:
        with io.open(self.path, "wb") as handle:  # noqa: UP020
            handle.write(bytes(content)[: len(content) // 2])
        full_disk()
        return 0


def open_half(path: Path, mode: str = "r", **more: object):
    if path.suffix == ".part":
        return HalfWritten(path)
    return io.open(path, mode, **more)  # noqa: UP020


FULL: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "write": lambda patch: patch.setattr(Path, "open", open_half),
    "fsync": lambda patch: patch.setattr(os, "fsync", full_disk),
    "rename": lambda patch: patch.setattr(Path, "replace", full_disk),
}

WAYS = [("write", True), ("fsync", False), ("rename", True)]


@pytest.mark.parametrize(("way", "target"), list(zip(cycle(WAYS), TARGETS, strict=False)))
def test_a_full_disk(way, target, monkeypatch, capsys):
    (where, older), (argv, option, name) = way, target
    if older:
        Path(name).write_text("older", encoding="utf-8")
    before = contents()
    with monkeypatch.context() as patch:
        FULL[where](patch)
        code = main([*argv, option, name])
    printed = capsys.readouterr()
    message = f"error: cannot write {name}: no space left on device; nothing was written\n"
    assert (code, printed.err) == (2, message)
    assert contents() == before
    # The answer may have taken hours: it is printed all the same.
    assert "original.csv and masked.csv: 30 records" in printed.out


def test_a_full_disk_when_the_model_is_written(monkeypatch, capsys):
    Path("out.lp").write_text("older", encoding="utf-8")
    monkeypatch.setattr(Path, "replace", full_disk)
    refuse(capsys, "cannot write 'out.lp': No space left on device", *FIT, "--write-model", "out.lp")


def test_the_answer_does_not_wait_for_the_files(monkeypatch, capsys):
    """Those of many records take seconds, and the time limit and Ctrl-C are promises."""
    printed = []

    def write(*_: object) -> None:
        printed.append(capsys.readouterr().out)

    for module in ("solver.report.operations.report", "datasets.microdata.writing"):
        monkeypatch.setattr(f"linkrisk.{module}.write_whole", write)
    assert main([*FIT, "--json", "a.json", "--report", "a.html"]) == 0
    assert "re-identified" in printed[0]
    assert len(printed) == 2
