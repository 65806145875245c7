"""Runs of `fit` on tiny files whose search of all records is soon given up for parts of them."""

from __future__ import annotations

from dataclasses import replace

from fit_runs import frames

from linkrisk.solver import fit
from linkrisk.solver.engines.steering import PartSteering, Steering, TreeSteering

PARTS = PartSteering(fewest=1, before=0.0, wide=0.0, size=8, worth_processes=1e9)
STEERING = Steering(parts=PARTS, tree=TreeSteering(budget=1))
"""Parts from the first step of the proof on, in this process. Trees take small steps, so that there is one."""


def parts_only(limit=60.0, **changes):
    """The steering of a run whose parts stay small: the first round takes all its time."""
    return {"steering": replace(STEERING, parts=replace(PARTS, **changes)), "time_limit": limit}


def noisy(seed=3, records=30, attributes=3):
    """A pair that links few records, two of which share their masked record."""
    return frames(seed, records, attributes, noise=1.2, twins=True)


def in_parts(files, limit=60.0, **options):
    """The result of a fit that goes by parts, and its progress."""
    told = []
    options = {"steering": STEERING, "time_limit": limit, **options}
    return fit(*files, report=told.append, **options), told
