"""Open the worker pool of a run: this process, processes of this machine, or a Dask scheduler's workers.

Shared data are sent to each worker once; or each worker holds some parts of them. Tasks of a worker that dies
are resubmitted to others, and done here where no worker is left. A task checks whether its answer is still
awaited, so that Ctrl-C, a limit or the death of this process ends the remote work, too.
"""

from __future__ import annotations

import contextlib
import logging
import pickle
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from linkrisk.errors import needs_extra
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.remote import Allowance, Asked, Done, Known, Packed, Recipe
from linkrisk.solver.run.versions import Stamp, difference, stamp
from linkrisk.solver.run.workers import Answer, Do, FutureWorkers, Given, Processes, Task, Workers

_log = logging.getLogger(__name__)

PATIENCE = 10.0
"""Seconds to wait for a scheduler and its first worker."""

QUEUED, QUEUED_PARTED = 2, 4
"""Tasks submitted per thread, more where tasks wait for the holder of their part: more keep workers busy."""

_STAMP = "__import__('linkrisk.solver.run.versions', fromlist=['stamp']).stamp()"
"""Task that returns a worker's version, even where linkrisk is not installed."""


class Connection:
    """Connection to a scheduler; UsageError if it fails, or a worker has another version."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.client = _client(address)
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        """Wait for a worker, and compare the versions of all workers."""
        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise UsageError(
                f"the scheduler at {self.address} has no workers: start some, `dask worker {self.address}`"
            ) from None
        here = stamp()
        for worker, there in sorted(self.client.run(eval, _STAMP, on_error="return").items()):
            if isinstance(there, BaseException):
                raise UsageError(
                    f"the worker {worker} cannot import linkrisk: install linkrisk {here['linkrisk']} there"
                )
            apart = difference(here, there)
            if apart is not None:
                raise UsageError(f"the worker {worker} has {apart}: install the same on all machines")

    @property
    def slots(self) -> int:
        """Count the threads of all workers; 0 where they, or the scheduler, are gone."""
        with contextlib.suppress(Exception):  # connection errors have many types
            if self.client.status == "running":
                return int(sum(self.client.nthreads().values()))
        return 0

    @property
    def addresses(self) -> list[str]:
        """Addresses of the workers."""
        return sorted(self.client.nthreads())

    def everywhere(self, do: Callable[..., object], *given: object) -> None:
        """Run a function on every worker, such as compilation; workers that fail are skipped."""
        self.client.run(do, *given, on_error="ignore")

    def close(self) -> None:
        """Cancel all tasks, and disconnect."""
        with contextlib.suppress(Exception):
            self.client.close(timeout=PATIENCE)


def _client(address: str) -> Any:
    needs_extra("a scheduler", "distributed")
    import distributed

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its own warnings on versions, which are compared below
            return distributed.Client(address, timeout=PATIENCE, set_as_default=False, name="linkrisk")
    except (OSError, TimeoutError):
        raise UsageError(
            f"the scheduler at {address} does not answer: is it running? `dask scheduler` starts one and "
            "says its address"
        ) from None
    except (ValueError, TypeError, RuntimeError) as error:
        raise UsageError(
            f"'{address}' is no address of a scheduler, such as tcp://127.0.0.1:8786: {error}"
        ) from None


class Cluster(FutureWorkers[Given]):
    """A pool of a scheduler's workers, with one task per thread.

    Each part of a partitioned object goes to one worker where there are no more workers than parts, else to
    several for balance; its tasks go to these workers alone.

    The connection outlives the pool. Objects in `known` are rebuilt by workers, or sent where that fails.
    """

    threads = 1

    def __init__(
        self, given: Any, connection: Connection, known: Known = (), *, parted: bool = False
    ) -> None:
        super().__init__(given, parted=parted)
        self.connection, self._known = connection, known
        self.queued = QUEUED_PARTED if parted else QUEUED
        self._homes: dict[int | None, tuple[Any, list[str] | None]] = {}

    @property
    def slots(self) -> int:
        """Count the threads of the workers, at least 1."""
        return max(1, self.present)

    @property
    def present(self) -> int:
        """Count the threads of the workers."""
        return self.connection.slots

    def placed(self, task: Any) -> tuple[Any, list[str] | None]:
        """Place the data of a task, again if their holders died; returns data and holders, if not all."""
        part = task.part if self.parted else None
        future, holders = self._homes.pop(part, (None, None))
        if future is None or future.status != "finished":
            given = self.given if part is None else self.given[part]
            holders = None if part is None else self._least_laden()
            future = self.connection.client.scatter(
                Packed(given, self._known),
                workers=holders,
                broadcast=holders is None or len(holders) > 1,
                hash=False,
            )
        self._homes[part] = future, holders
        return future, holders

    def _least_laden(self) -> list[str]:
        """Choose the workers that hold the fewest parts, as many as there are for each part."""
        holding = dict.fromkeys(self.connection.addresses, 0)
        if not holding:
            raise OSError("the scheduler has no workers")
        for _, holders in self._homes.values():
            for address in holders or ():
                if address in holding:
                    holding[address] += 1
        each = max(1, len(holding) // len(self.given))
        return sorted(holding, key=lambda address: (holding[address], address))[:each]

    def send_all(self) -> None:
        """Send what workers cannot rebuild."""
        if self._known:
            self._known = ()
            self._homes.clear()

    def submit(self, do: Do[Given, Task, Answer], task: Task, allowance: Allowance) -> Any:
        """Submit a task; None where the scheduler or all workers are gone."""
        name = getattr(getattr(do, "func", do), "__name__", "task")
        key = f"{name}-{uuid.uuid4().hex}"  # Dask's dashboard shows the name
        # As bytes: Dask would search every argument for its own objects.
        content = pickle.dumps((do, task, allowance, stamp()))
        try:
            placed, holders = self.placed(task)
            return self.connection.client.submit(_one, placed, content, key=key, pure=False, workers=holders)
        except Exception as error:  # connection errors have many types
            _log.debug("a task could not be sent: %s", error)
            return None

    def result(self, future: Any) -> Done[Any] | None:
        """Return the outcome of a task; None where its worker or its data were lost."""
        from distributed.scheduler import KilledWorker

        client = self.connection.client
        if future.cancelled() or client.status != "running":
            return None
        try:
            found: Done[Any] = future.result(timeout=PATIENCE)
        except (CancelledError, KilledWorker, TimeoutError, OSError) as error:
            _log.debug("a task is lost: %s", error)
            return None
        except Exception:
            if client.status == "running":
                raise
            return None
        return found

    def cancel(self, futures: Sequence[Any]) -> None:
        """Release tasks at the scheduler."""
        with contextlib.suppress(Exception):
            self.connection.client.cancel(list(futures), force=True)

    def note_alone(self, tasks: int) -> None:
        """Warn that this process does the remaining tasks."""
        _log.warning("no worker of %s is left: %d tasks are done here", self.connection.address, tasks)

    def close(self) -> None:
        """Cancel all tasks, and release shared data at the workers."""
        super().close()
        self._homes = {}


def _one(placed: Packed, content: bytes) -> Done[Any]:
    """Do a task on a worker."""
    import distributed

    do, task, allowance, expected = pickle.loads(content)
    worker = distributed.get_worker()
    _check_stamp(worker.address, expected)
    state = worker.state.tasks[worker.get_current_task()]
    # The scheduler releases a task when its answer is no longer awaited.
    clock = allowance.clock(Asked(lambda: state.state in ("cancelled", "released", "forgotten")))
    return Done(do(placed.given, task, clock), clock.operations)


def _check_stamp(address: str, expected: Stamp) -> None:
    """Refuse to work on a worker that joined later with another version."""
    apart = difference(expected, stamp())
    if apart is not None:
        here = apart.replace("this machine", "the one that asks")
        raise UsageError(f"the worker {address} has another version than the machine that asks: {here}")


_ONE_THREAD = 1
"""Threads of each process: one, so that N processes use N processors."""


@dataclass(frozen=True)
class PoolChoice:
    """The worker pool that the user wants: a Dask scheduler's, or processes of this machine."""

    scheduler: str | None = None  # address of the scheduler
    # number of processes; with a scheduler, only the number of samples depends on it
    workers: int | None = None

    @property
    def any(self) -> bool:
        """Whether there are workers besides this process."""
        return self.scheduler is not None or self.workers is not None


def pool_choice(scheduler: object, workers: int | None) -> PoolChoice:
    """Check the options of the pool before any file is read (UsageError)."""
    if scheduler is not None and (not isinstance(scheduler, str) or not scheduler.strip()):
        raise UsageError(f"the scheduler must be an address such as tcp://127.0.0.1:8786, not {scheduler!r}")
    return PoolChoice(scheduler, workers)


class WorkerPool:
    """The worker pool of a run, reused by its parallel steps; UsageError without the scheduler."""

    def __init__(self, choice: PoolChoice | None = None) -> None:
        self.choice = choice or PoolChoice()
        self._open: list[Workers[Any]] = []
        self._known: list[tuple[object, Recipe]] = []
        self._connection = None if self.choice.scheduler is None else Connection(self.choice.scheduler)
        self._slots = None if self._connection is None else self._connection.slots

    def workers(self, given: Given) -> Workers[Given] | None:
        """Start workers with shared data; None for sequential work."""
        if self._connection is not None:
            return self._opened(Cluster(given, self._connection, tuple(self._known)))
        if self.choice.workers is not None:
            return self._opened(Processes(given, self.choice.workers, _ONE_THREAD))
        return None

    def holders(self, parts: Any) -> Workers[Any] | None:
        """Start remote workers that hold some parts each; None where there are none."""
        if self._connection is None:
            return None
        return self._opened(Cluster(parts, self._connection, parted=True))

    def _opened(self, workers: Workers[Given]) -> Workers[Given]:
        self._open.append(workers)
        return workers

    def know(self, thing: object, recipe: Recipe | None) -> None:
        """Register an object that remote workers rebuild wherever it occurs in shared data."""
        if recipe is not None and all(other is not thing for other, _ in self._known):
            self._known.append((thing, recipe))

    def prepare(self, do: Callable[..., object], *given: object) -> None:
        """Prepare remote workers as this machine, such as by compilation."""
        if self._connection is not None:
            self._connection.everywhere(do, *given)

    def describe(self) -> dict[str, Any]:
        """Describe the workers for the JSON."""
        if not self.choice.any:
            return {}
        return {
            "workers": {
                "scheduler": self.choice.scheduler,
                "asked": self.choice.workers,
                "at_start": self.choice.workers if self._slots is None else self._slots,
            }
        }

    def rest(self) -> None:
        """Cancel all tasks, and release shared data; other workers can be started."""
        while self._open:
            self._open.pop().close()

    def close(self) -> None:
        """Cancel all tasks, and disconnect."""
        self.rest()
        if self._connection is not None:
            self._connection.close()


@contextmanager
def open_pool(choice: PoolChoice) -> Iterator[WorkerPool]:
    """Open a pool for the duration of a run; UsageError if that fails."""
    pool = WorkerPool(choice)
    try:
        yield pool
    finally:
        pool.close()
