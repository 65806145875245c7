"""A program whose search does not notice that its time is over, and what the end of the process makes of it.

python searching_on.py command    as `python -m solver` ends
python searching_on.py script     as a script of one's own ends
"""

from __future__ import annotations

import sys
import time

import numpy as np
from brute_optimum import least

from linkrisk.solver.commands import program as cli
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.limits import in_time


class Endless:
    """Solves linear programs, one after the other, for so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def do(self) -> str:
        """What nobody waits for."""
        random, many = np.random.default_rng(0), 40
        while time.monotonic() < self._end:
            chosen = (random.random((200, many)) < 0.2).astype(float)
            chosen[:, 0] = 1.0
            nothing = np.empty((0, many)), np.empty(0)
            least(random.random(many), (-chosen, -np.ones(200)), nothing, (np.zeros(many), np.ones(many)))
        return "too late"

    def so_far(self) -> str:
        """What is printed."""
        return "the answer"


if __name__ == "__main__":
    ends_as_a_command = sys.argv[1] == "command"
    search = Endless(600.0 if ends_as_a_command else 2.0)
    print(in_time(search, Clock(0.1)))
    if ends_as_a_command:
        cli._leave(0)
