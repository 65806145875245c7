"""The course of a sweep: what is kept is taken, what is left is shared out, what ends is kept."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from linkrisk.datasets.masking.record import method_as_json
from linkrisk.errors import called
from linkrisk.solver.compiling.ahead import LINKAGE, MASKING, RISK, compile_once
from linkrisk.solver.linkage.spreading import unlimited
from linkrisk.solver.risk_utility.runs import Status, SweepRun
from linkrisk.solver.risk_utility.store import Depends, Store, table_digest
from linkrisk.solver.risk_utility.sweep_run import SweepJob, SweepTask, run_masking
from linkrisk.solver.run.clock import Clock, usable_megabytes
from linkrisk.solver.run.crew import Crew, CrewChoice, hired
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.processors import processors
from linkrisk.solver.run.progress import SWEEP, Progress, Reporter
from linkrisk.solver.run.stamp import stamp
from linkrisk.solver.run.workers import Here
from linkrisk.solver.run.worst_sentence import percents


def lost() -> str:
    """Say that a process has died, and what may help."""
    return (
        f"the process that measured it has died, of too little memory perhaps; try fewer {called('workers')}"
    )


class Course:
    """A sweep, as far as it has come.

    Parameters
    ----------
    job : SweepJob
    tasks : sequence of SweepTask
    store : Store
    clock : Clock
        Stops it.
    tell : callable
        Told whenever a run ends.

    Attributes
    ----------
    kept : int
        Runs that were found in the store.
    workers : int or None
        Processes that measured; None where the scheduler decides.
    compiling : float
        Seconds that it took to compile, which are not part of the sweep.
    notes : list of str
    """

    def __init__(
        self,
        job: SweepJob,
        tasks: Sequence[SweepTask],
        store: Store,
        clock: Clock,
        tell: Reporter,
    ) -> None:
        self._job, self._tasks, self._store, self._clock, self._tell = job, tasks, store, clock, tell
        self._common = {
            "original": table_digest(job.source.stored),
            "options": job.describe(),
            "program": dict(stamp()),
        }
        found = {task.at: store.find(self._depends(task)) for task in tasks}
        # A masking keeps its numbers whatever the plan calls its family.
        self._runs = {
            at: replace(run, name=tasks[at].masking.name) for at, run in found.items() if run is not None
        }
        self.kept, self.compiling = len(self._runs), 0.0
        self.workers: int | None = None
        self.notes = [*job.source.stored.remarks, *store.notes(self._depends(tasks[0]))]

    @property
    def in_order(self) -> tuple[SweepRun, ...]:
        """The runs that have ended, in the order of the plan."""
        return tuple(self._runs[task.at] for task in self._tasks if task.at in self._runs)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The maskings that have not ended."""
        return tuple(task.masking.text for task in self._tasks if task.at not in self._runs)

    def run(self, choice: CrewChoice) -> None:
        """Measure what is left, until all is done or the user stops."""
        left = [task for task in self._tasks if task.at not in self._runs]
        if not left:
            return
        if choice.scheduler is None:
            self.workers = min(choice.workers or processors(), len(left))
            choice = CrewChoice(None, None if self.workers == 1 else self.workers)
        with hired(choice) as crew, interruptible(self._clock):
            self._compile(crew)
            self._say(f"{self.kept} of {len(self._tasks)} maskings")
            for run in self._ended(crew, left):
                self._say(f"{len(self._runs)} of {len(self._tasks)} maskings; last {_said(run)}", run)
        if not self._clock.expired:
            for task in left:
                self._runs.setdefault(task.at, task.ended(Status.FAILED, lost()))

    def _say(self, work: str, last: SweepRun | None = None) -> None:
        """How many are done, with the interval of the last one."""
        progress = Progress.uncounted(SWEEP, work, done=len(self._runs) / len(self._tasks))
        if last is not None and last.status is Status.DONE:
            low, high = (end * last.total for end in last.interval)
            progress = replace(progress, value=low, bound=high, total=last.total)
        self._tell(replace(progress, about="" if last is None else last.masking))

    def _ended(self, crew: Crew, left: Sequence[SweepTask]) -> Iterator[SweepRun]:
        """Runs as they end, each kept before all else."""
        job = self._job
        if self.workers is not None and self.workers > 1:  # each has its share of the memory of this machine
            memory = usable_megabytes() / self.workers
            job = replace(job, limits=replace(job.limits, memory=memory))
        workers = crew.workers(job) or Here(job)
        for task, run in workers.each(run_masking, left, self._clock, unlimited):
            if run is None:
                continue
            self._runs[task.at] = run
            if run.status is not Status.FAILED:  # a fault may be gone the next time
                self._store.keep(self._depends(task), run)
            yield run

    def _depends(self, task: SweepTask) -> Depends:
        """All that the numbers of a masking depend on."""
        methods = [method_as_json(method) for method in task.methods]
        depends: Depends = json.loads(json.dumps({**self._common, "masking": methods, "seed": task.seed}))
        return depends

    def _compile(self, crew: Crew) -> None:
        """Compile before the time of any masking runs."""
        began = time.perf_counter()
        for part in (*self._job.families, LINKAGE, MASKING, RISK):
            compile_once(part, self._tell)
            crew.prepare(compile_once, part)
        self.compiling = time.perf_counter() - began


def _said(run: SweepRun) -> str:
    """How a run has ended, in short."""
    if run.status is not Status.DONE:
        return f"{run.masking}: {run.status}"
    return f"{run.masking}: {percents(*run.interval)} linked"
