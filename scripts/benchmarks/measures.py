"""Print what measures of a release take, in seconds and in memory.

    python scripts/benchmarks/measures.py keys [--records 1000000]
    python scripts/benchmarks/measures.py all [--names M4-33 M6-385]
    python scripts/benchmarks/measures.py leave-one-out
    python scripts/benchmarks/measures.py large [--records 1000000]

`keys`: every measure in a process of its own on the complete records of Adult with nine keys; on as many as
`--records` says, drawn from these with replacement; and on as many of which every attribute is drawn by
itself, so that most are unique. `all`: all measures of pairs of 400 Census records with the default limits.
`leave-one-out`: searches of the worst case without each attribute. `large`: all measures of a million records
within 120 seconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from harness import DATA, PAIRS, alone, parser, timed
from scale_cases import make_files

from linkrisk import risk
from linkrisk.datasets.microdata.schema import Attribute
from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.measures.attributes import WithheldAttribute, withheld
from linkrisk.solver.measures.diversity import attribute_diversity
from linkrisk.solver.measures.keys import KeyFile, column_codes, groups_of, measured, sums
from linkrisk.solver.measures.suda import special_uniques
from linkrisk.solver.measures.task import Attack
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.clock import Clock, Limits
from linkrisk.solver.worst_case.operations.fitting import fit_request
from linkrisk.solver.worst_case.request import FitRequest
from linkrisk.solver.worst_case.single_fit import fit_one

PAIR_NAMES = ("M4-33", "M4-28", "M5-38", "M6-385", "M6-853")
"""Pairs of 400 Census records."""

ADULT_KEYS = (
    *("age", "workclass", "education", "marital-status", "occupation"),
    *("race", "sex", "native-country", "class"),
)
"""Those of the file that ARX ships."""

KEY_MEASURES = ("uniqueness", "individual-risk", "suda", "diversity")

LARGE_LIMIT = 120.0
"""Seconds for all measures of the part `large`."""


def adult(records: int | None = None, *, apart: bool = False, data: Path = DATA) -> pd.DataFrame:
    """The complete records, or as many drawn from them; `apart`, every attribute by itself."""
    file = pd.read_csv(data / "uci_adult_train.csv").dropna()
    if records is None:
        return file.reset_index(drop=True)
    random = np.random.default_rng(1)
    if not apart:
        return file.sample(records, replace=True, random_state=random).reset_index(drop=True)
    return pd.DataFrame({name: random.choice(file[name].to_numpy(), records) for name in file})


def key_measure(name: str, file: pd.DataFrame) -> str:
    """Take one measure, and say what it found."""
    keys = KeyFile(ADULT_KEYS, np.column_stack([column_codes(file[key]) for key in ADULT_KEYS]))
    if name == "uniqueness":
        return f"{int((sums(groups_of(keys.codes)) == 1).sum()):,} sample uniques"
    if name == "individual-risk":
        # Adult has no weights; these stand for a sample of about 1 %.
        weight = np.random.default_rng(1).uniform(50.0, 150.0, len(file))
        return f"{measured(keys, weight, None).expected:,.1f} expected re-identifications"
    if name == "suda":
        found = special_uniques(keys)
        held = int((found.smallest > 0).sum())
        many = int(found.msus.sum())
        return f"{held:,} records with {many:,} minimal sample uniques of up to {found.largest}"
    groups = groups_of(keys.codes)
    summary, _, _ = attribute_diversity(Attribute("hours-per-week"), file["hours-per-week"], groups)
    return f"{summary.below_distinct:,} records below 2-diversity, mean t {summary.mean_t:.3f}"


def one_key_measure(name: str, records: int | None = None, *, apart: bool = False) -> str:
    """One line: measure, records, seconds, megabytes, what was found."""
    file = adult(records, apart=apart)
    found, spent = timed(lambda: key_measure(name, file))
    return f"{name:16} {len(file):>9,} {spent.seconds:8.2f} s {spent.megabytes:7,.0f} MB  {found}"


def keys(asked: argparse.Namespace) -> None:
    """Every measure on every file in a process of its own."""
    files = {"complete records": (None, False), "drawn records": (asked.records, False)}
    for title, (records, apart) in (files | {"drawn attributes": (asked.records, True)}).items():
        print(f"{title:16}   records     time   memory  found", flush=True)
        for name in KEY_MEASURES:
            print(alone(one_key_measure, name, records, apart=apart), flush=True)


def of_pair(asked: argparse.Namespace, name: str) -> list[Path]:
    """The two files of a pair."""
    return [asked.pairs / f"{name}_400_s0_{which}.csv" for which in ("original", "masked")]


def all_measures(asked: argparse.Namespace) -> None:
    """The seconds of the whole call, of the searches and of every measure of pairs."""
    for name in asked.names:
        found, spent = timed(lambda name=name: risk(*of_pair(asked, name)))
        print(f"{name}: {spent.seconds:.1f} s, searches {found.worst.details['seconds']:.1f} s", flush=True)
        each = found.details["measure_seconds"].items()
        print("    " + ", ".join(f"{measure} {seconds:.1f}" for measure, seconds in each))
        print("    not measured: " + ", ".join(found.not_measured))
        for note in found.notes:
            print(f"    {note}")


def large(asked: argparse.Namespace) -> None:
    """A table: the seconds of the whole call and of every measure, and what there was no time for."""
    with TemporaryDirectory() as folder:
        files = make_files(Path(folder), "M6-385", asked.records)
        found, spent = timed(lambda: risk(*files, time_limit=LARGE_LIMIT))
    print("| seconds | |\n|---|--:|")
    for measure, seconds in sorted(found.details["measure_seconds"].items(), key=lambda one: -one[1]):
        print(f"| {measure} | {seconds:.1f} |")
    print(f"| searches of the worst case | {found.worst.details['seconds']:.1f} |")
    print(f"| the whole call, reading included | {spent.seconds:.1f} |")
    print(f"\n{asked.records:,} records, at most {spent.megabytes:,.0f} MB")
    print(f"not measured: {', '.join(found.not_measured)}")


def leave_one_out(asked: argparse.Namespace) -> None:
    """The worst case without each attribute, and with all: a line for each pair and family."""
    print("seconds of processors: of the search with all attributes; of those without one; of these without")
    print("cores; of these with nothing carried over. In brackets: how many of them were proven.")
    for name in asked.names:
        for family in ("weighted-mean", "choquet"):
            print(f"{name:8} {family:14} {_without(of_pair(asked, name), family)}", flush=True)


def _without(files: Sequence[Path], family: str) -> str:
    problem = make_problem(*files, ProblemOptions(aggregator=family))
    request = fit_request(EngineOptions(seed=0), Limits(60.0, None))
    fit_one(problem, replace(request, limits=Limits(1.0, None)))  # which compiles
    fitted, once = timed(lambda: fit_one(problem, request))
    theta = problem.aggregator.domain.exact(problem.aggregator.encode(fitted.result.parameters))
    attack = Attack(problem, theta, fitted.result, fitted.run.final, fitted.cores)
    everything = replace(fitted.result, linked_upper_bound=fitted.result.records)
    unknown = Attack(problem, problem.aggregator.equal(), everything, fitted.run.final)
    seconds, said = [], []
    for one in (attack, replace(attack, cores=()), unknown):
        found, spent = timed(lambda one=one: _each_withheld(one, request))
        proven = sum(each is not None and each.linked == each.most for each in found)
        seconds.append(spent.processor)
        said.append(f"{spent.processor:6.1f} ({proven})")
    low, high = fitted.result.interval
    return (
        f"{low:.0f} to {high:.0f} {once.processor:6.1f}  {' '.join(said)}  "
        f"times {seconds[0] / once.processor:.1f}, {len(attack.cores)} cores, "
        f"{len(problem.pair.attributes)} attributes"
    )


def _each_withheld(attack: Attack, request: FitRequest) -> list[WithheldAttribute | None]:
    """What the measure does, with ten seconds for each attribute."""
    return [withheld(attack, name, request, Clock(10.0)) for name in attack.problem.pair.attributes]


PARTS: dict[str, Callable[[argparse.Namespace], object]] = {
    "keys": keys,
    "all": all_measures,
    "leave-one-out": leave_one_out,
    "large": large,
}


def main() -> None:
    """Measure one part."""
    made = parser(__doc__, *PARTS, data=DATA, pairs=PAIRS)
    made.add_argument("--records", type=int, default=1_000_000, help="of keys and large")
    made.add_argument("--names", nargs="+", default=PAIR_NAMES, metavar="PAIR", help="of the parts on pairs")
    asked = made.parse_args()
    PARTS[asked.part](asked)


if __name__ == "__main__":
    main()
