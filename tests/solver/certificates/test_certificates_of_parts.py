"""Certificates of sums over parts: each part is proved, and no false sum gets through."""

from __future__ import annotations

import copy
import functools
import json
import math
from dataclasses import replace
from fractions import Fraction

import pytest
from claims import SCHEMA, weighted
from fit_runs import PARTS, STEERING, noisy, one_round

from linkrisk import fit
from linkrisk.solver.certificates.checking.verify import demand_fit, verify
from linkrisk.solver.certificates.core.claims import RejectedError
from linkrisk.solver.certificates.operations.verification import checked, coverage, proved
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.errors import UsageError


class Made:
    """A fit whose bound is that of one round of parts, and its certificate, as they are read from JSON."""

    def __init__(self, family, ties="strict", *, weights=False, seconds=None):
        options = {"aggregator": family, "ties": ties}
        files = noisy(3, 40)
        if weights:
            files = weighted(3, "tenths", 40, 3)
            options |= {"schema": SCHEMA, "attributes": ["V1", "V2", "V3"]}
        with pytest.MonkeyPatch.context() as patch:
            one_round(patch)
            early = replace(STEERING, parts=replace(PARTS, size=5))
            self.result = fit(
                *files, steering=early, time_limit=60.0, certificate=True,
                certificate_time_limit=seconds, **options,
            )  # fmt: skip
        assert self.result.certificate is not None, self.result.details["certificate"]
        both = self.result.to_dict(), self.result.certificate
        self.claim, self.certificate = (json.loads(json.dumps(each)) for each in both)
        self.files = make_problem(*files, ProblemOptions(**options)).files

    def check(self, certificate=None, claim=None):
        claim = self.claim if claim is None else claim
        certificate = self.certificate if certificate is None else certificate
        verdict = verify(claim, certificate, self.files, ("fit", "certificate"))
        demand_fit(claim, verdict, "fit")
        return verdict


made = functools.cache(Made)


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


def drop(certificate):
    del place(certificate)[0]


def twice(certificate):
    place(certificate).append(copy.deepcopy(place(certificate)[0]))


def repeated(certificate):
    place(certificate)[0]["blocks"].append(place(certificate)[0]["blocks"][0])


def shared(certificate):
    place(certificate)[0]["blocks"].append(place(certificate)[1]["blocks"][0])


def lost(certificate):
    place(certificate)[0]["blocks"].append(certificate["proof"]["lost"][0][0])


def exchanged(certificate):
    one, other = place(certificate)[:2]
    one["blocks"], other["blocks"] = other["blocks"], one["blocks"]


def less(certificate):
    certificate["bound"]["linked_weight"] -= 1


def part_less(certificate):
    place(certificate)[0]["bound"]["linked_weight"] -= 1


def below_zero(certificate):
    certificate["bound"]["linked_weight"] = -1


def beyond(certificate):
    certificate["bound"]["linked_weight"] = 10**1900


def no_unit(certificate):
    certificate["bound"]["unit"] = 0


def nested(certificate):
    inner = copy.deepcopy(certificate["proof"])
    certificate["proof"]["parts"] = [
        {"blocks": list(range(certificate["records"])), "bound": certificate["bound"], "proof": inner}
    ]
    certificate["proof"]["lost"] = []


def no_list(certificate):
    certificate["proof"]["parts"] = 0


def no_blocks(certificate):
    place(certificate)[0]["blocks"] = 3


def no_part(certificate):
    place(certificate)[0] = None


def no_proof(certificate):
    del place(certificate)[0]["proof"]


def put(block):
    def change(certificate):
        place(certificate)[0]["blocks"][0] = block

    return change


FORGED = [
    (drop, RejectedError, "bound: .* is claimed, the parts add up to"),
    (twice, RejectedError, r"parts\[\d+\], blocks: block \d+ is in a part already"),
    (repeated, RejectedError, r"parts\[0\], blocks: block \d+ is in a part already"),
    (shared, RejectedError, r"parts\[1\], blocks: block \d+ is in a part already"),
    (lost, RejectedError, r"parts\[0\], blocks: block \d+ is lost, so it is in no part"),
    (exchanged, RejectedError, r"parts\[\d\], "),
    (less, RejectedError, "bound: .* is claimed, the parts add up to"),
    (part_less, RejectedError, r"parts\[0\], "),
    (below_zero, RejectedError, "bound: less than nothing is claimed"),
    (beyond, RejectedError, "bound: more is claimed"),
    (no_unit, RejectedError, "bound, unit: "),
    (
        nested,
        UsageError,
        r"parts\[0\], proof, method must be one of .*-set, not parts",
    ),
    (no_list, UsageError, "proof, parts must be a list"),
    (no_blocks, UsageError, r"parts\[0\], blocks must be a list"),
    (no_part, UsageError, r"parts\[0\] must be a JSON object"),
    (no_proof, UsageError, r"parts\[0\] has no 'proof'"),
    (put(-1), RejectedError, r"parts\[0\], blocks: there is no block -1"),
    (put(40), RejectedError, r"parts\[0\], blocks: there is no block 40"),
    (put(10**30), RejectedError, r"parts\[0\], blocks: there is no block 1000"),
    (put(1.0), UsageError, r"parts\[0\], blocks must hold whole numbers"),
    (put("x"), UsageError, r"parts\[0\], blocks must hold whole numbers"),
    (put([0]), UsageError, r"parts\[0\], blocks must hold whole numbers"),
]


@pytest.mark.parametrize(
    ("change", "refusal", "message", "weights"),
    [(*forged, False) for forged in FORGED]
    + [(*forged, True) for forged in FORGED if forged[0] in (drop, exchanged, less, part_less)],
)
def test_no_false_sum_gets_through(change, refusal, message, weights):
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
    one = Made("choquet", seconds=1e-9)
    assert one.certificate["proof"] == {"lost": [], "method": "parts", "parts": []}
    assert one.certificate["bound"] == {"unit": 1, "linked_weight": 40}
    assert "the certificate proves in its time that at most 40 are linked" in one.result.details["notes"][-1]
