"""Try forgeries in a process of its own, in the working folder: ``forgery_run.py SEED COUNT`` prints JSON.

The honest pairs hold every kind of proof (test_forgery.py says which must be there), and an accepted
forgery of one may not say more than it.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import time
import traceback
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
from aggregator_cases import BY_LABEL
from categorical_cases import MASKING, SCHEMA
from categorical_cases import frames as mixed_frames
from certified import branched, certified, frames, proved_early
from forgeries import UNCHECKED, UNKNOWN, alike, mutated

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.datasets.pairs.categorical import KnownRecoding
from linkrisk.datasets.pairs.file_pair import FilePair, make_file_pair
from linkrisk.solver.certificates.checking.verify import (
    FullVerdict,
    demand_fit,
    fit_problem,
    read_object,
    verify,
)
from linkrisk.solver.certificates.core.claims import RejectedError
from linkrisk.solver.certificates.operations.verification import coverage, proved
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.errors import UsageError

REFUSALS = (RejectedError, UsageError, DataError)
"""What a forgery may end in; anything else is a traceback."""

MOST_MEMORY = 4 << 30
"""Address space, so that a forgery that takes all memory ends in an error here, not on the whole machine."""

BY_ALL_CORES = (
    ("weighted-mean", "hitting-set", 8, 11, "strict"),
    ("weighted-mean", "hitting-set", 5, 7, "share"),
    ("owa", "hitting-set", 7, 3, "strict"),
    ("owa", "hitting-set", 5, 1, "share"),
    ("2-additive", "simplex-tree", 7, 6, "strict"),
    ("2-additive", "simplex-tree", 8, 5, "share"),
)
"""Family, method, rows, seed, ties: the methods that an engine does not choose for the family."""

BY_ENGINE = (
    ("weighted-mean", 18, 5, "strict", "own"),
    ("weighted-mean", 10, 5, "share", "own"),
    ("owa", 24, 1, "strict", "own"),
    ("owa", 10, 2, "share", "original"),
    ("choquet", 24, 3, "strict", "own"),
    ("choquet", 18, 2, "share", "none"),
    ("2-additive", 10, 1, "strict", "own"),
    ("2-additive", 14, 3, "share", "own"),
    ("3-additive", 14, 1, "strict", "own"),
    ("3-additive", 14, 5, "share", "pooled"),
    ("mahalanobis", 10, 1, "strict", "own"),
    ("mahalanobis", 10, 1, "share", "none"),
    ("mahalanobis-absolute", 12, 5, "strict", "own"),
    ("mahalanobis-absolute", 10, 5, "share", "own"),
)
"""Family, rows, seed, ties, standardisation."""

BRANCHED = (("2-additive", "strict"), ("3-additive", "share"))

WITH_CATEGORIES = (
    ("weighted-mean", 14, 1, MASKING),
    ("weighted-mean", 20, 4, ()),
    ("choquet", 20, 3, MASKING),
    ("choquet", 20, 1, ()),
    ("mahalanobis", 14, 2, MASKING),
)
"""Family, rows, seed, masking that is known."""

WITH_WEIGHTS = (
    ("weighted-mean", 14, 5, "strict", [2.0, 0.5, 1.0, 3.0]),
    ("weighted-mean", 10, 5, "share", [1e9, 2.5, 0.1]),
    ("choquet", 18, 2, "strict", [0.1, 0.7, 1.3]),
    ("mahalanobis", 10, 1, "share", [12.3, 1e-3, 4.5]),
)
"""Family, rows, seed, ties, weights that come again and again."""


SAID = (
    *("parameters", "importance", "interaction", "records_table", "records", "candidates", "tied", "weight"),
    *("total_weight", "weighted_links"),
)
"""What a fit says that the verifier has checked, beside its bounds."""


class Honest:
    """A fit and its certificate (as they are read from JSON) that are verified, and what they say."""

    def __init__(self, label: str, fit: Any, certificate: Any, original: Any, masked: Any) -> None:
        self.label, self.original, self.masked = label, original, masked
        self.texts = (json.dumps(fit), json.dumps(certificate))
        self.verdict, self.fit, self.told = self.check(*self.texts)

    def check(self, fit: str, certificate: str) -> tuple[FullVerdict, dict[str, Any], tuple[str, str]]:
        """What the command `verify` does with two texts: what is proved, the fit, and its printed words.

        Those are the claims, and the list of what was checked.
        """
        contents = []
        for name, text in (("fit.json", fit), ("proof.json", certificate)):
            Path(name).write_text(text, encoding="utf-8")
            contents.append(read_object(name, "fit --json"))
        files = self._files(contents[0])
        verdict = verify(contents[0], contents[1], files, ("fit.json", "proof.json"))
        claims = "\n".join(proved(verdict, "row by row"))
        demand_fit(contents[0], verdict, "fit.json")
        covered = coverage(verdict, contents[0], files.alignment)
        _ = (claims + covered).encode()
        return verdict, contents[0], (claims, covered.partition("; not checked ")[0])

    def _files(self, fitted: dict[str, Any]) -> FilePair:
        problem = fit_problem(fitted, "fit.json")
        rows = (
            Attribute(name, scale=Scale(problem.scales[name]), categories=tuple(names))
            for name, names in problem.categories.items()
        )
        return make_file_pair(
            self.original, self.masked, attributes=problem.attributes, schema=Schema(tuple(rows))
        )

    def says_otherwise(self, texts: tuple[str, str], told: tuple[str, str]) -> bool:
        """Whether what is printed has changed though nothing has that `verify` checks."""
        return told != self.told and all(
            _checked(json.loads(one)) == _checked(json.loads(other))
            for one, other in zip(texts, self.texts, strict=True)
        )

    def says_more(self, verdict: FullVerdict, fitted: dict[str, Any]) -> str | None:
        """What an accepted forgery says that the honest pair does not, None when nothing.

        That is: a smaller bound, more links, more records out of reach, other parameters, or another number
        that the verifier says it has checked. What is said of another problem (a larger family, other ties,
        another assumption) cannot be compared with it and is held against the evaluator of the engines.
        """
        mine = self.verdict
        if verdict.problem != mine.problem:
            return self._untrue(verdict, fitted)
        for name in ("linked", "linked_weight", "records", "lost"):
            if getattr(verdict, name) > getattr(mine, name):
                return name
        if verdict.bound < mine.bound or verdict.bound_count < mine.bound_count:
            return "bound"
        if fitted["status"] == "optimal" != self.fit["status"]:
            return "status"
        for name in SAID:
            if not alike(fitted.get(name), self.fit.get(name)):
                return name
        if fitted["linked_upper_bound"] < self.fit["linked_upper_bound"] or fitted["lost"] > self.fit["lost"]:
            return "linked_upper_bound or lost"
        key = "weighted_links_upper_bound"
        if key in self.fit and fitted[key] < self.fit[key] * (1 - 2e-9):
            return key
        return None

    def _untrue(self, verdict: FullVerdict, fitted: dict[str, Any]) -> str | None:
        """What is wrong about a claim of another problem, by its definition and many random parameters."""
        setting = verdict.problem
        tables = []
        for name, possible in setting.possible.items():
            table = np.array([[digit == "1" for digit in line] for line in possible], dtype=np.bool_)
            names = tuple(setting.categories[name])
            tables.append(KnownRecoding(name, setting.methods[name], names, names, table))
        same = ("aggregator", "direction", "attributes", "ties", "standardisation", "differences")
        options = ProblemOptions(
            **{name: getattr(setting, name) for name in same},
            k_additive=setting.options.get("k_additive"),
            schema=fitted.get("schema"),
            masking=tables,
        )
        problem = self._weighed(make_problem(self.original, self.masked, options), setting.weight)
        evaluator, aggregator = Evaluator(problem.pair, threads=1), problem.aggregator
        own = evaluator.rank(aggregator.form(aggregator.encode(fitted["parameters"])))
        if own.count < fitted["linked"]:
            return "linked, of another problem"
        points = np.vstack(
            [aggregator.domain.sample(200, np.random.default_rng(0)), aggregator.equal()[None, :]]
        )
        most = max(evaluator.count(aggregator.form(point)).linked_weight for point in points)
        return "bound, of another problem" if most > float(verdict.bound) * (1 + 1e-9) else None

    def _weighed(self, problem: Problem, column: str | None) -> Problem:
        """The problem with the weights of a column; records are in the same rows of both files."""
        if column is None:
            return problem
        frame = self.original if column in self.original else self.masked
        own = frame[column].to_numpy(dtype=float)[problem.pair.query_rows]
        return replace(problem, pair=replace(problem.pair, weight=own * problem.pair.weight))


def _checked(content: Any) -> Any:
    """What is not changed by `forgeries` where only keys are that are not checked."""
    return {key: value for key, value in content.items() if key not in (*UNCHECKED, *UNKNOWN)}


def way(ties: str) -> str:
    """The direction in which identical masked records share a weight, or else the other one."""
    return "original-to-masked" if ties == "share" else "masked-to-original"


@cache
def honest_pairs() -> list[Honest]:
    """Every family, way of a proof and rule of ties; categories with masking that is known.

    The last one has nothing but lost records to prove.
    """
    found = []
    for label, method, rows, seed, ties in BY_ALL_CORES:
        made = certified(
            BY_LABEL[label], seed, method=method, ties=ties, direction=way(ties), rows=rows, time_limit=1e-9
        )
        files = made.problem.files
        found.append(Honest(label, made.fitted, made.certificate, files.original, files.masked))
    for label, rows, seed, ties, standardisation in BY_ENGINE:
        original, masked = frames(seed, rows)
        masked.iloc[[2, 4]] = masked.iloc[3]  # beside two that are the same: weights of halves and thirds
        case = BY_LABEL[label]
        options = {"ties": ties, "direction": way(ties), "standardisation": standardisation}
        fitted, proof = proved_early(original, masked, aggregator=case.name, **options, **case.options)
        proof = branched(proof) if (label, ties) in BRANCHED else proof
        found.append(Honest(label, fitted, proof, original, masked))
    for label, rows, seed, masking in WITH_CATEGORIES:
        original, masked = mixed_frames(seed, rows, numeric=2)
        contents = proved_early(original, masked, aggregator=label, schema=SCHEMA, masking=masking)
        found.append(Honest(f"{label} categories", *contents, original, masked))
    for label, rows, seed, ties, weights in WITH_WEIGHTS:
        original, masked = frames(seed, rows)
        original = original.assign(W=np.resize(weights, rows), other=1.0 + np.arange(rows))
        options = {
            "schema": {"attributes": [{"name": "W", "role": "weight"}]},
            "attributes": ["V1", "V2", "V3"],
        }
        fitted, proof = proved_early(
            original, masked, aggregator=label, ties=ties, direction=way(ties), **options
        )
        found.append(Honest(f"{label} weights", fitted, proof, original, masked))
    dominated = np.arange(5.0)
    pair = [pd.DataFrame({"V1": values, "V2": values}) for values in (dominated, dominated[::-1] + 0.125)]
    found.append(Honest("lost", *proved_early(*pair), *pair))
    return found


def tried(honest: Honest, random: Random) -> tuple[str, str | None, str]:
    """What became of a forgery (accepted, rejected, refused, crashed), what is wrong with that, and where.

    The last is the part of the proof that was found wrong, empty when it was something else.
    """
    texts = mutated(honest.texts, random)
    try:
        verdict, fitted, told = honest.check(*texts)
        more = honest.says_more(verdict, fitted)
        if honest.says_otherwise(texts, told):
            more = "a key that is not checked"
    except REFUSALS as error:
        many_lines = len(str(error).splitlines()) != 1
        where = re.match(r"proof\.json, proof, (\w+)", str(error))
        part = where[1] if where else ""
        return type(error).__name__, f"not one line: {error}" if many_lines else None, part
    except BaseException:
        return "crashed", traceback.format_exc(), ""
    return "accepted", None if more is None else f"says more: {more}", ""


def tries(seed: int, count: int) -> dict[str, Any]:
    """Try `count` forgeries, and say what became of them."""
    pairs = honest_pairs()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    random, outcomes, parts, wrong, slowest = Random(seed), {}, {}, [], 0.0
    for at in range(count):
        honest, state = pairs[at % len(pairs)], random.getrandbits(64)
        began = time.process_time()
        outcome, fault, part = tried(honest, Random(state))
        slowest = max(slowest, time.process_time() - began)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        parts[part] = parts.get(part, 0) + 1
        if fault is not None and len(wrong) < 20:
            wrong.append([honest.label, state, fault])
            for name in ("fit.json", "proof.json"):  # engines need not find the same proof again
                Path(f"wrong-{len(wrong)}-{name}").write_bytes(Path(name).read_bytes())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = {"outcomes": outcomes, "parts": parts, "wrong": wrong, "slowest": slowest}
    return {**report, "kilobytes": memory, "kilobytes_before": before}


if __name__ == "__main__":
    honest_pairs()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    print(json.dumps(tries(int(sys.argv[1]), int(sys.argv[2]))))
