"""`link --method dbrl`, `evaluate` and `fit` never disagree about the same parameters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from linkrisk.formulations.linkage.comparison import Missing
from linkrisk.solver.linkage.operations.evaluate import evaluate
from linkrisk.solver.linkage.operations.link import link
from linkrisk.solver.worst_case.operations.fit import fit


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


@settings(max_examples=25, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
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


@pytest.mark.parametrize("seed", range(3))
def test_what_fit_reports_is_what_the_others_count(seed):
    pair = files(seed, 25, 1, 0.1)
    result = fit(*pair, nominal=["town"], time_limit=None)
    weights = tuple(result.parameters["weights"].items())
    assert (
        link(*pair, method="dbrl", parameters={"weights": weights}, nominal=["town"]).linked == result.linked
    )
    assert evaluate(*pair, parameters=result.to_dict()).linked == result.linked
