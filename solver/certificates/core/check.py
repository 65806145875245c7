"""Checks the claims of a fit by its certificate and the two files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from itertools import product
from typing import Any

from .claims import Claim, Problem, demand, read_problem
from .families import Family, family_of
from .linkage import Linkage, Order
from .proofs import check_bound
from .records import TOLERANCES, Files, Records
from .samples import ROUNDED, Limit, check_samples

FORMAT, VERSION = "linkrisk certificate", 3
STATUSES = ("optimal", "feasible", "interrupted", "no_solution")


@dataclass(frozen=True)
class Verdict:
    """Statements that a certificate proves.

    Of `records` blocks the parameters of the fit link `linked`; no parameters link more than the weight
    `bound`, and so at most `bound_count` blocks. `total` is the size of the population that all blocks
    represent. `order` is the best lexicographic attack, if it exceeds the bound, which does not cover ties.
    `lost` blocks are linked by no parameters. `limit` follows from samples, with a confidence; `bound` is
    certain.
    """

    problem: Problem
    family: Family = field(compare=False)
    records: int
    linked: int
    linked_weight: Fraction
    bound: Fraction
    bound_count: int
    total: Fraction
    order: Order | None
    method: str
    lost: int
    cores: int
    leaves: int
    limit: Limit | None = None


class Check:
    """Checks one fit by its certificate, given its `records` and `linkage`."""

    def __init__(
        self,
        fit: Claim,
        certificate: Claim,
        files: Files,
        records: type[Records] = Records,
        linkage: Callable[[Records, Family], Linkage] = Linkage,
    ) -> None:
        self.both = self.fit, self.certificate = fit, certificate
        self._files = files
        known = (certificate.text("format"), certificate.whole("version")) == (FORMAT, VERSION)
        old = f" is not a certificate of version {VERSION}; make it again with this version"
        certificate.require(known, old)
        problem = read_problem(fit)
        _demand_same(problem, read_problem(certificate.inner("problem")))
        for key, value in TOLERANCES.items():
            stated = certificate.inner("tolerances", key)
            stated.demand(stated.exact() == Fraction(value), f": ties are within {value:g} here")
        self.sampled, other = (
            any(one.has(key) for key in ("confidence", "sampling", "samples")) for one in self.both
        )
        about = ": the one of fit and certificate is about samples, the other about all records"
        certificate.demand(self.sampled == other, about)
        family, known_records = family_of(problem, fit.where), records(files, problem)
        self.linkage = linkage(known_records, family)
        sizes = {"records": known_records.blocks, "candidates": known_records.candidates}
        for one, (key, size) in product(self.both, sizes.items()):
            one.demand(one.whole(key) == size, f", {key}: the files have {size}")
        self.theta, own = (_parameters(family, one.inner("parameters")) for one in (certificate, fit))
        certificate.demand(own == self.theta, f", parameters: they are not those of {fit.where}")
        self.linked = [block for block, linked in enumerate(self.linkage.linked(self.theta)) if linked]

    def verdict(self) -> Verdict:
        """Return what the certificate proves, whatever the fit claims besides."""
        linked, fit, certificate = len(self.linked), self.fit, self.certificate
        least = linked if counts_all(fit) else 0
        for one in self.both:
            count = one.whole("linked")
            right = least <= count <= linked
            one.demand(right, f", linked: {count}, but the parameters link {linked}")
        records, problem, limit = self.linkage.records, self.linkage.records.problem, None
        everyone, keys = range(records.blocks), objective_keys(problem)
        if self.sampled:
            method, key = "samples", "linked" if keys is None else keys[0]
            bound, limit = check_samples(fit, certificate, self._files, self.linkage, self.linked, key)
        else:
            method = certificate.text("proof", "method")
            bound = check_bound(self.linkage, certificate, everyone)
        linkable = [block for block in everyone if block not in bound.unlinkable]
        proven = min(bound.weight, records.weight(linkable))  # in coarse units it may exceed the total
        count, weight = records.most_within(linkable, proven), records.weight(self.linked)
        right = linked <= count and weight <= proven
        certificate.demand(right, f", bound: the parameters link {linked}, more than the {count} it allows")
        sizes = records.blocks, linked, weight, proven, count, records.total_weight
        order, lost = self.linkage.best_order(proven), len(bound.unlinkable)
        proof = method, lost, bound.cores, bound.leaves
        return Verdict(problem, self.linkage.family, *sizes, order, *proof, limit)


def _demand_same(fit: Problem, certificate: Problem) -> None:
    """Reject a certificate of another problem."""
    for name in (one.name for one in fields(Problem)):
        here, there = getattr(fit, name), getattr(certificate, name)
        differs = f"problem: the fit has {name} {here}, the certificate {there}"
        if isinstance(here, dict) and name != "options":
            differs = f"problem: the fit and the certificate have different {name}"
        demand(here == there, differs)


def _parameters(family: Family, stated: Claim) -> list[Fraction]:
    known = {family.keys[0]} <= set(stated.entries()) <= set(family.keys)
    stated.require(known, f" must hold {family.keys[0]} and nothing else")
    return family.parameters(stated)


def counts_all(fit: Claim) -> bool:
    """Tell whether a fit reports every record as linked or not; else it may have counted a sample."""
    table, rows = fit.inner("records_table"), fit.items("records_table", "rows")
    table.require(all(isinstance(row, list) for row in rows), ", rows must be lists")
    return not table.has("left_out") and all(len(row) > 1 and row[1] is not None for row in rows)


def objective_keys(problem: Problem) -> tuple[str, str] | None:
    """Return the keys of the objective and its bound; None where records are counted."""
    if problem.weight is not None:
        return "weighted_links", "weighted_links_upper_bound"
    return ("expected_links", "expected_links_upper_bound") if problem.share else None


def demand_fit(claim: Claim, verdict: Verdict) -> None:
    """Reject a fit that claims a smaller bound, more lost records, or an optimum with a gap."""
    order, proved, stated = verdict.order, verdict.bound_count, claim.inner("linked_upper_bound")
    count, lost, status = stated.whole(), claim.whole("lost"), claim.text("status")
    stated.demand(count <= verdict.records, f": more is claimed than there are records, {verdict.records}")
    stated.demand(verdict.linked <= count, f": {count}, but {verdict.linked} are linked")
    stated.demand(proved <= count, f": {count} is claimed, the certificate proves {proved}")
    if order is not None:
        attack = order.described(verdict.problem.attributes)
        stated.demand(order.count <= count, f": {count} is claimed, {attack} links {order.count}")
    right = 0 <= lost <= verdict.lost
    claim.demand(right, f", lost: {lost} is claimed, the certificate proves {verdict.lost}")
    bound, reached = Fraction(count), Fraction(verdict.linked)
    keys = objective_keys(verdict.problem)
    if keys is not None:
        bound, reached = claim.exact(keys[1]), verdict.linked_weight
        _demand_sums(claim, verdict, keys)
    claim.demand(status in STATUSES, f", status must be one of {', '.join(STATUSES)}")
    ends = f"at most {float(bound):.10g} are linked and {float(reached):.10g} are"
    optimal = status != "optimal" or bound <= reached * (1 + ROUNDED)
    claim.demand(optimal, f", status: it is not optimal, {ends}")


def _demand_sums(claim: Claim, verdict: Verdict, keys: tuple[str, str]) -> None:
    """Reject a sum that is not linked, and a bound on it that is not valid or exceeds the total."""
    reached, stated, more = verdict.linked_weight, claim.exact(keys[0]), 1 + ROUNDED
    exact = abs(stated - reached) <= ROUNDED * reached if counts_all(claim) else stated <= reached * more
    given = f", {keys[0]}: {float(stated):.10g}, but the parameters give {float(reached):.10g}"
    claim.demand(exact, given)
    bound, order, total = claim.exact(keys[1]), verdict.order, float(verdict.total)
    least = verdict.bound if order is None else order.weight
    how = "the certificate proves" if order is None else "an order of attributes links"
    claimed = f", {keys[1]}: {float(bound):.10g} is claimed,"
    claim.demand(least <= bound * more, f"{claimed} {how} {float(least):.10g}")
    claim.demand(bound <= verdict.total * more, f"{claimed} all records together count {total:.10g}")


def check_fit(fit: Mapping[str, Any], certificate: Mapping[str, Any], files: Files) -> Verdict:
    """Check a fit and its certificate: the fit must claim no more than the certificate proves.

    RejectedError if a claim is false or not proven, MalformedError if the fit or the certificate cannot be
    read.
    """
    claim = Claim(fit, "the fit")
    verdict = Check(claim, Claim(certificate, "the certificate"), files).verdict()
    demand_fit(claim, verdict)
    return verdict
