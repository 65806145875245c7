"""Print our version of Table 4 of Smith (2016) beside the published one; write its Figures 2 to 5 as points.

    python scripts/reproductions/smith.py --repetitions 100 --curves curves.csv

Random samples of 30 and of 100 records of four data sets, their attributes divided at random between two
files, which are then linked one to one. What is learned is learned from the records outside the sample.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.pairs.partition import random_partition, related_attributes
from linkrisk.datasets.public.registry import load
from linkrisk.solver.linkage.bayesian import Bayesian
from linkrisk.solver.linkage.judging import most_probable_claim
from linkrisk.solver.linkage.linker import LearnedLinker, LinkageTask, Linker, Truth
from linkrisk.solver.linkage.matching import matched, score_matrix
from linkrisk.solver.linkage.precision_recall import PrecisionRecall, precision_recall
from linkrisk.solver.linkage.probabilistic.comparisons import Comparison, Measure
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.linkage.quantifiers import FAMILIES
from linkrisk.solver.linkage.representatives import OrderedWeightedAverages

DATA_SETS = ("abalone", "dermatology", "boston-housing", "ionosphere")
SIZES = (30, 100)
NAMES = ("Q1", "Q2", "Q3", "Bayes")

# Table 4: mean numbers of correct matches, in the order of NAMES.
PUBLISHED = {
    ("abalone", 30): (8.28, 8.08, 7.02, 8.30),
    ("dermatology", 30): (2.09, 2.31, 2.36, 6.17),
    ("boston-housing", 30): (2.09, 1.88, 1.74, 17.79),
    ("ionosphere", 30): (6.21, 8.78, 10.11, 18.17),
    ("abalone", 100): (9.33, 8.94, 8.35, 9.26),
    ("dermatology", 100): (2.32, 2.39, 2.47, 7.04),
    ("boston-housing", 100): (1.97, 1.90, 1.56, 30.25),
    ("ionosphere", 100): (8.78, 13.93, 15.91, 33.25),
}

TITLES = (
    "data set", "n", "method", "ours (s.e.)", "by p", "published", "ratio",
    "average precision", "single claims right", "p >= 1/2", "seconds",
)  # fmt: skip

# Section 7: share of right ones among the single most probable claims.
PUBLISHED_CLAIMS = {
    ("abalone", 30, "Q1"): 0.21,
    ("abalone", 30, "Q2"): 0.52,
    ("abalone", 30, "Q3"): 0.69,
    ("abalone", 30, "Bayes"): 0.46,
    ("boston-housing", 30, "Bayes"): 0.83,
    ("boston-housing", 100, "Bayes"): 0.57,
}


AGREEMENT = Comparison(Measure.WITHIN, (0.05,))
"""The similarity ``max(1 - |x - y|, 0)`` is at least 0.95."""

INTERPOLATED = Comparison(Measure.WITHIN, (0.0,), 1.0)
"""The weight of agreement at equal values falls to that of disagreement at similarity 0."""


@dataclass(frozen=True)
class ClassicalLinkage(Linker):
    """Linkage by EM on agreement, and then by interpolated weights (Smith 2016, section 5.1.3).

    Similarities are cut in two to learn m and u. Winkler (1990) interpolates afterwards, from equal values
    on: `prl` itself begins at the threshold, which gives all pairs that agree the same weight.
    """

    name: ClassVar[str] = "classical"

    def learn(self, task: LinkageTask) -> LearnedLinker:
        """Learn m and u, then interpolate the weights."""
        compare = tuple((name, AGREEMENT) for name in task.query_attributes)
        found = Probabilistic(compare=compare).learn(task).parameters
        rows = [row | {"comparison": INTERPOLATED.to_dict()} for row in found["attributes"]]
        return self.restored(found | {"attributes": rows}, task)

    @classmethod
    def restored(cls, parameters: Mapping[str, Any], task: LinkageTask) -> LearnedLinker:
        """The weights as they were learned."""
        return Probabilistic.restored(parameters, task)


def owa(family: str) -> OrderedWeightedAverages:
    """OWA operators of ranged values, as many as the family has functions, compared by classical linkage."""
    return OrderedWeightedAverages(
        quantifiers=(FAMILIES[family],), normalisation="ranging", inner=ClassicalLinkage()
    )


@dataclass(frozen=True)
class Method:
    """A column of the table.

    With `numbers` text becomes whole numbers, and attributes of the second file that correlate with none of
    the first are left out, as Smith does for OWA (sections 5 and 6.1).
    """

    linker: Linker
    numbers: bool = False


METHODS = {
    "Q1": Method(owa("power"), numbers=True),
    "Q2": Method(owa("sigmoid"), numbers=True),
    "Q3": Method(owa("threshold"), numbers=True),
    "Bayes": Method(Bayesian()),
}
"""What is run, by its name in NAMES."""


@dataclass(frozen=True)
class Outcome:
    """What a linker did with one sample.

    `matched` counts the right pairs of the matching with the largest total score, `by_probability` those by
    match probabilities in place of scores, as the paper has it; `own` and `scores` are those of the matches
    and of all pairs. `claim`: the largest score, the share of matches among the pairs that have it, whether
    the first is one. `likely`: match probabilities of 1/2 and more, and how many of these pairs are matches.
    `seconds`: of learning, and of scoring all pairs.
    """

    matched: int
    by_probability: int | None
    own: np.ndarray
    scores: np.ndarray
    claim: tuple[float, float, bool]
    likely: tuple[np.ndarray, int]
    seconds: tuple[float, float]


def prepared(name: str) -> pd.DataFrame:
    """Records without missing values, attributes with more than one value (section 5)."""
    frame = load(name).dropna().reset_index(drop=True)
    return frame.loc[:, frame.nunique() > 1]


def as_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Text replaced by the places of its values in alphabetical order."""
    text = frame.select_dtypes(exclude="number").columns
    return frame.assign(**{name: pd.factorize(frame[name], sort=True)[0] for name in text})


def sampled(frame: pd.DataFrame, records: int, seed: int) -> tuple[LinkageTask, Truth]:
    """A random sample as two files; the candidates in random order, so that ties favour no claim."""
    random = np.random.default_rng((seed, records))
    order, shuffled = random.permutation(len(frame)), random.permutation(records)
    attacked = frame.iloc[order[:records]]
    first, second = random_partition(list(frame.columns), seed)
    task = LinkageTask(
        queries=attacked,
        candidates=attacked.iloc[shuffled],
        query_attributes=first,
        candidate_attributes=second,
        schema=Schema.from_frame(frame),
        bijection=True,
        training=frame.iloc[order[records:]],
        seed=seed,
    )
    return task, Truth.of(np.argsort(shuffled), records)


def related(task: LinkageTask, threshold: float) -> tuple[str, ...]:
    """Attributes of the second file that correlate with at least one of the first; all when none does."""
    frame = pd.concat([task.training, task.queries])
    known, target = task.query_attributes, task.candidate_attributes
    return related_attributes(frame, known, target, threshold) or target


def outcome(method: Method, task: LinkageTask, truth: Truth) -> Outcome:
    """Learn, score all pairs, match."""
    begin = perf_counter()
    learned = method.linker.learn(task)
    taught = perf_counter()
    scores = score_matrix(learned, truth.queries, truth.candidates)
    scored = perf_counter()
    probabilities = learned.probabilities(scores)
    likely = np.empty(0) if probabilities is None else probabilities[probabilities >= 0.5]
    own = scores[truth.query_rows, truth.partner]
    claim = most_probable_claim(learned, truth)
    assert claim is not None, "every pair is possible here"
    return Outcome(
        matched=right_links(scores, task, truth),
        by_probability=None if probabilities is None else right_links(probabilities, task, truth),
        own=own,
        scores=scores,
        claim=(claim.score, claim.correct, bool(truth.partner[claim.query] == claim.candidate)),
        likely=(likely, 0 if probabilities is None else int((learned.probabilities(own) >= 0.5).sum())),
        seconds=(taught - begin, scored - taught),
    )


def right_links(scores: np.ndarray, task: LinkageTask, truth: Truth) -> int:
    """How many pairs of the one-to-one matching with the largest total are matches."""
    return int((matched(scores, "hungarian", task.seed) == truth.partner).sum())


def outcomes(method: Method, name: str, records: int, repetitions: int) -> list[Outcome]:
    """Of as many samples of a data set; every method sees the same samples and partitions."""
    frame = as_numbers(prepared(name)) if method.numbers else prepared(name)
    found = []
    for seed in range(repetitions):
        task, truth = sampled(frame, records, seed)
        if method.numbers:
            attributes = related(task, 0.5 if name == "ionosphere" else 0.7)
            task = replace(task, candidate_attributes=attributes)
        found.append(outcome(method, task, truth))
    return found


def curves(found: list[Outcome]) -> dict[str, PrecisionRecall]:
    """Of all pairs (Figures 2 and 3), and of the single claims of each sample (Figures 4 and 5)."""
    claims = np.array([each.claim[0] for each in found])
    right = np.array([each.claim[2] for each in found])
    return {
        "all pairs": precision_recall(
            np.concatenate([each.own for each in found]), (each.scores for each in found)
        ),
        "single claims": precision_recall(claims[right], [claims]),
    }


def curve_rows(curve: PrecisionRecall, points: int) -> Iterator[dict[str, float]]:
    """At most so many points of a curve, the first and the last among them."""
    last = curve.thresholds.size - 1
    for at in np.unique(np.linspace(0, last, points).round().astype(int)) if last >= 0 else ():
        yield {
            "score": float(curve.thresholds[at]),
            "recall": round(float(curve.recall[at]), 6),
            "precision": round(float(curve.precision[at]), 6),
        }


def likely_pairs(found: list[Outcome]) -> str:
    """Of all pairs of probability 1/2 and more: their mean probability, and the share that are matches."""
    probabilities = np.concatenate([each.likely[0] for each in found])
    if probabilities.size == 0:
        return ""
    return f"{probabilities.mean():.2f}, {sum(each.likely[1] for each in found) / probabilities.size:.2f}"


def table_row(name: str, records: int, column: str, found: list[Outcome]) -> str:
    """Means with their standard errors, beside the published figures."""
    matched = np.array([each.matched for each in found])
    error = matched.std(ddof=1) / np.sqrt(matched.size) if matched.size > 1 else np.nan
    by_probability = [each.by_probability for each in found if each.by_probability is not None]
    published = PUBLISHED[name, records][NAMES.index(column)]
    claims = np.mean([each.claim[1] for each in found])
    published_claims = PUBLISHED_CLAIMS.get((name, records, column))
    cells = (
        name,
        records,
        column,
        f"{matched.mean():.2f} ({error:.2f})",
        f"{np.mean(by_probability):.2f}" if by_probability else "",
        f"{published:.2f}",
        f"{matched.mean() / published:.0%}",
        f"{curves(found)['all pairs'].average_precision:.3f}",
        f"{claims:.2f}" + ("" if published_claims is None else f" [{published_claims:.2f}]"),
        likely_pairs(found),
        "{:.2f}, {:.3f}".format(*np.median([each.seconds for each in found], axis=0)),
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    """Print the table and write the curves."""
    parser = argparse.ArgumentParser(description="Table 4 of Smith (2016), ours beside the published one.")
    parser.add_argument("--repetitions", type=int, default=100, help="samples of each size")
    parser.add_argument("--data", nargs="+", default=DATA_SETS, choices=DATA_SETS)
    parser.add_argument("--records", nargs="+", type=int, default=SIZES, choices=SIZES)
    parser.add_argument("--curves", type=Path, metavar="CSV", help="where to write Figures 2 to 5 as points")
    parser.add_argument("--points", type=int, default=200, help="most points of a curve")
    arguments = parser.parse_args()
    print(f"{arguments.repetitions} random samples and partitions each; mean of correct matches.")
    print("'by p': match probabilities instead of scores in the matching. [published] beside single claims.")
    print("'p >= 1/2': of the pairs of such a probability, its mean and the share that are matches.")
    print("'seconds': medians of learning and of scoring all pairs.\n")
    print("| " + " | ".join(TITLES) + " |\n|---|---|---" + "|---:" * (len(TITLES) - 3) + "|")
    rows = []
    for name in arguments.data:
        for records in arguments.records:
            for column, method in METHODS.items():
                found = outcomes(method, name, records, arguments.repetitions)
                print(table_row(name, records, column, found), flush=True)
                for kind, curve in curves(found).items():
                    place = {"data": name, "records": records, "method": column, "pairs": kind}
                    rows += [place | row for row in curve_rows(curve, arguments.points)]
    if arguments.curves:
        pd.DataFrame(rows).to_csv(arguments.curves, index=False)


if __name__ == "__main__":
    main()
