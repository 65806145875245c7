"""Shared work: the same answers here and in processes, whatever happens to one of them."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.workers import Here, Processes


def scaled(given: int, task: int, clock: Clock) -> tuple[int, float | None]:
    return given * task, clock.time_limit


def deadly(given: str, task: int, _clock: Clock) -> int:
    """Dies at its first attempt at task 2, as if memory had run out."""
    mark = Path(given)
    if task == 2 and not mark.exists():
        mark.write_text("died", encoding="utf-8")
        os.kill(os.getpid(), signal.SIGKILL)
    return 10 * task


def always_deadly(_given: str, task: int, _clock: Clock) -> int:
    if task == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def process_of(_given: None, _task: int, _clock: Clock) -> int:
    return os.getpid()


def failing(_given: int, task: int, _clock: Clock) -> int:
    raise ValueError(f"task {task} cannot be done")


def patient(_given: int, _task: int, clock: Clock) -> bool:
    """Goes on until it is asked to end."""
    while not clock.expired:
        threading.Event().wait(0.01)
    return clock.stopped


def of_all(workers, do, tasks, clock=None, share=lambda _: None):
    try:
        return sorted(workers.each(do, tasks, clock or Clock(None), share))
    finally:
        workers.close()


def test_here_and_in_processes_the_answers_are_the_same():
    expected = [(k, (7 * k, None)) for k in range(5)]
    assert of_all(Here(7), scaled, range(5)) == of_all(Processes(7, 2), scaled, range(5)) == expected


def test_each_task_has_its_share_of_what_is_left():
    found = of_all(Here(1), scaled, range(3), share=lambda left: 10.0 * left)
    assert found == [(0, (0, 30.0)), (1, (1, 20.0)), (2, (2, 10.0))]
    found = of_all(Processes(1, 2), scaled, range(3), share=lambda left: 10.0 * left)
    assert found == [(0, (0, 30.0)), (1, (1, 20.0)), (2, (2, 10.0))]


def test_a_process_that_dies_costs_no_answer(tmp_path):
    found = of_all(Processes(str(tmp_path / "mark"), 2), deadly, range(5))
    assert found == [(k, 10 * k) for k in range(5)]


def test_a_process_that_dies_before_the_next_task_begins_costs_no_answer(tmp_path):
    mark = tmp_path / "mark"

    def after_the_death(left: int) -> None:
        """Hold the second task back until the process of the first, the deadly one, is seen to be dead."""
        while left == 2 and not mark.exists():
            time.sleep(0.01)
        time.sleep(0.5 if left == 2 else 0)

    found = of_all(Processes(str(mark), 2), deadly, [2, 0, 1], share=after_the_death)
    assert found == [(k, 10 * k) for k in range(3)]


def test_processes_that_die_between_two_tasks_are_begun_again():
    workers = Processes(None, 1)
    answers = workers.each(process_of, range(3), Clock(None), lambda _: None)
    _, process = next(answers)
    os.kill(process, signal.SIGKILL)
    time.sleep(0.5)
    assert [task for task, _ in answers] == [1, 2]
    workers.close()


def test_a_task_that_kills_its_process_again_is_given_up():
    found = dict(of_all(Processes("", 1), always_deadly, range(4)))
    assert found.keys() == {0, 1, 3}


@pytest.mark.parametrize("make", [lambda: Here(1), lambda: Processes(1, 1)], ids=["here", "processes"])
def test_what_goes_wrong_is_raised(make):
    with pytest.raises(ValueError, match="task 0 cannot be done"):
        of_all(make(), failing, range(2))


@pytest.mark.parametrize("make", [lambda: Here(1), lambda: Processes(1, 2)], ids=["here", "processes"])
def test_no_task_begins_when_the_run_is_over(make):
    cancel = Cancel()
    cancel.cancel()
    assert of_all(make(), scaled, range(3), Clock(None, cancel=cancel)) == []


def test_tasks_that_have_begun_are_asked_to_end():
    cancel = Cancel()
    timer = threading.Timer(0.2, cancel.cancel)
    timer.start()
    found = of_all(Processes(1, 2), patient, range(9), Clock(None, cancel=cancel))
    assert len(found) <= 2
    assert all(stopped for _, stopped in found)
