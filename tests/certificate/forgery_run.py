"""Try forgeries in a process of its own, in the working folder: ``forgery_run.py SEED COUNT`` prints JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
import traceback
from random import Random

from forgeries import REFUSALS, Honest, honest_pairs, mutated

MOST_MEMORY = 4 << 30
"""Address space, so that a forgery that takes all memory ends in an error here, not on the whole machine."""


def tried(honest: Honest, random: Random) -> tuple[str, str | None]:
    """What became of a forgery (accepted, rejected, refused, crashed), and what is wrong with that."""
    texts = mutated(honest.texts, random)
    try:
        verdict, fitted = honest.check(*texts)
        more = honest.says_more(verdict, fitted)
    except REFUSALS as error:
        many_lines = len(str(error).splitlines()) != 1
        return type(error).__name__, f"not one line: {error}" if many_lines else None
    except BaseException:
        return "crashed", traceback.format_exc()
    return "accepted", None if more is None else f"says more: {more}"


def main(seed: int, count: int) -> None:
    """Try `count` forgeries and print what became of them."""
    pairs = honest_pairs()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    random, outcomes, wrong, slowest = Random(seed), {}, [], 0.0
    for at in range(count):
        honest, state = pairs[at % len(pairs)], random.getrandbits(64)
        began = time.process_time()
        outcome, fault = tried(honest, Random(state))
        slowest = max(slowest, time.process_time() - began)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        if fault is not None and len(wrong) < 20:
            wrong.append([honest.label, state, fault])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = {"pairs": len(pairs), "outcomes": outcomes, "wrong": wrong, "slowest": slowest}
    print(json.dumps({**report, "kilobytes": memory, "kilobytes_before": before}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
