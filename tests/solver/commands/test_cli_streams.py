"""Real processes: exit codes, pipes that break, Ctrl-C, and the progress line on a terminal."""

from __future__ import annotations

import argparse
import importlib
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

import pytest
from cli_runs import PAIR, check_golden, without_seconds

import linkrisk.__main__
from linkrisk.solver.commands.program import as_called, main, program
from linkrisk.solver.commands.progress import SILENT, ProgressLine, ProgressLog, limit_of, progress_line
from linkrisk.solver.run.progress import Progress

pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")

ROOT = Path(__file__).parents[3]
SOLVER = [sys.executable, "-m", "solver"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "FORCE_COLOR": "1"}
PATIENCE = 600
"""Seconds after which a process that should have ended is given up. Only a fault takes so long."""


def start(*argv: str, **streams) -> subprocess.Popen:
    return subprocess.Popen([*SOLVER, *argv], env=ENVIRONMENT, **streams)


CONSOLE = Path(sys.executable).with_name("linkrisk")


def test_the_console_script_is_this_program():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, function = project["scripts"]["linkrisk"].partition(":")
    assert getattr(importlib.import_module(module), function) is linkrisk.__main__.start


@pytest.mark.parametrize(
    ("start", "called"),
    [
        (SOLVER, "python -m solver"),
        ([sys.executable, "-m", "linkrisk"], "python -m linkrisk"),
        pytest.param(
            [CONSOLE], "linkrisk", marks=pytest.mark.skipif(not CONSOLE.exists(), reason="is not installed")
        ),
    ],
)
def test_it_goes_by_the_name_that_it_was_called_by(start, called):
    done = subprocess.run([*start, "fitt"], env=ENVIRONMENT, capture_output=True, text=True)
    message = f"error: unknown command 'fitt': did you mean 'fit'? (see `{called} --help`)\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


@pytest.mark.parametrize("path", ["/usr/local/bin/linkrisk", "linkrisk.exe"])
def test_a_program_that_is_installed(monkeypatch, path):
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    monkeypatch.setattr(sys, "argv", [path, "fit"])
    assert program() == "linkrisk"
    assert as_called(["fit", "--original", "my file.csv"]) == "linkrisk fit --original 'my file.csv'"


def test_the_default_pair_in_a_process_of_its_own(tmp_path):
    done = subprocess.run([*SOLVER, "fit"], env=ENVIRONMENT, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")  # no progress where there is no terminal
    check_golden("fit-default-pair", without_seconds(done.stdout))
    assert not list(tmp_path.iterdir())


# Streams that fail


def test_a_reader_that_goes_away_is_no_error(survey_folder):
    process = start("fit", *PAIR, "--json", "out.json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(PATIENCE), errors) == (1, b"")
    assert json.loads((survey_folder / "out.json").read_text("utf-8"))["linked"] == 23


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_standard_output_on_a_full_disk():
    """Of all commands, one that imports little: what is printed goes the same way."""
    with Path("/dev/full").open("w") as full:
        process = start("datasets", "list", stdout=full, stderr=subprocess.PIPE, text=True)
        errors = process.communicate(timeout=PATIENCE)[1]
    message = "error: cannot write to standard output: no space left on device\n"
    assert (process.returncode, errors) == (1, message)


@pytest.mark.usefixtures("survey_folder")
def test_a_name_that_the_output_cannot_show(monkeypatch, capsys):
    Path("größe.csv").write_bytes(Path("original.csv").read_bytes())
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    assert main(["fit", "--original", "größe.csv", "--masked", "masked.csv", "--time-limit", "1e-9"]) == 0
    assert capsys.readouterr().err == ""
    assert written.getvalue().startswith(rb"gr\xf6\xdfe.csv and masked.csv: 30 records")


# Failures that are nobody's bad input


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyboardInterrupt(), "interrupted"),
        (MemoryError(), "error: out of memory: take a sample of the records, or fewer attributes"),
        (
            RuntimeError("backend 'pulp-cbc' died:\nout of luck"),
            "error: backend 'pulp-cbc' died: out of luck",
        ),
    ],
)
@pytest.mark.usefixtures("survey_folder")
def test_other_failures_are_one_line_and_exit_code_1(error, message, monkeypatch, capsys):
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("linkrisk.solver.worst_case.operations.fitting.make_problem", fail)
    assert main(["fit", *PAIR, "--json", "out.json"]) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"{message}\n")
    assert not Path("out.json").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.usefixtures("survey_folder")
def test_ctrl_c_outside_of_a_run():
    os.mkfifo("endless.csv")
    argv = ["fit", "--original", "endless.csv", "--masked", "masked.csv", "--json", "out.json"]
    process = start(*argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with Path("endless.csv").open("w"):  # opens when the process has begun to read
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, printed, errors) == (1, "", "interrupted\n")
    assert not Path("out.json").exists()


# The progress line


class Terminal:
    """A process whose standard error and input are a terminal of 100 columns, and its output a pipe."""

    def __init__(self, *argv: str) -> None:
        self.master, terminal = pty.openpty()
        self.shown = ""
        self.process = subprocess.Popen(
            [*SOLVER, *argv],
            env={name: value for name, value in ENVIRONMENT.items() if name != SILENT},
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=terminal,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(terminal)

    def wait_for(self, words: str) -> None:
        limit = time.monotonic() + PATIENCE
        while not re.search(words, self.shown):
            assert self._read(), f"it has ended after {self.shown[-500:]!r}"
            assert time.monotonic() < limit, self.shown

    def press_ctrl_c(self) -> None:
        os.write(self.master, b"\x03")

    def end(self) -> tuple[int, str]:
        printed = self.process.stdout.read().decode()
        self.process.stdout.close()
        code = self.process.wait(PATIENCE)
        while self._read():
            pass
        os.close(self.master)
        return code, printed

    def _read(self) -> bool:
        try:
            part = os.read(self.master, 4096).decode(errors="replace")
        except OSError:  # the other end is closed
            return False
        self.shown += part
        return bool(part)


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.mark.usefixtures("survey_folder")
def test_progress_and_ctrl_c_on_a_terminal():
    # So wide a margin keeps the optimiser busy for minutes.
    terminal = Terminal("fit", "--margin", "0.2", "--time-limit", "none", "--json", "out.json")
    terminal.wait_for(r"proving: linked \d+, at most \d+.*  \(Ctrl-C")
    terminal.press_ctrl_c()
    code, printed = terminal.end()
    assert code == 0
    assert "not proven: stopped before the end; a longer run narrows the interval" in printed
    assert "\r" not in printed
    result = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert (result["status"], result["limit"]) == ("interrupted", "user")
    assert result["linked"] <= result["linked_upper_bound"]
    assert f"linked {result['linked']}, at most {result['linked_upper_bound']}" in terminal.shown
    # No control codes that could outlive the process, and the line is gone at the end.
    assert "\x1b" not in terminal.shown
    assert re.search(r"\r +\r$", terminal.shown)


@pytest.mark.usefixtures("survey_folder")
def test_sigterm_leaves_the_whole_page_of_a_report():
    """As batch queues send it; `timeout` sends it twice."""
    asked = ["--aggregator", "choquet", "--measures", "uniqueness", "--time-limit", "none"]
    terminal = Terminal("report", *asked, "--json", "out.json", "--output", "page.html")
    terminal.wait_for(r"linked \d+, at most \d+")
    for _ in range(2):
        terminal.process.send_signal(signal.SIGTERM)
    code, printed = terminal.end()
    assert (code, printed.splitlines()[-2:]) == (0, ["wrote page.html", "wrote out.json"])
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))["format"] == "linkrisk-report"
    assert Path("page.html").read_text(encoding="utf-8").rstrip().endswith("</html>")


@pytest.mark.usefixtures("survey_folder")
def test_compare_names_the_backend_and_stops_with_what_it_has():
    terminal = Terminal(
        "compare", "--margin", "0.2", "--no-start", "--backends", "highs,scipy", "--json", "out.json"
    )
    terminal.wait_for(r"\d\.\d s  solving on highs")
    terminal.press_ctrl_c()
    code, printed = terminal.end()
    assert code == 0
    assert "0 of 1 claim a proof; no two contradict each other" in printed
    assert "solving" not in printed
    (row,) = json.loads(Path("out.json").read_text(encoding="utf-8"))["backends"]
    assert (row["backend"], row["status"], row["limit"]) == ("highs", "interrupted", "user")
    assert row["linked_upper_bound"] is None or row["linked_upper_bound"] <= 400


class Screen:
    """A stand-in for a terminal."""

    def __init__(self, *, broken: bool = False, terminal: bool = True) -> None:
        self.written, self.broken, self.terminal = "", broken, terminal
        self.drawings = threading.Semaphore(0)

    def isatty(self) -> bool:
        return self.terminal

    def fileno(self) -> int:
        raise OSError

    def flush(self) -> None:
        pass

    def write(self, text: str) -> None:
        self.drawings.release()
        if self.broken:
            raise OSError
        self.written += text

    def wait(self, drawings: int) -> None:
        for _ in range(drawings):
            assert self.drawings.acquire(timeout=PATIENCE)


@pytest.mark.parametrize(
    ("stream", "shown"), [(Screen(), "none"), (Screen(terminal=False), "none"), (None, None)]
)
def test_progress_can_be_silenced(stream, shown, monkeypatch):
    monkeypatch.setenv(SILENT, shown) if shown else monkeypatch.delenv(SILENT, raising=False)
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_line("reading") as line:
        assert line is None


def test_a_log_gets_a_plain_line_now_and_then():
    log = Screen(terminal=False)
    line = ProgressLog(log, "reading", 30.0, first=0.01, every=0.01)
    line.report(Progress(1.0, 352.0, 354.0, "compare", "about 40 s for a look at all records"))
    while log.written.count("\n") < 2:
        threading.Event().wait(0.01)
    line.close()
    first = log.written.splitlines()[-1]
    words = "comparing: linked 352, at most 354, gap 2, about 40 s for a look at all records"
    assert re.fullmatch(rf"\d+\.\d of at most 30 s  {words}", first)
    assert "\r" not in log.written


@pytest.mark.parametrize(
    ("given", "shown"), [("auto", 120.0), (30.0, 30.0), (None, None), (-1.0, None), (math.inf, None)]
)
def test_the_limit_that_is_shown_is_the_one_that_is_kept(given, shown):
    assert limit_of(argparse.Namespace(time_limit=given)) == shown
    work = argparse.Namespace(time_limit=given, work_limit=5.0)
    assert limit_of(work) == (None if given == "auto" else shown)


def test_short_work_leaves_no_line_in_a_log():
    log = Screen(terminal=False)
    ProgressLog(log, "reading", first=1e6).close()
    assert log.written == ""


def drawn(progress: Progress, drawings: int = 1, limit: float | None = None) -> tuple[Screen, list[str]]:
    """A terminal on which a line was drawn, and the last drawings, made after the line was told this."""
    screen = Screen()
    with pytest.MonkeyPatch.context() as patch:
        if drawings == 1:  # no clock is looked at
            patch.setattr("linkrisk.solver.commands.progress._TICK", 0.01)
        line = ProgressLine(screen, "reading", limit)
        line.report(progress)
        while screen.drawings.acquire(blocking=False):
            pass
        screen.wait(1 + drawings)  # the first may have been under way
        line.close()
    shown = [part for part in screen.written.split("\r") if part.strip()]
    return screen, shown[-drawings:]


def test_the_line_fits_the_terminal_and_its_clock_runs_by_itself():
    screen, shown = drawn(Progress(1.0, 374.0, 381.5, "solve"), drawings=3)
    assert {len(part) for part in shown} == {79}
    assert len(set(shown)) == len(shown) == 3
    words = "proving: linked 374, at most 381.5  (Ctrl-C: stop with this)"
    assert all(part[10:].rstrip() == words for part in shown)
    assert screen.written.endswith("\r" + " " * 79 + "\r")


def test_the_advice_is_not_cut_off_on_80_columns():
    phase = "attack"
    _, (shown,) = drawn(Progress(1.0, 123456.25, 234567.25, phase))
    assert shown.rstrip().endswith("(Ctrl-C: stop with this)")
    _, (shown,) = drawn(Progress(1.0, 123456.25, 234567.25, phase), limit=36000.0)
    assert shown[6:].startswith(" of 36000 s  ")
    assert shown.rstrip().endswith("(Ctrl-C stops)")


def test_a_terminal_that_goes_away_costs_only_the_line():
    screen = Screen(broken=True)
    line = ProgressLine(screen, "reading")
    screen.wait(1)
    line.close()
