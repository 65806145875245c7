"""Workers of a scheduler: the same answers as here, whatever happens to one of them."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest
from clusters import ADDRESS_OF_NOBODY, small_cluster

from linkrisk.solver.run import cluster as clusters
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.cluster import Cluster, Connection
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.processors import processors
from linkrisk.solver.run.workers import Here

pytest.importorskip("distributed", reason="needs Dask: pip install 'linkrisk[dask]'")


@pytest.fixture(scope="module")
def address():
    with small_cluster() as found:
        yield found


@pytest.fixture
def connection(address):
    found = Connection(address)
    yield found
    found.close()


def scaled(given: int, task: int, clock: Clock) -> tuple[int, float | None, int]:
    return given * task, clock.time_limit, clock.threads


def working(_given: int, task: int, clock: Clock) -> int:
    while not clock.expired:
        clock.spend(1e6)
    return task


def deadly(given: str, task: int, _clock: Clock) -> int:
    """Kills its process at its first attempt at task 2."""
    mark = Path(given)
    if task == 2 and not mark.exists():
        mark.write_text("died", encoding="utf-8")
        os.kill(os.getpid(), signal.SIGKILL)
    return 10 * task


def failing(_given: int, task: int, _clock: Clock) -> int:
    raise ValueError(f"task {task} cannot be done")


def waiting(given: str, task: int, clock: Clock) -> None:
    """Says that it has begun, goes on until nobody waits for it, and says so."""
    Path(given, f"begun {task}").touch()
    while not clock.expired:
        threading.Event().wait(0.01)
    Path(given, f"ended {task}").touch()


def of_all(workers, do, tasks, clock=None, share=lambda _: None):
    try:
        return sorted(workers.each(do, tasks, clock or Clock(None), share))
    finally:
        workers.close()


def until(true) -> None:
    """Wait for something that happens soon; whoever waits in vain hangs, and the suite says where."""
    while not true():
        threading.Event().wait(0.01)


def test_the_answers_are_those_of_this_process(connection):
    expected = of_all(Here(7), scaled, range(5), Clock(None, most_threads=1))
    assert of_all(Cluster(7, connection), scaled, range(5)) == expected


def test_each_task_has_its_share_of_what_is_left(connection):
    found = of_all(Cluster(1, connection), scaled, range(3), share=lambda left: 10.0 * left)
    assert [limit for _, (_, limit, _) in found] == [30.0, 20.0, 10.0]


def test_work_that_is_done_there_is_counted_here(connection):
    clock = Clock(None, work_limit=100.0)
    of_all(Cluster(1, connection), working, range(2), clock, lambda _: 1.0)
    assert clock.now == 2.0


def test_a_worker_that_dies_costs_no_answer(connection, tmp_path):
    found = of_all(Cluster(str(tmp_path / "mark"), connection), deadly, range(5))
    assert found == [(k, 10 * k) for k in range(5)]


def test_what_only_dead_workers_had_is_sent_again(connection):
    workers = Cluster(7, connection)
    before = sorted(workers.each(scaled, range(3), Clock(None), lambda _: None))
    pids = connection.client.run(os.getpid)
    for pid in pids.values():
        os.kill(pid, signal.SIGKILL)
    until(lambda: not set(connection.client.nthreads()) & set(pids))
    assert of_all(workers, scaled, range(3)) == before


class MadeThere:
    """Makes a number in other processes, and says so; or nothing."""

    def __init__(self, folder: Path, number: int | None) -> None:
        self.folder, self.number, self.home = folder, number, os.getpid()

    def make(self) -> list[int] | None:
        assert os.getpid() != self.home
        (self.folder / str(os.getpid())).touch()
        return None if self.number is None else [self.number]


def first_scaled(given: dict[str, list[int]], task: int, _clock: Clock) -> int:
    return given["number"][0] * task


def test_what_workers_can_make_is_made_once_by_each(connection, tmp_path):
    number = [7]
    workers = Cluster({"number": number}, connection, [(number, MadeThere(tmp_path, 8))])
    assert of_all(workers, first_scaled, range(5)) == [(k, 8 * k) for k in range(5)]
    assert {path.name for path in tmp_path.iterdir()} <= set(
        map(str, connection.client.run(os.getpid).values())
    )


def test_what_workers_cannot_make_is_sent(connection, tmp_path):
    number = [7]
    workers = Cluster({"number": number}, connection, [(number, MadeThere(tmp_path, None))])
    assert of_all(workers, first_scaled, range(5)) == [(k, 7 * k) for k in range(5)]
    assert list(tmp_path.iterdir())


def test_what_goes_wrong_is_raised(connection):
    with pytest.raises(ValueError, match="task 0 cannot be done"):
        of_all(Cluster(1, connection), failing, range(1))


def test_no_task_begins_when_the_run_is_over(connection):
    cancel = Cancel()
    cancel.cancel()
    assert of_all(Cluster(1, connection), scaled, range(3), Clock(None, cancel=cancel)) == []


def test_work_ends_there_when_the_run_is_over_here(connection, tmp_path):
    cancel = Cancel()

    def stop_when_begun() -> None:
        until(lambda: list(tmp_path.glob("begun *")))
        cancel.cancel()

    threading.Thread(target=stop_when_begun).start()
    found = of_all(Cluster(str(tmp_path), connection), waiting, range(9), Clock(None, cancel=cancel))
    assert found == []
    until(lambda: len(list(tmp_path.glob("ended *"))) == len(list(tmp_path.glob("begun *"))))


def test_work_ends_there_when_whoever_asked_is_gone(address, tmp_path):
    gone, cancel = Connection(address), Cancel()
    given = Cluster(str(tmp_path), gone), waiting, range(2), Clock(None, cancel=cancel)
    thread = threading.Thread(target=of_all, args=given)
    thread.start()
    until(lambda: len(list(tmp_path.glob("begun *"))) == 2)
    gone.client.close()
    until(lambda: len(list(tmp_path.glob("ended *"))) == 2)
    cancel.cancel()
    thread.join()


def test_without_any_worker_left_the_rest_is_done_here(connection, monkeypatch):
    monkeypatch.setattr(clusters, "_ALONE", -1.0)
    monkeypatch.setattr(Connection, "slots", property(lambda _: 0))
    assert of_all(Cluster(7, connection), scaled, range(2)) == [
        (0, (0, None, processors())),
        (1, (7, None, processors())),
    ]


def test_a_scheduler_that_does_not_answer(monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 0.2)
    with pytest.raises(UsageError) as error:
        Connection(ADDRESS_OF_NOBODY)
    assert str(error.value) == (
        f"the scheduler at {ADDRESS_OF_NOBODY} does not answer: is it running? `dask scheduler` starts one "
        "and says its address"
    )


def test_something_that_is_no_address():
    with pytest.raises(UsageError, match=r"^'127\.0\.0\.1' is no address of a scheduler, such as tcp://"):
        Connection("127.0.0.1")


def test_a_worker_with_another_version_is_named(address, monkeypatch):
    monkeypatch.setattr(clusters, "stamp", lambda: {"linkrisk": "9.9.9 (sources abc)"})
    with pytest.raises(
        UsageError,
        match=r"^the worker tcp://127\.0\.0\.1:\d+ has linkrisk .* \(sources \w{8}\), this machine "
        r"9\.9\.9 \(sources abc\): install the same on all machines$",
    ):
        Connection(address)


def test_a_worker_without_linkrisk_is_named(address, monkeypatch):
    monkeypatch.setattr(clusters, "_STAMP", "__import__('linkrisk_of_nobody')")
    with pytest.raises(
        UsageError, match=r"^the worker tcp://127\.0\.0\.1:\d+ cannot import linkrisk: install linkrisk "
    ):
        Connection(address)


def test_a_worker_that_comes_later_is_compared_as_well(connection, monkeypatch):
    monkeypatch.setattr(clusters, "stamp", lambda: {"linkrisk": "9.9.9"})
    with pytest.raises(UsageError, match=r"has another version than the machine that asks: linkrisk"):
        of_all(Cluster(1, connection), scaled, range(1))
