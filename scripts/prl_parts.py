"""The parts of `benchmark_linkers.py` about probabilistic record linkage."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.solver.linkage.judging import judge
from linkrisk.solver.linkage.linker import LinkageTask, Truth
from linkrisk.solver.linkage.matching import hungarian, score_matrix
from linkrisk.solver.linkage.probabilistic.comparisons import parse_comparison
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.run.memory import MemoryMeter

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
    meter, begin, used = MemoryMeter(), time.perf_counter(), time.process_time()
    learned = linker.learn(task_of(first, second, names))
    seconds, used = time.perf_counter() - begin, time.process_time() - used
    found = learned.parameters
    yield f"  counting and EM {seconds:.1f} s ({used:.1f} s of processor time), peak {megabytes(meter)}"
    yield f"  {found['patterns']:,} patterns, {found['iterations']} iterations of EM"
    yield f"  expected matches {found['expected_matches']:,.1f} of {len(first):,}"
    if how == "equal":
        yield "  largest error of m {:.4f}, of u {:.4f}".format(*errors(found))
    begin = time.perf_counter()
    linked = judge(learned, Truth.of(np.arange(len(first)), len(second))).count
    yield f"  all pairs scored and judged in {time.perf_counter() - begin:.1f} s: {linked:,} linked"
    for note in learned.notes:
        yield f"  note: {note}"


def megabytes(meter: MemoryMeter) -> str:
    """The peak of this process."""
    return f"{meter.peak() / 1e6:,.0f} MB"


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
        meter, begin = MemoryMeter(), time.perf_counter()
        learned = linker.learn(task)
        learned_at = time.perf_counter()
        scores = score_matrix(learned, len(first), len(second))
        matched = hungarian(scores)
        seconds = time.perf_counter() - begin
        chance = learned.probabilities(scores[np.arange(len(first)), matched])
        claims = np.where(chance >= 0.5, matched, -1) if chance is not None else matched
        yield (
            f"prl, {label:12} {accuracy(claims, partner)}; learning {learned_at - begin:.1f} s, "
            f"all {seconds:.1f} s, peak {megabytes(meter)} so far"
        )
    yield from splink_figures(files, partner, splink_python)


def task_of(first: pd.DataFrame, second: pd.DataFrame, names: tuple[str, ...]) -> LinkageTask:
    """All pairs of two files; nothing is known but their values."""
    return LinkageTask(first, second, names, names, Schema.from_frame(first[list(names)]))


def truth(first: pd.DataFrame, second: pd.DataFrame) -> NDArray[np.intp]:
    """The row of each record's duplicate: rec-N-org and rec-N-dup-0 are one person."""
    place = {name.split("-")[1]: row for row, name in enumerate(second["rec_id"])}
    return np.array([place[name.split("-")[1]] for name in first["rec_id"]], dtype=np.intp)


def accuracy(claims: NDArray[np.intp], partner: NDArray[np.intp]) -> str:
    """Recall and precision of one-to-one claims, -1 where none is made."""
    claimed = claims >= 0
    right = int((claims == partner).sum())
    return f"{right:,} of {partner.size:,} links found, precision {right / max(1, claimed.sum()):.4f}"


def splink_figures(files: list[Path], partner: NDArray[np.intp], python: str) -> Iterator[str]:
    """Run Splink by the interpreter that has it; its pairs are matched one-to-one like ours."""
    if subprocess.run([python, "-c", "import splink"], capture_output=True, check=False).returncode:
        yield "splink: not installed (pip install splink, here or with --splink-python)"
        return
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "splink.json"
        script = Path(__file__).parent / "splink_febrl4.py"
        # A path to this project would let the other interpreter find our packages in place of its own.
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [python, str(script), *map(str, files), str(output)],
            capture_output=True, text=True, env=clean, check=False,
        )  # fmt: skip
        if done.returncode:
            yield f"splink: failed: {done.stderr.strip().splitlines()[-1]}"
            return
        answer = json.loads(output.read_text(encoding="utf-8"))
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
