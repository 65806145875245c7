"""Linkage in passes: links, clerical review, reports and expected losses."""

from __future__ import annotations

import functools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from linker_cases import compare, linker, pairs_by_definition, task, task_of
from passes import draw_persons
from refusals import refusal

from linkrisk.solver.linkage import matching as pair_matching
from linkrisk.solver.linkage.linker import Truth
from linkrisk.solver.linkage.matching import greedy, matched_pairs
from linkrisk.solver.linkage.probabilistic.decisions import (
    Reviewed,
    _shares_of_cells,
    decide,
    expected_losses,
    shared_columns,
)
from linkrisk.solver.linkage.result import report_passes

PASSES = (["surname", "town"], ["age"], ["name", "town"])
TEXTS = tuple(map(",".join, PASSES))
BAND = (0.02, 0.6)


def learned_in(mode="together", seed=20, records=60, band=BAND):
    own = task(records, seed)
    return own, linker(*TEXTS, linked_leave=mode == "leave", clerical_band=band).learn(own)


def as_pairs(learned, which):
    pairs = learned.scored_pairs
    return set(zip(pairs.query[which].tolist(), pairs.candidate[which].tolist(), strict=True))


def plainly(learned, *, leave, one_to_one):
    """Linked and clerical pairs by their definition, pair by pair, pass after pass."""
    pairs, thresholds = learned.scored_pairs, learned.parameters["thresholds"]
    columns = learned.files.compared.pairs.first_pass, pairs.query, pairs.candidate, pairs.score
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    linked, taken, gone = set(), (set(), set()), (set(), set())
    for stage in range(len(PASSES)) if leave else (None,):
        own = [row for row in rows if stage in (None, row[0])]
        own = [row for row in own if row[1] not in gone[0] and row[2] not in gone[1]]
        for _, a, b, score in sorted(own, key=lambda row: -row[3]):
            if score >= thresholds["link"] and not (one_to_one and (a in taken[0] or b in taken[1])):
                linked.add((a, b))
                taken[0].add(a)
                taken[1].add(b)
        if leave:
            gone = (set(taken[0]), set(taken[1]))
    clerical = {
        (a, b)
        for _, a, b, score in rows
        if thresholds["non_link"] <= score < thresholds["link"]
        and not ((leave or one_to_one) and (a in taken[0] or b in taken[1]))
    }
    return linked, clerical


@pytest.mark.parametrize("one_to_one", [None, "greedy"])
@pytest.mark.parametrize("mode", ["together", "leave"])
def test_decisions_are_those_of_the_definition(mode, one_to_one):
    some = 0
    for seed in range(20, 24):
        _, learned = learned_in(mode, seed)
        found = decide(learned, one_to_one)
        linked, clerical = plainly(learned, leave=mode == "leave", one_to_one=one_to_one is not None)
        scores = learned.scored_pairs.score[found.linked]
        if one_to_one is None or np.unique(scores).size == scores.size:
            assert as_pairs(learned, found.linked) == linked
            assert as_pairs(learned, found.clerical) == clerical
        else:  # equal weights may be taken in another order
            assert abs(len(linked) - found.linked.sum()) <= 3
        some += len(clerical)
        if one_to_one is not None:
            for side in (learned.scored_pairs.query, learned.scored_pairs.candidate):
                assert np.bincount(side[found.linked]).max() == 1
    assert some


def test_thresholds_come_from_the_band_or_from_rates():
    own, learned = learned_in(band=(0.3, 0.8))
    found = learned.parameters["thresholds"]
    weights = np.array([found["non_link"], found["link"]])
    assert learned.probabilities(weights) == pytest.approx([0.3, 0.8])
    assert found["linked"] == (learned.scored_pairs.score >= found["link"]).sum()
    assert found["linked"] + found["clerical"] + found["non_linked"] == 60 * 60
    for frequency_weights in (False, True):
        rates = {"false_link_rate": 0.001, "false_non_link_rate": 0.01}
        learned = linker(*TEXTS, frequency_weights=frequency_weights, **rates).learn(own)
        assert learned.parameters["thresholds"]["false_link_rate"] <= 0.001


@pytest.mark.parametrize("one_to_one", [None, "greedy", "hungarian"])
@pytest.mark.parametrize("mode", ["together", "leave"])
def test_the_report_of_each_pass_is_a_plain_count(mode, one_to_one):
    own, learned = learned_in(mode, 21)
    truth = Truth.of(np.where(np.arange(60) < 50, np.arange(60), -1), 60)
    found = decide(learned, one_to_one)
    first = pairs_by_definition(PASSES, own.queries, own.candidates)
    linked, clerical, seen = (
        as_pairs(learned, which) for which in (found.linked, found.clerical, found.available)
    )
    assert mode == "leave" or seen == set(first)
    pairs = learned.scored_pairs
    known = learned.probabilities(pairs.score)
    probability = dict(
        zip(zip(pairs.query.tolist(), pairs.candidate.tolist(), strict=True), known.tolist(), strict=True)
    )
    so_far = 0
    for p, report in enumerate(report_passes(learned, found, truth)):
        alone = pairs_by_definition([PASSES[p]], own.queries, own.candidates)
        own_links = {pair for pair in linked if first[pair] == p}
        assert (report.keys, report.pairs, report.linked) == (TEXTS[p], len(alone), len(own_links))
        assert report.compared == sum(1 for pair in seen if first[pair] == p)
        assert report.clerical == sum(1 for pair in clerical if first[pair] == p)
        assert report.right == sum(1 for a, b in own_links if a == b < 50)
        assert report.estimated_false_links == pytest.approx(sum(1 - probability[pair] for pair in own_links))
        assert report.lost == pytest.approx(1 - sum(1 for at in range(50) if (at, at) in alone) / 50)
        so_far += sum(1 for at in range(50) if (at, at) in seen and first[at, at] == p)
        assert report.lost_so_far == pytest.approx(1 - so_far / 50)


def reviewed(rows, links):
    rows = np.array(rows)
    return Reviewed(rows[:, 0], rows[:, 1], np.array(links))


def test_reviewed_pairs_are_what_people_say():
    _, learned = learned_in(seed=22)
    before = decide(learned, "greedy")
    linked, clerical = as_pairs(learned, before.linked), sorted(as_pairs(learned, before.clerical))
    rows = yes, no, wrong = clerical[0], clerical[-1], sorted(linked)[0]
    assert yes[0] != no[0]
    found = decide(learned, "greedy", reviewed(rows, [True, False, False]))
    after = as_pairs(learned, found.linked)
    assert yes in after
    assert no not in after | as_pairs(learned, found.clerical)
    assert wrong not in after
    pairs = learned.scored_pairs
    place = [np.flatnonzero((pairs.query == a) & (pairs.candidate == b))[0] for a, b in rows]
    assert found.probability[place].tolist() == [1.0, 0.0, 0.0]


def test_reviewed_pairs_that_cannot_be():
    own, learned = learned_in(seed=22)
    first = pairs_by_definition(PASSES, own.queries, own.candidates)
    never = [next((a, b) for a in range(60) for b in range(60) if (a, b) not in first)]
    assert decide(learned, None, reviewed(never, [False])).linked.any()
    assert refusal(lambda: decide(learned, None, reviewed(never, [True]))) == (
        "1 of the decided links are compared by no pass: add a pass whose keys these records share"
    )
    query = next(a for a, _ in first if sum(1 for other, _ in first if other == a) > 1)
    two = reviewed([pair for pair in first if pair[0] == query][:2], [True, True])
    decide(learned, None, two)
    assert refusal(lambda: decide(learned, "greedy", two)) == (
        "the decisions link a record of the first file twice, but links are to be one to one: leave "
        "one_to_one out, or decide for one of them"
    )


@st.composite
def graphs(draw):
    """Some pairs of few records, no two of the same weight."""
    cells = draw(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), unique=True, max_size=20))
    score = np.array(draw(st.permutations(range(len(cells)))), dtype=np.float64) + 0.5
    rows = np.array(cells, dtype=np.int32).reshape(-1, 2)
    return SimpleNamespace(query=rows[:, 0], candidate=rows[:, 1], score=score)


def largest_total(cells):
    """Of all sets of pairs that share no record the largest total, by trying them."""
    if not cells:
        return 0.0
    (query, candidate, score), others = cells[0], cells[1:]
    apart = [cell for cell in others if cell[0] != query and cell[1] != candidate]
    return max(score + largest_total(apart), largest_total(others))


@given(graphs(), st.integers(0, 3), st.booleans())
def test_matchings_of_pairs_are_those_of_their_definition(graph, seed, listed):
    dense = np.full((7, 6), -np.inf)
    dense[graph.query, graph.candidate] = graph.score
    taken = matched_pairs(graph.query, graph.candidate, graph.score, "greedy", seed)
    chosen = np.full(7, -1)
    chosen[graph.query[taken]] = graph.candidate[taken]
    assert (chosen == greedy(dense)).all()
    with pytest.MonkeyPatch.context() as patch:
        if listed:
            patch.setattr(pair_matching, "_DENSE", 0)
        taken = matched_pairs(graph.query, graph.candidate, graph.score, "hungarian", seed)
    cells = list(zip(graph.query[:14].tolist(), graph.candidate[:14].tolist(), graph.score[:14], strict=True))
    if graph.score.size == len(cells):
        assert graph.score[taken].sum() == pytest.approx(largest_total(cells))
    for side in (graph.query, graph.candidate):
        assert np.bincount(side[taken]).max(initial=0) <= 1


@pytest.mark.parametrize("one_to_one", [None, "greedy"])
def test_a_decided_link_of_a_late_pass_keeps_its_records_there(one_to_one):
    for seed in range(20, 30):
        _, learned = learned_in("leave", seed)
        pairs, before = learned.scored_pairs, decide(learned, one_to_one)
        late = np.flatnonzero((learned.files.compared.pairs.first_pass == 2) & ~before.available)
        if late.size:
            break
    else:
        raise AssertionError("no case")
    at = late[:1]
    found = decide(learned, one_to_one, Reviewed(pairs.query[at], pairs.candidate[at], np.array([True])))
    assert found.linked[at].all()
    assert found.available[at].all()
    same = (pairs.query == pairs.query[at]) | (pairs.candidate == pairs.candidate[at])
    assert found.linked[same].sum() == 1


@pytest.mark.parametrize("high", [0.3, 0.9])
def test_one_to_one_links_of_a_band_on_either_side_of_even_odds(high):
    _, learned = learned_in(band=(0.01, high))
    pairs, even = learned.scored_pairs, learned.even
    link = learned.parameters["thresholds"]["link"]
    found = decide(learned, "hungarian")
    assert (pairs.score[found.linked] >= link).all()
    by_greed = decide(learned, "greedy")
    base = min(even, pairs.score[pairs.score >= link].min())
    totals = [(pairs.score[one.linked] - base).sum() for one in (found, by_greed)]
    assert totals[0] >= totals[1] - 1e-3


PERSONAL = ("given_name", "surname", "suburb", "postcode", "date_of_birth")
PERSONS = 1600


@functools.cache
def persons_learned():
    """Two files of the same persons, whose record in the second each of the first is, and what is learned."""
    first, second = draw_persons(PERSONS, 1)
    place = {name: row for row, name in enumerate(second["rec_id"])}
    partner = np.array([place[name] for name in first["rec_id"]])
    own = task_of(*(frame.drop(columns="rec_id").replace("", None) for frame in (first, second)), PERSONAL)
    passes = ("date_of_birth,surname", "year(date_of_birth),given_name", "surname[:3],suburb")
    ways = compare(*(f"{name}=jaro-winkler:0.9" for name in PERSONAL))
    return own, partner, linker(*passes, compare=ways).learn(own)


@pytest.mark.parametrize("one_to_one", [None, "greedy"])
def test_what_is_expected_is_near_what_is_lost(one_to_one):
    own, partner, learned = persons_learned()
    found = decide(learned, one_to_one)
    reports = report_passes(learned, found, Truth.of(partner, PERSONS))
    expected = expected_losses(learned, own, found)
    assert expected is not None
    assert expected.lost == pytest.approx([one.lost for one in reports], abs=0.03)
    assert expected.lost_so_far == pytest.approx([one.lost_so_far for one in reports], abs=0.03)
    missed = 1.0 - sum(report.right for report in reports) / PERSONS
    assert expected.missed == pytest.approx(missed, abs=0.04)
    assert expected.missed >= expected.lost_so_far[-1]
    assert expected.lost_so_far[0] == expected.lost[0]


def test_what_a_shared_column_loses_cannot_be_known():
    own = task(60, 3)
    for passes in (("surname",), ("surname,town", "soundex(surname),age")):
        learned = linker(*passes).learn(own)
        assert shared_columns(learned.files.joined.passes) == ("surname",)
        assert expected_losses(learned, own, decide(learned)) is None


def test_shares_of_unseen_cells_are_those_of_capture_and_recapture():
    # Two passes of one key each: Lincoln and Petersen's 60 * 50 / 30 matches, of which 80 were seen.
    weight, seen = np.array([0.0, 20.0, 30.0, 30.0]), np.array([False, True, True, True])
    share = _shares_of_cells(weight, seen, (2, 2))
    assert share == pytest.approx([0.2, 0.2, 0.3, 0.3], abs=1e-6)
    # Whatever stands in a cell that cannot be seen does not count.
    assert _shares_of_cells(np.array([7.0, 20.0, 30.0, 30.0]), seen, (2, 2)) == pytest.approx(share)
    # No match that both have seen: there may be any number of others.
    assert _shares_of_cells(np.array([0.0, 5.0, 5.0, 0.0]), seen, (2, 2)) is None
    assert _shares_of_cells(np.zeros(4), seen, (2, 2)) is None


def test_independent_keys_of_any_number_are_found_again():
    chance = np.random.default_rng(0)
    margins = [chance.dirichlet([1.0, 3.0]), chance.dirichlet([1.0, 1.0, 1.0, 4.0]), chance.dirichlet([1, 2])]
    share = np.multiply.outer(np.multiply.outer(margins[0], margins[1]), margins[2]).ravel()
    cells = np.arange(16)
    bits = [(cells >> at) & 1 == 1 for at in range(4)]
    seen = (bits[3] & bits[1]) | (bits[0] & bits[2]) | (bits[3] & bits[0])
    found = _shares_of_cells(np.where(seen, 1e4 * share, 0.0), seen, (2, 4, 2))
    assert found == pytest.approx(share, abs=1e-5)
