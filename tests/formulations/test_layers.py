"""A kernel and those that it calls are one program; from Python, each can be called by itself."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from linkrisk.formulations.compiled import kernel


@kernel
def at(values, place):
    if place >= values.size:
        raise ValueError("too far", place)
    return values[place]


@kernel
def sum_to(values, place):
    """Calls a kernel, and itself."""
    if place < 0:
        return 0.0
    return sum_to(values, place - 1) + at(values, place)


@kernel
def sum_at(values, places):
    total = 0.0
    for place in places:
        total += sum_to(values, place)
    return total


def programs(one):
    """Compiled versions that Python can call, and those that other kernels call."""
    return len(one.signatures), len(one.layer.signatures)


def test_what_kernels_call_is_compiled_into_them_and_not_for_itself():
    values = np.arange(5.0)
    assert sum_at(values, np.array([2, 3])) == 9.0
    assert [programs(one) for one in (sum_at, sum_to, at)] == [(1, 0), (0, 1), (0, 1)]
    assert not at.layer.overloads[at.layer.signatures[0]].library._compiled_object, "no machine code"
    assert (sum_to(values, 4), at(values, 1)) == (10.0, 1.0)
    assert [programs(one) for one in (sum_at, sum_to, at)] == [(1, 0), (1, 1), (1, 1)]


def test_errors_come_through_all_layers():
    with pytest.raises(ValueError, match="too far") as caught:
        sum_at(np.arange(5.0), np.array([1, 7]))
    assert caught.value.args == ("too far", 5)


def test_garbage_is_looked_for_again_after_compiling():
    during = []

    @kernel
    def watched(x):
        return x

    class Watching(watched._compiler.pipeline_class):
        def define_pipelines(self):
            during.append(gc.isenabled())
            return super().define_pipelines()

    watched._compiler.pipeline_class = Watching
    assert gc.isenabled()
    assert watched(3) == 3
    assert during == [False]
    assert gc.isenabled()
