"""The distance-based linker: by definition, and the evaluator's links on numeric and mixed files."""

from __future__ import annotations

import json
from dataclasses import replace

import categorical_cases as mixed
import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from refusals import refusal

from linkrisk.datasets.masking.registry import categorical_method
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.formulations.linkage.comparison import Missing
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.linkage.distance_based import DistanceBased
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.judging import judge
from linkrisk.solver.linkage.linker import LinkageTask, Truth
from linkrisk.solver.linkage.operations.evaluate import evaluate
from linkrisk.solver.linkage.operations.link import link
from linkrisk.solver.linkage.parameters import own_settings
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.worst_case.operations.fit import fit

SCHEMA = Schema.from_dict(mixed.SCHEMA)


def read_weights(text):
    """The weights of attributes that a command line has in words."""
    return own_settings("dbrl")["weights"].kind.read(text)


def task(queries, candidates, schema=None, attributes=None):
    names = attributes or tuple(queries.columns)
    return LinkageTask(queries, candidates, names, names, schema or Schema.from_frame(queries))


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("kind", ["squared", "absolute"])
@pytest.mark.parametrize("direction", list(Direction))
def test_on_mixed_files_it_links_what_the_definition_and_the_evaluator_link(aware, kind, direction):
    files = mixed.frames(3, 20, numeric=2)
    asked = ProblemOptions(differences=kind, direction=direction, **mixed.options(aware))
    problem = make_problem(*files, asked)
    wanted = Evaluator(problem.pair, 1).rank(problem.aggregator.form(problem.aggregator.equal()))
    turned = direction is Direction.MASKED_TO_ORIGINAL
    work = replace(task(*(reversed(files) if turned else files), SCHEMA), masked_queries=turned)
    learned = DistanceBased(differences=kind, masking=mixed.MASKING if aware else ()).learn(work)
    made = judge(learned, Truth.of(np.arange(20), 20))
    assert np.array_equal(made.linked, wanted.linked)
    assert np.array_equal(made.rank, wanted.rank)
    reference = mixed.reference(*files, direction.value, aware=aware, reachable_only=False)
    scores = learned.scores(np.arange(20))
    for block in range(20):
        for candidate, c in enumerate(reference.distances(block, kind)):
            expected = -sum(c) / 4 if reference.possible[block][candidate] else -np.inf
            assert scores[block, candidate] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert aware == np.isinf(scores).any()
    assert not np.isnan(scores).any()


def test_the_ordinal_distance_of_the_paper_links_the_same_with_fixed_weights():
    """Definition 1 of 000 counts both ends: a constant more for each ordinal attribute."""
    files = tuple(frame[["size", "town"]] for frame in mixed.frames(4, 60))
    scores = DistanceBased(differences="absolute").learn(task(*files, SCHEMA)).scores(np.arange(60))
    size = [frame["size"].map(list(mixed.SIZES).index).to_numpy() for frame in files]
    town = [frame["town"].to_numpy() for frame in files]
    ordinal = (np.abs(size[0][:, None] - size[1]) + 1) / 4
    inclusive = (ordinal + (town[0][:, None] != town[1])) / 2
    np.testing.assert_allclose(-scores + 1 / 8, inclusive, atol=1e-12)


def test_parameters_are_json_and_restore_the_linker():
    work = task(*mixed.frames(6, 30), SCHEMA)
    weights = (("town", 3.0), ("size", 1.0), ("x0", 0.0))
    learned = DistanceBased(weights=weights, masking=mixed.MASKING, differences="absolute").learn(work)
    parameters = json.loads(json.dumps(learned.parameters))
    assert parameters["weights"] == {"size": 0.25, "town": 0.75, "x0": 0.0}
    again, rows = DistanceBased.restored(parameters, work), np.array([4, 2])
    assert np.array_equal(again.scores(rows), learned.scores(rows))
    assert again.parameters == learned.parameters
    assert read_weights("town=3, size = 1") == (("town", 3.0), ("size", 1.0))
    # An attribute without weight still says who cannot be partners.
    frames = [pd.DataFrame({"town": list(towns), "x": list("ppq")}) for towns in ("abc", "abb")]
    linker = DistanceBased(
        weights=(("town", 0.0), ("x", 1.0)), masking=("top-coding categories=2 attributes=town",)
    )
    scores = linker.learn(task(*frames)).scores(np.arange(3))
    assert scores.tolist() == [[0, -np.inf, -np.inf], [-np.inf, 0, -1], [-np.inf, -1, 0]]


FRAME = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [1.0, 1.0, 1.0], "c": ["x", "y", "x"]})


def learned(linker, **changes):
    return linker.learn(task(FRAME, FRAME, **changes))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DistanceBased(weights=(("a", -1.0),)), "the weight of 'a' is -1; it must be at least 0"),
        (
            lambda: learned(DistanceBased(weights=(("a", 1.0),)), attributes=("a", "c")),
            "weights are given for a, but the attributes are a, c: give each one weight",
        ),
        (
            lambda: learned(DistanceBased(weights=(("a", 0.0),)), attributes=("a",)),
            "all weights are zero: give at least one attribute a weight",
        ),
        (lambda: learned(DistanceBased(), attributes=("a", "b")), "the file of queries: 'b' is constant and"),
        (
            lambda: DistanceBased().learn(
                LinkageTask(FRAME, FRAME, ("a",), ("c",), Schema.from_frame(FRAME))
            ),
            "dbrl compares attributes that both files have: name the same ones for both",
        ),
        (
            lambda: DistanceBased.restored({"weights": [1]}, task(FRAME, FRAME)),
            "these are not parameters of dbrl; take them from the JSON of `link`",
        ),
        (
            lambda: learned(
                DistanceBased(masking=("top-coding categories=2 attributes=a",)), attributes=("a",)
            ),
            "masking: 'a' is not a categorical attribute that is compared; name those that are with "
            "attributes=A,B (recodings of numbers and dates show in the files by themselves)",
        ),
        (lambda: read_weights("a"), "'a' is no pair; write NAME=NUMBER, separated by commas"),
        (lambda: read_weights("a=b"), "'b' is not a finite number"),
    ],
)  # fmt: skip
def test_bad_requests(make, message):
    assert refusal(make).startswith(message)


@pytest.mark.parametrize(
    "method",
    [
        "global-recoding categories=2 label=other attributes=town",
        "global-recoding hierarchy=town={folder}/towns.csv",
        "top-coding categories=2 attributes=town",
    ],
)
def test_what_masking_made_is_no_category_of_the_original_file(method, tmp_path):
    """`link` must not count new names, or names that only stand in the masked file, to what was masked."""
    (tmp_path / "towns.csv").write_text("town,region\na,north\nb,north\nc,south\nd,south\n", encoding="utf-8")
    method = method.format(folder=tmp_path)
    random = np.random.default_rng(5)
    numbers = [f"x{at}" for at in range(30)]
    original = pd.DataFrame({"town": random.choice(list("abcd"), 60), "x": random.choice(numbers, 60)})
    masked = categorical_method(method).apply(original)
    masked.loc[0, "town"] = "zz"
    linker = DistanceBased(differences="absolute", masking=(method,))
    result = link(original, masked, method=linker, direction="masked-to-original")
    ranks = result.table.to_frame()["rank"]
    assert result.linked > 10
    recoding = categorical_method(method).recodings(original)["town"]
    known = np.argwhere(recoding.possible)
    may = {(recoding.before[at], recoding.after[to]) for at, to in known}
    rows = list(original.itertuples(index=False))
    for row, (town, x) in enumerate(masked.itertuples(index=False)):
        distance = np.array(
            [((town != t) + (x != other)) / 2 if (t, town) in may else np.inf for t, other in rows]
        )
        assert ranks[row] == 1 + (distance < distance[row]).sum()
        assert np.isinf(distance[row]) == (row == 0)


def files(seed, rows, digits, share):
    """Two files with ties and near-ties: few digits, far from zero, values missing, a nominal column."""
    random = np.random.default_rng(seed)
    original = np.round(random.normal(size=(rows, 3)), digits) + random.choice([0.0, 1e6])
    masked = np.round(original + random.normal(scale=0.5, size=original.shape), digits)
    frames = []
    for values in (original, masked):
        values[2:][random.random((rows - 2, 3)) < share] = np.nan
        values[0], values[1] = -1.0, 1.0
        frame = pd.DataFrame(values, columns=["a", "b", "c"])
        frame["town"] = random.choice(["x", "y", "z"], rows)
        frames.append(frame)
    return frames


@settings(max_examples=12, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(4, 15),
    digits=st.integers(0, 2),
    share=st.sampled_from([0.0, 0.2]),
    weights=st.lists(st.sampled_from([0.0, 0.1, 1.0, 3.0]), min_size=4, max_size=4).filter(any),
    options=st.fixed_dictionaries(
        {
            "direction": st.sampled_from(["original-to-masked", "masked-to-original"]),
            "ties": st.sampled_from(["strict", "share"]),
        }
    ),
    own=st.fixed_dictionaries(
        {
            "differences": st.sampled_from(["squared", "absolute"]),
            "standardisation": st.sampled_from(["own", "original", "pooled", "none"]),
            "missing": st.sampled_from([rule.value for rule in Missing]),
        }
    ),
)
def test_link_and_evaluate_agree_record_by_record(seed, rows, digits, share, weights, options, own):
    pair = files(seed, rows, digits, share)
    given_weights = tuple(zip(("a", "b", "c", "town"), weights, strict=True))
    linked = link(
        *pair,
        method="dbrl",
        parameters={"weights": given_weights, **own},
        nominal=["town"],
        **options,
    )
    parameters = {"parameters": {"weights": linked.parameters["weights"]}}
    evaluated = evaluate(*pair, parameters=parameters, nominal=["town"], **options, **own)
    assert linked.linked == evaluated.linked
    assert linked.table.to_dict() == evaluated.table.to_dict()


def test_what_fit_reports_is_what_the_others_count():
    pair = files(0, 25, 1, 0.1)
    result = fit(*pair, nominal=["town"], time_limit=None)
    weights = tuple(result.parameters["weights"].items())
    assert (
        link(*pair, method="dbrl", parameters={"weights": weights}, nominal=["town"]).linked == result.linked
    )
    assert evaluate(*pair, parameters=result.to_dict()).linked == result.linked
