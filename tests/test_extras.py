"""What a plain installation lacks is said in one line that names the extra, wherever it is asked for."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_runs import refuse

from linkrisk.datasets.microdata.formats.registry import formats, read_file
from linkrisk.datasets.microdata.writing import write_table
from linkrisk.errors import EXTRAS, LinkriskError, MissingExtraError
from linkrisk.solver.backends.registry import get_backend
from linkrisk.solver.linkage.operations.link import link
from linkrisk.solver.linkage.probabilistic import blocking

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAMES = {"scikit-learn": "sklearn", "vl-convert-python": "vl_convert", "cvxpy-base": "cvxpy"}


def module_of(requirement: str) -> str:
    name = re.split(r"[<>=~!;\[ ]", requirement)[0]
    return NAMES.get(name, name.replace("-", "_"))


def imported() -> dict[str, set[Path]]:
    """Modules of others that the product imports, but for its types alone, and the files that do."""
    found: dict[str, set[Path]] = {}
    for room in ("datasets", "formulations", "solver", "linkrisk"):
        for path in (ROOT / room).rglob("*.py"):
            tree = ast.parse(path.read_text("utf-8"))
            types = {
                id(inner)
                for node in ast.walk(tree)
                if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
                for inner in ast.walk(node)
            }
            for node in ast.walk(tree):
                names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
                for name in () if id(node) in types else names:
                    found.setdefault(name.partition(".")[0], set()).add(path)
    return {name: paths for name, paths in found.items() if name not in sys.stdlib_module_names}


def test_every_import_is_of_the_core_or_of_an_extra():
    core = {module_of(one) for one in PROJECT["dependencies"]} | {"llvmlite"}  # which Numba brings
    extras = {module for modules in EXTRAS.values() for module in modules}
    brought = {"markupsafe"}  # by Jinja
    lazily = {"IPython", "polars", "starlette"}  # of who has them: notebooks, tables, what NiceGUI brings
    assert set(imported()) - {"linkrisk", *core, *extras, *lazily} == set()
    assert not core & extras
    for extra, modules in EXTRAS.items():
        declared = {module_of(one) for one in PROJECT["optional-dependencies"][extra]}
        assert set(modules) - brought <= declared, extra


def test_the_extra_all_has_all_others_but_for_developers():
    (everything,) = PROJECT["optional-dependencies"]["all"]
    assert everything == f"linkrisk[{','.join(name for name in EXTRAS)}]"


@pytest.fixture
def lacking(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Takes a module away, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    blocking._code.cache_clear()
    return lambda module: monkeypatch.setitem(sys.modules, module, None)


SUFFIXES = [(suffix, one) for one in formats() for suffix in one.suffixes if one.requires]


@pytest.mark.parametrize(("suffix", "made"), SUFFIXES, ids=[suffix for suffix, _ in SUFFIXES])
def test_files(lacking, suffix: str, made: Any):
    for module in made.requires:
        lacking(module)
    Path(f"x{suffix}").write_bytes(b"something")
    with pytest.raises(MissingExtraError) as error:
        read_file(f"x{suffix}")
    assert (
        str(error.value) == f"reading {suffix} files needs the extra 'files': pip install 'linkrisk[files]'"
    )
    if made.cannot_write is None:
        with pytest.raises(MissingExtraError, match=f"writing {suffix} files needs the extra 'files': pip"):
            write_table(pd.DataFrame({"a": [1]}), f"y{suffix}")
    assert not Path(f"y{suffix}").exists()


def _files() -> None:
    table = pd.DataFrame({"name": ["anna", "bob", "carl"], "age": [30.0, 41.0, 52.0]})
    table.to_csv("a.csv", index=False)
    table.assign(name=["ana", "rob", "karl"]).to_csv("b.csv", index=False)


def _chart() -> None:
    from linkrisk.solver.charts.gallery import draw

    draw("bound", {})


def _distance() -> None:
    from linkrisk.solver.measures.interval_disclosure import _determinant

    _determinant(np.zeros((3, 2)), 0)


@pytest.mark.parametrize(
    ("module", "act", "message"),
    [
        ("altair", _chart, "drawing charts needs the extra 'report'"),
        ("pyscipopt", lambda: get_backend("scip"), "backend 'scip' needs the extra 'scip'"),
        (
            "networkx",
            lambda: link("a.csv", "b.csv", method="bayes"),
            "the linker bayes needs the extra 'link'",
        ),
        (
            "rapidfuzz",
            lambda: link(
                "a.csv",
                "b.csv",
                method="prl",
                nominal=["name"],
                parameters={"compare": ["name=jaro-winkler:0.9"]},
            ),
            "the comparison jaro-winkler needs the extra 'link'",
        ),
        (
            "jellyfish",
            lambda: link(
                "a.csv", "b.csv", method="prl", nominal=["name"], parameters={"passes": ["soundex(name)"]}
            ),
            "the key function soundex needs the extra 'link'",
        ),
        ("sklearn", _distance, "the robust distance of interval disclosure needs the extra 'link'"),
    ],
)
def test_functions(lacking, module: str, act: Callable[[], object], message: str):
    _files()
    lacking(module)
    with pytest.raises(LinkriskError) as error:
        act()
    extra = message.split("'")[-2]
    assert str(error.value) == f"{message}: pip install 'linkrisk[{extra}]'"


@pytest.mark.parametrize(
    ("module", "argv", "message"),
    [
        (
            "jinja2",
            ["report", "--original", "a.csv", "--masked", "b.csv", "--output", "x.html"],
            "a report needs the extra 'report'",
        ),
        ("altair", ["fit", "--report", "x.html"], "a report needs the extra 'report'"),
        ("nicegui", ["app"], "the app needs the extra 'app'"),
        ("pyarrow", ["describe", "x.parquet"], "reading .parquet files needs the extra 'files'"),
    ],
)
def test_commands(lacking, capsys, module: str, argv: list[str], message: str):
    _files()
    Path("x.parquet").write_bytes(b"PAR1")
    lacking(module)
    sys.modules.pop("linkrisk.solver.documents.page", None)
    extra = message.split("'")[-2]
    refuse(capsys, f"{message}: pip install 'linkrisk[{extra}]'", *argv)
