"""A run imports what it uses: modules are counted, not seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from linkrisk.datasets.public.embedded import default_pair

ROOT = Path(__file__).resolve().parents[3]
CODE = """
import contextlib, io, json, sys
import pandas
with_pandas = set(sys.modules)
with contextlib.redirect_stdout(io.StringIO()):
    {does}
print(json.dumps(sorted(set(sys.modules) - with_pandas)))
"""
FIT = "from linkrisk.solver.commands.program import main; assert main({argv}) == 0"
# pyarrow is not among them: pandas imports more and more of it, where it is there.
LIBRARIES = (
    *("altair", "cvxpy", "jinja2", "networkx", "openpyxl", "pooch", "pulp", "pyreadr", "pyreadstat", "rich"),
    *("sklearn", "scipy.linalg", "scipy.optimize", "scipy.special", "scipy.stats"),
    # What numba compiles from: where a kernel was kept, it is loaded without.
    *("numba.cpython.unicode", "numba.np.arrayobj", "numba.typed.typeddict"),
)
ROOMS = (
    *("app", "compiling.ahead", "masking", "protocol", "report.operations", "risk_utility", "suppression"),
    *("tables", "certificates.checking", "certificates.writing.build", "worst_case.sampled.search"),
    *("linkage.bayesian", "linkage.operations", "linkage.probabilistic", "linkage.registry"),
    *("engines.exact.spectrahedron", "measures.risk", "charts.gallery", "documents.page"),
)
OTHERS = (
    *("datasets.tables", "formulations.suppression", "formulations.tables"),
    *(f"datasets.masking.{name}" for name in ("local_suppression", "noise", "pram", "rank_swapping")),
    *(f"datasets.microdata.formats.{name}" for name in ("argus", "excel", "r", "sas", "spss", "stata")),
)
NOT_NEEDED = (
    *LIBRARIES,
    *(f"linkrisk.solver.{name}" for name in ROOMS),
    *(f"linkrisk.{name}" for name in OTHERS),
)
MOST = 220
"""Modules of linkrisk, of which there are more than five hundred."""


def imported(folder: Path, does: str) -> list[str]:
    """The modules that code imports in a fresh interpreter, but for those of pandas."""
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(does=does)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "LINKRISK_PROGRESS": "none"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    return found


def among(found: list[str], names: tuple[str, ...]) -> list[str]:
    """Those that are one of these modules, or inside of one."""
    return [name for name in found if any(name == one or name.startswith(f"{one}.") for one in names)]


@pytest.mark.parametrize("files", ["embedded", "csv"])
def test_a_small_fit_imports_what_it_uses(files: str, tmp_path: Path) -> None:
    argv = ["fit", "--aggregator", "choquet"]
    if files == "csv":
        pair = default_pair()
        for name, values in (("original", pair.original_values), ("masked", pair.masked_values)):
            lines = [pair.attributes, *values.tolist()]
            text = "\n".join(",".join(map(str, line)) for line in lines)
            (tmp_path / f"{name}.csv").write_text(text, "utf-8")
            argv += [f"--{name}", f"{name}.csv"]
    imported(tmp_path, FIT.format(argv=argv))  # where something is not compiled, this compiles it
    found = imported(tmp_path, FIT.format(argv=argv))
    assert among(found, NOT_NEEDED) == []
    assert 100 < len(among(found, ("linkrisk",))) <= MOST


def test_the_function_is_imported_without_what_searches(tmp_path: Path) -> None:
    """It comes with its options; the search comes with its first call."""
    found = imported(tmp_path, "from linkrisk import fit")
    assert among(found, (*NOT_NEEDED, "numba", "scipy", "linkrisk.solver.engines")) == []
    assert among(found, ("linkrisk.solver.worst_case.operations",))[-1].endswith(".fit")
