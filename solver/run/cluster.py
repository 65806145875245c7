"""Workers on other machines: tasks go to the workers of a Dask scheduler.

What all tasks share is sent to each worker once; or each worker holds some parts of it. The tasks of a worker
that dies begin again at others, and here where no worker is left. A task asks whether its answer is still
awaited, so that Ctrl-C, a limit or the death of this process ends the work there, too.
"""

from __future__ import annotations

import contextlib
import logging
import pickle
import uuid
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any

from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.remote import Allowance, Asked, Done, Known, Packed
from linkrisk.solver.run.versions import Stamp, difference, stamp
from linkrisk.solver.run.workers import Answer, Do, FutureWorkers, Given, Task

_log = logging.getLogger(__name__)

PATIENCE = 10.0
"""Seconds that a scheduler may take to answer, and to have a worker."""

QUEUED, QUEUED_PARTED = 2, 4
"""Tasks submitted for each thread; more where tasks wait for the workers that hold their part."""

_STAMP = "__import__('linkrisk.solver.run.versions', fromlist=['stamp']).stamp()"
"""What is asked of workers, which may not have linkrisk at all."""


class Connection:
    """The connection to a scheduler; UsageError where that is impossible, or a worker has another version."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.client = _client(address)
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        """Wait for a worker, and compare the versions of all."""
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
        """Threads of all workers; 0 where they, or the scheduler, are gone."""
        with contextlib.suppress(Exception):  # of many kinds, where the scheduler is going
            if self.client.status == "running":
                return int(sum(self.client.nthreads().values()))
        return 0

    @property
    def addresses(self) -> list[str]:
        """Addresses of the workers."""
        return sorted(self.client.nthreads())

    def everywhere(self, do: Callable[..., object], *given: object) -> None:
        """Have every worker do something now, such as compiling; one that cannot is passed over."""
        self.client.run(do, *given, on_error="ignore")

    def close(self) -> None:
        """Let go of all tasks, and of the scheduler."""
        with contextlib.suppress(Exception):
            self.client.close(timeout=PATIENCE)


def _client(address: str) -> Any:
    try:
        import distributed
    except ImportError:
        raise UsageError(
            "a scheduler needs Dask, which is not installed: pip install 'linkrisk[dask]'"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about other versions, which are compared below
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
    """The threads of a scheduler's workers, each of which does one task at a time.

    Of an object in parts, each part goes to one worker where there are no more workers than parts, else to
    several, so that each has work to do; its tasks go to these workers alone.

    The connection outlives them. Where a worker cannot rebuild what is `known`, all is sent.
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
        """Threads of the workers that there are now, at least 1."""
        return max(1, self.present)

    @property
    def present(self) -> int:
        """Threads of the workers that there are now."""
        return self.connection.slots

    def placed(self, task: Any) -> tuple[Any, list[str] | None]:
        """What a task needs, scattered again where its holders have died; and the holders, if not all."""
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
        """The workers that hold the fewest parts, as many as there are for each part."""
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
        """Scatter what workers cannot rebuild."""
        if self._known:
            self._known = ()
            self._homes.clear()

    def submit(self, do: Do[Given, Task, Answer], task: Task, allowance: Allowance) -> Any:
        """Submit a task; None where the scheduler or all workers are going."""
        name = getattr(getattr(do, "func", do), "__name__", "task")
        key = f"{name}-{uuid.uuid4().hex}"  # Dask's dashboard shows the name
        # As bytes: Dask would look for its own objects in all that it is given.
        content = pickle.dumps((do, task, allowance, stamp()))
        try:
            placed, holders = self.placed(task)
            return self.connection.client.submit(_one, placed, content, key=key, pure=False, workers=holders)
        except Exception as error:  # of many kinds, where the scheduler is going
            _log.debug("a task could not be sent: %s", error)
            return None

    def result(self, future: Any) -> Done[Any] | None:
        """What came of a task; None where its worker, or what it needed, was lost."""
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
        """Let the scheduler forget tasks."""
        with contextlib.suppress(Exception):
            self.connection.client.cancel(list(futures), force=True)

    def note_alone(self, tasks: int) -> None:
        """Warn that this process does what is left."""
        _log.warning("no worker of %s is left: %d tasks are done here", self.connection.address, tasks)

    def close(self) -> None:
        """Cancel all tasks, and let workers forget what they share."""
        super().close()
        self._homes = {}


def _one(placed: Packed, content: bytes) -> Done[Any]:
    """Do a task, at a worker."""
    import distributed

    do, task, allowance, expected = pickle.loads(content)
    worker = distributed.get_worker()
    _check_stamp(worker.address, expected)
    state = worker.state.tasks[worker.get_current_task()]
    # As soon as its answer is not awaited any more, the scheduler lets go of the task.
    clock = allowance.clock(Asked(lambda: state.state in ("cancelled", "released", "forgotten")))
    return Done(do(placed.given, task, clock), clock.operations)


def _check_stamp(address: str, expected: Stamp) -> None:
    """Refuse to work at a worker that came later and has another version."""
    apart = difference(expected, stamp())
    if apart is not None:
        here = apart.replace("this machine", "the one that asks")
        raise UsageError(f"the worker {address} has another version than the machine that asks: {here}")
