"""The hunt itself: one quarry after another until time is up, with a line now and then."""

from __future__ import annotations

import argparse
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hunting.checks import pursue
from hunting.quarry import FAMILIES, KINDS, draw
from linkrisk.datasets.errors import DataError
from linkrisk.formulations.errors import FormulationError
from linkrisk.solver.run.errors import UsageError

_EVERY_SECONDS = 20.0
_UNFIT = (FormulationError, DataError, UsageError)


@dataclass
class Bag:
    """Pairs by kind, how many had nothing to link, and the files of those in which something is wrong."""

    tried: Counter[str] = field(default_factory=Counter)
    unfit: int = 0
    wrong: list[Path] = field(default_factory=list)

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.tried.items()))
        return f"{self.tried.total()} pairs, {self.unfit} unfit, {len(self.wrong)} wrong ({kinds})"


def hunt(
    *,
    seed: int,
    kinds: Sequence[str] = KINDS,
    families: Sequence[str] = FAMILIES,
    pairs: int | None = None,
    seconds: float | None = None,
    folder: Path = Path(),
) -> Bag:
    """Try one seed after another, on kinds and families in turn; Ctrl-C ends it."""
    bag, began, told = Bag(), time.monotonic(), 0.0
    at = 0
    try:
        while (pairs is None or at < pairs) and (seconds is None or time.monotonic() < began + seconds):
            family = families[(at + at // len(kinds)) % len(families)]
            _try(bag, kinds[at % len(kinds)], family, seed + at, folder)
            at += 1
            if time.monotonic() > began + told + _EVERY_SECONDS:
                told = time.monotonic() - began
                print(f"{told:.0f} s, seed {seed + at}: {bag}", flush=True)
    except KeyboardInterrupt:
        print("stopped")
    print(bag, flush=True)
    return bag


def _try(bag: Bag, kind: str, family: str, seed: int, folder: Path) -> None:
    """One quarry; what is wrong with it is printed, and written down."""
    quarry = draw(kind, family, seed)
    try:
        wrong = pursue(quarry)
    except _UNFIT:
        bag.unfit += 1
        return
    except Exception:
        wrong = [traceback.format_exc()]
    bag.tried[kind] += 1
    if wrong:
        path = folder / f"hunt-{kind.replace(' ', '-')}-{family}-{seed}.json"
        path.write_text(quarry.to_json() + "\n", encoding="utf-8")
        bag.wrong.append(path)
        again = f"--kinds '{kind}' --families {family} --seed {seed} --pairs 1"
        print(f"WRONG: {'; '.join(wrong)}\n  {path}; again with {again}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 1 when something was wrong."""
    parser = argparse.ArgumentParser(
        prog="hunt.py", description="Look for bounds that are wrong, on nasty file pairs without end."
    )
    parser.add_argument("--minutes", type=float, help="how long (10, unless --pairs says how many)")
    parser.add_argument("--pairs", type=int, help="how many pairs to try")
    parser.add_argument("--seed", type=int, default=0, help="where to begin (0)")
    parser.add_argument("--kinds", default=",".join(KINDS), help="comma-separated (all)")
    parser.add_argument("--families", default=",".join(FAMILIES), help="comma-separated (all)")
    parser.add_argument("--output", type=Path, default=Path(), help="folder for cases that are wrong (here)")
    options = parser.parse_args(arguments)
    chosen = {}
    for what, known in (("kinds", KINDS), ("families", FAMILIES)):
        chosen[what] = getattr(options, what).split(",")
        unknown = sorted(set(chosen[what]) - set(known))
        if unknown:
            parser.error(f"unknown {what}: {', '.join(unknown)}; choose among {', '.join(known)}")
    minutes = 10.0 if options.minutes is None and options.pairs is None else options.minutes
    seconds = None if minutes is None else 60.0 * minutes
    bag = hunt(seed=options.seed, pairs=options.pairs, seconds=seconds, folder=options.output, **chosen)
    return 1 if bag.wrong else 0
