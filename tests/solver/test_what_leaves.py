"""Nothing that leaves the house has a seed, a suppressed value, or a category that was removed.

One search through all of it: zips of runs, published files, pages for readers outside, logs, commands
that are shown.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from application import finished

from linkrisk import mask, suppress
from linkrisk.datasets.microdata.formats.registry import read_file
from linkrisk.solver.app.project import Project
from linkrisk.solver.app.runs import LOG, PROGRESS, RECORD, SEED, Queue, Run, RunState, runs_of
from linkrisk.solver.app.server import zip_of
from linkrisk.solver.app.steps import Asked, add_mask, add_masked_risk
from linkrisk.solver.app.table_steps import TableAsked, add

SEED_GIVEN = "471147114711471147"
RARE = ("ZZTOP", "ASTRONAUT")
ALONE = 7_654_321
"""The turnover of a firm that is alone in its cell."""

FIRMS = [("N", "a", 4_111_111 + 13 * at) for at in range(4)] + [
    ("N", "b", 5_222_222 + 17 * at) for at in range(4)
]
FIRMS += [("S", "a", ALONE)] + [("S", "b", 6_333_333 + 19 * at) for at in range(4)]
FIRMS += [("E", "a", 3_444_444 + 23 * at) for at in range(4)] + [
    ("E", "b", 2_555_555 + 29 * at) for at in range(4)
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A project with a file that was masked with a seed, and a table; its user has the usual umask."""
    before = os.umask(0o022)
    try:
        project = Project.opened(tmp_path_factory.mktemp("house") / "project")
        data = project.folder / "data"
        people().to_parquet(data / "people.parquet")
        pd.DataFrame(FIRMS, columns=["region", "size", "turnover"]).to_csv(data / "firms.csv", index=False)
        queue = Queue(project, at_once=3)
        masking = "local-suppression k=3 attributes=town,trade"
        runs = [
            add_mask(
                queue, "data/people.parquet", [masking, "noise percent=20 attributes=age"], seed=SEED_GIVEN
            ),
            *add(
                queue,
                TableAsked(
                    made={
                        "data": "data/firms.csv",
                        "by": [["region", "size"]],
                        "response": "turnover",
                        "rules": ["frequency=2"],
                    }
                ),
            ),
        ]
        keys = {"data": "data/people.parquet", "keys": ["town", "trade"], "k": 3}
        runs += add(queue, Asked("suppress", keys))
        finished(queue, *runs)
        for run in runs:
            assert run.state is RunState.DONE, run.text(LOG)
        yield project
    finally:
        os.umask(before)


def people() -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "town": ["Aa"] * 6 + ["Bb"] * 6 + [RARE[0]],
            "trade": (["baker"] * 3 + ["smith"] * 3) * 2 + [RARE[1]],
            "age": [20 + 3 * at for at in range(13)],
        }
    ).astype({"town": "category", "trade": "category"})
    frame.attrs = {"source": f"REGISTER OF {RARE[0]}"}
    return frame


def run_of(project: Project, kind: str) -> Run:
    return next(run for run in runs_of(project) if run.command["kind"] == kind)


def leaving(project: Project, folder: Path) -> Iterator[tuple[str, bytes]]:
    for run in runs_of(project):
        path = zip_of(project, run)
        with zipfile.ZipFile(path) as zipped:
            yield from ((f"zip: {name}", zipped.read(name)) for name in zipped.namelist())
        path.unlink()
        yield f"commands of {run.name}", "\n".join(run.lines).encode()
        for name in (LOG, PROGRESS):
            if (run.folder / name).exists():
                yield f"{run.name}/{name}", (run.folder / name).read_bytes()
    source = project.folder / "data" / "people.parquet"
    for suffix in ("parquet", "feather", "csv", "sav", "dta", "xlsx"):
        safe, masked = folder / f"safe.{suffix}", folder / f"masked.{suffix}"
        made = suppress(source, keys=["town", "trade"], k=3, problem="recount")
        made.write(safe, shuffle=True, seed=int(SEED_GIVEN))
        mask(source, "local-suppression k=3 attributes=town,trade").write(masked)
        yield from ((path.name, unpacked(path)) for path in (safe, masked))
    made.report(folder / "outside.html", external=True)
    yield "outside.html", (folder / "outside.html").read_bytes()


def unpacked(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix != ".xlsx":
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        return content + b"".join(parts.read(name) for name in parts.namelist())


def test_no_secret_leaves(project: Project, tmp_path: Path) -> None:
    secrets = [SEED_GIVEN, *RARE, str(ALONE)]
    found, looked_at = [], 0
    for name, content in leaving(project, tmp_path):
        plain = re.sub(rb"(?<=\d)[,\s\xa0](?=\d{3})", b"", content)  # 7,654,321
        found += [(name, secret) for secret in secrets if secret.encode() in plain]
        looked_at += 1
    assert found == []
    assert looked_at > 20


def test_what_leaves_is_what_is_needed_outside(project: Project) -> None:
    def names(kind: str) -> set[str]:
        path = zip_of(project, run_of(project, kind))
        with zipfile.ZipFile(path) as zipped:
            found = {Path(name).name for name in zipped.namelist()}
        path.unlink()
        return found

    assert names("mask") == {"people-masked.parquet", "output.txt", "commands.sh"}
    assert names("tables") == {"table-published.csv", "report-outside.html", "commands.sh"}
    assert names("suppress") == {"people-masked.parquet", "report-outside.html", "commands.sh"}
    masked = read_file(run_of(project, "mask").folder / "people-masked.parquet").frame
    assert list(masked["town"].cat.categories) == ["Aa", "Bb"]


def test_the_secrets_are_there_for_their_owner(project: Project) -> None:
    """Else the search above would find nothing whatever is written."""
    folder = run_of(project, "mask").folder
    assert SEED_GIVEN in (folder / SEED).read_text()
    assert SEED_GIVEN in (folder / RECORD).read_text()
    assert "--seed runs/0001-mask/masking-seed.json" in run_of(project, "mask").lines[0]
    assert str(ALONE) in (run_of(project, "tables").folder / "table-internal.csv").read_text()
    assert all(
        secret.encode() in (project.folder / "data" / "people.parquet").read_bytes() for secret in RARE
    )


def test_nobody_else_on_the_machine_reads_a_project(project: Project) -> None:
    for path in [project.folder, *project.folder.rglob("*")]:
        if path.parent != project.folder / "data":  # written by this test, as its user might
            assert path.stat().st_mode & 0o077 == 0, path
    assert (project.folder / "data").stat().st_mode & 0o777 == 0o700


def test_a_project_of_before_is_closed_when_it_is_opened(tmp_path: Path) -> None:
    for name in ("data", "runs", ".linkrisk/tmp"):
        (tmp_path / name).mkdir(parents=True, mode=0o755)
    (tmp_path / ".linkrisk" / "tmp" / "upload").write_text("originals")
    Project.opened(tmp_path).release()
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in ("data", "runs", ".linkrisk")} == {0o700}
    assert list((tmp_path / ".linkrisk" / "tmp").iterdir()) == []


def test_a_masking_of_the_map_of_a_sweep_has_a_seed_of_its_own(project: Project) -> None:
    """Those of the sweep follow from a seed that anybody may guess, and from the text of the method."""
    run = add_masked_risk(
        Queue(project), {"original": "data/people.parquet"}, ["noise percent=20 attributes=age"]
    )
    masking, risk = run.command["steps"]
    assert "--seed" not in masking
    assert risk[0] == "risk"
    run.end(cancelled=True)
