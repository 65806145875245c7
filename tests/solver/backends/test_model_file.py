"""Models as LP and MPS files."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import highspy
import numpy as np
import pytest
from backend_problems import INF, SOLVED, knapsack, make

from linkrisk.formulations.programs import NamedBlock, named
from linkrisk.solver.backends.model_file import readable_names, write_model
from linkrisk.solver.run.errors import UsageError


def read(path: Path) -> highspy.Highs:
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("small_matrix_value", 1e-12)
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    return highs


def test_lp_file_to_the_letter(tmp_path):
    model = make(
        [0, 0, 1],
        [([1, 1, 0], 1, 1), ([0.25, -1 / 3, 10], 1e-4, INF)],
        integer=[False, False, True],
        constant=2.5,
    )
    rows = (named("domain", ["simplex"]), NamedBlock("links", 1, "link_{}_{}", ([3], np.array([17]))))
    columns = (named("parameters", ["w(age)", "w(income)"]), NamedBlock("lost", 1, "lost_{}", ([3],)))
    write_model(replace(model, row_blocks=rows, column_blocks=columns), tmp_path / "model.lp")
    written = re.sub(r"0\.3{15}\d*", "0.333333333333333", (tmp_path / "model.lp").read_text())
    assert written == (  # HiGHS 1.16 writes more digits
        "\\ File written by HiGHS .lp file handler\n"
        "min\n"
        " obj: +1 lost_3  +2.5\n"
        "st\n"
        " simplex: +1 w(age) +1 w(income) = +1\n"
        " link_3_17: +0.25 w(age) -0.333333333333333 w(income) +10 lost_3 >= +0.0001\n"
        "bounds\n"
        " w(age) <= 1\n"
        " w(income) <= 1\n"
        " lost_3 <= 1\n"
        "bin\n"
        " lost_3\n"
        "gen\n"
        "semi\n"
        "end\n"
    )


@pytest.mark.parametrize("suffix", [".lp", ".mps", ".MPS"])
@pytest.mark.parametrize("name", ["knapsack", "set cover", "equality", "free columns", "ranged row", "big M"])
def test_read_back_has_the_same_optimum(name, suffix, tmp_path):
    model, optimum = SOLVED[name]
    model = replace(model, constant=-3.5)
    path = tmp_path / f"model{suffix}"
    write_model(model, path)
    if suffix == ".MPS":
        path = path.rename(tmp_path / "model.mps")
    highs = read(path)
    highs.run()
    assert highs.getObjectiveValue() == pytest.approx(optimum - 3.5, abs=1e-6)


AWKWARD = ["e1", "E", "end", "free", "1x", "", "a b", "a+b", "a[1]", "a(1)"]
AWKWARD += ["Bound", "inf", "obj", "x", "x", "é"]
READABLE = ["_e1", "E", "_end", "_free", "_1x", "_", "a_b", "a_b_2", "a_1_", "a(1)"]
READABLE += ["_Bound", "_inf", "_obj", "x", "x_2", "__2"]


@pytest.mark.parametrize("suffix", [".lp", ".mps"])
def test_awkward_names_keep_the_file_valid(suffix, tmp_path):
    model = make(range(1, 17), [([1.0] * 16, 3, INF)] * 16)
    both = (named("awkward", AWKWARD),)
    model = replace(model, row_blocks=both, column_blocks=both)
    write_model(model, tmp_path / f"m{suffix}")
    highs = read(tmp_path / f"m{suffix}")
    highs.run()
    assert highs.getObjectiveValue() == 6.0
    assert readable_names(AWKWARD) == READABLE
    assert sorted(highs.getLp().col_names_) == sorted(READABLE)


def test_unknown_suffix_and_missing_folder(tmp_path):
    for name in ("model.txt", "model"):
        with pytest.raises(UsageError, match=f"cannot write a model as '{name}': end the name in .lp or"):
            write_model(knapsack(), tmp_path / name)
    with pytest.raises(UsageError, match=r"no folder '.*missing' to write 'model.lp' in: create it first"):
        write_model(knapsack(), tmp_path / "missing" / "model.lp")
    assert list(tmp_path.iterdir()) == []


def test_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "model.lp"
    target.write_text("before")
    monkeypatch.setattr(highspy.Highs, "writeModel", lambda _self, _path: highspy.HighsStatus.kError)
    with pytest.raises(UsageError) as error:
        write_model(knapsack(), target)
    assert str(error.value) == f"cannot write '{target}': HiGHS could not write it"
    assert [path.name for path in tmp_path.iterdir()] == ["model.lp"]
    assert target.read_text() == "before"
