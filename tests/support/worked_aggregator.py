"""The aggregator that CONTRIBUTING.md works out, put where its text says.

As a plug-in of pytest (``-p worked_aggregator``) it does so before the tests of aggregators are read, so that
they run on it as on those of the product.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import types
from pathlib import Path

import aggregator_cases
import brute_optimum

import linkrisk.formulations.linkage.aggregators

ROOT = Path(__file__).resolve().parents[2]
NAME = "mean-and-ends"
AS_PLUGIN = "worked_aggregator"


def text_of(heading: str) -> str:
    """A section of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    (found,) = [section for section in sections if section.startswith(f"{heading}\n")]
    return found


def code_of(heading: str) -> list[str]:
    """Its Python code, block by block."""
    return re.findall(r"^```python\n(.*?)^```$", text_of(heading), re.MULTILINE | re.DOTALL)


def as_module(name: str, code: str) -> types.ModuleType:
    """Run code as the module that the text calls it; others can import it from then on."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(code, "CONTRIBUTING.md", "exec"), module.__dict__)
    return module


def make_class() -> type[linkrisk.formulations.linkage.aggregators.Aggregator]:
    """Run step 1; the class of the aggregator."""
    code = code_of("How to add an aggregator")[0]
    made: type[linkrisk.formulations.linkage.aggregators.Aggregator] = as_module(
        "linkrisk.formulations.linkage.aggregators.mean_and_ends", code
    ).MeanAndEnds
    return made


def make_case() -> aggregator_cases.Case:
    """Run step 5 in the two files that it names; the line that it adds to the cases."""
    _, family, case = code_of("How to add an aggregator")
    exec(compile(family, "CONTRIBUTING.md", "exec"), brute_optimum.__dict__)
    lines = ast.parse(case)
    line = lines.body.pop()
    assert isinstance(line, ast.Expr)
    exec(compile(lines, "CONTRIBUTING.md", "exec"), aggregator_cases.__dict__)
    return eval(compile(ast.Expression(line.value), "CONTRIBUTING.md", "eval"), aggregator_cases.__dict__)


def environment() -> dict[str, str]:
    """Where a fresh interpreter finds this plug-in and the project."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(__file__).parent)])}


def pytest_configure() -> None:
    """Add it to all lists, as steps 2 and 5 say."""
    linkrisk.formulations.linkage.aggregators.AGGREGATORS[NAME] = make_class()
    case = make_case()
    aggregator_cases.CASES = (*aggregator_cases.CASES, case)
    aggregator_cases.LABELS.append(case.label)
    aggregator_cases.BY_LABEL[case.label] = case
    aggregator_cases.POLYTOPES.append(case)
