"""Shared work: the same answers here, in processes and on a scheduler's workers, whatever happens to one."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from clusters import ADDRESS_OF_NOBODY, small_cluster

from linkrisk.solver.run import pool as clusters
from linkrisk.solver.run import workers as workers_module
from linkrisk.solver.run.clock import Clock, processors
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.pool import Cluster, Connection
from linkrisk.solver.run.workers import Processes, Sequential

PLACES = ["here", "processes", "cluster"]


@pytest.fixture(scope="module")
def address():
    pytest.importorskip("distributed", reason="needs Dask: pip install 'linkrisk[dask]'")
    with small_cluster() as found:
        yield found


@pytest.fixture
def connection(address):
    found = Connection(address)
    yield found
    found.close()


@pytest.fixture
def two_workers(connection):
    connection.client.wait_for_workers(2)


@pytest.fixture
def make(request):
    """Workers of a place, two at a time where there are several."""

    def made(place, given, **how):
        if place == "here":
            return Sequential(given, **how)
        if place == "processes":
            return Processes(given, 2)
        return Cluster(given, request.getfixturevalue("connection"), **how)

    return made


def scaled(given: int, task: int, clock: Clock) -> tuple[int, float | None]:
    return given * task, clock.time_limit


def threads_of(_given: None, _task: int, clock: Clock) -> int:
    return clock.threads


def working(_given: int, task: int, clock: Clock) -> int:
    while not clock.expired:
        clock.spend(1e6)
    return task


def deadly(given: str, task: int, _clock: Clock) -> int:
    """Kills its process at its first attempt at task 2, as if memory had run out."""
    mark = Path(given)
    if task == 2 and not mark.exists():
        mark.write_text("died", encoding="utf-8")
        os.kill(os.getpid(), signal.SIGKILL)
    return 10 * task


def always_deadly(given: int, task: int, _clock: Clock) -> int:
    if task == 2 and os.getpid() != given:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def process_of(_given: None, _task: int, _clock: Clock) -> int:
    return os.getpid()


def failing(_given: int, task: int, _clock: Clock) -> int:
    raise ValueError(f"task {task} cannot be done")


def waiting(given: str, task: int, clock: Clock) -> bool:
    """Marks its beginning, goes on until it is asked to end, and marks its end."""
    Path(given, f"begun {task}").touch()
    while not clock.expired:
        threading.Event().wait(0.01)
    Path(given, f"ended {task}").touch()
    return clock.stopped


def of_all(workers, do, tasks, clock=None, share=lambda _: None):
    try:
        return sorted(workers.each(do, tasks, clock or Clock(None), share))
    finally:
        workers.close()


def until(true) -> None:
    """Wait for something that happens soon; a test that waits in vain hangs, and the suite names it."""
    while not true():
        threading.Event().wait(0.01)


@pytest.mark.parametrize("place", PLACES)
def test_answers_are_the_same_everywhere(make, place):
    assert of_all(make(place, 7), scaled, range(5)) == [(k, (7 * k, None)) for k in range(5)]


@pytest.mark.parametrize("place", PLACES)
def test_each_task_has_its_share_of_what_is_left(make, place):
    found = of_all(make(place, 1), scaled, range(3), share=lambda left: 10.0 * left)
    assert [limit for _, (_, limit) in found] == [30.0, 20.0, 10.0]


@pytest.mark.parametrize("place", ["processes", "cluster"])
def test_work_that_is_done_there_is_counted_here(make, place):
    clock = Clock(None, work_limit=100.0)
    of_all(make(place, 1), working, range(2), clock, lambda _: 1.0)
    assert clock.now == 2.0


def test_a_task_of_a_cluster_has_one_thread(make):
    assert of_all(make("cluster", None), threads_of, range(2)) == [(0, 1), (1, 1)]


@pytest.mark.parametrize("place", ["processes", "cluster"])
def test_a_process_that_dies_costs_no_answer(make, place, tmp_path):
    found = of_all(make(place, str(tmp_path / "mark")), deadly, range(5))
    assert found == [(k, 10 * k) for k in range(5)]


def test_a_process_that_dies_before_the_next_task_begins_costs_no_answer(tmp_path):
    mark = tmp_path / "mark"

    def after_the_death(left: int) -> None:
        """Hold the second task back until the process of the first, the deadly one, is seen to be dead."""
        while left == 2 and not mark.exists():
            time.sleep(0.01)
        time.sleep(0.5 if left == 2 else 0)

    found = of_all(Processes(str(mark), 2), deadly, [2, 0, 1], share=after_the_death)
    assert found == [(0, 20), (1, 0), (2, 10)]


def test_processes_that_die_between_two_tasks_are_begun_again():
    workers = Processes(None, 1)
    answers = workers.each(process_of, range(3), Clock(None), lambda _: None)
    _, process = next(answers)
    os.kill(process, signal.SIGKILL)
    time.sleep(0.5)
    assert sorted(task for task, _ in answers) == [1, 2]
    workers.close()


def test_a_task_that_kills_its_process_again_is_given_up_or_done_here():
    workers = Processes(os.getpid(), 1)
    assert dict(workers.each(always_deadly, range(4), Clock(None), lambda _: None)).keys() == {0, 1, 3}
    assert sorted(workers.every(always_deadly, range(4), Clock(None))) == [(k, k) for k in range(4)]
    workers.close()


def test_what_only_dead_workers_had_is_sent_again():
    """With workers of its own: on a busy machine it may take long until there are others."""
    pytest.importorskip("distributed")
    with small_cluster() as own:
        connection = Connection(own)
        workers = Cluster(7, connection)
        before = sorted(workers.each(scaled, range(3), Clock(None), lambda _: None))
        pids = connection.client.run(os.getpid)
        for pid in pids.values():
            os.kill(pid, signal.SIGKILL)
        until(lambda: not set(connection.client.nthreads()) & set(pids))
        assert of_all(workers, scaled, range(3)) == before
        connection.close()


@pytest.mark.parametrize("place", PLACES)
def test_what_goes_wrong_is_raised(make, place):
    with pytest.raises(ValueError, match="task 0 cannot be done"):
        of_all(make(place, 1), failing, range(1))


@pytest.mark.parametrize("place", PLACES)
def test_no_task_begins_when_the_run_is_over(make, place):
    cancel = Cancel()
    cancel.cancel()
    assert of_all(make(place, 1), scaled, range(3), Clock(None, cancel=cancel)) == []


@pytest.mark.parametrize("place", ["processes", "cluster"])
def test_tasks_that_have_begun_are_asked_to_end(make, place, tmp_path):
    """Processes answer with what they have; of other machines nothing is waited for."""
    cancel = Cancel()

    def stop_when_begun() -> None:
        until(lambda: list(tmp_path.glob("begun *")))
        cancel.cancel()

    threading.Thread(target=stop_when_begun).start()
    found = of_all(make(place, str(tmp_path)), waiting, range(9), Clock(None, cancel=cancel))
    assert len(found) <= (2 if place == "processes" else 0)
    assert all(stopped for _, stopped in found)
    until(lambda: len(list(tmp_path.glob("ended *"))) == len(list(tmp_path.glob("begun *"))))


@pytest.mark.usefixtures("two_workers")
def test_work_ends_there_when_its_parent_is_gone(address, tmp_path):
    gone, cancel = Connection(address), Cancel()
    given = Cluster(str(tmp_path), gone), waiting, range(2), Clock(None, cancel=cancel)
    thread = threading.Thread(target=of_all, args=given)
    thread.start()
    until(lambda: len(list(tmp_path.glob("begun *"))) == 2)
    gone.client.close()
    until(lambda: len(list(tmp_path.glob("ended *"))) == 2)
    cancel.cancel()
    thread.join()


class MadeThere:
    def __init__(self, folder: Path, number: int | None) -> None:
        self.folder, self.number, self.home = folder, number, os.getpid()

    def make(self) -> list[int] | None:
        assert os.getpid() != self.home
        (self.folder / str(os.getpid())).touch()
        return None if self.number is None else [self.number]


def first_scaled(given: dict[str, list[int]], task: int, _clock: Clock) -> int:
    return given["number"][0] * task


@pytest.mark.parametrize(("rebuilt", "used"), [(8, 8), (None, 7)])
def test_workers_rebuild_what_they_can_once_each_and_get_the_rest(connection, tmp_path, rebuilt, used):
    number = [7]
    workers = Cluster({"number": number}, connection, [(number, MadeThere(tmp_path, rebuilt))])
    assert of_all(workers, first_scaled, range(5)) == [(k, used * k) for k in range(5)]
    marked = {path.name for path in tmp_path.iterdir()}
    assert marked
    assert marked <= set(map(str, connection.client.run(os.getpid).values()))


# ---- parts


@dataclass(frozen=True)
class Piece:
    part: int
    number: int


def part_and_process(given: int, task: Piece, _clock: Clock) -> tuple[int, int, int]:
    return given, task.number, os.getpid()


def deadly_in_part(given: str, task: Piece, clock: Clock) -> str:
    deadly(given, task.number, clock)
    return given


def pieces(parts: int, many: int) -> list[Piece]:
    return [Piece(k % parts, k) for k in range(many)]


@pytest.mark.usefixtures("two_workers")
def test_every_task_has_its_part_and_every_part_its_worker(make):
    found = of_all(make("cluster", [10, 20, 30, 40], parted=True), part_and_process, pieces(4, 16))
    assert [answer[:2] for _, answer in found] == [(10 * (k % 4 + 1), k) for k in range(16)]
    holders = {part: {pid for at, (_, _, pid) in found if at % 4 == part} for part in range(4)}
    assert all(len(pids) == 1 for pids in holders.values())
    pids = [pid for who in holders.values() for pid in who]
    assert sorted(pids.count(pid) for pid in set(pids)) == [2, 2]


def test_a_holder_that_dies_costs_no_answer(make, tmp_path):
    marks = [str(tmp_path / str(k)) for k in range(3)]
    found = of_all(make("cluster", marks, parted=True), deadly_in_part, pieces(3, 9))
    assert [answer for _, answer in found] == marks * 3


def test_here_parts_come_one_after_the_other():
    workers = Sequential([10, 20], parted=True)
    found = list(workers.each(part_and_process, pieces(2, 4), Clock(None), lambda _: None))
    assert [at for at, _ in found] == [0, 2, 1, 3]
    assert not list(workers.each(part_and_process, pieces(2, 4), Clock(0.0), lambda _: None))


@pytest.mark.parametrize("parted", [False, True])
def test_without_any_worker_left_the_rest_is_done_here(connection, monkeypatch, parted):
    monkeypatch.setattr(workers_module, "ALONE", -1.0)
    monkeypatch.setattr(Connection, "slots", property(lambda _: 0))
    if parted:
        found = of_all(Cluster([10, 20], connection, parted=True), part_and_process, pieces(2, 3))
        assert [answer for _, answer in found] == [(10 * (k % 2 + 1), k, os.getpid()) for k in range(3)]
    else:
        many = processors()
        assert of_all(Cluster(None, connection), threads_of, range(2)) == [(0, many), (1, many)]


# ---- schedulers


@pytest.mark.parametrize(
    ("address_given", "message"),
    [
        (ADDRESS_OF_NOBODY, f"the scheduler at {ADDRESS_OF_NOBODY} does not answer: is it running? `dask"),
        ("127.0.0.1", "'127.0.0.1' is no address of a scheduler, such as tcp://127.0.0.1:8786: "),
    ],
)
@pytest.mark.usefixtures("address")  # which says where there is no Dask
def test_a_scheduler_that_does_not_answer(monkeypatch, address_given, message):
    monkeypatch.setattr(clusters, "PATIENCE", 0.2)
    with pytest.raises(UsageError) as error:
        Connection(address_given)
    assert str(error.value).startswith(message)


def test_a_worker_with_another_version_is_named(address, monkeypatch):
    monkeypatch.setattr(clusters, "stamp", lambda: {"linkrisk": "9.9.9 (sources abc)"})
    who = r"^the worker tcp://127\.0\.0\.1:\d+"
    other = r"has linkrisk .* \(sources \w{8}\), this machine 9\.9\.9 \(sources abc\): install the"
    with pytest.raises(UsageError, match=f"{who} {other}"):
        Connection(address)
    monkeypatch.setattr(clusters, "_STAMP", "__import__('linkrisk_of_nobody')")
    with pytest.raises(UsageError, match=f"{who} cannot import linkrisk: install linkrisk "):
        Connection(address)


def test_a_worker_that_comes_later_is_compared_as_well(connection, monkeypatch):
    monkeypatch.setattr(clusters, "stamp", lambda: {"linkrisk": "9.9.9"})
    with pytest.raises(UsageError, match=r"has another version than the machine that asks: linkrisk"):
        of_all(Cluster(1, connection), scaled, range(1))
