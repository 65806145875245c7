"""Seconds of `link` for files of growing size: methods that find nearest candidates without all pairs.

    python scripts/benchmark_linker_growth.py
    python scripts/benchmark_linker_growth.py --sizes 10000,100000 --cases "prl, categories"

Processor seconds of all threads, so that other work on the machine hardly matters.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from scale_cases import NOMINAL, NUMERIC, _disturbed, _mixed

from linkrisk import link
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.solver.linkage.linker import LearnedLinker, LinkageTask
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.linkage.result import LinkResult

SIZES = (10_000, 100_000, 1_000_000)

Files = tuple[pd.DataFrame, pd.DataFrame]


def files(records: int) -> Files:
    """Adult resampled, ten percent of the categories exchanged and ten percent of noise."""
    random = np.random.default_rng(1)
    original = _mixed(records, random)
    return original, _disturbed(original, 10.0, random)


def prl_categories(pair: Files) -> LinkResult:
    """Four nominal attributes."""
    return link(*pair, method="prl", attributes=NOMINAL)


def prl_patterns(pair: Files) -> LearnedLinker:
    """Learning alone, from how often each agreement pattern occurs."""
    schema = Schema.from_frame(pair[0])
    names = (*NOMINAL, *NUMERIC)
    return Probabilistic().learn(LinkageTask(*pair, names, names, schema, bijection=True))


def bayes(pair: Files) -> LinkResult:
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


def dbrl(pair: Files) -> LinkResult:
    """Distances, by the evaluator's boxes."""
    return link(*pair, method="dbrl", curve=False)


CASES: dict[str, Callable[[Files], LinkResult | LearnedLinker]] = {
    "prl, four nominal attributes": prl_categories,
    "prl, four nominal and two numeric attributes: counting patterns and EM": prl_patterns,
    "bayes, three attributes against three": bayes,
    "pca, two numeric attributes, --no-curve": pca,
    "dbrl, four nominal and two numeric, --no-curve": dbrl,
}


def main() -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), metavar="N,M")
    parser.add_argument("--cases", metavar="WORD", help="only cases with this word")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    chosen = {name: do for name, do in CASES.items() if (arguments.cases or "") in name}
    small = files(500)
    for do in chosen.values():
        do(small)  # compiles
    print(f"| processor seconds | {' | '.join(f'{size:,}' for size in sizes)} | power of n |")
    print("| --- " * (len(sizes) + 2) + "|")
    for name, do in chosen.items():
        spent = []
        for size in sizes:
            pair = files(size)
            began = time.process_time()
            do(pair)
            spent.append(time.process_time() - began)
        power = (
            math.log(spent[-1] / spent[0]) / math.log(sizes[-1] / sizes[0]) if len(sizes) > 1 else math.nan
        )
        print(f"| {name} | {' | '.join(f'{seconds:,.1f}' for seconds in spent)} | {power:.2f} |", flush=True)


if __name__ == "__main__":
    main()
