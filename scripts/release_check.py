"""Rehearse a release: build what is committed, look into it, use it where nothing else is, take it away.

python scripts/release_check.py [--keep FOLDER]

What is built stays in FOLDER, where the check was passed. It needs `build` and `twine` here, and an index of
packages for the libraries that the wheel asks for. Ends with exit code 1 and the faults, a line each.
"""

from __future__ import annotations

import argparse
import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOP = {"linkrisk", "solver"}
"""What the wheel may put beside other packages, besides its `.dist-info`."""

NOT_IN_WHEEL = re.compile(r"(^|/)(tests?|scripts|docs|conftest\.py|__pycache__)(/|$)(?<!page/scripts/)")
IN_SDIST = (
    "LICENSE",
    "README.md",
    "CITATION.cff",
    "Makefile",
    "constraints.txt",
    "pyproject.toml",
    "tests/",
    "docs/",
)
JOBS = """
linkrisk --version
linkrisk --help
linkrisk fit --aggregator choquet
linkrisk fit --json fit.json --certificate proof.json
linkrisk verify fit.json --certificate proof.json
linkrisk datasets fetch wdbc --output wdbc.csv
linkrisk mask --input wdbc.csv --method noise --percent 10 --output masked.csv
linkrisk suppress --input wdbc.csv --keys diagnosis --k 2 --output safe.csv
linkrisk tables make --input wdbc.csv --by diagnosis --cells cells.csv --relations relations.csv
"""
"""Commands that are run in an empty folder, with what the wheel brings alone."""


def run(*command: object, folder: Path, **environment: str) -> str:
    """Run a command as a stranger does: nothing of this tree or of who develops it is in its environment."""
    own = ("PYTHONPATH", "NUMBA_CACHE_DIR", "VIRTUAL_ENV", "LINKRISK_DATA")
    kept = {name: value for name, value in os.environ.items() if name not in own}
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env={**kept, **environment}, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def built(folder: Path) -> tuple[Path, Path]:
    """Build both distributions of the last commit, the wheel from the source distribution alone."""
    source = folder / "source"
    source.mkdir()
    run("git", "archive", "--format=tar", f"--output={folder / 'source.tar'}", "HEAD", folder=ROOT)
    with tarfile.open(folder / "source.tar") as archive:
        archive.extractall(source, filter="tar")  # links of the folder linkrisk lead out of it
    run(sys.executable, "-m", "build", "--outdir", folder / "dist", source, folder=folder)
    (sdist,), (wheel,) = (folder / "dist").glob("*.tar.gz"), (folder / "dist").glob("*.whl")
    return sdist, wheel


def faults_of(sdist: Path, wheel: Path) -> Iterator[str]:
    """Yield what is wrong with the content of the two, a line each."""
    names = zipfile.ZipFile(wheel).namelist()
    for top in sorted({name.split("/")[0] for name in names if ".dist-info/" not in name} - TOP):
        yield f"the wheel would install {top}"
    for name in names:
        if NOT_IN_WHEEL.search(name):
            yield f"the wheel holds {name}"
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    for needed in IN_SDIST:
        if not any(name == needed or name.startswith(needed) for name in packed):
            yield f"the source distribution lacks {needed}"
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        about = email.message_from_bytes(archive.read(path))
    for key in ("License-Expression", "Requires-Python", "Summary", "Description-Content-Type"):
        if not about[key]:
            yield f"the metadata say nothing of {key}"
    for file, pattern in (
        ("CITATION.cff", r"^version: (\S+)$"),
        ("r/DESCRIPTION", r"^Version: (\S+)$"),
        ("CHANGELOG.md", r"^## \[?([\d.]+)"),
    ):
        found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
        if found is None or found[1] != about["Version"]:
            yield f"{file} is of version {found and found[1]}, the wheel of {about['Version']}"


def tried(folder: Path, wheel: Path) -> Iterator[str]:
    """Install the wheel alone where nothing else is, do a few jobs, and uninstall it; yield what is wrong."""
    empty, home = folder / "empty", folder / "home"
    empty.mkdir()
    home.mkdir()
    run(sys.executable, "-m", "venv", folder / "venv", folder=folder)
    here = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip = (here / "python", "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(*pip, "install", wheel, folder=empty)
    run(*pip, "check", folder=empty)
    for job in JOBS.strip().splitlines():
        program, *words = job.split()
        run(here / program, *words, folder=empty, LINKRISK_PROGRESS="none", HOME=str(home))
        sys.stdout.write(f"  {job}\n")
    (site,) = {path.parent for path in (folder / "venv").rglob("linkrisk-*.dist-info")}
    run(*pip, "uninstall", "--yes", "linkrisk", folder=empty)
    left, kept = left_behind(site)
    yield from (f"uninstalled, it leaves {path.relative_to(site)}" for path in left)
    size = sum(path.stat().st_size for path in kept) / 1e6
    sys.stdout.write(f"  left after uninstalling: {len(kept)} files of compiled code, {size:.1f} MB\n")


def left_behind(site: Path) -> tuple[list[Path], list[Path]]:
    """Return the files of the package that are still there, and those in caches, unknown to pip."""
    files = [path for path in site.rglob("*") if path.is_file() and path.relative_to(site).parts[0] in TOP]
    cached = [path for path in files if path.parent.name == "__pycache__"]
    return [path for path in files if path not in cached], cached


def main() -> int:
    """Do all of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where to keep what was built")
    asked = parser.parse_args()
    if run("git", "status", "--porcelain", folder=ROOT):
        sys.stderr.write("note: what is not committed is not in the release\n")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        sdist, wheel = built(folder)
        sizes = [f"{path.name} ({path.stat().st_size / 1e6:.1f} MB)" for path in (sdist, wheel)]
        sys.stdout.write(f"built {sizes[0]} and {sizes[1]}\n")
        run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel, folder=folder)
        faults = [*faults_of(sdist, wheel), *tried(folder, wheel)]
        if asked.keep and not faults:
            asked.keep.mkdir(parents=True, exist_ok=True)
            for path in (sdist, wheel):
                shutil.copy2(path, asked.keep / path.name)
    sys.stdout.write("\n".join([f"fault: {fault}" for fault in faults] or ["ready"]) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
