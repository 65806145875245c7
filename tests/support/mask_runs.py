"""Running the command `mask` in tests, in a folder with a small file of records and one of households."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runs import squeezed

from linkrisk.solver.commands import program as cli

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
