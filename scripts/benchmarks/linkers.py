"""Print the figures of linkers: what they find, how long they take, how much memory they need.

    python scripts/benchmarks/linkers.py prl-size
    python scripts/benchmarks/linkers.py febrl4 [--splink-python PYTHON]
    python scripts/benchmarks/linkers.py growth [--sizes 10000,100000] [--cases "prl, four nominal"]

`prl-size`: learning from all pairs of drawn records, and how near m, u and p come to what was drawn.
`febrl4`: persons with errors in two files of 5,000, one to one; where `splink` is installed, here or in
another environment, its figures stand beside ours.
`growth`: files of growing size, linked by methods that find nearest candidates without all pairs.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from harness import DATA, head, listed, parser, peak, row, timed
from scale_cases import NOMINAL, NUMERIC, disturbed, mixed
from splink_runs import by_splink

from linkrisk import link
from linkrisk.arrays import IndexArray
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.solver.linkage.judging import judge
from linkrisk.solver.linkage.linker import LearnedLinker, LinkageTask, Truth
from linkrisk.solver.linkage.matching import hungarian, score_matrix
from linkrisk.solver.linkage.probabilistic.comparisons import parse_comparison
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.linkage.result import LinkResult

SIZES = (2, 3, 5, 10, 20, 50, 100)
WRONG, MISSING = 0.1, 0.02

TEXTS = ("given_name", "surname", "address_1", "address_2", "suburb")
DIGITS = ("postcode", "date_of_birth", "soc_sec_id")
OTHERS = ("street_number", "state")


def febrl4_comparisons(texts: str, digits: str) -> Probabilistic:
    """Texts and digits compared as given, the other attributes by equality."""
    hows = dict.fromkeys(TEXTS, texts) | dict.fromkeys(DIGITS, digits) | dict.fromkeys(OTHERS, "equal")
    return Probabilistic(compare=tuple(parse_comparison(f"{name}={how}") for name, how in hows.items()))


FEBRL4 = {
    "equality": febrl4_comparisons("equal", "equal"),
    "similarity": febrl4_comparisons("jaro-winkler:0.92,0.85", "levenshtein:1,0.7"),
    "interpolated": febrl4_comparisons("jaro-winkler:0.92..0.7", "levenshtein:0.8..0.5"),
}
"""Ways to compare two records of febrl4."""


def prl_size(records: int, attributes: int) -> Iterator[str]:
    """Time and memory of learning from all pairs, and how near m, u and p come to what was drawn."""
    for kind, files, how in (
        ("categories compared by equality", drawn_categories, "equal"),
        ("numbers compared as usual", drawn_numbers, None),
    ):
        yield f"{records:,} x {records:,} records, {attributes} attributes: {kind}"
        yield from learning(*files(records, attributes), how)


def learning(first: pd.DataFrame, second: pd.DataFrame, how: str | None) -> Iterator[str]:
    """Learn once on a few records, so that loading compiled code is not counted, then on all."""
    names = tuple(first.columns)
    linker = Probabilistic(compare=tuple(parse_comparison(f"{name}={how}") for name in names) if how else ())
    linker.learn(task_of(first[:50], second[:50], names))
    learned, spent = timed(lambda: linker.learn(task_of(first, second, names)))
    found = learned.parameters
    took = f"{spent.seconds:.1f} s ({spent.processor:.1f} s of processor time)"
    yield f"  counting and EM {took}, peak {spent.megabytes:,.0f} MB"
    yield f"  {found['patterns']:,} patterns, {found['iterations']} iterations of EM"
    yield f"  expected matches {found['expected_matches']:,.1f} of {len(first):,}"
    if how == "equal":
        yield "  largest error of m {:.4f}, of u {:.4f}".format(*errors(found))
    judged, spent = timed(lambda: judge(learned, Truth.of(np.arange(len(first)), len(second))))
    yield f"  all pairs scored and judged in {spent.seconds:.1f} s: {judged.count:,} linked"
    for note in learned.notes:
        yield f"  note: {note}"


def drawn_categories(records: int, attributes: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Independent attributes of 2 to 100 categories; some values are drawn again, some are missing."""
    chance = np.random.default_rng(0)
    sizes = np.resize(SIZES, attributes)
    first = chance.integers(0, sizes, size=(records, attributes)).astype(np.float64)
    anew = chance.integers(0, sizes, size=first.shape)
    second = np.where(chance.random(first.shape) < WRONG, anew, first)
    for table in (first, second):
        table[chance.random(table.shape) < MISSING] = np.nan
    names = [f"x{k}" for k in range(attributes)]
    return pd.DataFrame(first, columns=names), pd.DataFrame(second, columns=names)


def drawn_numbers(records: int, attributes: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Correlated normal numbers, and the same with a tenth of their standard deviation as noise."""
    chance = np.random.default_rng(0)
    mixing = np.eye(attributes) + 0.3
    first = chance.normal(size=(records, attributes)) @ mixing
    second = first + 0.1 * first.std(axis=0) * chance.normal(size=first.shape)
    names = [f"x{k}" for k in range(attributes)]
    return pd.DataFrame(first, columns=names), pd.DataFrame(second, columns=names)


def errors(found: dict[str, Any]) -> tuple[float, float]:
    """How far m and u are from those of the drawing."""
    rows = found["attributes"]
    u = 1.0 / np.resize(SIZES, len(rows))
    m = 1.0 - WRONG + WRONG * u
    return (
        float(np.abs([row["m"][-1] for row in rows] - m).max()),
        float(np.abs([row["u"][-1] for row in rows] - u).max()),
    )


def febrl4(data: Path, splink_python: str) -> Iterator[str]:
    """Persons with errors in two files of 5,000, one-to-one; and Splink's figures where it is installed."""
    files = [data / "febrl4a.csv", data / "febrl4b.csv"]
    if not all(file.exists() for file in files):
        yield f"left out: no febrl4a.csv and febrl4b.csv in {data}; set LINKRISK_DATA"
        return
    first, second = (read_table(file) for file in files)
    partner = truth(first, second)
    names = tuple(name for name in first.columns if name != "rec_id")
    first, second = first[list(names)], second[list(names)]
    task = task_of(first, second, names)
    FEBRL4["similarity"].learn(task_of(first[:99], second[:99], names))  # loads compiled code
    for label, linker in FEBRL4.items():
        learned, learning_ = timed(lambda linker=linker: linker.learn(task))
        scores, scoring = timed(lambda learned=learned: score_matrix(learned, len(first), len(second)))
        matched, matching = timed(lambda scores=scores: hungarian(scores))
        seconds = learning_.seconds + scoring.seconds + matching.seconds
        chance = learned.probabilities(scores[np.arange(len(first)), matched])
        claims = np.where(chance >= 0.5, matched, -1) if chance is not None else matched
        yield (
            f"prl, {label:12} {accuracy(claims, partner)}; learning "
            f"{learning_.seconds:.1f} s, all {seconds:.1f} s, peak {peak():,.0f} MB so far"
        )
    yield from splink_figures(files, partner, splink_python)


def task_of(first: pd.DataFrame, second: pd.DataFrame, names: tuple[str, ...]) -> LinkageTask:
    """All pairs of two files; nothing is known but their values."""
    return LinkageTask(first, second, names, names, Schema.from_frame(first[list(names)]))


def truth(first: pd.DataFrame, second: pd.DataFrame) -> IndexArray:
    """The row of each record's duplicate: rec-N-org and rec-N-dup-0 are one person."""
    place = {name.split("-")[1]: row for row, name in enumerate(second["rec_id"])}
    return np.array([place[name.split("-")[1]] for name in first["rec_id"]], dtype=np.intp)


def accuracy(claims: IndexArray, partner: IndexArray) -> str:
    """Recall and precision of one-to-one claims, -1 where none is made."""
    claimed = claims >= 0
    right = int((claims == partner).sum())
    return f"{right:,} of {partner.size:,} links found, precision {right / max(1, claimed.sum()):.4f}"


def splink_figures(files: list[Path], partner: IndexArray, python: str) -> Iterator[str]:
    """Run Splink by the interpreter that has it; its pairs are matched one-to-one like ours."""
    if subprocess.run([python, "-c", "import splink"], capture_output=True, check=False).returncode:
        yield "splink: not installed (pip install splink, here or with --splink-python)"
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            answer = by_splink(python, "febrl4", files, Path(folder) / "splink.json")
        except subprocess.CalledProcessError as error:
            yield f"splink: failed: {error.stderr.strip().splitlines()[-1]}"
            return
    scores = np.full((partner.size, partner.size), -np.inf)
    scores[answer["query"], answer["candidate"]] = answer["weight"]
    probable = np.zeros(scores.shape, dtype=np.bool_)
    probable[answer["query"], answer["candidate"]] = np.array(answer["probability"]) >= 0.5
    all_claims = hungarian(scores)
    sure = np.where(probable[np.arange(partner.size), all_claims], all_claims, -1)
    learned, predicted = answer["train_seconds"], answer["predict_seconds"]
    yield (
        f"splink {answer['version']}, blocked {accuracy(sure, partner)}; learning {learned:.1f} s, "
        f"all {learned + predicted:.1f} s, peak {answer['peak_mb']:,.0f} MB"
    )


Files = tuple[pd.DataFrame, pd.DataFrame]


def files(records: int) -> Files:
    """Adult resampled, ten percent of the categories exchanged and ten percent of noise."""
    random = np.random.default_rng(1)
    original = mixed(records, random)
    return original, disturbed(original, 10.0, random)


def prl_categories(pair: Files) -> LinkResult:
    """Four nominal attributes."""
    return link(*pair, method="prl", attributes=NOMINAL)


def prl_patterns(pair: Files) -> LearnedLinker:
    """Learning alone, from how often each agreement pattern occurs."""
    schema = Schema.from_frame(pair[0])
    names = (*NOMINAL, *NUMERIC)
    return Probabilistic().learn(LinkageTask(*pair, names, names, schema, bijection=True))


def bayes_growth(pair: Files) -> LinkResult:
    """Two nominal attributes and a number against as many others."""
    sides = [*NOMINAL[:2], NUMERIC[0]], [*NOMINAL[2:], NUMERIC[1]]
    training = files(5_000)[0]
    return link(
        *pair, method="bayes", original_attributes=sides[0], masked_attributes=sides[1], training=training
    )


def pca(pair: Files) -> LinkResult:
    """Places on a line."""
    first, second = (frame[NUMERIC] for frame in pair)
    return link(first, second, method="pca", curve=False)


CASES: dict[str, Callable[[Files], LinkResult | LearnedLinker]] = {
    "prl, four nominal attributes": prl_categories,
    "prl, four nominal and two numeric attributes: counting patterns and EM": prl_patterns,
    "bayes, three attributes against three": bayes_growth,
    "pca, two numeric attributes, --no-curve": pca,
}


def growth(asked: argparse.Namespace) -> Iterator[str]:
    """A row for each case: processor seconds of all threads, so that other work hardly matters."""
    chosen = {name: do for name, do in CASES.items() if asked.cases in name}
    small = files(500)
    for do in chosen.values():
        do(small)  # compiles
    head(["processor seconds", *(f"{size:,}" for size in asked.sizes), "power of n"])
    for name, do in chosen.items():
        spent = []
        for size in asked.sizes:
            pair = files(size)
            spent.append(timed(lambda do=do, pair=pair: do(pair))[1].processor)
        grown = math.log(asked.sizes[-1] / asked.sizes[0])
        power = math.log(spent[-1] / spent[0]) / grown if grown else math.nan
        row([name, *(f"{seconds:,.1f}" for seconds in spent), f"{power:.2f}"])
    yield from ()


PARTS: dict[str, Callable[[argparse.Namespace], Iterable[str]]] = {
    "prl-size": lambda asked: prl_size(asked.records, asked.attributes),
    "febrl4": lambda asked: febrl4(asked.data, asked.splink_python),
    "growth": growth,
}
"""What can be measured: each gives lines to print."""


def main() -> None:
    """Measure one part."""
    made = parser(__doc__, *PARTS, data=DATA)
    made.add_argument("--records", type=int, default=10_000, help="prl-size: of each file (10,000)")
    made.add_argument("--attributes", type=int, default=13, help="prl-size (13)")
    made.add_argument("--splink-python", default=sys.executable, help="febrl4: interpreter that has splink")
    made.add_argument("--sizes", type=listed(int), default=[10_000, 100_000, 1_000_000], help="growth")
    made.add_argument("--cases", default="", metavar="WORD", help="growth: only cases with this word")
    asked = made.parse_args()
    for line in PARTS[asked.part](asked):
        print(line, flush=True)


if __name__ == "__main__":
    main()
