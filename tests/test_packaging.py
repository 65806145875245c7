"""What is distributed: which names an environment gets, and whether a source distribution is whole."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
import release_check
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "out", "*.egg-info")
WRITTEN = ("docs", "r", "scripts", "tests")
FILES = (
    *("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md"),
    "constraints.txt",
)
STAND_IN = "another-datasets"


def run(*command: object, folder: Path, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env={**kept, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> tuple[Path, Path]:
    """The source distribution, and the wheel that is built from it and from nothing else."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("built")
    shutil.copytree(ROOT, folder / "source", symlinks=True, ignore=NOT_COPIED)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist", "source", folder=folder)
    (sdist,), (wheel,) = (folder / "dist").glob("*.tar.gz"), (folder / "dist").glob("*.whl")
    return sdist, wheel


def paths(folder: Path, suffix: str = "") -> set[str]:
    found = (path for path in (ROOT / folder).rglob(f"*{suffix}") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in found if "__pycache__" not in path.parts}


def test_what_is_in_the_wheel_and_in_the_source_distribution(built):
    sdist, wheel = built
    inside = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in inside if ".dist-info/" not in name} == {"linkrisk", "solver"}
    assert {name for name in inside if name.startswith("solver/")} == {
        "solver/__init__.py",
        "solver/__main__.py",
    }
    rooms = set().union(*(paths(Path(room)) for room in ("datasets", "formulations", "solver")))
    own = {f"linkrisk/{path.name}" for path in (ROOT / "linkrisk").iterdir() if path.is_file()}
    assert {name for name in inside if name.startswith("linkrisk/")} == own | {
        f"linkrisk/{name}" for name in rooms
    }
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert set(FILES) | {f"linkrisk/{name}" for name in rooms} <= packed  # there the links are folders
    for folder in WRITTEN:
        assert paths(Path(folder)) <= packed
    assert not [name for name in packed if "__pycache__" in name]
    assert list(release_check.faults_of(sdist, wheel)) == []


def brought_by(requirements: Iterable[str], known: set[str]) -> set[str]:
    """What requirements bring in this environment, those of extras left out."""
    for asked in map(Requirement, requirements):
        name = canonicalize_name(asked.name)
        if name in known or (asked.marker and not asked.marker.evaluate({"extra": ""})):
            continue
        known.add(name)
        with suppress(metadata.PackageNotFoundError):
            brought_by(metadata.requires(asked.name) or (), known)
    return known


def test_a_plain_installation_brings_few_packages():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {Requirement(one).name for one in project["dependencies"]} == {
        *("clarabel", "cvxpy-base", "highspy", "numba", "numpy", "pandas", "psutil", "pulp", "scipy"),
        "threadpoolctl",
    }
    assert len(brought_by(project["dependencies"], {"linkrisk"})) <= 24


def test_the_conda_recipe_brings_what_the_project_asks_for():
    """And what its extras of files, pages and linkage ask for: there are no extras there."""
    said = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    brought = set(re.findall(r"^    - ([a-z0-9_-]+) >=", said.partition("  run:\n")[2], re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = (project["optional-dependencies"].get(name, []) for name in ("report", "files", "link"))
    asked = {re.match(r"[\w-]+", one)[0] for one in [*project["dependencies"], *chain(*extras)]}
    assert {"cvxpy-base" if name == "cvxpy" else name for name in asked} <= brought
    assert f'version: "{project["version"]}"' in said


def test_what_an_uninstalled_package_leaves_is_told_from_its_caches(tmp_path):
    names = ("linkrisk/a.py", "linkrisk/x/__pycache__/k.nbi", "solver/__main__.py", "linkrisk_other/b.py")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    left, cached = release_check.left_behind(tmp_path)
    assert sorted(left) == [tmp_path / names[0], tmp_path / names[2]]
    assert cached == [tmp_path / names[1]]


class Environment:
    """A virtual environment that has this one's libraries, but nothing of linkrisk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", folder=folder)
        self.bin = folder / "venv" / "bin"
        self.python = self.bin / "python"
        self._site = Path(self.ask("import sysconfig; print(sysconfig.get_path('purelib'))"))

    def ask(self, code: str) -> str:
        return run(self.python, "-c", code, folder=self.folder).strip()

    def pip(self, *arguments: object) -> None:
        """Install or uninstall; pip sees this environment alone."""
        command = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", self.python)
        run(*command, *arguments, folder=self.folder)

    def install(self, *what: object) -> None:
        """Install, without what it needs: that is there, or not needed."""
        self.pip("install", "--quiet", "--no-deps", "--no-index", *what)

    @contextmanager
    def with_libraries(self) -> Iterator[None]:
        """As if all libraries were installed; as mere folders of a path they bring no hooks of their own."""
        path = self._site / "libraries.pth"
        path.write_text("\n".join({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}) + "\n")
        try:
            yield
        finally:
            path.unlink()

    def check_linkrisk(self) -> None:
        with self.with_libraries():
            assert run(self.python, "-m", "solver", "--help", folder=self.folder).startswith("usage: ")
            assert run(self.bin / "linkrisk", "--version", folder=self.folder).startswith("linkrisk ")
            # Of all that `fit` does, what needs least to be compiled anew for this environment.
            argv = ("fit", "--attributes", "radius_mean,symmetry_mean", "--write-model", "model.lp")
            said = run(self.python, "-m", "linkrisk", *argv, folder=self.folder, LINKRISK_PROGRESS="none")
            assert said.startswith("wrote model.lp: ")
            where = self.ask("import linkrisk.solver; from linkrisk import fit; print(linkrisk.__file__)")
        assert Path(where).parent == self._site / "linkrisk"

    def check_stand_in(self) -> None:
        assert self.ask("import datasets, formulations; print(datasets.WHOSE, formulations.WHOSE)") == (
            "another another"
        )

    def finds(self, name: str) -> bool:
        """Whether there is code of this name: what was compiled and kept may outlive it in its folder."""
        code = f"import importlib.util as u; s = u.find_spec({name!r}); print(s and s.origin)"
        return self.ask(code) != "None"


@pytest.fixture
def environment(tmp_path) -> Environment:
    return Environment(tmp_path)


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory) -> Path:
    """A wheel of somebody else with packages named `datasets` and `formulations`."""
    name = STAND_IN.replace("-", "_")
    path = tmp_path_factory.mktemp("stand_in") / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    content = {
        "datasets/__init__.py": "WHOSE = 'another'\n",
        "formulations/__init__.py": "WHOSE = 'another'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {STAND_IN}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{file},,\n" for file in (*content, f"{info}/RECORD"))
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in {**content, f"{info}/RECORD": record}.items():
            archive.writestr(file, text)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("first", ["linkrisk", STAND_IN])
@pytest.mark.parametrize("gone", ["linkrisk", STAND_IN])
def test_packages_of_the_same_names_stand_side_by_side(built, stand_in, environment, first, gone):
    wheels = {"linkrisk": built[1], STAND_IN: stand_in}
    for name in (first, *(set(wheels) - {first})):
        environment.install(wheels[name])
    environment.check_linkrisk()
    environment.check_stand_in()
    environment.pip("uninstall", "--quiet", "--yes", gone)
    if gone == "linkrisk":
        environment.check_stand_in()
        assert not environment.finds("linkrisk")
        assert not environment.finds("solver")
    else:
        environment.check_linkrisk()
        assert not environment.finds("datasets")
        assert not environment.finds("formulations")


@pytest.mark.slow
def test_an_editable_install_finds_the_rooms_and_takes_no_other_name(environment):
    pytest.importorskip("setuptools", minversion="77")
    source = environment.folder / "source"
    shutil.copytree(ROOT, source, symlinks=True, ignore=NOT_COPIED)
    # By the setuptools of these libraries: nothing is fetched.
    with environment.with_libraries():
        environment.install("--no-build-isolation", "--editable", source)
        code = "import linkrisk.datasets; from linkrisk.solver import run, fit; print(run.__file__)"
        assert Path(environment.ask(code)).resolve().is_relative_to(source / "solver")
        assert run(environment.python, "-m", "solver", "--help", folder=environment.folder).startswith(
            "usage: "
        )
        assert not environment.finds("datasets")
        assert not environment.finds("formulations")


@pytest.mark.slow
def test_the_source_distribution_passes_its_tests(built, tmp_path):
    """A part of them, of every kind, which needs nothing to be compiled anew for another folder."""
    with tarfile.open(built[0]) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    chosen = (
        *("tests/test_architecture.py", "tests/scripts/test_figures.py", "tests/datasets/microdata"),
        *("tests/solver/commands/test_light_help.py", "tests/formulations/linkage/test_moments.py"),
        *(
            f"tests/test_docs.py::test_{name}"
            for name in ("commands_are_understood", "every_command_has_its_page")
        ),
    )
    said = run(
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen),
        folder=unpacked,
        PYTHONPATH=str(unpacked),
    )
    assert " passed" in said
    assert "failed" not in said
