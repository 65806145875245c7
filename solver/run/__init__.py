"""Run a search: clock, work, incumbent, limits, worker pool, interruption, status, errors, results.

May import nothing else of `linkrisk.solver`.
"""

from __future__ import annotations

import logging

logging.getLogger("linkrisk").addHandler(logging.NullHandler())  # silent by default
