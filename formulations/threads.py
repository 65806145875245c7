"""Tasks in threads, where there are several."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Answer = TypeVar("Answer")


def each(task: Callable[[Given], Answer], given: Iterable[Given], threads: int | None = None) -> list[Answer]:
    """Do a task for each of what is given; as many at a time as there are processors, if nothing is said.

    A single one is done here: to start threads takes longer than many tasks do.
    """
    tasks = list(given)
    many = min(threads or os.cpu_count() or 1, len(tasks))
    if many <= 1:
        return [task(one) for one in tasks]
    with ThreadPoolExecutor(many) as pool:
        return list(pool.map(task, tasks))
