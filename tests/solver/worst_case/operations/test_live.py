"""The closing bound in a notebook: shown by a kernel, and by nothing else."""

from __future__ import annotations

import math
import signal
import sys
import threading
from types import ModuleType, SimpleNamespace

import pytest
from fit_runs import frames

from linkrisk import fit, risk, sweep
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.progress import SILENT, Progress, notebook
from linkrisk.solver.worst_case.operations import live


@pytest.fixture
def shown(monkeypatch):
    """A kernel of nobody's: the pictures that a cell would show, one after the other."""
    pictures = []
    display, ipython = ModuleType("IPython.display"), ModuleType("IPython")
    handle = SimpleNamespace(update=pictures.append)
    display.display = lambda picture, display_id: display_id and (pictures.append(picture), handle)[1]
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    ipython.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.delenv(SILENT, raising=False)
    return pictures


def test_fit_shows_where_the_bound_ends(shown):
    found = fit(*frames(0), aggregator="owa,choquet")
    last = repr(shown[-1])
    for result in found.results.values():
        assert f"{result.linked} of {result.records} (" in last
    assert "Choquet integral: " in last
    assert all(line in shown[-1]._repr_html_() for line in last.splitlines())


def test_risk_and_sweep_show_it(shown):
    original, masked = frames(0)
    risk(original, masked, aggregator="owa", measures="references,uniqueness")
    assert "measuring references" in repr(shown[-1])
    shown.clear()
    sweep(original, ["noise percent=50"], aggregator="owa", measures="worst-case", workers=1)
    assert "1 of 1 maskings" in repr(shown[-1])


def test_nothing_beside_a_function_of_ones_own_nor_outside_of_a_kernel_nor_switched_off(shown, monkeypatch):
    seen = []
    fit(*frames(0), on_progress=seen.append)
    assert seen
    with monkeypatch.context() as patch:
        for shell in (None, SimpleNamespace(), SimpleNamespace(kernel=None)):
            patch.setattr(sys.modules["IPython"], "get_ipython", lambda shell=shell: shell)
            assert notebook() is None
        fit(*frames(0))
    monkeypatch.setenv(SILENT, "none")
    fit(*frames(0))
    assert shown == []


def test_few_drawings_however_much_is_told(shown, monkeypatch):
    monkeypatch.setattr(live, "EVERY", 1e6)
    with live.watched(None) as tell:
        for value in range(1000):
            tell(Progress(0.0, float(value), 1000.0, "attack", about="owa", total=1000.0))
    assert len(shown) == 1
    assert "999 of 1,000 (99.9 % or more)" in repr(shown[0])


def test_other_threads_tell_and_do_not_draw(shown, monkeypatch):
    monkeypatch.setattr(live, "EVERY", 0.0)
    with live.watched(None) as tell:
        thread = threading.Thread(
            target=tell, args=(Progress(0.0, 1.0, 2.0, "attack", about="owa", total=4.0),)
        )
        thread.start()
        thread.join()
        assert shown == []
    assert len(shown) == 1


def test_what_has_no_numbers_yet(shown):
    with live.watched(None):
        pass
    assert shown == []
    with live.watched(None) as tell:
        tell(Progress.uncounted("compile"))
        tell(Progress(0.0, 1.0, math.inf, "attack", about="<b>"))
    assert len(shown) == 1
    assert "<b>" not in shown[0]._repr_html_()


def test_the_picture_stays_when_the_call_fails(shown):
    def call():
        with live.watched(None) as tell:
            tell(Progress.uncounted("compile"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        call()
    assert "compiling" in repr(shown[-1])


# Interrupts


def test_where_no_signal_can_be_caught_a_run_goes_on(monkeypatch):
    ran = []

    def run():
        with interruptible(SimpleNamespace(stop=None)):
            ran.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    monkeypatch.setattr(signal, "getsignal", lambda _: None)  # a handler that Python has not installed
    run()
    assert ran == [True, True]


def test_a_real_kernel():
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel: pip install them")
    pytest.importorskip("ipykernel", reason="needs nbclient and ipykernel: pip install them")
    import nbformat

    paths = [path for path in sys.path if path]
    code = [
        f"import os, sys; sys.path[:0] = {paths!r}; os.environ.pop('LINKRISK_PROGRESS', None)\n"
        "from linkrisk import fit\n"
        "fit(aggregator='weighted-mean')",
        "import _thread\n"
        "import numpy as np\n"
        "a = np.random.default_rng(1).normal(size=(300, 6))\n"
        "b = a + np.random.default_rng(2).normal(size=a.shape) * 1.2\n"
        "def press(told, pressed=[]):\n"
        "    if told.phase == 'branch and cut' and not pressed:\n"
        "        pressed.append(_thread.interrupt_main())\n"
        "found = fit(a, b, aggregator='choquet', time_limit=None, on_progress=press)\n"
        "print(found.status, found.limit)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in code])
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    picture, result = notebook.cells[0].outputs
    assert "377 of 400 (94.2 %)" in picture.data["text/html"]
    assert "At worst 377 of 400 records" in result.data["text/html"]
    assert notebook.cells[1].outputs[0].text == "interrupted user\n"
