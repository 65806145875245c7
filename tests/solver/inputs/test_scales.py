"""Units of attributes: hard to weigh, which is said with numbers; or so large that values are tiny."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from cli_runs import PAIR, refuse, run
from fit_runs import frames

from linkrisk import evaluate, fit, link
from linkrisk.formulations.errors import FormulationError
from linkrisk.solver.linkage.distance_based import DistanceBased


def survey(code: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ages that say who is who, incomes that do not, and one age that stands for a missing one."""
    random = np.random.default_rng(0)
    original = pd.DataFrame({"income": random.normal(size=60), "age": random.uniform(18, 90, 60)})
    masked = original + random.normal(size=(60, 2)) * [1.0, 0.05]
    for frame in (original, masked):
        frame.loc[7, "age"] = code
    return original, masked


def test_units_that_are_hard_to_weigh_are_noted():
    """A code far out, codes for a third of the values, and units far apart where nothing is standardised."""
    hard = "column age is hard to weight against the others"
    (note,) = fit(*survey(99999999.0)).details["notes"]
    assert note.startswith(hard)
    assert "most of its values lie within 3e-06 standardised units" in note
    assert "such as 99999999 for a missing value" in note
    original, masked = survey(40.0)
    masked.loc[::3, "age"] = 99999999.0
    (note,) = fit(original, masked, standardisation="pooled").details["notes"]
    assert note.startswith(hard)
    files = [frame.assign(income=1e6 * frame["income"]) for frame in survey(40.0)]
    assert fit(*files, standardisation="none").details["notes"][0].startswith(hard)
    for within_reach in (files, survey(40.0), survey(999.0)):
        assert fit(*within_reach).details["notes"] == []


SMALL = 2.0**-665
"""About 1e-200; a power of two, so that no value is rounded."""


def in_small_units(files, columns=("B",)):
    return tuple(frame.assign(**{name: SMALL * frame[name] for name in columns}) for frame in files)


@pytest.mark.parametrize(
    ("columns", "standardisation"), [(("B",), "own"), (("A", "B"), "original"), (("B",), "pooled")]
)
def test_counts_do_not_depend_on_units(columns, standardisation):
    files = frames(3, 30, 2, noise=0.7)
    options = {"standardisation": standardisation, "time_limit": None}
    usual, small = fit(*files, **options), fit(*in_small_units(files, columns), **options)
    assert small.proven
    assert (small.linked, small.parameters) == (usual.linked, usual.parameters)
    assert small.details["baselines"] == usual.details["baselines"]
    again = evaluate(*in_small_units(files, columns), parameters=small.to_dict())
    assert again.linked == small.linked
    linked = [
        link(*pair, method=DistanceBased(standardisation=standardisation)).linked
        for pair in (files, in_small_units(files, columns))
    ]
    assert linked[0] == linked[1]


def test_a_proof_about_small_values(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for frame, name in zip(in_small_units(frames(3, 20, 2, noise=0.7)), PAIR[1::2], strict=True):
        frame.to_csv(name, index=False)
    run(capsys, "fit", *PAIR, "--json", "fit.json", "--certificate", "proof.json", "--time-limit", "none")
    assert "proved: no weighted mean links more than" in run(
        capsys, "verify", "fit.json", "--certificate", "proof.json", *PAIR
    )
    refuse(
        capsys,
        "attribute 'B' differs by at most 3.84e-200 in the units that it is compared in, which becomes zero "
        "when squared: standardise each file by itself, or use another unit",
        *["fit", *PAIR, "--standardisation", "none"],
    )


def test_a_masked_file_in_another_unit_than_the_original():
    """Beside a mean that is zero, the masked values keep their differences in units of the original."""
    original = pd.DataFrame({"A": [1.0, 2.0, 4.0, 3.0], "B": [-2.0, -1.0, 1.0, 2.0]})
    masked = pd.DataFrame({"A": [1.5, 2.0, 3.0, 3.5], "B": [-SMALL, SMALL, SMALL, -SMALL]})
    with pytest.raises(FormulationError) as caught:
        fit(original, masked, standardisation="original")
    assert str(caught.value).startswith("attribute 'B' differs by")
    assert fit(original, masked, standardisation="own", time_limit=None).proven
