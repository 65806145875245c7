"""Certificates of samples: drawn again, every bound checked, and no false limit gets through."""

from __future__ import annotations

import copy
import functools
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from aggregator_cases import BY_LABEL
from fit_runs import frames
from hypothesis import given, settings
from hypothesis import strategies as st
from pairwise import pairwise

from linkrisk import fit
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.solver.certificates.checking.verify import Verdict, demand_fit, verify
from linkrisk.solver.certificates.core.claims import RejectedError
from linkrisk.solver.certificates.core.samples import Stage, ruled_out
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.sampled.confidence import Design, upper_limit, upper_limit_of_sum

REFUSALS = (RejectedError, UsageError)
FAMILIES = ["weighted-mean", "owa", "choquet", "2-additive", "mahalanobis"]


@dataclass
class Made:
    claim: dict[str, Any]
    certificate: dict[str, Any]
    files: FilePair

    def check(self, claim=None, certificate=None) -> Verdict:
        claim = self.claim if claim is None else claim
        certificate = self.certificate if certificate is None else certificate
        verdict = verify(claim, certificate, self.files, ("fit", "certificate"))
        demand_fit(claim, verdict, "fit")
        return verdict


def made(files, label="weighted-mean", *, sample=8, samples=3, strata=None, seed=0, **options):
    case = BY_LABEL[label]
    options = {"aggregator": case.name, **case.options, **options}
    result = fit(
        *files, sample=sample, samples=samples, strata=strata, seed=seed,
        time_limit=None, certificate=True, **options,
    )  # fmt: skip
    assert result.certificate is not None, result.details["certificate"]
    claim, certificate = (json.loads(json.dumps(each)) for each in (result.to_dict(), result.certificate))
    return Made(claim, certificate, make_problem(*files, ProblemOptions(**options)).files)


@functools.cache
def plain_one():
    """Three samples of eight of forty records; nobody may change it."""
    one = made(frames(3, 40, 3, noise=0.6))
    one.check()
    return one


@pairwise(
    label=FAMILIES,
    ties=["strict", "share"],
    direction=["original-to-masked", "masked-to-original"],
    standardisation=["own", "pooled"],
)
def test_what_a_fit_says_of_its_samples_is_proved(label, ties, direction, standardisation):
    files = frames(3, 40, 3, noise=0.6)
    files[1].iloc[5] = files[1].iloc[4]
    one = made(files, label, ties=ties, direction=direction, standardisation=standardisation)
    verdict = one.check()
    limit = verdict.limit
    assert limit is not None
    assert verdict.linked == one.claim["linked"]
    assert limit.confidence == Fraction(19, 20)
    assert limit.count == one.claim["linked_confidence_limit"]
    draw = verdict.draw
    assert (draw.samples, draw.records) == (3, 24)
    sample = one.claim["sampling"]["sample"]
    assert (draw.linked, draw.bound) == (sample["linked"], sample["linked_upper_bound"])
    assert verdict.bound_count <= one.claim["linked_upper_bound"]


def test_with_weights_and_strata():
    original, masked = frames(5, 50, 3, noise=0.7)
    original["w"] = np.random.default_rng(0).integers(1, 5, 50)
    original["region"] = ["north"] * 30 + ["south"] * 20
    schema = {"attributes": [{"name": "w", "role": "weight"}]}
    one = made((original, masked), schema=schema, strata="region", attributes=["A", "B", "C"])
    verdict = one.check()
    assert verdict.limit is not None
    assert verdict.draw.strata == "region"
    assert float(verdict.limit.weight) == pytest.approx(one.claim["weighted_links_confidence_limit"])
    claim = {**one.claim, "weighted_links_confidence_limit": one.claim["weighted_links_confidence_limit"] - 5}
    with pytest.raises(RejectedError, match="does not follow from the samples"):
        one.check(claim)


def test_with_missing_values_and_categories():
    original, masked = frames(5, 40, 3, noise=0.7)
    for frame in (original, masked):
        frame["B"] = ["xyz"[(x > -0.5) + (x > 0.5)] for x in frame["B"]]
        frame.loc[[3, 9], "A"] = np.nan
    one = made((original, masked), nominal=["B"])
    assert one.check().limit is not None


def test_a_sample_without_a_proof_counts_in_full():
    """So what a fit says that rests on it is refused; a fit whose time was over says no more than that."""
    one = made(frames(3, 40, 3, noise=0.6))
    one.certificate["samples"][2] = None
    with pytest.raises(RejectedError, match="the limit 24 does not follow from the samples"):
        one.check()


STATEMENTS = [
    ("confidence",),
    ("linked_confidence_limit",),
    ("linked",),
    ("linked_upper_bound",),
    ("sampling", "sample", "samples"),
    ("sampling", "sample", "records"),
    ("sampling", "sample", "linked"),
    ("sampling", "sample", "linked_upper_bound"),
    ("sampling", "stages", 0, "samples"),
    ("sampling", "stages", 0, "records"),
    ("sampling", "stages", 0, "bound"),
    ("sampling", "stages", 0, "alpha"),
    ("sampling", "stages", 0, "limit"),
    ("sampling", "draw", "seed"),
    ("sampling", "draw", "size"),
    ("sampling", "draw", "method"),
    ("sampling", "counted", "records"),
    ("sampling", "counted", "all"),
]


def worse(path, value):
    """What a liar would say instead."""
    if path[-1] == "confidence":
        return 0.99
    if path[-1] == "alpha":
        return "1/100"
    if path[-1] == "all":
        return False
    if path[-1] in ("method",):
        return "sha256-2"
    return value + 1 if path[-1] in ("seed", "size", "samples", "linked") else value - 1


@pytest.mark.parametrize("path", STATEMENTS, ids=lambda path: "-".join(map(str, path)))
def test_no_false_statement_passes(path):
    one = plain_one()
    claim = copy.deepcopy(one.claim)
    place = claim
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = worse(path, place[path[-1]])
    with pytest.raises(REFUSALS):
        one.check(claim)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("searched", -1, "searched: -1 of 3 samples, of which 3 have a proof"),
        ("searched", 2, "searched: 2 of 3 samples"),
        ("searched", 4, "searched: 4 of 3 samples"),
        ("bound", 25, "bound: 25 is claimed, all records together count 24"),
        ("bound", 23.5, "bound: 23.5 is no number of records"),
        ("limit", 41, "limit: 41 is claimed, all records together count 40"),
        ("limit", 39.5, "limit: 39.5 is no number of records"),
    ],
)
def test_nothing_beyond_the_records_passes(key, value, message):
    one = plain_one()
    claim = copy.deepcopy(one.claim)
    claim["sampling"]["stages"][0][key] = value
    with pytest.raises(REFUSALS, match=message):
        one.check(claim)


@pytest.mark.parametrize(
    "path",
    [("expected_links_confidence_limit",), ("sampling", "sample", "weight_upper_bound")],
    ids=lambda path: path[-1],
)
def test_nor_beyond_their_weight(path):
    files = frames(3, 40, 3, noise=0.6)
    files[1].iloc[5] = files[1].iloc[4]
    one = made(files, ties="share")
    claim = copy.deepcopy(one.claim)
    place = claim["sampling"]["sample"] if len(path) > 1 else claim
    place[path[-1]] = 1000.0
    with pytest.raises(REFUSALS, match=f"{path[-1]}: 1000 is claimed, all records together count"):
        one.check(claim)


def test_proofs_of_other_samples_prove_nothing():
    one, other = plain_one(), made(frames(3, 40, 3, noise=0.6), seed=1)
    turned = copy.deepcopy(one.certificate)
    turned["samples"] = turned["samples"][::-1]
    shorter = {**one.certificate, "samples": one.certificate["samples"][:2]}
    for certificate in (turned, shorter, other.certificate):
        with pytest.raises(REFUSALS):
            one.check(certificate=certificate)


def test_a_certificate_without_time_says_that_it_proves_less():
    result = fit(
        *frames(3, 40, 3, noise=0.6), sample=8, samples=3, time_limit=None, certificate=True,
        certificate_time_limit=1e-9,
    )  # fmt: skip
    assert result.details["notes"][-1].startswith(
        "the certificate proves less of 3 of 3 samples than the search did: verify may not confirm the limit"
    )


def test_the_draw_depends_on_the_files():
    files = frames(3, 40, 3, noise=0.6)
    one = made(files)
    changed = (files[0].copy(), files[1].copy())
    changed[1].iloc[7, 1] += 1e-9
    there = Made(one.claim, one.certificate, make_problem(*changed, ProblemOptions()).files)
    with pytest.raises(RejectedError):
        there.check()


def test_a_fit_on_samples_needs_their_certificate_and_the_other_way_round():
    files = frames(3, 40, 3, noise=0.6)
    one = made(files)
    whole = fit(*files, certificate=True, time_limit=None)
    claim, certificate = (json.loads(json.dumps(each)) for each in (whole.to_dict(), whole.certificate))
    for pair in ((one.claim, certificate), (claim, one.certificate)):
        with pytest.raises(RejectedError, match="about samples, the other about all records"):
            one.check(*pair)


@given(st.data(), st.integers(1, 40), st.sampled_from([Fraction(1, 20), Fraction(1, 2), Fraction(9, 10)]))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_what_is_ruled_out_is_what_lies_beyond_the_limit(data, n, alpha):
    """Two implementations of one definition."""
    m = data.draw(st.integers(1, n))
    share = data.draw(st.none() | st.fractions(Fraction(1, 4 * n), Fraction(m, n), max_denominator=4 * n))
    found = data.draw(st.integers(0, m))
    limit = upper_limit(Design(n, m, share), found, alpha)
    stage = Stage(1, frozenset(range(m)), share, alpha)
    assert not ruled_out(n, stage, Fraction(found), limit, counts=True)
    assert ruled_out(n, stage, Fraction(found), limit + 1, counts=True)
    total = data.draw(st.fractions(0, m, max_denominator=3))
    above = upper_limit_of_sum(Design(n, m, share), total, alpha)
    if above < n:
        assert ruled_out(n, stage, total, above, counts=False)
    if above - 1 >= total:
        assert not ruled_out(n, stage, total, above - 1, counts=False)
