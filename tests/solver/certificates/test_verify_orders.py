"""Orders of attributes and ranks beside a certificate: counted by the verifier, and never claimed below."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import categorical_cases as mixed
import numpy as np
import pandas as pd
import pytest
from certified import all_cores

from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.solver.certificates.checking.verify import fit_problem, linkage_of
from linkrisk.solver.certificates.core.families import FAMILIES
from linkrisk.solver.certificates.core.linkage import Linkage
from linkrisk.solver.certificates.writing.build import ProvenSearch, certify
from linkrisk.solver.commands.program import main
from linkrisk.solver.engines.base import Proof
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.linkage import lexicographic as orders
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.worst_case.operations.fit import fit
from linkrisk.solver.worst_case.search_state import problem_system

COMMAND = ["--original", "original.csv", "--masked", "masked.csv", "--row-by-row"]
CHECK = ["verify", "fit.json", "--certificate", "proof.json", *COMMAND]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


def compared(problem):
    """The records of the verifier."""
    return linkage_of(problem.files, fit_problem(problem.describe(), "fit"))


def same_as_the_search(problem, ranked):
    """What the verifier counts is what the search counts, each with code of its own."""
    known = orders.best_order(problem.pair, ranked=ranked)
    found = compared(problem).best_order()
    assert (found.ranked, float(found.weight)) == (ranked, pytest.approx(known.weight, rel=1e-12))
    own = orders.linked_in_order(problem.pair, np.array(found.sequence), ranked=ranked)
    assert (found.count, own.sum()) == (own.sum(), known.linked.sum())


@pytest.mark.parametrize("ties", ["strict", "share"])
@pytest.mark.parametrize("direction", ["original-to-masked", "masked-to-original"])
@pytest.mark.parametrize(
    ("family", "ranked"), [("weighted-mean", False), ("mahalanobis", False), ("owa", True)]
)
@pytest.mark.parametrize("seed", range(3))
def test_the_verifier_counts_what_the_search_counts(seed, family, ranked, direction, ties):
    random = np.random.default_rng(seed)
    original = pd.DataFrame(random.integers(0, 4, size=(30, 3)).astype(float), columns=list("abc"))
    masked = original + random.integers(-1, 2, size=original.shape)
    options = ProblemOptions(
        aggregator=family,
        direction=direction,
        ties=ties,
        standardisation=Standardisation.NONE,
        row_by_row=True,
    )
    same_as_the_search(make_problem(original, masked, options), ranked)


@pytest.mark.parametrize(("family", "ranked"), [("weighted-mean", False), ("owa", True)])
def test_no_order_is_asked_for_that_the_search_does_not_come_to(family, ranked):
    """Also where what adds most leads to few, and is given up as it cannot link more than a bound."""
    asked = 0
    for seed in range(16):
        random = np.random.default_rng(seed)
        original = pd.DataFrame(random.integers(0, 3, size=(9, 3)).astype(float), columns=list("abc"))
        masked = original + random.choice([-1.0, 0.0, 0.0, 1.0], size=original.shape)
        options = ProblemOptions(aggregator=family, standardisation=Standardisation.NONE, row_by_row=True)
        problem = make_problem(original, masked, options)
        known, linkage = orders.best_order(problem.pair, ranked=ranked).weight, compared(problem)
        for above in range(int(known)):
            asked += 1
            found = linkage.best_order(Fraction(above))
            assert found.weight == known
            assert found == Linkage(linkage.records, linkage.family).best_order(Fraction(above))
        assert linkage.best_order(Fraction(int(known))) is None
    assert asked > 16


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_categories_are_counted_too(seed, aware):
    files = mixed.frames(seed, 24, numeric=1)
    asked = mixed.options(aware, ties=("strict", "share")[seed % 2])
    same_as_the_search(make_problem(*files, ProblemOptions(aggregator="weighted-mean", **asked)), False)


def test_families_are_those_that_come_near_to_it():
    """Of ranks where the symmetric measures belong to the family."""
    known = {
        ("weighted-mean", 3, None): (False,),
        ("owa", 3, None): (True,),
        ("choquet", 3, None): (False, True),
        ("choquet", 3, 2): (False,),
        ("choquet", 2, 2): (False, True),
        ("choquet", 3, 3): (False, True),
        ("choquet", 4, 3): (False,),
        ("mahalanobis", 3, None): (False,),
    }
    for (aggregator, attributes, k), expected in known.items():
        options = {} if k is None else {"k_additive": k}
        assert FAMILIES[aggregator].of("ABCD"[:attributes], options).orders == expected


def written(original, masked):
    original.to_csv("original.csv", index=False)
    masked.to_csv("masked.csv", index=False)
    return original, masked


def coded():
    """A code has taken the place of ages, beside what nothing was done to."""
    original = pd.DataFrame({"x": [0.0, 0, 1, 2, 3, 4], "y": [10.0, 11, 12, 13, 14, 15]})
    return written(original, original.assign(y=[10.0, 11, *[99999999.0] * 4]))


def half_way():
    """A record nearly half way between two, which is a tie beside values a million times as far apart."""
    original = pd.DataFrame({"x": [0.4999, 1.0, 1e6, 2e6, 3e6, 4e6]})
    return written(original, original.assign(x=[0.0, *original["x"][1:]]))


@pytest.mark.parametrize(
    ("files", "options", "least", "order"),
    [
        (half_way, ("weighted-mean", "none"), 5, "comparing x alone"),
        (
            coded,
            ("owa", "pooled"),
            1,
            "comparing the attribute distance of rank 2 and then the attribute distance of rank 1, each only "
            "where those before it tie,",
        ),
    ],
)
@pytest.mark.parametrize("ties", ["strict", "share"])
def test_an_order_beyond_the_proof_is_named_and_never_claimed_below(
    files, options, least, order, ties, capsys
):
    """Once "no more than 5 of 6", without a word on what ties hide, for a fit that said 6."""
    files()
    family, standardisation = options
    asked = ["--aggregator", family, "--standardisation", standardisation, "--ties", ties]
    assert main(["fit", *COMMAND, *asked, "--json", "fit.json", "--certificate", "proof.json"]) == 0
    capsys.readouterr()
    assert main(CHECK) == 0
    said = capsys.readouterr().out
    assert f" whose distances differ by more than a tie links more than {least} of 6 records" in said
    assert f"not covered by this: {order} links 6, by differences" in said
    fitted = Path("fit.json").read_text(encoding="utf-8")
    for key in ("linked_upper_bound", "expected_links_upper_bound"):
        forged = json.loads(fitted)
        if key in forged:
            Path("fit.json").write_text(json.dumps({**forged, key: least}), encoding="utf-8")
            assert main(CHECK) == 1
            assert capsys.readouterr().err.startswith(f"rejected: fit.json, {key}: {least} is claimed, ")


@pytest.mark.parametrize("family", ["weighted-mean", "choquet", "mahalanobis"])
def test_a_proof_about_distances_does_not_carry_a_claim_below_an_order(family, capsys):
    """Cores show that no distance told apart from ties links more than four; an order links all six."""
    original, masked = coded()
    asked = {"aggregator": family, "standardisation": "pooled", "row_by_row": True}
    result = fit(original, masked, **asked)
    problem = make_problem(original, masked, ProblemOptions(**asked))
    system = problem_system(problem)
    proof = Proof("hitting-set", all_cores(system, len(system.open_blocks)))
    searched = ProvenSearch(None, system, 4.0, proof)
    content = certify(problem.files, problem.describe(), searched, result.parameters, result.linked, math.inf)
    Path("proof.json").write_text(json.dumps(content), encoding="utf-8")
    Path("fit.json").write_text(json.dumps(result.to_dict()), encoding="utf-8")
    assert main(CHECK) == 0
    claim = {"linked_upper_bound": 4, "status": "optimal"}
    Path("fit.json").write_text(json.dumps(result.to_dict() | claim), encoding="utf-8")
    assert main(CHECK) == 1
    assert "4 is claimed, comparing x and then y, each only where" in capsys.readouterr().err


def test_nothing_is_said_where_the_proof_covers_all(capsys):
    random = np.random.default_rng(0)
    original = pd.DataFrame(random.normal(size=(20, 2)), columns=["x", "y"])
    original.to_csv("original.csv", index=False)
    (original + 0.3 * random.normal(size=(20, 2))).to_csv("masked.csv", index=False)
    made = ["--aggregator", "choquet", "--json", "fit.json", "--certificate", "proof.json"]
    assert main(["fit", *COMMAND, *made]) == 0
    assert main(CHECK) == 0
    assert "not covered" not in capsys.readouterr().out
