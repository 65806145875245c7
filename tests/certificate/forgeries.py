"""Seeded mutations of a fit and its certificate, and what an accepted one says: more than the honest ones?

Every number, list and text is a target: changed, removed, repeated, made huge, negative, of another type. A
mutation may be made in one of the two, or the same one in both: a forger knows that they are compared.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
from aggregator_cases import BY_LABEL
from categorical_cases import MASKING, SCHEMA
from categorical_cases import frames as mixed_frames
from certified import certified

from datasets.categorical import KnownRecoding
from datasets.errors import DataError
from datasets.file_pair import FilePair, make_file_pair
from datasets.schema import Attribute, Scale, Schema
from solver.commands.verdict import coverage, proved
from solver.errors import UsageError
from solver.fitting import fit
from solver.linkage.evaluator import Evaluator
from solver.problem import ProblemOptions, make_problem
from solver.verification.fields import read_object
from solver.verification.rejection import RejectedError
from solver.verification.verify import Verdict, demand_fit, fit_setting, verify

REFUSALS = (RejectedError, UsageError, DataError)
"""What a forgery may end in; anything else is a traceback."""

UNCHECKED = frozenset(
    ("name", "engine", "backend", "margin", "notes", "seconds", "phases", "model", "trace", "seed", "threads",
     "time_limit", "limit", "command", "linkrisk", "versions", "tie_breaking", "best_known", "certificate")
)  # fmt: skip
"""Keys of a fit that `verify` says it has not checked; some are changed all the same, by `_broken`."""


class Honest:
    """A fit and its certificate that are verified, and what they say.

    Parameters
    ----------
    label : str
    fit, certificate : dict
        As they are read from JSON.
    original, masked : DataFrame
    """

    def __init__(self, label: str, fit: Any, certificate: Any, original: Any, masked: Any) -> None:
        self.label, self.original, self.masked = label, original, masked
        self.texts = (json.dumps(fit), json.dumps(certificate))
        self.verdict, self.fit = self.check(*self.texts)

    def check(self, fit: str, certificate: str) -> tuple[Verdict, dict[str, Any]]:
        """What the command `verify` does with two texts, to its printed words."""
        contents = []
        for name, text in (("fit.json", fit), ("proof.json", certificate)):
            Path(name).write_text(text, encoding="utf-8")
            contents.append(read_object(name, "--json"))
        files = self._files(contents[0])
        verdict = verify(contents[0], contents[1], files, ("fit.json", "proof.json"))
        proved(verdict, "row by row").encode()
        demand_fit(contents[0], verdict, "fit.json")
        coverage(verdict, contents[0], files.alignment).encode()
        return verdict, contents[0]

    def _files(self, fitted: dict[str, Any]) -> FilePair:
        setting = fit_setting(fitted, "fit.json")
        rows = (
            Attribute(name, scale=Scale(scale), categories=names) for name, scale, names in setting.schema
        )
        return make_file_pair(
            self.original, self.masked, attributes=setting.attributes, schema=Schema(tuple(rows))
        )

    def says_more(self, verdict: Verdict, fitted: dict[str, Any]) -> str | None:
        """What an accepted forgery says that the honest pair does not, None when nothing.

        That is: a smaller bound, more links, more records out of reach, other parameters, or another number
        that the verifier says it has checked. What is said of another problem (a larger family, other ties,
        another assumption) cannot be compared with it and is held against the evaluator of the engines.
        """
        mine = self.verdict
        if verdict.setting != mine.setting:
            return self._untrue(verdict, fitted)
        counts = ("linked", "linked_weight", "records", "lost")
        for name in counts:
            if getattr(verdict, name) > getattr(mine, name):
                return name
        if verdict.bound < mine.bound or verdict.bound_count < mine.bound_count:
            return "bound"
        if fitted["status"] == "optimal" != self.fit["status"]:
            return "status"
        for name in (
            "parameters",
            "importance",
            "interaction",
            "records_table",
            "records",
            "candidates",
            "tied",
        ):
            if not alike(fitted.get(name), self.fit.get(name)):
                return name
        if fitted["linked_upper_bound"] < self.fit["linked_upper_bound"] or fitted["lost"] > self.fit["lost"]:
            return "linked_upper_bound or lost"
        return None

    def _untrue(self, verdict: Verdict, fitted: dict[str, Any]) -> str | None:
        """What is wrong about a claim of another problem, by its definition and many random parameters."""
        setting = verdict.setting
        sizes = {name: names for name, _, names in setting.schema}
        tables = [
            KnownRecoding(
                entry.attribute,
                entry.masking,
                sizes[entry.attribute],
                sizes[entry.attribute],
                np.array([[digit == "1" for digit in line] for line in entry.possible], dtype=np.bool_),
            )
            for entry in setting.recodings
        ]
        options = ProblemOptions(
            aggregator=setting.aggregator,
            direction=setting.direction,
            attributes=setting.attributes,
            ties=setting.ties,
            standardisation=setting.standardisation,
            differences=setting.differences,
            k_additive=setting.k_additive,
            schema=fitted.get("schema"),
            masking=tables,
        )
        problem = make_problem(self.original, self.masked, options)
        evaluator, aggregator = Evaluator(problem.pair, threads=1), problem.aggregator
        own = evaluator.table(aggregator.form(aggregator.encode(fitted["parameters"])))
        if own.count < fitted["linked"]:
            return "linked, of another problem"
        points = np.vstack([aggregator.sample(200, np.random.default_rng(0)), aggregator.equal()[None, :]])
        most = max(evaluator.weight(aggregator.form(point)) for point in points)
        return "bound, of another problem" if most > float(verdict.bound) * (1 + 1e-9) else None


def alike(one: Any, other: Any) -> bool:
    """Whether a reader is told the same: numbers up to rounding; what is left out is not told."""
    if one is None:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return set(one) <= set(other) and all(alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, bool) or isinstance(other, bool) or not isinstance(one, int | float):
        return type(one) is type(other) and one == other
    return isinstance(other, int | float) and abs(one - other) <= 1e-8 * max(1.0, abs(other))


def paths(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path to every value, that of the whole first."""
    found = [path]
    if isinstance(content, dict | list):
        for key in content if isinstance(content, dict) else range(len(content)):
            found += paths(content[key], (*path, key))
    return found


def at(content: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        content = content[key]
    return content


ODD: tuple[Any, ...] = (
    None, True, False, "", "x", "\n", "\ud800", [], {}, [[]], {"": 0}, 0, -1, 1, 2, 0.5, -0.0, 1e-300, 1e300,
    2**63, 2**64, -(2**63), 10**30, 10**1900, "optimal", "/dev/zero", "clique", "half",
    ["core", 0], ["split", 0],
)  # fmt: skip


def other_value(value: Any, random: Random) -> Any:
    """Something else in the place of a value: most often of its own kind."""
    if random.random() < 0.12:
        return random.choice(ODD)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        change: tuple[Callable[[int], Any], ...] = (
            lambda v: v + 1, lambda v: v - 1, lambda v: -v, lambda v: 2 * v, lambda v: v // 2,
            lambda v: v % 1, lambda v: v * 10**9, lambda v: v + 2**40, lambda v: float(v % 2**60),
            lambda v: v ^ 3,
        )  # fmt: skip
        return random.choice(change)(value)
    if isinstance(value, float):
        factor = random.choice((-1.0, 0.0, 2.0, 1 + 1e-6, 1 - 1e-9, 1e9, 1e-9))
        return value * factor + random.choice((0.0, 0.0, -9e-10, 1e-9, 1.0))
    if isinstance(value, str):
        return _other_text(value, random)
    if isinstance(value, list):
        return _other_list(value, random)
    if isinstance(value, dict) and value:
        gone = random.choice(list(value))
        return {key: item for key, item in value.items() if key != gone}
    return random.choice(ODD)


def _other_text(value: str, random: Random) -> str:
    words = ("owa", "choquet", "strict", "share", "none", "own", "squared", "signed", "lost", "hitting-set",
             "simplex-tree", "original-to-masked", "nominal", "ordinal", "V1", "feasible")  # fmt: skip
    where = random.randrange(len(value) + 1)
    try:
        codes = zlib.decompress(base64.b64decode(value, validate=True))
    except (ValueError, zlib.error):
        return random.choice(
            (random.choice(words), value[:where], value + value, value[::-1], value[:where] + "01")
        )
    if random.random() < 0.1:
        codes = bytes([1]) * 100_000
    spoilt = codes[:where] + bytes([random.randrange(12)]) + codes[where + random.randrange(2) :]
    return base64.b64encode(zlib.compress(spoilt)).decode()


def _other_list(value: list[Any], random: Random) -> list[Any]:
    if not value:
        return [random.choice(ODD)]
    where = random.randrange(len(value))
    rest = value[:where] + value[where + 1 :]
    return random.choice(
        (
            rest,
            [*value, value[where]],
            value[::-1],
            value * random.choice((2, 50)),
            [*rest, random.choice(ODD)],
            [value[where]] * len(value),
            [[0, 1, 2]],
            value[where:] + value[:where],
        )
    )


def mutated(texts: tuple[str, str], random: Random) -> tuple[str, str]:
    """One or a few values of the fit, the certificate, or of both alike, are others."""
    fitted, certificate = (json.loads(text) for text in texts)
    if random.random() < 0.3:
        _claim_less(fitted, certificate, random)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        target = random.choice((fitted, certificate, certificate))
        path = random.choice(_choices(target, random))
        value, gone = other_value(at(target, path), random), random.random() < 0.06
        _put(target, path, value, gone)
        if random.random() < 0.5:  # both say so
            twin = certificate if target is fitted else fitted
            for own in (path, path[1:] if path[0] == "problem" else ("problem", *path)):
                if own and _has(twin, own):
                    _put(twin, own, value, gone)
    out = [json.dumps(content) for content in (fitted, certificate)]
    if random.random() < 0.03:
        which = random.randrange(2)
        out[which] = _broken(out[which], random)
    return out[0], out[1]


def _claim_less(fitted: Any, certificate: Any, random: Random) -> None:
    """One record less in every bound, and something else in the proof that should show it."""
    if "bound" not in certificate:
        return
    certificate["bound"]["linked_weight"] -= certificate["bound"]["unit"]
    for key in ("linked_upper_bound", "expected_links_upper_bound"):
        if key in fitted:
            fitted[key] -= 1
    for _ in range(random.randrange(3)):
        path = random.choice(paths(certificate["proof"])[1:])
        if _has(certificate["proof"], path):
            _put(certificate["proof"], path, other_value(at(certificate["proof"], path), random), False)


def _choices(content: Any, random: Random) -> list[tuple[Any, ...]]:
    """Where to change something: any key that is checked alike, and then any place below it."""
    key = random.choice([key for key in content if key not in UNCHECKED])
    return [(key, *path) for path in paths(content[key])]


def _has(content: Any, path: tuple[Any, ...]) -> bool:
    try:
        at(content, path)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _put(content: Any, path: tuple[Any, ...], value: Any, gone: bool) -> None:
    holder = at(content, path[:-1])
    if gone:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value


def _broken(text: str, random: Random) -> str:
    """No JSON, or JSON that can be read in two ways."""
    where = random.randrange(len(text))
    return random.choice(
        (
            text[:where],
            text[:where]
            + random.choice(("NaN", "Infinity", "1e999", "]", "}", "9" * 5000, "\x00"))
            + text[where:],
            '{"linked": 0, ' + text[1:],
            "[" * 5000 + text,
            text.replace("[", "[" * 50, 1),
        )
    )


def honest_pairs() -> list[Honest]:
    """Every family, way of a proof and rule of ties; categories with masking that is known.

    The last one has nothing but lost records to prove.
    """
    found = []
    for label, case in BY_LABEL.items():
        simplex = label in ("weighted-mean", "owa", "2-additive")
        for method in ("hitting-set", *(("simplex-tree",) if simplex else ())):
            for ties in ("strict", "share"):
                columns = 2 if label == "2-additive" and method == "simplex-tree" else 3
                # An attack without time leaves room between what is linked and the bound.
                made = certified(
                    case, seed=11, rows=6, columns=columns, method=method, ties=ties, time_limit=1e-9
                )
                files = made.problem.files
                found.append(
                    Honest(
                        f"{label} {method} {ties}",
                        made.fitted,
                        made.certificate,
                        files.original,
                        files.masked,
                    )
                )
    for aggregator in ("weighted-mean", "choquet", "mahalanobis"):
        original, masked = mixed_frames(1, rows=9)
        options = {"aggregator": aggregator, "schema": SCHEMA, "masking": MASKING, "time_limit": None}
        result = fit(original, masked, certificate=True, **options)
        content = json.loads(result.to_json())
        found.append(Honest(f"{aggregator} categories", content, result.certificate, original, masked))
    dominated = np.arange(5.0)
    frames = [pd.DataFrame({"V1": values, "V2": values}) for values in (dominated, dominated[::-1] + 0.125)]
    result = fit(*frames, certificate=True, time_limit=None)
    found.append(Honest("lost", json.loads(result.to_json()), result.certificate, *frames))
    return found
