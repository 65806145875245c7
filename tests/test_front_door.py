"""What `linkrisk` offers: one list, read by people, editors and type checkers, and imported late."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import linkrisk

FRONT = Path(linkrisk.__file__).parent
SUBJECTS = sorted(path.stem for path in FRONT.glob("*.py") if path.stem not in {"__init__", "__main__"})


def test_the_list_is_all_there_is() -> None:
    names = [
        alias.asname
        for node in ast.parse((FRONT / "__init__.pyi").read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert linkrisk.__all__ == names
    assert len(names) == len(set(names))
    assert set(names) == {name for name in dir(linkrisk) if not name.startswith("__")}


def test_all_are_what_the_list_says_under_both_names() -> None:
    found: dict[str, object] = {}
    exec("from linkrisk import *", found)
    assert sorted(name for name in found if name != "__builtins__") == sorted(linkrisk.__all__)
    alias = importlib.import_module("solver")
    assert all(getattr(alias, name) is one for name, one in found.items() if name != "__builtins__")
    with pytest.raises(AttributeError, match="module 'linkrisk' has no attribute 'fitt'"):
        linkrisk.fitt  # noqa: B018


def test_every_result_of_a_function_and_every_error_is_offered() -> None:
    offered = {name: getattr(linkrisk, name) for name in linkrisk.__all__}
    for function in filter(inspect.isfunction, offered.values()):
        for name in str(inspect.signature(function).return_annotation).split(" | "):
            assert name in offered or name in dir(linkrisk.tables) or name == "None", (
                function.__name__,
                name,
            )
    for error in (linkrisk.DataError, linkrisk.FormulationError, linkrisk.UsageError):
        assert issubclass(error, linkrisk.LinkriskError)


@pytest.mark.parametrize("subject", [name for name in SUBJECTS if name not in ("arrays", "errors")])
def test_every_subject_has_public_names_only(subject: str) -> None:
    module = importlib.import_module(f"linkrisk.{subject}")
    assert subject in linkrisk.__all__
    assert inspect.getdoc(module)
    assert [name for name in vars(module) if not name.startswith("__")]


def test_importing_it_is_quick_and_loads_no_library() -> None:
    code = "import json, sys; before = set(sys.modules); import linkrisk; dir(linkrisk); "
    code += "print(json.dumps(sorted(set(sys.modules) - before)))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert {name.partition(".")[0] for name in json.loads(said)} <= {"linkrisk"}
