"""The check of a fit and its certificate: what is claimed of two files, from the files alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .attack import Order, best_order, linked_blocks
from .claims import Claim, MalformedError, demand, items
from .families import family_of
from .problem import Problem, read_problem
from .proofs import Rows, check_bound
from .records import TOLERANCES, Files, Records
from .samples import ROUNDED, check_samples

FORMAT, VERSION = "linkrisk certificate", 3
STATUSES = ("optimal", "feasible", "interrupted", "no_solution")


@dataclass(frozen=True)
class Verdict:
    """What is proven.

    Attributes
    ----------
    problem : Problem
    records, linked, count : int
        Blocks, those that the parameters of the fit link, and how many no parameters exceed.
    linked_weight, bound : Fraction
        Their weights.
    order : Order or None
        What comparing attributes one after another links, where that is more than the bound, which is about
        distances that differ by more than ties.
    limit : tuple of (Fraction, Fraction, int) or None
        Where samples were searched: with which confidence no parameters exceed which weight and count.
    """

    problem: Problem
    records: int
    linked: int
    count: int
    linked_weight: Fraction
    bound: Fraction
    order: Order | None
    limit: tuple[Fraction, Fraction, int] | None = None


def check_fit(fit: Mapping[str, Any], certificate: Mapping[str, Any], files: Files) -> Verdict:
    """Check a fit, its certificate and that the one claims no more than the other proves.

    Raises
    ------
    RejectedError
        If a claim is false or not proven.
    MalformedError
        If one of the two is not what it should be.
    """
    claim, proof = Claim(fit, "the fit"), Claim(certificate, "the certificate")
    if proof.text("format") != FORMAT or proof.whole("version") != VERSION:
        raise MalformedError(f"{proof.where} is none of version {VERSION}")
    problem = read_problem(claim)
    demand(
        problem == read_problem(proof.inner("problem")), "problem: fit and certificate have different ones"
    )
    for name, shift in TOLERANCES.items():
        demand(proof.inner("tolerances").exact(name) == Fraction(1, 2**shift), f"tolerances, {name}")
    records, family = Records(files, problem), family_of(problem)
    for key, size in (("records", records.blocks), ("candidates", records.candidates)):
        demand(claim.whole(key) == proof.whole(key) == size, f"{key}: the files have {size}")
    rows = Rows(records, family)
    theta = family.parameters(proof.inner("parameters"))
    demand(theta == family.parameters(claim.inner("parameters")), "parameters: fit and certificate differ")
    linked = [block for block, is_linked in enumerate(linked_blocks(rows, theta)) if is_linked]
    least = len(linked) if _counts_all(claim) else 0
    for one in (claim, proof):
        demand(least <= one.whole("linked") <= len(linked), f"{one.where}, linked: they link {len(linked)}")
    everyone = range(records.blocks)
    keys, limit = _objective(problem), None
    sampled = [one for one in (fit, certificate) if one.get("sampling") or one.get("samples")]
    demand(len(sampled) != 1, "the one of fit and certificate is about samples, the other about all records")
    if sampled:
        bound, limit = check_samples(claim, proof, files, rows, linked, keys)
    else:
        bound = check_bound(rows, proof.inner("proof"), everyone, proof.inner("bound"))
    count = records.most_within((block for block in everyone if block not in bound.lost), bound.weight)
    weight = records.weight(linked)
    demand(len(linked) <= count and weight <= bound.weight, "bound: the parameters of the fit link more")
    order = best_order(rows, bound.weight)
    verdict = Verdict(problem, records.blocks, len(linked), count, weight, bound.weight, order, limit)
    _demand_fit(claim, verdict, keys, len(bound.lost), records)
    return verdict


def _counts_all(fit: Claim) -> bool:
    """Whether a fit says of every record whether it is linked; else it may have counted a part of them."""
    table = fit.inner("records_table")
    rows = [items(row, table.where) for row in table.items("rows")]
    return table.get("left_out") is None and all(len(row) > 1 and row[1] is not None for row in rows)


def _objective(problem: Problem) -> tuple[str, str] | None:
    """The keys of what is linked and of its bound; None where records are counted."""
    if problem.weight is not None:
        return "weighted_links", "weighted_links_upper_bound"
    return ("expected_links", "expected_links_upper_bound") if problem.share else None


def _demand_fit(
    fit: Claim, verdict: Verdict, keys: tuple[str, str] | None, lost: int, records: Records
) -> None:
    """Reject a fit that claims a smaller bound, more lost records, or an optimum that leaves a gap."""
    count = fit.whole("linked_upper_bound")
    least = max(verdict.count, 0 if verdict.order is None else verdict.order.count)
    demand(least <= count <= verdict.records, f"linked_upper_bound: {count}, but {least} are not excluded")
    demand(0 <= fit.whole("lost") <= lost, f"lost: {fit.whole('lost')} are claimed, {lost} are proved")
    bound, reached = Fraction(count), Fraction(verdict.linked)
    if keys is not None:
        bound, reached = fit.exact(keys[1]), verdict.linked_weight
        least_weight = verdict.bound if verdict.order is None else verdict.order.weight
        most = records.total_weight * (1 + ROUNDED)
        demand(least_weight <= bound * (1 + ROUNDED) and bound <= most, f"{keys[1]}: {float(bound):.10g}")
        off = abs(fit.exact(keys[0]) - reached)
        demand(off <= reached * ROUNDED, f"{keys[0]}: the parameters give {float(reached):.10g}")
    demand(fit.text("status") in STATUSES, f"status must be one of {', '.join(STATUSES)}")
    if fit.text("status") == "optimal":
        demand(bound <= reached * (1 + ROUNDED), "status: it is not optimal, bound and attack differ")
