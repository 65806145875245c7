"""The processors that this process may use."""

from __future__ import annotations

import os


def processors() -> int:
    """How many there are: of those of the machine, the ones that it was not kept from."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
