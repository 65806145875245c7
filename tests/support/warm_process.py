"""Imported last by the process that others are copies of: what numba reads before its first answer."""

from __future__ import annotations

import os

from linkrisk.formulations.compiled import is_marked
from linkrisk.solver.compiling.ahead import LINKAGE, _read_once

_, _, path = os.environ.pop("PYTHONPATH").partition(os.pathsep)
if path:
    os.environ["PYTHONPATH"] = path  # as it was before this module had to be found
is_marked(LINKAGE)
_read_once()
