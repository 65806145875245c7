"""Running commands in tests: what they print, what they refuse, golden files, files to mask."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from linkrisk.errors import LinkriskError
from linkrisk.solver.commands import program as cli
from linkrisk.solver.commands.program import main

GOLDEN = Path(__file__).parents[1] / "golden"
PAIR = ["--original", "original.csv", "--masked", "masked.csv"]


def run(capsys, *argv: str) -> str:
    """Run a command that must succeed without a word on standard error; what it printed."""
    code = main(list(argv))
    printed = capsys.readouterr()
    assert (code, printed.err) == (0, "")
    return printed.out


def squeezed(text: str) -> str:
    """Text without the blanks that put values below each other."""
    return re.sub(" {2,}", " ", text)


def refuse(capsys, message: str, *argv: str) -> None:
    """Run a command that must be refused: one line on standard error, nothing printed or written."""
    before = contents()
    code = main(list(argv))
    printed = capsys.readouterr()
    assert printed.err == f"error: {message}\n"
    assert (code, printed.out) == (2, "")
    assert contents() == before


def check_refusals(capsys, name: str, asked: Iterable[list[str] | tuple[str, list[str]]]) -> None:
    """Run commands that must be refused as by `refuse`; a golden file has them, or what they are called here,
    and what they say.
    """
    said = []
    for one in asked:
        called, argv = one if isinstance(one, tuple) else (shlex.join(one), one)
        before = contents()
        code = main(list(argv))
        printed = capsys.readouterr()
        assert (code, printed.out, printed.err[:7], printed.err.count("\n")) == (2, "", "error: ", 1), called
        assert contents() == before, called
        said.append(f"$ {called.strip()}\n{printed.err}")
    check_golden(f"refused-{name}", "\n".join(said))


def check_refused_calls(name: str, call: Callable[..., object], cases: Iterable[object]) -> None:
    """Call a function that must refuse every case in one line; a golden file has the cases and the lines."""
    said = []
    for case in cases:
        shown = str(case).strip()
        with pytest.raises(LinkriskError) as error:
            call(case)
        assert "\n" not in str(error.value), shown
        said.append(f"{shown}\n{type(error.value).__name__}: {error.value}\n")
    check_golden(f"refused-{name}", "\n".join(said))


def contents() -> dict[str, bytes]:
    """Every file under the working folder."""
    return {str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


def check_golden(name: str, text: str) -> None:
    """Compare with a golden file; LINKRISK_UPDATE_GOLDEN=1 writes it anew, then look at the difference."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("LINKRISK_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def without_seconds(text: str) -> str:
    """Hide what a clock measured."""
    return re.sub(r"\d+\.\d s$", "N s", text, flags=re.MULTILINE)


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of the commands below one."""
    (below,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    return dict(below.choices)


def flat(printed: str) -> str:
    """What was printed, in one line with single spaces: as long sentences and columns are broken."""
    return " ".join(printed.split())


# Running the command `mask` in tests, in a folder with a small file of records and one of households


TABLE = """id,code,age,income,note
r1,007,20,100.5,a
r2,010,25,80.25,
r3,011,31,90.125,"b, c"
r4,012,46,400,NA
r5,013,52,380.5,d
r6,014,60,390,e
"""

HOUSEHOLDS = "hhnum,weight,age,income,note\n" + "".join(
    f"{at // 3 + 500},{10 + at / 8},{20 + at % 37},{1000 + 13 * at * at},{'abc'[at % 3]}\n"
    for at in range(60)
)


@pytest.fixture
def mask_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty working folder but for o.csv and h.csv."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LINKRISK_DATA", raising=False)
    Path("o.csv").write_text(TABLE)
    Path("h.csv").write_text(HOUSEHOLDS)


def mask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output without its alignment, and standard error."""
    code = cli.main(["mask", *arguments])
    captured = capsys.readouterr()
    return code, squeezed(captured.out), captured.err


def files() -> list[str]:
    """What lies in the working folder."""
    return sorted(path.name for path in Path().iterdir())
