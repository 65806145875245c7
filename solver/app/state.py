"""What every page of an application knows: its project, its queue, and who may ask."""

from __future__ import annotations

from dataclasses import dataclass

from linkrisk.solver.app.project import Project
from linkrisk.solver.app.run_queue import Queue
from linkrisk.solver.app.security import Access


@dataclass(frozen=True)
class State:
    """One application.

    Attributes
    ----------
    project : Project
    queue : Queue
    access : Access
    """

    project: Project
    queue: Queue
    access: Access
