"""A certificate that was asked for and could not be made: nothing says that the bound is proven."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from linkrisk import fit
from linkrisk.solver.app.answers import interval_of
from linkrisk.solver.charts.theme import worst_said
from linkrisk.solver.documents.notebook import notebook
from linkrisk.solver.documents.short import short_of
from linkrisk.solver.report.page import document_of
from linkrisk.solver.report.results import FamilyResult
from linkrisk.solver.schemas.reading import worst_cases


@pytest.fixture(scope="module")
def fitted():
    original = pd.DataFrame(np.random.default_rng(1).normal(size=(20, 2)), columns=["a", "b"])
    return fit(original, original + 0.5 * original.to_numpy()[::-1], aggregator="weighted-mean").to_dict()


@pytest.mark.parametrize(
    ("certificate", "proven"),
    [
        (None, True),
        ({"made": True, "reason": None}, True),
        ({"made": False, "reason": "it would be too large"}, False),
    ],
)
def test_only_a_certificate_that_is_there_proves(fitted, certificate, proven):
    assert fitted["status"] == "optimal"
    content = {**fitted, "certificate": certificate}
    assert FamilyResult("weighted-mean", content).interval.proven is proven
    assert interval_of(content).proven is proven
    assert ("proven" in worst_said(worst_cases(content)["weighted-mean"])) is proven
    assert ("proven: no other parameters" in notebook(short_of(content))) is proven
    assert ("by the search, " in notebook(short_of(content))) is not proven
    reasons = " ".join(document_of(content).headline.reasons)
    assert ("re-identifies more, which is proven." in reasons) is proven
    assert ("re-identifies more, as the search says: there is no certificate of it." in reasons) is not proven
