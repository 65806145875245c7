"""A pair that another process reads again: the same to the last bit, or not at all."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from fit_runs import frames
from pairwise import pairwise

from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import Direction, Ties
from linkrisk.solver.inputs import problem as problems
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions

ARRAYS = ("queries", "candidates", "partner", "weight", "query_rows", "offset", "grains")


@pytest.fixture(autouse=True)
def small_files_are_worth_it(monkeypatch):
    monkeypatch.setattr(problems, "WORTH", 0)


def written(folder, original, masked):
    paths = [folder / "original.parquet", folder / "masked.pq"]
    for frame, path in zip((original, masked), paths, strict=True):
        frame.to_parquet(path, index=False)
    return paths


@pairwise(
    standardisation=list(Standardisation),
    direction=list(Direction),
    ties=list(Ties),
    aligned=["row by row", "id", "some"],
)
def test_it_is_the_same_to_the_last_bit(tmp_path, standardisation, direction, ties, aligned):
    original, masked = frames(1, 40, 3, twins=True)
    options = {"row_by_row": aligned == "row by row"}
    if aligned != "row by row":
        options = {"id": "id"}
        original["id"], masked["id"] = np.arange(40), np.arange(40)
        masked = masked.sample(frac=1.0, random_state=1)
        original = original[5:] if aligned == "some" else original
    chosen = ProblemOptions(direction=direction, ties=ties, standardisation=standardisation, **options)
    problem = make_problem(*written(tmp_path, original, masked), chosen)
    made = pickle.loads(pickle.dumps(problem.rereading)).make()
    for name in ARRAYS:
        found, expected = getattr(made, name), getattr(problem.pair, name)
        assert found.tobytes() == expected.tobytes()
        assert found.flags == expected.flags
    assert (made.attributes, made.ties, made.tables, made.missing) == (
        problem.pair.attributes, ties, None, None,
    )  # fmt: skip
    assert made.by_candidate.candidates is made.candidates


def test_files_that_have_changed_or_gone_are_not_used(tmp_path):
    original, masked = frames(2, 40, 3)
    paths = written(tmp_path, original, masked)
    known = make_problem(*paths).rereading
    assert known.make() is not None
    last = masked.copy()
    last.iloc[-1, -1] = np.nextafter(last.iloc[-1, -1], np.inf)
    for other in (last, masked[:-1], masked[["A", "B"]], masked.astype(str), masked[::-1]):
        written(tmp_path, original, other)
        assert known.make() is None
    lacking = masked.copy()
    lacking.iloc[0, 0] = np.nan
    written(tmp_path, original, lacking)
    assert known.make() is None
    paths[1].write_bytes(b"something else")
    assert known.make() is None
    paths[1].unlink()
    assert known.make() is None


def test_what_cannot_be_read_again_is_known_beforehand(tmp_path, monkeypatch):
    original, masked = frames(3, 40, 3)
    assert make_problem(original, masked).rereading is None
    paths = written(tmp_path, original, masked)
    assert make_problem(original, paths[1]).rereading is None
    texts = [path.with_suffix(".csv") for path in paths]
    for frame, path in zip((original, masked), texts, strict=True):
        frame.to_csv(path, index=False)
    assert make_problem(*texts).rereading is None
    lacking = original.copy()
    lacking.iloc[0, 0] = np.nan
    assert make_problem(*written(tmp_path, lacking, masked)).rereading is None
    mixed = [frame.assign(D=pd.Categorical(["a", "b"] * 20)) for frame in (original, masked)]
    assert make_problem(*written(tmp_path, *mixed), ProblemOptions(nominal=["D"])).rereading is None
    monkeypatch.setattr(problems, "WORTH", 1_000_000)
    assert make_problem(*written(tmp_path, original, masked)).rereading is None
