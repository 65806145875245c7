"""Shares of two files give what the files give, to the last bit, whoever compares them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linker_cases import as_dict, linker, task, task_of

from linkrisk.solver.linkage import linker as linker_module
from linkrisk.solver.linkage.probabilistic.all_pairs import CodedPairs, ComparedFiles, share_of
from linkrisk.solver.linkage.probabilistic.coding import Codes, met_by
from linkrisk.solver.linkage.probabilistic.comparisons import parse_comparison
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.linkage.probabilistic.passes import _compare, range_share
from linkrisk.solver.linkage.probabilistic.patterns import agreement_patterns
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.remote import Deferred

NAMES = ["anna", "anne", "hannah", "bob", "bobby", "robert", "martha", "marhta", "dwayne", "duane"]
COMPARE = ("name=jaro-winkler:0.9,0.8..0.6", "town=equal", "age=within:1,3..8", "height=deviations:0.2..1")


def people(seed, many, missing=0.1):
    chance = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "name": chance.choice(NAMES, many),
            "town": chance.choice(["york", "cork", "leeds"], many),
            "age": chance.integers(18, 60, many).astype(float),
            "height": chance.normal(170, 10, many),
        }
    )
    return frame.mask(chance.random(frame.shape) < missing)


def learned(keys=(), many=(70, 90), missing=0.1):
    task = task_of(people(1, many[0], missing), people(2, many[1], missing))
    how = tuple(parse_comparison(text) for text in COMPARE)
    return Probabilistic(compare=how, blocking=keys, match_share=0.02).learn(task)


LEARNED = {keys: learned(keys) for keys in [(), ("town",), ("town", "age")]}


@settings(max_examples=30, deadline=None)
@given(st.data())
@pytest.mark.parametrize("keys", [(), ("town",), ("town", "age")])
def test_scores_of_a_share_are_those_of_the_files(keys, data):
    own = LEARNED[keys]
    rows = np.array(data.draw(st.lists(st.integers(0, 69), min_size=1, unique=True)))
    candidates = np.array(sorted(data.draw(st.sets(st.integers(0, 89), min_size=1))))
    share = own.share(rows, candidates)
    sent = pickle.loads(pickle.dumps(share))
    assert isinstance(sent, Deferred)
    assert isinstance(sent.made(), CodedPairs)
    expected = own.scores(rows)[:, candidates]
    for ready in (share.made(), sent.made()):
        assert ready.shape == expected.shape
        assert (ready.scores(np.arange(rows.size)) == expected).all()


def test_what_is_sent_is_about_nobody_else():
    """Codes, values and keys of the share's own records."""
    own = learned(("town", "age"), (70, 4_000))
    small, whole = pickle.dumps(own.share(np.arange(3), np.arange(5))), pickle.dumps(own.codes)
    assert len(whole) > 50 * len(small)
    coded, blocks, weights = own.share(np.arange(3), np.arange(5)).made().codes
    assert coded.query_code.shape == (3, 4)
    assert coded.candidate_slot.shape == (4, 5)
    assert coded.slot_value.size <= 4 * (5 + 1)
    assert coded.query_value.size <= 4 * 3
    assert blocks.member.size <= 2 * 5
    assert weights.segment.size == coded.start.size == coded.segment_first[-1]


def test_shares_make_up_all_pairs(monkeypatch):
    monkeypatch.setattr(linker_module, "_CODES", 40)
    for queries, candidates, many in [(1, 1, 1), (700, 95, 3), (513, 10, 1), (10_000, 11, 2)]:
        seen = np.zeros((queries, candidates), dtype=int)
        for rows, columns in linker_module.shared_out(queries, candidates, 4, many):
            assert columns.stop - columns.start <= 10
            seen[rows, columns] += 1
        assert (seen == 1).all()


def test_patterns_of_shares_add_up():
    first, second = people(5, 300), people(6, 200)
    comparisons = dict(parse_comparison(text) for text in COMPARE)
    files = ComparedFiles.of(task_of(first, second), comparisons, ())
    whole = as_dict(agreement_patterns(files.coded, files.blocks))
    total: dict = {}
    for rows in np.array_split(np.random.default_rng(0).permutation(300), 4):
        for candidates in np.array_split(np.arange(200), 3):
            cut = share_of(Codes(files.coded, files.blocks), rows, candidates).made().codes
            for pattern, count in as_dict(agreement_patterns(cut.coded, cut.blocks, 1)).items():
                total[pattern] = total.get(pattern, 0) + count
    assert total == whole


def test_pairs_of_passes_are_compared_by_what_is_sent():
    """Patterns of ranges of queries, sent with the candidates that they meet and nobody else."""
    own = task(120, seed=3)
    files = linker("soundex(surname),town", "year(born)").learn(own).files
    number, found = {}, []
    for first, last in files.joined.ranges(40):
        sent = pickle.loads(pickle.dumps(range_share(files.joined.groups, files.levels, first, last)))
        assert sent.made().candidates == met_by(*files.joined.groups, np.arange(first, last)).size < 120
        assert all(len(attribute.known[1]) == sent.made().candidates for attribute in sent.made().levels)
        place, distinct = _compare(None, sent, Clock(None, most_threads=1))
        found += [number.setdefault(distinct[at], len(number)) for at in place]
    assert found == files.compared.pattern.tolist()
