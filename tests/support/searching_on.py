"""A program whose search does not notice that its time is over, and what the end of the process makes of it.

python searching_on.py command    as `python -m solver` ends
python searching_on.py script     as a script of one's own ends
"""

from __future__ import annotations

import sys
import time

import highspy
import numpy as np

from linkrisk.solver.commands import program as cli
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.limits import in_time


class Endless:
    """Solves linear programs, one after the other, for so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def do(self) -> str:
        """What nobody waits for."""
        random, columns, rows = np.random.default_rng(0), 40, 200
        while time.monotonic() < self._end:
            program, none = highspy.Highs(), np.empty(0, dtype=np.int32)
            program.setOptionValue("output_flag", False)
            program.addCols(
                columns,
                random.random(columns),
                np.zeros(columns),
                np.ones(columns),
                0,
                none,
                none,
                np.empty(0),
            )
            chosen = random.random((rows, columns)) < 0.2
            places = np.nonzero(chosen)[1].astype(np.int32)
            starts = np.concatenate([[0], np.cumsum(chosen.sum(axis=1))[:-1]]).astype(np.int32)
            program.addRows(
                rows, np.ones(rows), np.full(rows, np.inf), places.size, starts, places, np.ones(places.size)
            )
            program.run()
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
