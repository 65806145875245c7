"""The program prints the name that it was called by."""

from __future__ import annotations

import subprocess
import sys

import pytest

from linkrisk.solver.commands.program import as_called, program


@pytest.mark.parametrize("package", ["linkrisk", "solver"])
def test_a_package_that_is_run(package):
    asked = [sys.executable, "-m", package, "fitt"]
    said = subprocess.run(asked, capture_output=True, text=True, check=False).stderr
    assert said == f"error: unknown command 'fitt': did you mean 'fit'? (see `python -m {package} --help`)\n"


@pytest.mark.parametrize("path", ["/usr/local/bin/linkrisk", "linkrisk.exe", "linkrisk"])
def test_a_program_that_is_installed(monkeypatch, path):
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    monkeypatch.setattr(sys, "argv", [path, "fit"])
    assert program() == "linkrisk"
    assert as_called(["fit", "--original", "my file.csv"]) == "linkrisk fit --original 'my file.csv'"
    monkeypatch.setattr(sys, "argv", ["/usr/bin/pytest"])
    assert program() == "python -m solver"
