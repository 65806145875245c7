"""The R package: its functions are those declared, R accepts it, its tests pass, its page is true."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import r_package

ROOT = Path(__file__).resolve().parent.parent
NEEDED = ("reticulate", "testthat", "tibble", "haven")


def run(
    *command: object, folder: Path, library: Path | None = None, python: Path = Path(sys.executable)
) -> str:
    """Run R in a folder, with this Python and this tree; what it says, if it ends well."""
    environment = {
        **os.environ,
        "RETICULATE_PYTHON": str(python),
        "PYTHONPATH": str(ROOT) if python == Path(sys.executable) else "",
        "PYTHONWARNINGS": "ignore",
        "LC_ALL": "C.UTF-8",
        "R_LIBS": str(library or ""),
        "_R_CHECK_FORCE_SUGGESTS_": "false",
    }
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    """A library of R with the package, built, checked and installed as users do it."""
    if shutil.which("Rscript") is None:
        pytest.skip("needs R: apt-get install r-base-core r-cran-reticulate r-cran-testthat r-cran-haven")
    folder = tmp_path_factory.mktemp("r")
    asked = f"for (p in c{NEEDED}) if (!requireNamespace(p, quietly = TRUE)) cat(p, '')"
    if lacking := run("Rscript", "-e", asked, folder=folder).split():
        pytest.skip(f"needs packages of R: {', '.join(lacking)}")
    loads = "cat(reticulate::py_available(initialize = TRUE))"
    if not run("Rscript", "-e", loads, folder=folder).endswith("TRUE"):
        pytest.skip("needs a Python that reticulate can load: one with a shared library")
    run("R", "CMD", "build", "--no-build-vignettes", ROOT / "r", folder=folder)
    (built,) = folder.glob("linkrisk_*.tar.gz")
    # The tests are run below, with the vignette beside them.
    no = ("--no-manual", "--no-tests", "--ignore-vignettes")
    said = run("R", "CMD", "check", *no, built, folder=folder)
    assert re.search(r"^Status: (OK|1 NOTE)$", said, re.MULTILINE), said  # knitr may be missing
    return folder / "linkrisk.Rcheck"


@pytest.mark.parametrize("path", r_package.written(), ids=lambda path: path.name)
def test_functions_and_help_are_those_that_are_declared(path: Path) -> None:
    """If this fails: python scripts/r_package.py."""
    assert path.read_text(encoding="utf-8") == r_package.written()[path]


def test_versions_agree() -> None:
    said = (ROOT / "r" / "DESCRIPTION").read_text(encoding="utf-8")
    assert f"Version: {r_package.linkrisk.__version__}\n" in said


def test_its_tests_pass(library: Path, tmp_path: Path) -> None:
    """None is skipped: package and Python are there."""
    tests = tmp_path / "r" / "tests" / "testthat"
    shutil.copytree(ROOT / "r" / "tests" / "testthat", tests)
    shutil.copytree(ROOT / "r" / "vignettes", tmp_path / "r" / "vignettes")
    code = (
        f'found <- as.data.frame(testthat::test_dir("{tests}", package = "linkrisk", '
        'reporter = "summary", stop_on_failure = TRUE)); cat("skipped:", sum(found$skipped))'
    )
    said = run("Rscript", "-e", code, folder=tmp_path, library=library)
    assert said.endswith("skipped: 0"), said


def test_a_python_without_linkrisk_is_named_in_one_line(library: Path, tmp_path: Path) -> None:
    """In a new environment, which has nothing but pip."""
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", folder=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    code = "tryCatch(linkrisk::mask(iris, 'noise'), linkrisk_error = function(e) cat(conditionMessage(e)))"
    said = run("Rscript", "-e", code, folder=tmp_path, library=library, python=python)
    assert "\n" not in said
    assert "has no linkrisk; install it there (" in said


def test_the_page_says_what_r_answers(library: Path, tmp_path: Path) -> None:
    """Each block of R code and what stands below it."""
    page = (ROOT / "docs" / "how-to" / "r.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```r\n(.*?)^```\n(?:\n```\n(.*?)^```$)?", page, re.MULTILINE | re.DOTALL)
    script = "".join(f'{code}cat("<end>\\n")\n' for code, _ in blocks if "install" not in code)
    (tmp_path / "page.R").write_text(script, encoding="utf-8")
    answers = run("Rscript", "page.R", folder=tmp_path, library=library).split("<end>\n")
    expected = [answer for code, answer in blocks if "install" not in code]
    assert len(expected) > 1
    assert [re.sub(r", [\d.]+ s$", ", 0.1 s", each, flags=re.MULTILINE) for each in answers[:-1]] == expected
