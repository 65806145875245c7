"""Small file pairs with a fit, and certificates for it from cores that these tests find themselves."""

from __future__ import annotations

import base64
import json
import math
import zlib
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import brute_force as plain
import brute_optimum
import numpy as np
import pandas as pd
from aggregator_cases import Case
from brute_optimum import least

from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.solver.certificates.checking.linkage import FastLinkage
from linkrisk.solver.certificates.checking.verify import demand_fit, fit_problem, linkage_of, verify
from linkrisk.solver.certificates.writing.build import ProvenSearch, certify
from linkrisk.solver.engines.base import CoreProof, Proof
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.worst_case.answers import most_blocks
from linkrisk.solver.worst_case.operations.fit import fit
from linkrisk.solver.worst_case.search_state import problem_system


@dataclass(frozen=True)
class Certified:
    """A fit and its certificate, as they are read from JSON."""

    case: Case
    problem: Problem
    system: BlockSystem
    fitted: dict[str, Any]
    certificate: dict[str, Any]
    optimum: float

    def linkage(self) -> FastLinkage:
        """The exact records of the problem."""
        return linkage_of(self.problem.files, fit_problem(self.fitted, "fit"))

    def check(self, fitted=None, certificate=None):
        """What `verify` does."""
        fitted = self.fitted if fitted is None else fitted
        certificate = self.certificate if certificate is None else certificate
        verdict = verify(fitted, certificate, self.problem.files, ("fit", "certificate"))
        demand_fit(fitted, verdict, "fit")
        return verdict


def frames(seed, rows=7, columns=3, twins=True):
    """A file and its masked version: noise, some of it rounded so that masked records coincide."""
    random = np.random.default_rng(seed)
    original = random.normal(size=(rows, columns)) * 10.0 + 50.0
    masked = original + random.normal(scale=14.0, size=original.shape)
    if twins:
        masked[1] = masked[0]
    names = [f"V{k + 1}" for k in range(columns)]
    return pd.DataFrame(original, columns=names), pd.DataFrame(masked, columns=names)


def cuts(aggregator):
    """``v' M v >= 0`` for many directions v, where the domain is a relaxation of the semidefinite cone."""
    if aggregator.name != "mahalanobis":
        return np.empty((0, aggregator.dimension))
    return aggregator.domain.products(np.random.default_rng(0).normal(size=(500, len(aggregator.attributes))))


def core_of(system: BlockSystem, blocks) -> CoreProof | None:
    """A combination of rows of open blocks that is nowhere positive on the domain, by one linear program.

    Minimise ``v + sum_k p_k``, where ``rest = rows' x + domain' y - v`` and ``p_k`` is its largest product
    with a bound of column k: weak duality, written down.
    """
    domain = system.aggregator.domain.rows
    rows = np.flatnonzero(np.isin(system.row_open, blocks))
    matrix = np.asarray(system.matrix[rows].todense())
    limits = np.vstack([np.asarray(domain.matrix.todense()), cuts(system.aggregator)])
    equal = np.zeros(len(limits), dtype=bool)
    equal[: len(domain.row_lower)] = domain.row_lower == domain.row_upper
    signed = np.where(equal[:, None], -limits, limits)
    x, least, _ = _least_bound(domain, matrix, signed, equal)
    if least > -1e-13:
        return None
    # Rows may nearly cancel: what then is left of them is combined with the domain in a unit of its own.
    x = np.where(x > 1e-9, x, 0.0)
    rest = matrix.T @ x
    unit = np.abs(rest).max()
    _, _, of_domain = _least_bound(domain, rest[None, :] / unit, signed, equal)
    used, of_domain = np.flatnonzero(x > 0.0), unit * of_domain[: len(domain.row_lower)]
    return CoreProof(rows[used], x[used], np.where(equal[: of_domain.size], of_domain, -of_domain))


def _least_bound(domain, matrix, signed, equal):
    """Multipliers x of rows, the least bound that they prove, and the multipliers y of the domain."""
    many, extra, size = len(matrix), len(signed), matrix.shape[1]
    rest = np.vstack([matrix, signed]).T
    upper = [
        np.hstack([rest * bound[:, None], -np.eye(size)])
        for bound in (domain.column_lower, domain.column_upper)
    ]
    low = np.concatenate([np.zeros(many), np.where(equal, -np.inf, 0.0), np.full(size, -np.inf)])
    answer = least(
        np.concatenate([np.zeros(many), equal.astype(float), np.ones(size)]),
        upper=(np.vstack(upper), np.zeros(2 * size)),
        equal=(np.concatenate([np.ones(many), np.zeros(extra + size)])[None, :], np.ones(1)),
        bounds=(low, np.full(low.size, np.inf)),
    )
    return answer.x[:many], answer.fun, answer.x[many : many + extra]


def all_cores(system: BlockSystem, largest: int) -> tuple[CoreProof, ...]:
    """A core for every smallest set of at most so many open blocks that has one."""
    found: dict[frozenset[int], CoreProof] = {}
    for size in range(1, largest + 1):
        for blocks in combinations(range(system.open_blocks.size), size):
            if any(core <= set(blocks) for core in found):
                continue
            core = core_of(system, blocks)
            if core is not None:
                found[frozenset(blocks)] = core
    return tuple(found.values())


def certified(
    case: Case,
    seed: int = 0,
    *,
    method: str = "hitting-set",
    ties: str = "strict",
    direction: str = "masked-to-original",
    rows: int = 7,
    columns: int = 3,
    seconds: float = math.inf,
    time_limit: float | None = None,
) -> Certified:
    """Fit a small pair, find its optimum by brute force, and write the certificate of that."""
    original, masked = frames(seed, rows, columns)
    options = {
        "aggregator": case.name,
        "ties": ties,
        "direction": direction,
        **case.options,
    }
    result = fit(original, masked, engine="exact", time_limit=time_limit, **options)
    problem = make_problem(original, masked, ProblemOptions(**options))
    system = problem_system(problem)
    files = plain.records(original.to_numpy(), masked.to_numpy(), direction, ties == "share")
    optimum = brute_optimum.optimum(files, case.family(columns))
    cores = all_cores(system, len(system.open_blocks)) if method == "hitting-set" else ()
    written = certify(
        problem.files,
        problem.describe(),
        ProvenSearch(None, system, optimum, Proof(method, cores)),
        result.parameters,
        result.linked,
        seconds,
    )
    fitted, certificate = (json.loads(json.dumps(content)) for content in (result.to_dict(), written))
    # Without time, the fit's own bound is larger than the one that is proved here.
    most = most_blocks(system.pair.weight[~system.lost], optimum)
    assert fitted["linked_upper_bound"] >= most
    fitted["linked_upper_bound"] = most
    if ties == "share":
        fitted["expected_links_upper_bound"] = optimum
    return Certified(case, problem, system, fitted, certificate, optimum)


def proved_early(original, masked, **options) -> tuple[dict[str, Any], dict[str, Any]]:
    """A fit that was stopped at once, and the certificate of one that was not, about the same records.

    That leaves room between what is linked and the bound, and the proof is what an engine needs: `certified`
    finds every core by itself, and so is for the smallest files only.
    """
    whole = fit(original, masked, engine="exact", certificate=True, time_limit=None, **options)
    early = fit(original, masked, engine="exact", time_limit=1e-9, **options)
    fitted, proved = (json.loads(result.to_json()) for result in (early, whole))
    for key in ("linked_upper_bound", "expected_links_upper_bound", "weighted_links_upper_bound", "lost"):
        if key in proved:
            fitted[key] = proved[key]
    certificate = {**whole.certificate, "parameters": fitted["parameters"], "linked": fitted["linked"]}
    return fitted, json.loads(json.dumps(certificate))


def branched(certificate: dict[str, Any]) -> dict[str, Any]:
    """The same proof with a tree that splits on the two blocks of a core: where both are kept it is closed.

    The multipliers of the one leaf prove at least as much where blocks are decided. The engines' proofs of
    small files have no closed lines.
    """
    proof = certificate["proof"]
    (leaf,) = proof["tree"]
    blocks = [sorted({block for block, _, _ in core["rows"]}) for core in proof["cores"]]
    core = next(at for at, of_core in enumerate(blocks) if len(of_core) == 2)
    first, second = blocks[core]
    tree = [["split", first], leaf, ["split", second], leaf, ["core", core]]
    return {**certificate, "proof": {**proof, "tree": tree}}


def kinds(certificate: dict[str, Any]) -> set[str]:
    """What a proof is made of: lost, core, monotone, total, clique, half, leaf, split, closed, edge."""
    proof = certificate["proof"]
    found = {"lost"} if proof["lost"] else set()
    for core in proof.get("cores", ()):
        found |= {"core", *(key for key in ("monotone", "total") if core.get(key))}
    found |= {kind for kind, _ in proof.get("inequalities", ())}
    if proof["method"] == "hitting-set":
        found |= {"closed" if line[0] == "core" else line[0] for line in proof["tree"]}
    elif proof["method"] == "simplex-tree":
        nodes = zlib.decompress(base64.b64decode(proof["tree"]))
        found |= {"leaf", "edge"} if len(nodes) > 1 else {"leaf"}
    return found
