"""Compiled code of the verifier, called once on a few records."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from linkrisk.solver.certificates.checking.cores import Rows
from linkrisk.solver.certificates.checking.counting import linked_blocks, settled_blocks
from linkrisk.solver.certificates.checking.families import family_of
from linkrisk.solver.certificates.checking.orders import best_order
from linkrisk.solver.certificates.checking.records import Records


def warm_up() -> None:
    """Call all of it, with the types of arguments that checks call it with."""
    values, none = np.random.default_rng(1).normal(size=(40, 2)), np.zeros(2)
    labels = tuple(str(block) for block in range(40))
    records = Records(values, values, tuple(range(40)), False, "squared", labels, none, none)
    rows, theta = Rows(records, family_of("weighted-mean", 2, {})), [Fraction(1), Fraction(1)]
    linked_blocks(rows, theta)
    settled_blocks(rows, theta)
    best_order(rows)
