"""What cannot be certified is said before the search, or raised as one exception after it."""

from __future__ import annotations

import pytest
from aggregator_cases import CERTIFIABLE
from certified import certified, frames

from linkrisk.solver.certificates.core.families import FAMILIES
from linkrisk.solver.certificates.writing.build import ProvenSearch, certify
from linkrisk.solver.certificates.writing.certifiable import CertificateError, why_not_certifiable
from linkrisk.solver.engines.base import Proof
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions

every_case = pytest.mark.parametrize("case", CERTIFIABLE, ids=[case.label for case in CERTIFIABLE])


@every_case
def test_every_family_of_this_version_is_certifiable(case):
    problem = make_problem(*frames(0), ProblemOptions(aggregator=case.name, **case.options))
    assert why_not_certifiable(problem.describe()) is None


def test_a_family_that_verify_does_not_know_is_named():
    problem = {**make_problem(*frames(0)).describe(), "aggregator": "nobody-knows"}
    reason = why_not_certifiable(problem)
    assert reason is not None
    assert ", ".join(FAMILIES) in reason


def test_whatever_the_reason_it_is_one_exception():
    made = certified(CERTIFIABLE[0], seed=3)
    other = make_problem(*frames(4))
    searched = ProvenSearch(None, made.system, made.optimum, Proof("lost"))
    claim = (searched, made.fitted["parameters"], made.fitted["linked"], 1.0)
    with pytest.raises(CertificateError, match="not be those of the engine"):
        certify(other.files, other.describe(), *claim)
    unknown = {**made.problem.describe(), "aggregator": "nobody-knows"}
    with pytest.raises(CertificateError, match="verify does not support"):
        certify(made.problem.files, unknown, *claim)
