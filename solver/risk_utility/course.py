"""The course of a sweep: kept runs are read from a folder, the others are shared out, measured and kept."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from linkrisk.datasets.masking.release import method_as_json
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.writing import write_whole
from linkrisk.errors import called
from linkrisk.solver.compiling.parts import LINKAGE, MASKING, RISK, compile_once
from linkrisk.solver.risk_utility.runs import Status, SweepJob, SweepRun, SweepTask, run_masking
from linkrisk.solver.run.clock import Clock, processors, usable_megabytes
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.pool import PoolChoice, WorkerPool, open_pool
from linkrisk.solver.run.progress import SWEEP, Progress, Reporter
from linkrisk.solver.run.result import dump_json
from linkrisk.solver.run.versions import stamp
from linkrisk.solver.run.workers import Sequential, unlimited
from linkrisk.solver.schemas.intervals import percents

Depends = Mapping[str, Any]
"""What a run depends on, ready for JSON: the original file, the masking, options, the program."""

_WORDS = {
    "original": "of another original file",
    "options": "with other options",
    "program": "of another version of linkrisk or its libraries",
}
"""What runs are called that do not count, by what is different, the most important first."""

_UNREADABLE = "that cannot be read"

_MOST_BYTES = 10_000_000
"""A larger file is none of ours."""


def table_digest(stored: StoredFile) -> str:
    """Digest of a table: names, types and values of columns, and declared missing codes."""
    found = hashlib.sha256()
    for name, column in stored.frame.items():
        values = pd.util.hash_pandas_object(column, index=False).to_numpy()
        found.update(f"{name}\n{column.dtype}\n{stored.notes(str(name)).missing}\n".encode())
        found.update(values.tobytes())
    return found.hexdigest()


class Store:
    """A folder of finished runs, created if needed; without one nothing is kept."""

    def __init__(self, folder: str | Path | None) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is None:
            return
        try:
            self.folder.mkdir(exist_ok=True)
        except FileExistsError:
            raise UsageError(
                f"{called('folder', folder)} is a file; give the name of a folder", option="folder"
            ) from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(
                f"{called('folder', folder)} cannot be made: {reason}; give another one", option="folder"
            ) from None
        if not os.access(self.folder, os.R_OK | os.W_OK | os.X_OK):
            raise UsageError(f"{called('folder', folder)} is not writable; give another one", option="folder")

    def find(self, depends: Depends) -> SweepRun | None:
        """The run with these dependencies, if there is one."""
        content = None if self.folder is None else _content(self._path(depends))
        if content is None or content["depends"] != depends:
            return None
        return _run(content)

    def keep(self, depends: Depends, run: SweepRun) -> None:
        """Write a run; a DataError if that fails."""
        if self.folder is not None:
            write_whole(self._path(depends), dump_json({"depends": depends, "run": run.to_dict()}))

    def notes(self, depends: Depends) -> tuple[str, ...]:
        """Notes on runs in the folder that do not count, as they depend on something else."""
        others = Counter(dict.fromkeys((*_WORDS.values(), _UNREADABLE), 0))  # in this order
        for path in self._files():
            content = _content(path)
            if content is None:
                others[_UNREADABLE] += 1
                continue
            words = (words for key, words in _WORDS.items() if content["depends"].get(key) != depends[key])
            others.update([next(words, "")])
        del others[""]
        return tuple(
            f"{self.folder} has {many:,} {'run' if many == 1 else 'runs'} {what}; they do not count here"
            for what, many in others.items()
            if many
        )

    def _files(self) -> Iterator[Path]:
        return iter(()) if self.folder is None else iter(sorted(self.folder.glob("*.json")))

    def _path(self, depends: Depends) -> Path:
        assert self.folder is not None
        spelled = json.dumps(depends, sort_keys=True, ensure_ascii=False)
        return self.folder / f"{hashlib.sha256(spelled.encode()).hexdigest()[:20]}.json"


def _content(path: Path) -> dict[str, Any] | None:
    """Content of a file of a run; None for any other file."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    complete = isinstance(content, dict) and all(
        isinstance(content.get(key), dict) for key in ("depends", "run")
    )
    return content if complete and _run(content) is not None else None


def _run(content: Mapping[str, Any]) -> SweepRun | None:
    try:
        return SweepRun.from_dict(content["run"])
    except (TypeError, KeyError, ValueError, AttributeError):
        return None


def lost() -> str:
    """Message for the death of a process."""
    return (
        f"the process that measured it has died, of too little memory perhaps; try fewer {called('workers')}"
    )


class Course:
    """Course of a sweep."""

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
        """Finished runs in the order of the plan."""
        return tuple(self._runs[task.at] for task in self._tasks if task.at in self._runs)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Maskings without a finished run."""
        return tuple(task.masking.text for task in self._tasks if task.at not in self._runs)

    def run(self, choice: PoolChoice) -> None:
        """Measure the remaining maskings, until all are done or the user stops."""
        left = [task for task in self._tasks if task.at not in self._runs]
        if not left:
            return
        if choice.scheduler is None:
            self.workers = min(choice.workers or processors(), len(left))
            choice = PoolChoice(None, None if self.workers == 1 else self.workers)
        with open_pool(choice) as pool, interruptible(self._clock):
            self._compile(pool)
            self._say(f"{self.kept} of {len(self._tasks)} maskings")
            for run in self._ended(pool, left):
                self._say(f"{len(self._runs)} of {len(self._tasks)} maskings; last {_in_short(run)}", run)
        if not self._clock.expired:
            for task in left:
                self._runs.setdefault(task.at, task.ended(Status.FAILED, lost()))

    def _say(self, work: str, last: SweepRun | None = None) -> None:
        """Report the number of finished runs, with the interval of the last one."""
        progress = Progress.uncounted(SWEEP, work, done=len(self._runs) / len(self._tasks))
        if last is not None and last.status is Status.DONE:
            low, high = (end * last.total for end in last.interval)
            progress = replace(progress, value=low, bound=high, total=last.total)
        self._tell(replace(progress, about="" if last is None else last.masking))

    def _ended(self, pool: WorkerPool, left: Sequence[SweepTask]) -> Iterator[SweepRun]:
        """Runs as they end, each kept at once."""
        job = self._job
        if self.workers is not None and self.workers > 1:  # each has its share of the memory of this machine
            memory = usable_megabytes() / self.workers
            job = replace(job, limits=replace(job.limits, memory=memory))
        workers = pool.workers(job) or Sequential(job)
        for at, run in workers.each(run_masking, left, self._clock, unlimited):
            if run is None:
                continue
            task = left[at]
            self._runs[task.at] = run
            if run.status is not Status.FAILED:  # a fault may be gone the next time
                self._store.keep(self._depends(task), run)
            yield run

    def _depends(self, task: SweepTask) -> Depends:
        """All that the numbers of a masking depend on."""
        methods = [method_as_json(method) for method in task.methods]
        depends: Depends = json.loads(json.dumps({**self._common, "masking": methods, "seed": task.seed}))
        return depends

    def _compile(self, pool: WorkerPool) -> None:
        """Compile before the time of any masking runs."""
        began = time.perf_counter()
        for part in (*self._job.families, LINKAGE, MASKING, RISK):
            compile_once(part, self._tell)
            pool.prepare(compile_once, part)
        self.compiling = time.perf_counter() - began


def _in_short(run: SweepRun) -> str:
    """The end of a run in short."""
    if run.status is not Status.DONE:
        return f"{run.masking}: {run.status}"
    return f"{run.masking}: {percents(*run.interval)} linked"
