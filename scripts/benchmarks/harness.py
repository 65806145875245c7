"""What all benchmarks share: options, work in a process of its own, seconds and memory, lines of tables."""

from __future__ import annotations

import argparse
import csv
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import astuple, fields
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("LINKRISK_DATA", "../shared/data"))
BENCH = DATA.parent / "bench"
PAIRS = BENCH / "pairs"
TABLES = BENCH / "tables"

CENSUS = ["AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "STATETAX"]
"""Six attributes of the Census file."""

Result = TypeVar("Result")


class Spent(NamedTuple):
    """Seconds by the clock, of all processors, and the most megabytes that the process has held so far."""

    seconds: float
    processor: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s ({self.processor:.2f} s of processors, {self.megabytes:,.0f} MB)"


def timed(work: Callable[[], Result]) -> tuple[Result, Spent]:
    """Call `work`; its result, and what it took."""
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    spent = time.perf_counter() - clock, time.process_time() - processor
    return result, Spent(*spent, peak())


def peak() -> float:
    """The most megabytes that this process has held (`getrusage` gives kilobytes on Linux)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def alone(work: Callable[..., Result], *given: Any, **named: Any) -> Result:
    """Call `work` in a fresh process, so that its peak of memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *given, **named).result()


class Ledger(Generic[Result]):
    """The runs made so far, in a CSV file to which each run, a dataclass, adds a line.

    A line that a stop has cut short does not count.
    """

    def __init__(self, file: Path, kind: type[Result]) -> None:
        self._file, self.made = file, []
        self._names = {one.name: str(one.type) for one in fields(kind)}  # type: ignore[arg-type]
        if file.exists():
            text = file.read_text(encoding="utf-8")
            whole = text[: text.rfind("\n") + 1]
            file.write_text(whole, encoding="utf-8")
            for row in csv.DictReader(whole.splitlines()):
                self.made.append(kind(**{name: self._value(name, text) for name, text in row.items()}))

    def _value(self, name: str, text: str) -> Any:
        kind = self._names[name].split(" | ")[0]
        return text if kind == "str" else {"int": int, "float": float}[kind](text) if text else None

    def add(self, run: Result) -> None:
        """Write a run down."""
        self.made.append(run)
        fresh = not self._file.exists() or self._file.stat().st_size == 0
        with self._file.open("a", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerows([list(self._names), astuple(run)] if fresh else [astuple(run)])  # type: ignore[call-overload]


@contextmanager
def chromium() -> Iterator[Any]:
    """Debian's browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        options = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=path, args=options)
        yield browser
        browser.close()


@contextmanager
def application(folder: Path, *options: str) -> Iterator[str]:
    """The application on a folder, and the address of its first page, with the key."""
    command = [sys.executable, "-m", "linkrisk", "app", str(folder), *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert server.stdout is not None
    try:
        yield re.findall(r"http://\S+", [server.stdout.readline() for _ in range(2)][1])[0]
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def parser(doc: str | None, *parts: str, **paths: Path) -> argparse.ArgumentParser:
    """A command line that shows a module's docstring; `part` where there are several, and folders."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if parts:
        made.add_argument("part", choices=parts)
    for name, path in paths.items():
        made.add_argument(f"--{name}", type=Path, default=path, help=f"default: {path}")
    return made


def listed(kind: Callable[[str], Any] = str) -> Callable[[str], list[Any]]:
    """Reads values that commas separate."""
    return lambda text: [kind(one.strip()) for one in text.split(",")]


def show(cells: Iterable[object]) -> None:
    """Print a line of a table at once, floating-point numbers with up to ten digits."""
    print(
        *(f"{one:.10g}" if isinstance(one, float) else "-".join(str(one).split()) for one in cells),
        flush=True,
    )


def row(cells: Iterable[object]) -> None:
    """Print a row of a table of Markdown at once."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def aligned(rows: Iterable[dict[str, object]]) -> str:
    """Columns as wide as they need to be; a dash for what is missing."""
    frame = pd.DataFrame(list(rows))
    frame = frame.astype(object).where(frame.notna(), "-")
    return frame.to_string(index=False, float_format="{:.10g}".format)


def head(titles: Sequence[str]) -> None:
    """Print the head of a table of Markdown."""
    row(titles)
    print("|" + "---|" * len(titles), flush=True)
