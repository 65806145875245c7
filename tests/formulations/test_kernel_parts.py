"""Parts of kernels that replace numpy's inside of compiled code: the same answers."""

from __future__ import annotations

import numpy as np
import pytest

from linkrisk.formulations.kernel_parts import ascending, put, put_rows


@pytest.mark.parametrize("many", [0, 1, 2, 3, 7, 8, 100])
def test_places_ascend_and_equal_keys_stay_in_order(many):
    keys = np.random.default_rng(many).integers(5, size=many)
    for some in (keys, keys.astype(float)[::-1], -keys.astype(np.float32)):
        assert ascending(some).tolist() == np.argsort(some, kind="stable").tolist()


def test_vectors_and_matrices_are_copied_to_the_beginning():
    into = np.full((3, 2), 9.0)
    put_rows(np.arange(4.0).reshape(2, 2), into)
    put(np.array([7.0]), into[2])
    assert into.tolist() == [[0.0, 1.0], [2.0, 3.0], [7.0, 9.0]]
    down = np.arange(5)
    put(down[2:], down[1:])
    assert down.tolist() == [0, 2, 3, 4, 4], "a part of itself, downwards"
