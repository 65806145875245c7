"""Workers of a scheduler that hold some parts each: who holds what, and what becomes of it when they die."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from clusters import small_cluster

from linkrisk.solver.run import cluster as clusters
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.cluster import Connection
from linkrisk.solver.run.parted import HereInParts, PartedCluster

pytest.importorskip("distributed", reason="needs Dask: pip install 'linkrisk[dask]'")


class Piece:
    """A task that needs a part; it can be told from others."""

    def __init__(self, part: int, number: int) -> None:
        self.part, self.number = part, number

    def __lt__(self, other: Piece) -> bool:
        return self.number < other.number


@pytest.fixture(scope="module")
def address():
    with small_cluster() as found:
        yield found


@pytest.fixture
def connection(address):
    found = Connection(address)
    found.client.wait_for_workers(2)
    yield found
    found.close()


def told(given: int, task: Piece, _clock: Clock) -> tuple[int, int, int]:
    return given, task.number, os.getpid()


def deadly(given: str, task: Piece, _clock: Clock) -> str:
    """Kills its process at its first attempt at task 2."""
    mark = Path(given)
    if task.number == 2 and not mark.exists():
        mark.write_text("died", encoding="utf-8")
        os.kill(os.getpid(), signal.SIGKILL)
    return given


def all_of(workers, do, tasks):
    try:
        return sorted(workers.each(do, tasks, Clock(None), lambda _: None))
    finally:
        workers.close()


def tasks_of(parts: int, many: int) -> list[Piece]:
    return [Piece(k % parts, k) for k in range(many)]


def test_every_task_has_its_part_and_every_part_its_worker(connection):
    found = all_of(PartedCluster([10, 20, 30, 40], connection), told, tasks_of(4, 16))
    assert [answer[:2] for _, answer in found] == [(10 * (k % 4 + 1), k) for k in range(16)]
    holders = {part: {pid for task, (_, _, pid) in found if task.part == part} for part in range(4)}
    assert all(len(pids) == 1 for pids in holders.values())
    pids = [pid for who in holders.values() for pid in who]
    assert sorted(pids.count(pid) for pid in set(pids)) == [2, 2]


def test_a_part_that_is_alone_is_with_all_workers(connection):
    workers = PartedCluster([10], connection)
    assert workers.placed(Piece(0, 0))[1] == connection.addresses
    workers.close()


def test_a_worker_that_dies_costs_no_answer(connection, tmp_path):
    marks = [str(tmp_path / str(k)) for k in range(3)]
    found = all_of(PartedCluster(marks, connection), deadly, tasks_of(3, 9))
    assert [answer for _, answer in found] == marks * 3


def test_without_any_worker_left_the_rest_is_done_here(connection, monkeypatch):
    monkeypatch.setattr(clusters, "_ALONE", -1.0)
    monkeypatch.setattr(Connection, "slots", property(lambda _: 0))
    found = all_of(PartedCluster([10, 20], connection), told, tasks_of(2, 3))
    assert [answer for _, answer in found] == [(10 * (k % 2 + 1), k, os.getpid()) for k in range(3)]


def test_what_is_left_here_is_done_part_by_part():
    found = list(HereInParts([10, 20]).each(told, tasks_of(2, 4), Clock(None), lambda _: None))
    assert [task.number for task, _ in found] == [0, 2, 1, 3]
    stopped = Clock(0.0)
    assert not list(HereInParts([10, 20]).each(told, tasks_of(2, 4), stopped, lambda _: None))
