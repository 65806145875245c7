"""Certificates that are made to take memory: refused in one line, before they do."""

from __future__ import annotations

import base64
import tracemalloc
import zlib

import numpy as np
import pytest
from aggregator_cases import BY_LABEL
from certified import certified

from linkrisk.solver.certificates.checking import verify as reading
from linkrisk.solver.certificates.checking.simplex_kernels import LARGEST_TOTAL, MOST_VALUES, replay
from linkrisk.solver.certificates.checking.verify import read_object
from linkrisk.solver.certificates.core import proofs
from linkrisk.solver.certificates.core.claims import Claim, MalformedError, RejectedError
from linkrisk.solver.certificates.core.proofs import (
    check_inequalities,
    check_simplex_tree,
    least_given_up,
    tree_nodes,
)
from linkrisk.solver.run.errors import UsageError

TRIANGLE = [frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 2})]


def peak(function):
    """Bytes that Python holds at once while a function runs."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_sums_of_sums_that_double_with_every_line():
    chain = [["half", [3 + at - 1 if at else 0] * 4] for at in range(5_000)]

    def refused():
        with pytest.raises(RejectedError, match="its numbers are too large"):
            check_inequalities(TRIANGLE, Claim(chain, "inequalities"))

    assert peak(refused) < 10_000_000


def test_long_sums_repeated(monkeypatch):
    monkeypatch.setattr(proofs, "MOST_COEFFICIENTS", 1_000)
    long = [frozenset(range(100))]
    assert len(check_inequalities(long, Claim([["half", [0, 0]]] * 3, "inequalities"))) == 4
    with pytest.raises(RejectedError, match=r"inequalities\[3\]: these inequalities are too long together"):
        check_inequalities(long, Claim([["half", [0, 0]]] * 50, "inequalities"))
    with pytest.raises(RejectedError, match="it has no parts"):
        check_inequalities(long, Claim([["half", []]], "inequalities"))


def test_a_deep_tree_takes_memory_for_one_way_down():
    """Splits all the way: a list of the decisions at every open node would have a hundred million entries."""
    depth = 15_000
    tree = [["split", at] for at in range(depth)]
    weight = dict.fromkeys(range(depth), 1)

    def refused():
        with pytest.raises(RejectedError, match="the list ends before the tree is complete"):
            least_given_up(Claim(tree, "tree"), [], TRIANGLE, weight)

    assert peak(refused) < 20_000_000


def test_a_tree_of_zeros_that_is_short_when_it_is_packed(monkeypatch):
    monkeypatch.setattr(proofs, "MOST_NODES", 1 << 16)
    fits, bomb = (
        base64.b64encode(zlib.compress(bytes(size), 9)).decode() for size in (1 << 16, (1 << 16) + 1)
    )
    assert len(tree_nodes(Claim(fits, "tree")).content) == 1 << 16
    with pytest.raises(MalformedError, match="damaged or too long"):
        tree_nodes(Claim(bomb, "tree"))


def test_rows_that_would_be_kept_at_every_level():
    """No row is ever decided, and the tree halves one edge again and again."""
    many = MOST_VALUES // 2 // 100
    rows = np.tile(np.array([[-(1 << 59), 1 << 59]], dtype=np.int64), (many, 1))
    owner, weight = np.arange(many), np.ones(many, dtype=np.int64)
    codes = np.ones(1_000, dtype=np.uint8)
    rows[:, 0] = 0
    assert replay(rows, owner, weight, 0, codes)[0] == 5


def test_weights_that_would_not_fit_64_bits():
    made = certified(BY_LABEL["weighted-mean"], seed=3, method="simplex-tree")
    linkage = made.linkage()
    proof = Claim(made.certificate["proof"], "proof")
    lost = {block for block, _ in made.certificate["proof"]["lost"]}
    weight = {block: 1 for block in range(7) if block not in lost}
    most = made.certificate["bound"]["linked_weight"]
    assert check_simplex_tree(linkage, proof, weight, most) > 0
    heavy = dict.fromkeys(weight, LARGEST_TOTAL // 2)
    with pytest.raises(RejectedError, match="the weights of the blocks are too large for a simplex tree"):
        check_simplex_tree(linkage, proof, heavy, LARGEST_TOTAL // 2)
    # What is heavier than the bound is no heavier than just above it, and may be linked nowhere.
    for own in (most + 1, LARGEST_TOTAL, 10**400):
        with pytest.raises(RejectedError, match="a leaf may link more than the bound"):
            check_simplex_tree(linkage, proof, dict.fromkeys(weight, own), most)
    for wrong in (-1, LARGEST_TOTAL + 1):
        with pytest.raises(RejectedError, match="is out of range"):
            check_simplex_tree(linkage, proof, weight, wrong)


def test_a_bound_above_all_weights():
    made = certified(BY_LABEL["weighted-mean"], seed=3)
    made.certificate["bound"]["linked_weight"] = 10**400
    with pytest.raises(RejectedError, match="is claimed, all that are not lost weigh"):
        made.check()


def test_files_that_are_too_long(tmp_path, monkeypatch):
    path = tmp_path / "fit.json"
    path.write_text('{"a": [' + "[]," * 100 + "[]]}", encoding="utf-8")
    assert len(read_object(path, "fit --json")["a"]) == 101
    monkeypatch.setattr(reading, "MOST_ITEMS", 200)
    with pytest.raises(UsageError, match="is too large to be checked"):
        read_object(path, "fit --json")
    monkeypatch.setattr(reading, "LARGEST_FILE", 100)
    path.write_text(" " * 100 + "{}", encoding="utf-8")
    with pytest.raises(UsageError, match="is too large to be checked"):
        read_object(path, "fit --json")
