"""The part of `benchmark_linkers.py` about Bayesian linkage."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from reproduce_smith import prepared, sampled

from linkrisk.solver.linkage.bayesian import Bayesian
from linkrisk.solver.linkage.judging import judge
from linkrisk.solver.linkage.matching import score_matrix


def bayes(records: int, samples: int) -> Iterator[str]:
    """Time of learning from the other records, and of scoring all pairs of a sample of ionosphere."""
    frame = prepared("ionosphere")
    seconds, linked = [], []
    for seed in range(samples):
        task, truth = sampled(frame, records, seed)
        begin = time.perf_counter()
        learned = Bayesian().learn(task)
        taught = time.perf_counter()
        score_matrix(learned, records, records)
        seconds.append((taught - begin, time.perf_counter() - taught))
        linked.append(judge(learned, truth).count)
    learning, scoring = np.max(seconds, axis=0)
    yield (
        f"{records} x {records} records of ionosphere, {len(frame.columns)} attributes, {samples} samples "
        "and divisions of the attributes"
    )
    yield f"longest times: learning {learning:.2f} s, scoring all pairs {scoring:.3f} s"
    yield f"linked: {np.mean(linked):.1f} on average"
