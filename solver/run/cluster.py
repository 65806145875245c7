"""Workers on other machines: tasks go to the workers of a Dask scheduler.

What all tasks share is sent to each worker once. A worker that dies costs time: its tasks begin again
elsewhere, and here where no worker is left. A task asks whether anybody still waits for it, so that Ctrl-C, a
limit or the death of this process ends the work there, too.
"""

from __future__ import annotations

import contextlib
import logging
import pickle
import queue
import threading
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any, Generic

from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.elsewhere import Allowance, Done, done
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.recipes import Known, UnmadeError, packed, unpacked
from linkrisk.solver.run.stamp import Stamp, difference, stamp
from linkrisk.solver.run.workers import ATTEMPTS, TICK, Answer, Do, Given, Here, Share, Task, Workers

_log = logging.getLogger(__name__)

PATIENCE = 10.0
"""Seconds that a scheduler may take to answer, and to have a worker."""

_ALONE = 30.0
"""Seconds without any worker after which this process does what is left."""

_LOOK = 2.0
"""Seconds between two looks at who is there."""

_ONE_THREAD = 1
"""Of a task: a worker has as many tasks at a time as it was given threads."""

_STAMP = "__import__('linkrisk.solver.run.stamp', fromlist=['stamp']).stamp()"
"""What is asked of workers, which may not have linkrisk at all."""


class Connection:
    """The connection to a scheduler whose workers have this version of the program.

    Parameters
    ----------
    address : str
        Such as ``tcp://192.168.0.7:8786``.

    Raises
    ------
    UsageError
        If `distributed` is not installed, nobody answers, or a worker has another version.
    """

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
        """Tasks that the workers do at a time; none where they, or the scheduler, are gone."""
        with contextlib.suppress(Exception):  # of many kinds, where the scheduler is going
            if self.client.status == "running":
                return int(sum(self.client.nthreads().values()))
        return 0

    def everywhere(self, do: Callable[..., object], *given: object) -> None:
        """Have every worker do something now, such as compiling; a worker that cannot is passed over."""
        self.client.run(do, *given, on_error="ignore")

    def close(self) -> None:
        """Let go of all that was asked for, and of the scheduler."""
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


class Cluster(Workers[Given]):
    """As many tasks at a time as the workers of a scheduler have threads.

    Parameters
    ----------
    given : any
        What all tasks share; each worker gets it once.
    connection : Connection
        Stays open when these workers are closed.
    known : sequence of (object, Recipe)
        What of it each worker may make itself. If one cannot, all is sent.
    """

    def __init__(self, given: Given, connection: Connection, known: Known = ()) -> None:
        super().__init__(given)
        self.connection, self._known = connection, known
        self._placed: Any = None
        self._closed = False
        self._calls: list[_Call[Any, Any, Any]] = []

    @property
    def busy(self) -> bool:
        """Whether these workers are closed; calls do not get into each other's way."""
        return self._closed

    @property
    def many(self) -> int:
        """Threads of the workers that there are now."""
        return max(1, self.connection.slots)

    def placed(self) -> Any:
        """What all tasks share, where they are; sent again where whoever had it has died."""
        if self._placed is None or self._placed.status != "finished":
            client = self.connection.client
            wrapped = _Made(packed(self._given, self._known)) if self._known else _Wrapped(self._given)
            self._placed = client.scatter(wrapped, broadcast=True, hash=False)
        return self._placed

    def send_all(self) -> None:
        """A worker cannot make what it was told how to make: from now on it is sent."""
        if self._known:
            self._known, self._placed = (), None

    def each(
        self, do: Do[Given, Task, Answer], tasks: Iterable[Task], clock: Clock, share: Share
    ) -> Iterator[tuple[Task, Answer]]:
        """Do as many tasks at a time as there are threads, and go on here where all workers are gone."""
        call: _Call[Given, Task, Answer] = _Call(self, do, tasks, clock, share)
        self._calls.append(call)
        try:
            yield from call.answers()
        finally:
            call.cancel()
            self._calls.remove(call)
        if call.left and not clock.expired:
            _log.warning(
                "no worker of %s is left: %d tasks are done here", self.connection.address, len(call.left)
            )
            alone = [task for task, _ in call.left]
            yield from Here(self._given).each(do, alone, clock.part(clock.remaining), share)

    def close(self) -> None:
        """Cancel whatever is still being done, and let workers forget what was shared."""
        self._closed = True
        for call in list(self._calls):
            call.cancel()
        self._placed = None


class _Wrapped(Generic[Given]):
    """Something that Dask sends as it is, whatever it is."""

    def __init__(self, given: Given) -> None:
        self.given = given


class _Made:
    """Something that each worker makes when it is first asked for, and keeps as long as this."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._lock = threading.Lock()
        self._made: list[Any] = []

    def __reduce__(self) -> tuple[type[_Made], tuple[bytes]]:
        return _Made, (self._content,)

    @property
    def given(self) -> Any:
        """What it is; UnmadeError where it cannot be made here."""
        with self._lock:
            if not self._made:
                self._made.append(unpacked(self._content))
            return self._made[0]


class _Call(Generic[Given, Task, Answer]):
    """One call of `Cluster.each`.

    Attributes
    ----------
    left : deque of (task, attempt)
        Those that nobody is doing.
    """

    def __init__(
        self,
        cluster: Cluster[Given],
        do: Do[Given, Task, Answer],
        tasks: Iterable[Task],
        clock: Clock,
        share: Share,
    ) -> None:
        self.left = deque((task, 1) for task in tasks)
        self._cluster, self._do, self._clock, self._share = cluster, do, clock, share
        self._client = cluster.connection.client
        self._begun: dict[str, tuple[Any, Task, int]] = {}
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._slots, self._seen, self._looked = 0, time.monotonic(), time.monotonic()

    def answers(self) -> Iterator[tuple[Task, Answer]]:
        """Answers as they come, until all are there, the clock has run out, or all workers are gone."""
        self._look()
        while (self._begun or self.left) and not self._clock.expired and not self._gone:
            self._begin_some()
            try:
                key = self._ended.get(timeout=TICK)
            except queue.Empty:
                self._look()
                continue
            ended = self._begun.pop(key, None)
            if ended is None:  # cancelled by another thread
                continue
            self._begin_some()  # so that no worker waits until this answer has come
            future, task, attempt = ended
            try:
                found = self._result(future)
            except UnmadeError:
                self._cluster.send_all()
                self.left.append((task, attempt))
                continue
            if found is not None:
                yield task, found.counted(self._clock)
            elif attempt < ATTEMPTS:
                self.left.append((task, attempt + 1))
                self._look()

    def _look(self) -> None:
        """How many workers there are, and when some were last seen."""
        self._slots, self._looked = self._cluster.connection.slots, time.monotonic()
        if self._slots:
            self._seen = time.monotonic()

    @property
    def _gone(self) -> bool:
        return not self._slots and time.monotonic() - self._seen > _ALONE

    def _begin_some(self) -> None:
        """One task for each thread; and one more where it may wait, as its time does not run meanwhile."""
        if time.monotonic() - self._looked > _LOOK:
            self._look()
        many = self._slots
        while self.left and len(self._begun) < many and not self._clock.expired:
            limit = self._share(len(self.left))
            self._begin(limit)
            many = self._slots * (2 if limit is None else 1)

    def _begin(self, limit: float | None) -> None:
        allowance = Allowance.of(self._clock, limit, _ONE_THREAD)
        task, attempt = self.left.popleft()
        name = getattr(getattr(self._do, "func", self._do), "__name__", "task")
        key = f"{name}-{uuid.uuid4().hex}"  # Dask's dashboard shows the name
        # As bytes: Dask would look for its own objects in all that it is given.
        content = pickle.dumps((self._do, task, allowance, stamp()))
        try:
            future = self._client.submit(_one, self._cluster.placed(), content, key=key, pure=False)
        except Exception as error:  # of many kinds, where the scheduler is going
            _log.debug("a task could not be sent: %s", error)
            self.left.appendleft((task, attempt))
            self._slots = 0
            return
        self._begun[key] = (future, task, attempt)
        future.add_done_callback(lambda future: self._ended.put(future.key))

    def _result(self, future: Any) -> Done[Answer] | None:
        """What came of a task; None where its worker, or what it needed, was lost."""
        from distributed.scheduler import KilledWorker

        if future.cancelled() or self._client.status != "running":
            return None
        try:
            found: Done[Answer] = future.result(timeout=PATIENCE)
        except (CancelledError, KilledWorker, TimeoutError, OSError) as error:
            _log.debug("a task is lost: %s", error)
            return None
        except Exception:
            if self._client.status == "running":
                raise
            return None
        return found

    def cancel(self) -> None:
        """Let workers know that nobody waits any more; what was not done is left."""
        begun, self._begun = self._begun, {}
        self.left.extend((task, attempt) for _, task, attempt in begun.values())
        if begun:
            with contextlib.suppress(Exception):
                self._client.cancel([future for future, _, _ in begun.values()], force=True)


class _Awaited(Cancel):
    """The token of a task at a worker: cancelled as soon as nobody waits for its answer."""

    def __init__(self, state: Any) -> None:
        super().__init__()
        self._state = state

    @property
    def cancelled(self) -> bool:
        """Whether the scheduler has let go of the task."""
        return str(self._state.state) in ("cancelled", "released", "forgotten")


def _one(placed: _Wrapped[Any] | _Made, content: bytes) -> Done[Any]:
    """Do a task, at a worker."""
    import distributed

    do, task, allowance, expected = pickle.loads(content)
    worker = distributed.get_worker()
    _check_stamp(worker.address, expected)
    clock = allowance.clock(_Awaited(worker.state.tasks[worker.get_current_task()]))
    return done(do(placed.given, task, clock), clock)


def _check_stamp(address: str, expected: Stamp) -> None:
    """A worker that came later has been compared by nobody."""
    apart = difference(expected, stamp())
    if apart is not None:
        here = apart.replace("this machine", "the one that asks")
        raise UsageError(f"the worker {address} has another version than the machine that asks: {here}")
