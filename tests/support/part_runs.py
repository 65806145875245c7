"""Runs of `fit` on tiny files whose search of all records is soon given up for parts of them."""

from __future__ import annotations

from fit_runs import frames

from linkrisk import fit
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.engines.steering import PartSteering, Steering, TreeSteering
from linkrisk.solver.worst_case import parts
from linkrisk.solver.worst_case.parts import UntilHopeless

PARTS = PartSteering(fewest=1, before=0.0, wide=0.0, size=8, worth_processes=1e9)
STEERING = Steering(parts=PARTS, tree=TreeSteering(budget=1))
"""Parts from the first step of the proof on, in this process; trees take small steps."""


def hopeless(patch):
    """Let the search of all records be given up before it has proven anything, whatever it could prove."""
    inner = ExactEngine.run

    def run(self, system, incumbent, *given):
        if isinstance(incumbent.clock, UntilHopeless):
            incumbent.enter("branch and cut")
            incumbent.note()
            assert incumbent.clock.expired
        return inner(self, system, incumbent, *given)

    patch.setattr(ExactEngine, "run", run)


def one_round(patch):
    """Let this be so, and there be one round of parts, and nothing after it."""
    hopeless(patch)
    patch.setattr(parts._PartSearches, "_done", property(lambda _: True))
    patch.setattr(parts, "_once_more", lambda *given: given[-2:])


def noisy(seed=3, records=30, attributes=3):
    """A pair that links few records, two of which share their masked record."""
    return frames(seed, records, attributes, noise=1.2, twins=True)


def in_parts(files, limit=60.0, **options):
    """The result of a fit that goes by parts, and its progress."""
    told = []
    options = {"steering": STEERING, "time_limit": limit, **options}
    return fit(*files, on_progress=told.append, **options), told
