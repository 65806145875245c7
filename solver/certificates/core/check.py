"""The check of a fit and its certificate: what is claimed of two files, from the files alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .claims import Claim, demand, items, require
from .families import Family, family_of
from .linkage import Linkage, Order, best_order
from .problem import CHOICES, Problem, read_problem
from .proofs import check_bound
from .records import TOLERANCES, Files, Records
from .samples import ROUNDED, Limit, check_samples

FORMAT, VERSION = "linkrisk certificate", 3
STATUSES = ("optimal", "feasible", "interrupted", "no_solution")


@dataclass(frozen=True)
class Verdict:
    """What a certificate proves.

    Of `records` blocks the parameters of the fit link `linked`; none link more than the weight `bound`, and
    so no more than `bound_count` blocks. `total` is how many of the population all blocks stand for. `order`
    is what comparing attributes one after another links, where that is more than the bound, which is about
    distances that differ by more than ties. `lost` blocks are linked by no parameters. `limit` follows from
    samples, with some confidence; `bound` is certain.
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
    """The check of one fit by its certificate, which messages call `names`; `linkage` compares records."""

    def __init__(
        self,
        fit: Mapping[str, Any],
        certificate: Mapping[str, Any],
        files: Files,
        names: tuple[str, str] = ("the fit", "the certificate"),
        linkage: Callable[[Records, Family], Linkage] = Linkage,
    ) -> None:
        self.fit, self.certificate = Claim(dict(fit), names[0]), Claim(dict(certificate), names[1])
        self._files = files
        known = self.certificate.text("format") == FORMAT and self.certificate.whole("version") == VERSION
        require(
            known, f"{names[1]} is not a certificate of version {VERSION}; make it again with this version"
        )
        problem = read_problem(self.fit)
        _demand_same(problem, read_problem(self.certificate.inner("problem")))
        tolerances = self.certificate.inner("tolerances")
        for name, value in TOLERANCES.items():
            right = tolerances.exact(name) == Fraction(value)
            demand(right, f"{tolerances.where}, {name}: ties are within {value:g} here")
        self._sampled = [_is_sampled(one) for one in (self.fit, self.certificate)]
        same = self._sampled[0] == self._sampled[1]
        demand(
            same, f"{names[1]}: the one of fit and certificate is about samples, the other about all records"
        )
        family = family_of(problem)
        self.linkage = linkage(Records(files, problem), family)
        for key, size in (
            ("records", self.linkage.records.blocks), ("candidates", self.linkage.records.candidates)
        ):  # fmt: skip
            for one in (self.fit, self.certificate):
                demand(one.whole(key) == size, f"{one.where}, {key}: the files have {size}")
        self.theta, other = (_parameters(family, one) for one in (self.certificate, self.fit))
        demand(self.theta == other, f"{names[1]}, parameters: they are not those of {names[0]}")
        self.linked = [block for block, linked in enumerate(self.linkage.linked(self.theta)) if linked]

    def verdict(self) -> Verdict:
        """What is proven, whatever the fit claims besides."""
        least = len(self.linked) if counts_all(self.fit) else 0
        for one in (self.fit, self.certificate):
            count, many = one.whole("linked"), len(self.linked)
            right = least <= count <= many
            demand(right, f"{one.where}, linked: {count}, but the parameters link {many}")
        records, problem, limit = self.linkage.records, self.linkage.records.problem, None
        everyone, keys = range(records.blocks), objective_keys(problem)
        if all(self._sampled):
            method, files = "samples", self._files
            key = "linked" if keys is None else keys[0]
            bound, limit = check_samples(self.fit, self.certificate, files, self.linkage, self.linked, key)
        else:
            proof = self.certificate.inner("proof")
            method = proof.text("method")
            bound = check_bound(self.linkage, proof, everyone, self.certificate.inner("bound"))
        linkable = [block for block in everyone if block not in bound.unlinkable]
        proven = min(bound.weight, records.weight(linkable))  # in coarse units it may be more than all
        count, weight = records.most_within(linkable, proven), records.weight(self.linked)
        linked = len(self.linked)
        demand(
            linked <= count and weight <= proven,
            f"{self.certificate.where}, bound: the parameters link {linked}, more than the {count} it allows",
        )
        order, lost = best_order(self.linkage, proven), len(bound.unlinkable)
        sizes = records.blocks, linked, weight, proven, count, records.total_weight
        proof_sizes = method, lost, bound.cores, bound.leaves
        return Verdict(problem, self.linkage.family, *sizes, order, *proof_sizes, limit)


def _demand_same(fit: Problem, certificate: Problem) -> None:
    """Reject a certificate of another problem."""
    for name in ("aggregator", *CHOICES, "attributes", "options", "weight"):
        here, there = getattr(fit, name), getattr(certificate, name)
        demand(here == there, f"problem: the fit has {name} {here}, the certificate {there}")
    schemas = [(one.scales, one.categories, one.forms) for one in (fit, certificate)]
    demand(schemas[0] == schemas[1], "problem: the fit and the certificate have different schemas")
    demand(fit == certificate, "problem: the fit and the certificate have different recodings")


def _is_sampled(claim: Claim) -> bool:
    return any(claim.get(key) is not None for key in ("confidence", "sampling", "samples"))


def _parameters(family: Family, claim: Claim) -> list[Fraction]:
    told = claim.inner("parameters")
    known = {family.keys[0]} <= set(told.content) <= set(family.keys)
    require(known, f"{told.where} must hold {family.keys[0]} and nothing else")
    return family.parameters(told)


def counts_all(fit: Claim) -> bool:
    """Whether a fit says of every record whether it is linked; else it may have counted a part of them."""
    table = fit.inner("records_table")
    rows = [items(row, table.where) for row in table.items("rows")]
    return table.get("left_out") is None and all(len(row) > 1 and row[1] is not None for row in rows)


def objective_keys(problem: Problem) -> tuple[str, str] | None:
    """The keys of what is linked and of its bound; None where records are counted."""
    if problem.weight is not None:
        return "weighted_links", "weighted_links_upper_bound"
    return ("expected_links", "expected_links_upper_bound") if problem.share else None


def demand_fit(fit: Mapping[str, Any], verdict: Verdict, name: str) -> None:
    """Reject a fit that claims a smaller bound, more lost records, or an optimum that leaves a gap."""
    claim = Claim(dict(fit), name)
    count, order = claim.whole("linked_upper_bound"), verdict.order
    where = f"{name}, linked_upper_bound:"
    most, proved = verdict.records, verdict.bound_count
    demand(count <= most, f"{where} more is claimed than there are records, {most}")
    demand(verdict.linked <= count, f"{where} {count}, but {verdict.linked} are linked")
    demand(proved <= count, f"{where} {count} is claimed, the certificate proves {proved}")
    if order is not None:
        attack = order.described(verdict.problem.attributes)
        demand(order.count <= count, f"{where} {count} is claimed, {attack} links {order.count}")
    lost = claim.whole("lost")
    demand(
        0 <= lost <= verdict.lost, f"{name}, lost: {lost} is claimed, the certificate proves {verdict.lost}"
    )
    bound, reached = Fraction(count), Fraction(verdict.linked)
    keys = objective_keys(verdict.problem)
    if keys is not None:
        bound, reached = claim.exact(keys[1]), verdict.linked_weight
        _demand_sums(claim, verdict, keys)
    status = claim.text("status")
    demand(status in STATUSES, f"{name}, status must be one of {', '.join(STATUSES)}")
    ends = f"at most {float(bound):.10g} are linked and {float(reached):.10g} are"
    proved_optimal = status != "optimal" or bound <= reached * (1 + ROUNDED)
    demand(proved_optimal, f"{name}, status: it is not optimal, {ends}")


def _demand_sums(claim: Claim, verdict: Verdict, keys: tuple[str, str]) -> None:
    """Reject a sum that is not linked, and a bound on it that does not hold or is beyond all."""
    reached, told = verdict.linked_weight, claim.exact(keys[0])
    exact = abs(told - reached) <= ROUNDED * reached if counts_all(claim) else told <= reached * (1 + ROUNDED)
    given = f"{float(told):.10g}, but the parameters give {float(reached):.10g}"
    demand(exact, f"{claim.where}, {keys[0]}: {given}")
    bound, order = claim.exact(keys[1]), verdict.order
    least = verdict.bound if order is None else order.weight
    how = "the certificate proves" if order is None else "an order of attributes links"
    where = f"{claim.where}, {keys[1]}: {float(bound):.10g} is claimed,"
    demand(least <= bound * (1 + ROUNDED), f"{where} {how} {float(least):.10g}")
    total = f"all records together count {float(verdict.total):.10g}"
    demand(bound <= verdict.total * (1 + ROUNDED), f"{where} {total}")


def check_fit(fit: Mapping[str, Any], certificate: Mapping[str, Any], files: Files) -> Verdict:
    """Check a fit, its certificate and that the one claims no more than the other proves.

    RejectedError if a claim is false or not proven, MalformedError if one of the two is not what it should
    be.
    """
    verdict = Check(fit, certificate, files).verdict()
    demand_fit(fit, verdict, "the fit")
    return verdict
