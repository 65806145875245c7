"""Certificates of sums over parts and of samples: each part is proved, and nothing false gets through."""

from __future__ import annotations

import copy
import functools
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from aggregator_cases import BY_LABEL
from claims import SCHEMA, weighted
from fit_runs import PARTS, STEERING, frames, noisy, one_round
from hypothesis import given, settings
from hypothesis import strategies as st
from pairwise import pairwise

from linkrisk import fit
from linkrisk.solver.certificates.checking.verify import demand_fit, verify
from linkrisk.solver.certificates.core.claims import RejectedError
from linkrisk.solver.certificates.core.samples import Stage, ruled_out
from linkrisk.solver.certificates.operations.verification import checked, coverage, proved
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.sampled.confidence import Design, upper_limit, upper_limit_of_sum


class Claimed:
    """A fit and its certificate, as they are read from JSON."""

    def __init__(self, result, files):
        assert result.certificate is not None, result.details["certificate"]
        both = result.to_dict(), result.certificate
        self.claim, self.certificate = (json.loads(json.dumps(each)) for each in both)
        self.result, self.files = result, files

    def check(self, certificate=None, claim=None):
        claim = self.claim if claim is None else claim
        certificate = self.certificate if certificate is None else certificate
        verdict = verify(claim, certificate, self.files, ("fit", "certificate"))
        demand_fit(claim, verdict, "fit")
        return verdict


@functools.cache
def made(family, ties="strict", *, weights=False, seconds=None):
    """A fit whose bound is that of one round of parts."""
    options, files = {"aggregator": family, "ties": ties}, noisy(3, 40)
    if weights:
        files = weighted(3, "tenths", 40, 3)
        options |= {"schema": SCHEMA, "attributes": ["V1", "V2", "V3"]}
    with pytest.MonkeyPatch.context() as patch:
        one_round(patch)
        limits = {"time_limit": 60.0, "certificate_time_limit": seconds}
        early = replace(STEERING, parts=replace(PARTS, size=5))
        result = fit(*files, steering=early, certificate=True, **limits, **options)
    return Claimed(result, make_problem(*files, ProblemOptions(**options)).files)


@pytest.mark.parametrize(
    ("family", "ties", "weights"),
    [
        ("choquet", "strict", False),
        ("choquet", "strict", True),
        ("weighted-mean", "share", False),
        ("weighted-mean", "share", True),
        ("owa", "share", False),
        ("mahalanobis", "strict", False),
        ("mahalanobis", "share", True),
    ],
)
def test_what_a_fit_says_of_its_parts_is_proved(family, ties, weights):
    one = made(family, ties, weights=weights)
    assert one.certificate["proof"]["method"] == "parts"
    assert len(one.certificate["proof"]["parts"]) == one.claim["parts"]["parts"] > 1
    verdict = one.check()
    assert verdict.method == "parts"
    assert verdict.linked <= verdict.bound_count <= one.claim["linked_upper_bound"] < len(one.files.original)
    assert "the certificate proves" not in " ".join(one.result.details["notes"])


def test_it_is_said_in_words():
    one = made("choquet")
    verdict, told = one.check(), one.claim["parts"]
    assert "for the parts of the sum; 1.0 s" in checked(verdict, 1.0)
    assert proved(verdict, "row by row")[0].startswith("proved: no Choquet integral")
    assert "parts" in coverage(verdict, one.claim, "row by row").partition("; not checked ")[2].split(", ")
    said = f"  the bound is the sum over {told['parts']} parts of at most {told['largest']} records, "
    assert f"{said}{told['proven']} of them closed\n" in str(one.result)


def place(certificate):
    return certificate["proof"]["parts"]


def more(block_of):
    return lambda certificate: place(certificate)[0]["blocks"].append(block_of(certificate))


def put(block):
    return lambda certificate: place(certificate)[0]["blocks"].__setitem__(0, block)


def of_parts(**changes):
    return lambda certificate: place(certificate)[0].update(changes)


def bounded(**changes):
    return lambda certificate: certificate["bound"].update(changes)


def exchanged(certificate):
    one, other = place(certificate)[:2]
    one["blocks"], other["blocks"] = other["blocks"], one["blocks"]


def nested(certificate):
    part = {"bound": certificate["bound"], "proof": copy.deepcopy(certificate["proof"])}
    certificate["proof"].update(parts=[{"blocks": list(range(certificate["records"])), **part}], lost=[])


def one_less(claim):
    claim["bound"]["linked_weight"] -= 1


WITH_WEIGHTS_TOO = [
    (lambda made: place(made).pop(0), "bound: .* is claimed, the parts add up to"),
    (exchanged, r"parts\[\d\], "),
    (one_less, "bound: .* is claimed, the parts add up to"),
    (lambda made: one_less(place(made)[0]), r"parts\[0\], "),
]
REJECTED = [
    (lambda made: place(made).append(place(made)[0]), r"parts\[\d+\], .* \d+ is in a part already"),
    (more(lambda made: place(made)[0]["blocks"][0]), r"parts\[0\], blocks: block \d+ is in a part already"),
    (more(lambda made: place(made)[1]["blocks"][0]), r"parts\[1\], blocks: block \d+ is in a part already"),
    (more(lambda made: made["proof"]["lost"][0][0]), r"block \d+ is lost, so it is in no part"),
    (bounded(linked_weight=-1), "bound: less than nothing is claimed"),
    (bounded(linked_weight=10**1900), "bound: more is claimed"),
    (bounded(unit=0), "bound, unit: "),
    (put(-1), r"parts\[0\], blocks: there is no block -1"),
    (put(40), r"parts\[0\], blocks: there is no block 40"),
    (put(10**30), r"parts\[0\], blocks: there is no block 1000"),
]
UNREADABLE = [
    (nested, r"parts\[0\], proof, method must be one of .*-set, not parts"),
    (lambda made: made["proof"].update(parts=0), "proof, parts must be a list"),
    (of_parts(blocks=3), r"parts\[0\], blocks must be a list"),
    (lambda made: place(made).insert(0, None), r"parts\[0\] must be a JSON object"),
    (lambda made: place(made)[0].pop("proof"), r"parts\[0\] has no 'proof'"),
    (put(1.0), r"parts\[0\], blocks must hold whole numbers"),
    (put([0]), r"parts\[0\], blocks must hold whole numbers"),
]


@pytest.mark.parametrize(
    ("change", "message", "refusal", "weights"),
    [
        *((*forged, RejectedError, weights) for forged in WITH_WEIGHTS_TOO for weights in (False, True)),
        *((*forged, RejectedError, False) for forged in REJECTED),
        *((*forged, UsageError, False) for forged in UNREADABLE),
    ],
)
def test_no_false_sum_gets_through(change, message, refusal, weights):
    one = made("choquet", weights=weights)
    forged = copy.deepcopy(one.certificate)
    change(forged)
    with pytest.raises(refusal, match=message) as caught:
        one.check(forged)
    assert len(str(caught.value).splitlines()) == 1


def test_units_that_make_a_sum_endless():
    """Powers of different primes: each is within what is read, their product has no end."""
    one = made("choquet", weights=True)
    forged = copy.deepcopy(one.certificate)
    weight = one.files.original["W"] if "W" in one.files.original else weighted(3, "tenths", 40, 3)[0]["W"]
    units = (3**4100, 5**2800, 7**2340, 11**1890)
    for part, unit in zip(place(forged), units, strict=False):
        most = sum(math.ceil(Fraction(weight[block]) * unit) for block in part["blocks"])
        part.update(bound={"unit": unit, "linked_weight": most}, proof={"method": "lost", "lost": []})
    with pytest.raises(RejectedError, match=r"parts\[2\], bound: its unit is too fine"):
        one.check(forged)


@pytest.mark.parametrize("weights", [False, True])
def test_a_claim_below_the_sum(weights):
    one = made("choquet", weights=weights)
    key = "weighted_links_upper_bound" if weights else "linked_upper_bound"
    with pytest.raises(RejectedError, match=rf"fit, {key}: .* is claimed, the certificate proves"):
        one.check(claim={**one.claim, key: one.claim[key] - 1})


def test_parts_for_which_there_is_no_time_count_in_full():
    one = made("choquet", seconds=1e-9)
    assert one.certificate["proof"] == {"lost": [], "method": "parts", "parts": []}
    assert one.certificate["bound"] == {"unit": 1, "linked_weight": 40}
    assert "the certificate proves in its time that at most 40 are linked" in one.result.details["notes"][-1]


# ---------------------------------------------------------------- sampled certificates


REFUSALS = (RejectedError, UsageError)
FAMILIES = ["weighted-mean", "choquet", "mahalanobis"]


def sampled(files, label="weighted-mean", *, sample=8, samples=3, strata=None, seed=0, **options):
    case = BY_LABEL[label]
    options = {"aggregator": case.name, **case.options, **options}
    result = fit(
        *files, sample=sample, samples=samples, strata=strata, seed=seed,
        time_limit=None, certificate=True, **options,
    )  # fmt: skip
    assert result.certificate is not None, result.details["certificate"]
    return Claimed(result, make_problem(*files, ProblemOptions(**options)).files)


@functools.cache
def plain_one():
    one = sampled(frames(3, 40, 3, noise=0.6))
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
    one = sampled(files, label, ties=ties, direction=direction, standardisation=standardisation)
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
    one = sampled((original, masked), schema=schema, strata="region", attributes=["A", "B", "C"])
    verdict = one.check()
    assert verdict.limit is not None
    assert verdict.draw.strata == "region"
    assert float(verdict.limit.weight) == pytest.approx(one.claim["weighted_links_confidence_limit"])
    claim = {**one.claim, "weighted_links_confidence_limit": one.claim["weighted_links_confidence_limit"] - 5}
    with pytest.raises(RejectedError, match="does not follow from the samples"):
        one.check(claim=claim)


def test_a_sample_without_a_proof_counts_in_full():
    """So what a fit says that rests on it is refused; a fit whose time was over says no more than that."""
    one = plain_one()
    fewer = {**one.certificate, "samples": [*one.certificate["samples"][:2], None]}
    with pytest.raises(RejectedError, match="the limit 24 does not follow from the samples"):
        one.check(fewer)


def less(value):
    return value - 1


def more_of(value):
    return value + 1


def lies(claim, path, value):
    """The claim with another value somewhere."""
    changed = place = copy.deepcopy(claim)
    *way, last = (int(key) if key.isdigit() else key for key in path.split())
    for key in way:
        place = place[key]
    place[last] = value(place[last]) if callable(value) else value
    return changed


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("confidence", 0.99, None),
        ("linked_confidence_limit", less, None),
        ("linked", more_of, None),
        ("linked_upper_bound", less, None),
        ("sampling sample samples", more_of, None),
        ("sampling sample records", less, None),
        ("sampling sample linked", more_of, None),
        ("sampling sample linked_upper_bound", less, None),
        ("sampling stages 0 samples", more_of, None),
        ("sampling stages 0 records", less, None),
        ("sampling stages 0 alpha", "1/100", None),
        ("sampling draw seed", more_of, None),
        ("sampling draw size", more_of, None),
        ("sampling draw method", "sha256-2", None),
        ("sampling counted records", less, None),
        ("sampling counted all", False, None),
        ("sampling stages 0 searched", -1, "searched: -1 of 3 samples, of which 3 have a proof"),
        ("sampling stages 0 searched", 2, "searched: 2 of 3 samples"),
        ("sampling stages 0 searched", 4, "searched: 4 of 3 samples"),
        ("sampling stages 0 bound", less, None),
        ("sampling stages 0 bound", 25, "bound: 25 is claimed, all records together count 24"),
        ("sampling stages 0 bound", 23.5, "bound: 23.5 is no number of records"),
        ("sampling stages 0 limit", less, None),
        ("sampling stages 0 limit", 41, "limit: 41 is claimed, all records together count 40"),
        ("sampling stages 0 limit", 39.5, "limit: 39.5 is no number of records"),
    ],
)
def test_no_false_statement_passes(path, value, message):
    one = plain_one()
    with pytest.raises(REFUSALS, match=message):
        one.check(claim=lies(one.claim, path, value))


def test_nor_one_beyond_the_weight_of_all():
    files = frames(3, 40, 3, noise=0.6)
    files[1].iloc[5] = files[1].iloc[4]
    one = sampled(files, ties="share")
    for path in ("expected_links_confidence_limit", "sampling sample weight_upper_bound"):
        with pytest.raises(REFUSALS, match=f"{path.split()[-1]}: 1000 is claimed, all records"):
            one.check(claim=lies(one.claim, path, 1000.0))


def test_proofs_of_other_samples_prove_nothing():
    one, other = plain_one(), sampled(frames(3, 40, 3, noise=0.6), seed=1)
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
    one = plain_one()
    original, masked = frames(3, 40, 3, noise=0.6)
    masked.iloc[7, 1] += 1e-9
    with pytest.raises(RejectedError):
        Claimed(one.result, make_problem(original, masked, ProblemOptions()).files).check()


def test_a_fit_on_samples_needs_their_certificate_and_the_other_way_round():
    one, files = plain_one(), frames(3, 40, 3, noise=0.6)
    whole = Claimed(fit(*files, certificate=True, time_limit=None), one.files)
    for certificate, claim in ((whole.certificate, one.claim), (one.certificate, whole.claim)):
        with pytest.raises(RejectedError, match="about samples, the other about all records"):
            one.check(certificate, claim)


@given(st.data(), st.integers(1, 40), st.sampled_from([Fraction(1, 20), Fraction(1, 2), Fraction(9, 10)]))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_what_is_ruled_out_is_what_lies_beyond_the_limit(data, n, alpha):
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
