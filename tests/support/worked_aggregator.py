"""The aggregator that docs/how-to/extend.md works out, put where its text says.

As a plug-in of pytest (``-p worked_aggregator``) it does so before the tests of aggregators are read, so that
they run on it as on those of the product.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import tempfile
import types
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import aggregator_cases
import brute_optimum

from linkrisk.datasets.options.option import Option
from linkrisk.formulations.linkage import aggregators
from linkrisk.formulations.linkage.aggregators.registry import AGGREGATORS, load_aggregator
from linkrisk.solver.certificates.checking import rounded
from linkrisk.solver.certificates.core import families
from linkrisk.solver.options import names

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "extend.md"
NAME = "mean-and-ends"
AS_PLUGIN = "worked_aggregator"
HEADING = "How to add an aggregator"

_for_this_run = ExitStack()


def text_of(heading: str) -> str:
    """A section of the page."""
    text = PAGE.read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    (found,) = [section for section in sections if section.startswith(f"{heading}\n")]
    return found


def code_of(heading: str) -> list[str]:
    """Its Python code, block by block."""
    return re.findall(r"^```python\n(.*?)^```$", text_of(heading), re.MULTILINE | re.DOTALL)


def files_of(heading: str) -> list[str]:
    """The files that its steps name, in bold."""
    return re.findall(r"\*\*`([^`]+)`\*\*", text_of(heading))


def as_module(name: str, code: str) -> types.ModuleType:
    """Run code as the module that the text calls it; others can import it from then on."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(code, PAGE.name, "exec"), module.__dict__)
    return module


@contextmanager
def placed(folder: Path) -> Iterator[None]:
    """Steps 1 to 3: the file of the aggregator, the line of the registry, the name, and two classes."""
    code = code_of(HEADING)
    line = re.search(r'`"(mean_and_ends:\w+)"`', text_of(HEADING))
    assert line is not None
    (folder / "mean_and_ends.py").write_text(code[0], encoding="utf-8")
    aggregators.__path__.append(str(folder))
    AGGREGATORS[NAME] = load_aggregator(line[1])
    for home, added in zip((families, rounded), code[1:3], strict=True):
        exec(compile(added, PAGE.name, "exec"), home.__dict__)
    offered = Option.names

    def with_ours(option: Option) -> tuple[str, ...]:
        found = tuple(offered.__get__(option))
        return (*found, NAME) if found == names.AGGREGATORS else found

    Option.names = property(with_ours)  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        Option.names = offered  # type: ignore[method-assign]
        AGGREGATORS.pop(NAME, None)
        rounded.ROUNDED.pop(families.FAMILIES.pop(NAME, None), None)
        aggregators.__path__.pop()
        sys.modules.pop(f"{aggregators.__name__}.mean_and_ends", None)


def make_case() -> aggregator_cases.Case:
    """Run step 4 in the two files that it names; the case that it adds."""
    *_, family, case = code_of(HEADING)
    exec(compile(family, PAGE.name, "exec"), brute_optimum.__dict__)
    lines = ast.parse(case)
    line = lines.body.pop()
    assert isinstance(line, ast.Expr)
    exec(compile(lines, PAGE.name, "exec"), aggregator_cases.__dict__)
    return eval(compile(ast.Expression(line.value), PAGE.name, "eval"), aggregator_cases.__dict__)


def environment() -> dict[str, str]:
    """Where a fresh interpreter finds this plug-in and the project."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(__file__).parent)])}


def pytest_configure() -> None:
    """Do what the steps say, for the whole of this run."""
    folder = _for_this_run.enter_context(tempfile.TemporaryDirectory())
    _for_this_run.enter_context(placed(Path(folder)))
    aggregator_cases.add(make_case())


def pytest_unconfigure() -> None:
    """Take it away again."""
    _for_this_run.close()
