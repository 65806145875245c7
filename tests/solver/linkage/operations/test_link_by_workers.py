"""`link --method prl` by processes and by a scheduler's workers: the same answers to the last bit."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from box_cases import FORMS, pair_of
from cli_runs import PAIR, refuse, run

from linkrisk import Cancel, evaluate, link
from linkrisk.solver.linkage import linker as linker_module
from linkrisk.solver.linkage import shared_counts
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.linker import Helpers
from linkrisk.solver.linkage.probabilistic import all_pairs, passes, patterns
from linkrisk.solver.linkage.shared_counts import PartedCounts, counting_by
from linkrisk.solver.run.errors import CancelledError, UsageError
from linkrisk.solver.run.pool import Cluster, PoolChoice, WorkerPool


def files(records=330, seed=1):
    """Two files of the same records, with values that are changed, missing or alike."""
    chance = np.random.default_rng(seed)
    first = pd.DataFrame(
        {
            "name": chance.choice(["anna", "anne", "hannah", "bob", "bobby", "robert", "martha"], records),
            "town": chance.choice(["york", "cork", "leeds", "bath"], records),
            "age": chance.integers(18, 60, records).astype(float),
            "height": np.round(chance.normal(170, 10, records)),
        }
    )
    anew = first.sample(frac=1.0, random_state=seed, ignore_index=True)
    second = first.where(chance.random(first.shape) > 0.15, anew)
    return [frame.mask(chance.random(frame.shape) < 0.05) for frame in (first, second)]


FILES = files()
NOMINAL = {"method": "prl", "nominal": ["name", "town"]}
RATES = {"false_link_rate": 0.001, "false_non_link_rate": 0.1}
WAYS = {
    "all pairs": {"parameters": {"compare": ["name=jaro-winkler:0.9..0.6"]}},
    "levels": {"parameters": {"compare": ["height=within:1,5", "age=equal"], **RATES}},
    "interpolated": {"parameters": RATES, "one_to_one": "hungarian"},
    "blocked": {"parameters": {"blocking": "town"}},
    "passes": {
        "parameters": {
            "passes": ["town,age", "soundex(name)", "height"],
            "compare": ["name=jaro-winkler:0.9,0.7", "age=within:0,2"],
            "frequency_weights": True,
        },
        "one_to_one": "greedy",
    },
    "two keys": {"parameters": {"blocking": "town,age"}, "ties": "share", "direction": "masked-to-original"},
}


@pytest.fixture(autouse=True)
def all_is_shared_out(monkeypatch):
    """Small files, too, in shares of some queries and some candidates."""
    monkeypatch.setattr(linker_module, "WORTH", 1)
    monkeypatch.setattr(linker_module, "_FEWEST", 50)
    monkeypatch.setattr(linker_module, "_CODES", 4 * 150)
    monkeypatch.setattr(all_pairs, "_LEAST_OF_ROW", 1)
    monkeypatch.setattr(passes, "_FEWEST", 500)


def said(result) -> dict:
    """What a result says, but for time and who has worked."""
    result = getattr(result, "link", result)
    content = {key: value for key, value in result.to_dict().items() if key not in ("seconds", "workers")}
    return content if result.passes is None else content | {"links": result.passes.links.to_dict("list")}


ALONE: dict = {}


def alone(way):
    """What one process says, once for all tests."""
    if way not in ALONE:
        ALONE[way] = said(link(*FILES, **NOMINAL, **WAYS[way]))
    return ALONE[way]


@pytest.mark.parametrize("way", WAYS)
def test_workers_of_a_scheduler_say_the_same(address, way):
    found = link(*FILES, **NOMINAL, **WAYS[way], scheduler=address)
    assert said(found) == alone(way)
    assert found.details["workers"] == {"scheduler": address, "asked": None, "at_start": 2}


@pytest.mark.parametrize("workers", [1, 3])
def test_processes_say_the_same(workers):
    assert said(link(*FILES, **NOMINAL, **WAYS["all pairs"], workers=workers)) == alone("all pairs")


def test_what_was_learned_is_applied_by_workers(address):
    parameters = link(*FILES, **NOMINAL, **WAYS["two keys"])
    others = files(200, seed=2)
    expected = said(evaluate(*others, parameters=parameters).link)
    assert said(evaluate(*others, parameters=parameters, scheduler=address).link) == expected


def test_progress_is_in_tasks(address):
    told = []
    link(*FILES, **NOMINAL, scheduler=address, on_progress=lambda progress: told.append(progress.work))
    assert told[0].startswith("0 of ")
    assert told[-1] in {f"{many} of {many} tasks" for many in range(2, 100)}


@pytest.mark.parametrize("way", ["all pairs", "passes"])
def test_a_worker_that_dies_in_the_middle_costs_no_answer(address, monkeypatch, way):
    each, killed = Cluster.each, []

    def deadly(self, *given):
        for answer in each(self, *given):
            yield answer
            if not killed:
                killed.append(min(self.connection.client.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)

    expected = alone(way)
    monkeypatch.setattr(Cluster, "each", deadly)
    assert said(link(*FILES, **NOMINAL, **WAYS[way], scheduler=address)) == expected
    assert killed
    monkeypatch.setattr(Cluster, "each", lambda *_: iter(()))  # what workers give up is compared here
    assert said(link(*FILES, **NOMINAL, **WAYS[way], scheduler=address)) == expected


def waiting(folder: str, task: int, clock) -> None:
    """Says that it has begun, goes on until it is told to end, and says so."""
    Path(folder, f"begun {task}").touch()
    while not clock.expired:
        threading.Event().wait(0.01)
    Path(folder, f"ended {task}").touch()


def until(true) -> None:
    """Wait for something that happens soon; whoever waits in vain hangs, and the suite says where."""
    while not true():
        threading.Event().wait(0.01)


@pytest.mark.parametrize("asked", ["processes", "scheduler"])
def test_ctrl_c_ends_the_work_of_others(address, asked, tmp_path):
    pool = WorkerPool(PoolChoice(workers=2) if asked == "processes" else PoolChoice(scheduler=address))

    def interrupt() -> None:
        until(lambda: list(tmp_path.glob("begun *")))
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        list(Helpers(pool).answers(str(tmp_path), waiting, lambda _: range(4)))
    thread.join()
    until(lambda: len(list(tmp_path.glob("ended *"))) == len(list(tmp_path.glob("begun *"))))
    pool.close()


@pytest.mark.usefixtures("survey_folder")
def test_other_linkers_have_no_workers(capsys):
    message = "the linker dbrl has no workers: leave --workers and --scheduler out"
    refuse(capsys, message, "link", *PAIR, "--method", "dbrl", "--workers", "2")
    learned = link(*FILES, method="dbrl", attributes=["age", "height"]).to_dict()
    with pytest.raises(UsageError, match="has no workers: leave workers and scheduler out"):
        evaluate(*FILES, parameters=learned, workers=1)


@pytest.mark.usefixtures("survey_folder")
def test_the_command_takes_them(capsys):
    plain = run(capsys, "link", *PAIR, "--method", "prl")
    shared = run(capsys, "link", *PAIR, "--method", "prl", "--workers", "2")
    assert shared == plain


def test_too_many_patterns_and_a_token_end_it(address, monkeypatch):
    cancel = Cancel()
    with pytest.raises(CancelledError, match="the run was cancelled before there was a result"):
        link(*FILES, **NOMINAL, scheduler=address, cancel=cancel, on_progress=lambda _: cancel.cancel())
    monkeypatch.setattr(patterns, "LARGEST_TABLE", 8)
    with pytest.raises(UsageError, match=r"^there are more than 4 agreement patterns: compare fewer"):
        link(*FILES, **NOMINAL, scheduler=address)


@pytest.fixture
def parted(address, monkeypatch):
    """A pair, and who counts it in five partitions."""
    monkeypatch.setattr(shared_counts, "WORTH", 1)
    monkeypatch.setattr(shared_counts, "STOPS_SOONER", 1)
    monkeypatch.setattr(shared_counts, "FEWEST", 100)
    pair = pair_of("mixed", 600, 3)
    monkeypatch.setattr(shared_counts, "MOST_BYTES", pair.candidates.nbytes // 5)
    pool = WorkerPool(PoolChoice(scheduler=address))
    workers = counting_by(pool, pair)
    assert isinstance(workers, PartedCounts)
    yield pair, workers
    pool.close()


def test_an_evaluator_counts_by_workers(parted):
    pair, workers = parted
    form = FORMS["mahalanobis"](np.random.default_rng(3), False)
    expected, found = (Evaluator(pair, 1, workers=who).rank(form) for who in (None, workers))
    np.testing.assert_array_equal(found.linked, expected.linked)
    np.testing.assert_array_equal(found.distance, expected.distance)


def test_no_record_is_lost_with_a_worker(parted):
    pair, workers = parted
    client, killed = workers._workers.connection.client, []

    def kill(_work):
        if not killed:
            killed.append(min(client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)

    form, blocks = FORMS["choquet"](np.random.default_rng(3), False), np.arange(600)
    expected = Evaluator(pair, 1).found(form, 0, blocks)
    for told in (lambda _: None, kill, lambda _: None):
        workers.listen(told)
        for own, other in zip(workers.found(form, 0, blocks, None), expected, strict=True):
            np.testing.assert_array_equal(own, other)
    assert killed
