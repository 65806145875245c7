"""What an installation brings and whether it works: packages, megabytes, commands in an empty folder.

    python scripts/benchmarks/installed.py [EXTRA ...] [--wheel FILE] [--keep FOLDER] [--count]
    python scripts/benchmarks/installed.py --python FILE [--count]

For the core (named `core`) and each extra (default: the core alone) it makes an environment, installs the
wheel, which is given or built here, with the newest versions that there are, counts what came, and runs
commands on CSV files in an empty folder. A megabyte is 10^6 bytes of the files that the packages list,
compiled Python among them; pip and setuptools are not counted, linkrisk is.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_PACKAGES, MOST_MEGABYTES = 24, 600
"""What the core may bring."""

COUNT = """
import importlib.metadata as m, json, os
found = {}
for one in m.distributions():
    name = one.metadata["Name"]
    if name not in ("pip", "setuptools"):
        paths = [one.locate_file(file) for file in one.files or ()]
        found[name] = sum(os.path.getsize(path) for path in paths if os.path.exists(path))
print(json.dumps(found))
"""
FILES = "--original survey.csv --masked masked.csv --attributes age,income"
FIT = f"fit {FILES} --row-by-row --time-limit 60"
CORE = {
    "mask": "mask --input survey.csv --output masked.csv --method noise --percent 15 --attributes age,income",
    "fit": f"{FIT} --json fit.json --certificate certificate.json",
    "fit on highs": f"{FIT} --backend highs",
    "fit on pulp": f"{FIT} --backend pulp",
    "fit on cvxpy": f"{FIT} --backend cvxpy",
    "evaluate": f"evaluate --parameters fit.json {FILES} --row-by-row",
    "verify": f"verify fit.json --certificate certificate.json {FILES} --row-by-row",
    "suppress": "suppress --input survey.csv --output safe.csv --keys region,sex,school --k 3",
    "tables make": "tables make --input survey.csv --by region,sex,school --rule frequency=3 "
    "--cells cells.csv --relations relations.csv",
    "tables suppress": "tables suppress --cells cells.csv --relations relations.csv --output table.csv",
}
EXTRA = {
    "report": {"report": f"report {FILES} --row-by-row --time-limit 30 --output page.html"},
    "files": {
        f"mask into {suffix}": "mask --input survey.csv --method noise --percent 15 --attributes age "
        f"--output masked{suffix}"
        for suffix in (".xlsx", ".sav", ".dta", ".rds", ".parquet")
    },
    "link": {
        "link": "link --original survey.csv --masked masked.csv --method prl --passes soundex(region),age "
        "--attributes income,school --compare school=jaro-winkler:0.9 --row-by-row"
    },
    "app": {"app": "app --help"},
    "scip": {"fit on scip": f"{FIT} --backend scip"},
    "dask": {"fit": FIT},
}


def main() -> int:
    """Install and count each; 1 where the core brings too much or a command fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extras", nargs="*", default=["core"], metavar="EXTRA", help="core, an extra or all")
    parser.add_argument("--wheel", type=Path, help="the wheel (default: built here)")
    parser.add_argument("--keep", type=Path, help="folder of environments that are kept")
    parser.add_argument("--python", type=Path, help="that of an environment that is there")
    parser.add_argument("--count", action="store_true", help="count alone, and run no command")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if asked.python:
            python = asked.python.absolute()  # the link of the environment, not what it points to
            return int(not checked("core", python, Path(folder), asked.count))
        place = (asked.keep or Path(folder)).resolve()
        wheel = (asked.wheel or built(place)).resolve()
        went = []
        for name in asked.extras:
            what = f"{wheel}" if name == "core" else f"{wheel}[{name}]"
            went.append(checked(name, install(place / f"venv-{name}", what), place, asked.count))
        return int(not all(went))


def built(folder: Path) -> Path:
    """Build a wheel of this checkout."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT]
    subprocess.run(list(map(str, command)), check=True)
    return next(folder.glob("linkrisk-*.whl"))


def checked(name: str, python: Path, place: Path, only_count: bool) -> bool:
    """Count an environment and run its commands; whether all went well."""
    sizes = json.loads(subprocess.run([python, "-c", COUNT], check=True, capture_output=True).stdout)
    megabytes = sum(sizes.values()) / 1e6
    print(f"{name}: {len(sizes)} packages, {megabytes:.0f} MB", flush=True)
    few = name != "core" or (len(sizes) <= MOST_PACKAGES and megabytes <= MOST_MEGABYTES)
    if not few:
        print(f"  more than {MOST_PACKAGES} packages or {MOST_MEGABYTES} MB")
        for package, size in sorted(sizes.items(), key=lambda one: -one[1])[:12]:
            print(f"  {package:<20} {size / 1e6:6.1f}")
    return few if only_count else all([few, *(run_all(python, CORE | EXTRA.get(name, {}), place / name))])


def install(folder: Path, what: str) -> Path:
    """Make an environment with linkrisk."""
    venv.create(folder, with_pip=True, clear=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", what], check=True
    )
    return python


def run_all(python: Path, commands: dict[str, str], folder: Path) -> list[bool]:
    """Run commands in a folder that has a survey, and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(3)
    texts = ("NESW", "mf", ("low", "mid", "high"))
    rows = [
        [chance.randint(18, 80), chance.randint(900, 9000), *map(chance.choice, texts)] for _ in range(60)
    ]
    lines = ["age,income,region,sex,school", *(",".join(map(str, row)) for row in rows)]
    (folder / "survey.csv").write_text("\n".join(lines) + "\n")
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    went = []
    for name, command in commands.items():
        done = subprocess.run(
            [python, "-m", "linkrisk", *command.split()], cwd=folder, capture_output=True, text=True, env=kept
        )
        went.append(done.returncode == 0)
        said = "" if went[-1] else f": {(done.stderr or done.stdout).strip()[-300:]}"
        print(f"  {'ran' if went[-1] else 'FAILED'}  {name}{said}", flush=True)
    return went


if __name__ == "__main__":
    sys.exit(main())
