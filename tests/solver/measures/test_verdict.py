"""A verdict is the worst of its findings, whatever they are, and its sentence says what it rests on."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.solver.measures.base import jsonable
from linkrisk.solver.measures.verdict import (
    Severity,
    VerdictFinding,
    grounds_of,
    sentence_by_key,
    sentence_of,
    severity_of,
    verdict,
)

ends = st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)).map(sorted)
keys = st.sampled_from(["worst_case", "without_lots", "attack_equal_weights", "releases"])


SETTLES_NOTHING = ("without_lots", "no_bound")


def about_links(key, low, high, tolerated=0.05, about=("weighted mean",), severity=None):
    severity = severity or severity_of(low, high, tolerated)
    found = VerdictFinding(key, severity, "", about, low, high)
    return VerdictFinding(key, severity, sentence_by_key(vars(found)), about, low, high)


@given(st.lists(st.tuples(keys, ends), min_size=1), st.floats(0.0, 1.0), st.booleans())
def test_a_verdict_is_the_worst_of_its_findings(listed, tolerated, objected):
    found = [about_links(key, *each, tolerated) for key, each in listed]
    lows, highs = [low for _, (low, _) in listed], [high for _, (_, high) in listed]
    if objected:
        found.append(VerdictFinding("unmasked_column", Severity.AGAINST_GREEN, "a column was not masked"))
    made = verdict(found, tolerated)
    assert (made.low, made.high) == (max(lows), max(highs))
    expected = "above" if max(lows) > tolerated else "open" if max(highs) > tolerated or objected else "below"
    assert made.answer == expected
    content = json.loads(json.dumps(jsonable(made)))
    assert sentence_of(content) == made.sentence
    said = made.sentence + " ".join(grounds_of(content))
    assert not objected or "a column was not masked" in said.lower()


def test_what_is_red_without_a_number_is_said_first():
    named = VerdictFinding("names", Severity.RED, "the release names its records", ("firm",))
    made = verdict([about_links("worst_case", 0.01, 0.01), named], 0.05)
    assert made.answer == "above"
    assert made.sentence == "the release names its records"
    assert made.findings[0] is named


def test_what_stands_against_green_is_said_beside_what_is_proven():
    dates = VerdictFinding("dates", Severity.AGAINST_GREEN, "776 of 800 records are unique by their dates")
    made = verdict([about_links("worst_case", 0.009, 0.009, about=("weighted mean", "OWA")), dates], 0.05)
    assert made.answer == "open"
    assert made.sentence == (
        "none of the two kinds of distance searched (weighted mean, OWA) re-identifies more than 0.9 % of "
        "the records, but 776 of 800 records are unique by their dates"
    )


WITHIN = "within the 5.0 % that are tolerated"
NONE_OF = "no distance of the kind searched (weighted mean) re-identifies more than {} % of the records"
OTHERS = "and no other attack that was counted more than {} % (weighted mean)"


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ([("worst_case", 0.01, 0.02)], f"{NONE_OF.format('2.0')}, {WITHIN}"),
        (
            [("worst_case", 0.01, 0.01), ("attack_classical_mahalanobis", 0.022, 0.022)],
            f"{NONE_OF.format('1.0')}, {OTHERS.format('2.2')}, {WITHIN}",
        ),
        (
            [("worst_case", 0.14, 0.16), ("without_lots", 0.0, 0.0)],
            "at worst 14.0 % or more of the records can be re-identified where equal records are guessed "
            "among (0.0 % without), above the 5.0 % that are tolerated",
        ),
        (
            [("worst_case", 0.04, 0.06)],
            "at worst between 4.0 % and 6.0 % of the records can be re-identified: whether that is within "
            "the 5.0 % that are tolerated is open, and a longer time limit may tell",
        ),
        (
            [("worst_case", 0.01, 0.01), ("no_bound", 0.02, None)],
            f"{NONE_OF.format('1.0')}, {OTHERS.format('2.0')}, {WITHIN}",
        ),
    ],
)
def test_sentences(findings, said):
    assert verdict([_graded(*one) for one in findings], 0.05).sentence == said


@pytest.mark.parametrize(
    ("weighted", "alike", "tolerated", "said"),
    [
        (
            (0.039, 0.039), (0.042, 0.054), 0.04,
            "at worst 4.2 % or more of the records, unweighted (3.9 % of the weighted records) can be "
            "re-identified, above the 4.0 % that are tolerated",
        ),
        (
            (0.06, 0.06), (0.042, 0.054), 0.04,
            "at worst 6.0 % of the weighted records (4.2 % to 5.4 % of the records, unweighted) can be "
            "re-identified, above the 4.0 % that are tolerated",
        ),
        (
            (0.039, 0.039), (0.042, 0.054), 0.05,
            "at worst between 4.2 % and 5.4 % of the records, unweighted (3.9 % of the weighted records) can "
            "be re-identified: whether that is within the 5.0 % that are tolerated is open, and a longer "
            "time limit may tell",
        ),
        (
            (0.039, 0.039), (0.042, 0.054), 0.06,
            "no distance of the kind searched (weighted mean) re-identifies more than 3.9 % of the weighted "
            "records or 5.4 % of the records, unweighted, within the 6.0 % that are tolerated",
        ),
        (
            (0.039, 0.039), (0.042, None), 0.06,
            "no distance of the kind searched (weighted mean) re-identifies more than 3.9 % of the weighted "
            "records, but 4.2 % or more of the records, unweighted, can be re-identified",
        ),
    ],
)  # fmt: skip
def test_weighted_and_unweighted_shares_are_named_and_the_worse_decides(weighted, alike, tolerated, said):
    high = 1.0 if alike[1] is None else alike[1]
    counted = about_links("worst_case_unweighted", *alike, severity=severity_of(alike[0], high, tolerated))
    made = verdict([about_links("worst_case", *weighted, tolerated), counted], tolerated, weighted=True)
    assert made.sentence == said
    assert made.low == max(weighted[0], alike[0])
    assert list(grounds_of(json.loads(json.dumps(jsonable(made))))) == []


def _graded(key, low, high):
    """Findings that settle nothing are information."""
    graded = severity_of(low, 1.0 if high is None else high, 0.05)
    return about_links(key, low, high, severity=Severity.INFORMATION if key in SETTLES_NOTHING else graded)
