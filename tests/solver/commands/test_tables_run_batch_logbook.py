"""`tables run-batch`: the logbook, the version, and Ctrl-C, after which nothing else is begun."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest
from batch_files import TABLE, batch, write_batch_files
from cli_runs import contents, refuse, run

from linkrisk import Cancel, run_batch
from linkrisk.solver.commands.program import main
from linkrisk.solver.tables.operations.batch import steps

SOLVED = TABLE + '<SUPPRESS> OPT(1,5)\n<WRITETABLE> (1,1,,"safe.csv")\n'
TWICE = TABLE.replace("<READ", '<SPECIFYTABLE> "size"|"turnover"|""|""\n<SAFETYRULE> P(10,1)\n<READ')
BOTH = (
    '<SUPPRESS> OPT(1,5)\n<SUPPRESS> OPT(2,5)\n<WRITETABLE> (1,1,,"one.csv")\n'
    '<WRITETABLE> (2,1,,"two.csv")\n<LOGBOOK> "log.txt"\n'
)
NO_BASE = "firms.arb, line 8, RND: it needs a base in whole numbers: RND(TABLE, BASE)"
STAMP = re.compile(r"\d\d-[A-Z][a-z]{2}-\d{4} \d\d:\d\d:\d\d : ")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_batch_files()


def logged() -> list[str]:
    """Lines without times and seconds."""
    lines = Path("log.txt").read_text(encoding="utf-8").splitlines()
    assert all(STAMP.match(line) for line in lines)
    return [re.sub(r"; \d+\.\d s$", "", STAMP.sub("", line)) for line in lines]


def test_what_is_done_is_in_the_logbook(capsys):
    batch(SOLVED + '<LOGBOOK> "log.txt"\n<VERSIONINFO> "version.txt"\n')
    printed = run(capsys, "tables", "run-batch", "firms.arb")
    assert [line for line in printed.splitlines() if line.startswith("  written")] == [
        f"  written     {name}" for name in ("safe.csv", "version.txt", "log.txt")
    ]
    assert re.fullmatch(r"linkrisk \S+\n", Path("version.txt").read_text(encoding="utf-8"))
    assert logged()[1:] == [
        '<SPECIFYTABLE> "region""size"|"turnover"|""|""',
        "Tables have been made: 1, with 18 cells",
        "<SUPPRESS> OPT(1,5)",
        "Table 1: 2 cells suppressed with 13 sensitive ones, cost 1,205.5, at least 1,205.5, protected",
        '<WRITETABLE> (1,1,,"safe.csv")',
        "safe.csv is made",
        "End of run: safe.csv, version.txt are written",
    ]


@pytest.mark.parametrize(
    ("line", "done", "failure"),
    [
        (
            "<SUPPRESS> RND(1)",
            5,
            "firms.arb, line 8, RND: it needs a base in whole numbers: RND(TABLE, BASE)",
        ),
        ("<OPENALL>", 2, "firms.arb, line 8: there is no command <OPENALL>"),
    ],
)
def test_a_failure_is_in_the_logbook_behind_what_was_before(capsys, line, done, failure):
    batch(SOLVED + '<LOGBOOK> "log.txt"\n')
    run_batch("firms.arb")
    before = logged()
    Path("safe.csv").unlink()
    batch(f'<LOGBOOK> "log.txt"\n{TABLE}{line}\n')
    assert main(["tables", "run-batch", "firms.arb"]) == 2
    said = capsys.readouterr().err.removeprefix("error: ").strip()
    assert said.startswith(failure)
    assert logged()[: len(before)] == before
    assert logged()[-2:] == [f"Failure: {said}", "End of run: nothing is written"]
    assert len(logged()) == len(before) + done + 1
    assert not Path("safe.csv").exists()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("<LOGBOOK>\n", "firms.arb, line 4: it needs the name of a file"),
        ('<LOGBOOK> "firms.asc"\n', "firms.asc is there, and no logbook; give <LOGBOOK> another name"),
        (
            '<LOGBOOK> "a"\n<LOGBOOK> "b"\n',
            "firms.arb, line 5: there is a <LOGBOOK> already; one is for the whole batch",
        ),
        ('<LOGBOOK> "no/a"\n' + TABLE, "firms.arb, line 4: the folder no does not exist; create it first"),
        (
            '<VERSIONINFO> "firms.rda"\n' + TABLE,
            "firms.arb, line 4: firms.rda is read by the batch; give what is written another name",
        ),
        (
            '<VERSIONINFO> "v"\n' + SOLVED.replace("safe.csv", "v"),
            "firms.arb, line 9: v is written by another line already; give it another name",
        ),
    ],
)  # fmt: skip
def test_names_that_cannot_be(capsys, lines, message):
    batch(lines)
    if lines.startswith('<LOGBOOK> "a"'):  # it is kept of this failure
        before = contents()
        assert main(["tables", "run-batch", "firms.arb"]) == 2
        assert capsys.readouterr().err == f"error: {message}\n"
        assert set(contents()) == {*before, "a"}
    else:
        refuse(capsys, message, "tables", "run-batch", "firms.arb")


def test_a_logbook_that_cannot_be_written_costs_nothing_else(capsys, monkeypatch):
    """What went wrong before is what is said."""
    batch(f'<LOGBOOK> "log.txt"\n{TABLE}<SUPPRESS> RND(1)\n')

    def full(*_: object) -> None:
        from linkrisk.datasets.errors import DataError

        raise DataError("the disk is full")

    monkeypatch.setattr("linkrisk.solver.tables.operations.batch.run.write_whole", full)
    refuse(capsys, NO_BASE, "tables", "run-batch", "firms.arb")


# Ctrl-C


def test_ctrl_c_writes_what_is_protected_and_begins_nothing_else(capsys, monkeypatch):
    batch(TWICE + BOTH)
    whole = steps.suppress_table

    def pressed(*table: object, **settings: object) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        return whole(*table, **settings)

    monkeypatch.setattr(steps, "suppress_table", pressed)
    printed = run(capsys, "tables", "run-batch", "firms.arb", "--json", "done.json").splitlines()
    stopped = "  stopped     by the user; not begun: firms.arb, line 10, <SUPPRESS> OPT(2,5), and 1 line more"
    assert printed[-2:] == [stopped, "wrote done.json"]
    assert Path("one.csv").exists()
    assert not Path("two.csv").exists()
    done = json.loads(Path("done.json").read_text(encoding="utf-8"))
    assert done["not_begun"] == ["line 10, <SUPPRESS> OPT(2,5)", 'line 12, <WRITETABLE> (2,1,,"two.csv")']
    assert [table["protected"] for table in done["tables"]] == [True, None]
    assert "not begun: <SUPPRESS> OPT(2,5)" in logged()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_batch_that_was_stopped_before_anything_was_protected(capsys, monkeypatch):
    batch(SOLVED)
    token = Cancel()
    token.cancel()
    done = run_batch("firms.arb", cancel=token)
    assert (done.files, len(done.not_begun)) == ((), 2)
    monkeypatch.setattr("linkrisk.solver.tables.operations.batch.run.run_batch", lambda *_, **__: done)
    assert main(["tables", "run-batch", "firms.arb"]) == 1
    assert "stopped     by the user" in capsys.readouterr().out
