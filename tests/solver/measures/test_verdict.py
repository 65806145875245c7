"""The verdict of a release."""

from __future__ import annotations

import hashlib
import json
import subprocess
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_cases import said

from linkrisk import risk
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.errors import spelled_by
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
from linkrisk.solver.options.command_line import flag
from linkrisk.solver.options.data import DROPPED
from linkrisk.solver.report.page import document_of

ends = st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)).map(sorted)
keys = st.sampled_from(["worst_case", "without_lots", "attack_equal_weights", "releases"])


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


WITHIN = "within the 5.0 % that are tolerated"
NONE_OF = "no distance of the kind searched (weighted mean) re-identifies more than {} % of the records"
OTHERS = "and no other attack that was counted more than {} % (weighted mean)"


OPEN = "is open, and a longer time limit may tell"


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
            f"the 5.0 % that are tolerated {OPEN}",
        ),
        (
            [("worst_case", 0.01, 0.01), ("no_bound", 0.02, None)],
            f"{NONE_OF.format('1.0')}, {OTHERS.format('2.0')}, {WITHIN}",
        ),
    ],
)
def test_sentences(findings, said):
    graded = []
    for key, low, high in findings:
        severity = severity_of(low, 1.0 if high is None else high, 0.05)
        settles_nothing = key in ("without_lots", "no_bound")
        severity = Severity.INFORMATION if settles_nothing else severity
        graded.append(about_links(key, low, high, severity=severity))
    assert verdict(graded, 0.05).sentence == said


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
            f"be re-identified: whether that is within the 5.0 % that are tolerated {OPEN}",
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


N = 40


FALLEN: dict[str, Any] = {
    "row_by_row": True, "measures": "worst-case", "aggregator": "owa", "tolerated": 0.5, "time_limit": None,
}  # fmt: skip


def released(columns: dict[str, list[Any]], roles: dict[str, Role]) -> dict[str, Any]:
    """The JSON of `risk` on a file whose numbers say nothing any more, with some columns beside them."""
    draw = np.random.default_rng(8)
    names = ["turnover", "assets"]
    original = pd.DataFrame(draw.normal(size=(N, 2)), columns=names).assign(**columns)
    masked = original.assign(**{name: draw.normal(size=N) for name in names})
    known = [Attribute(name, Role.KEY, Scale.NUMERIC) for name in names]
    schema = Schema((*known, *(Attribute(name, role) for name, role in roles.items())))
    found: dict[str, Any] = json.loads(risk(original, masked, schema=schema, **FALLEN).to_json())
    return found


FIRMS = [f"Firm {at:04d} Ltd" for at in range(N)]
BIRTH = [f"19{40 + at % 25}-05-11" for at in range(N)]


def attack(columns: dict[str, list[Any]]) -> float:
    """Who knows these columns of everybody looks for the one record that has them."""
    frame = pd.DataFrame(columns)
    return float((~frame.duplicated(keep=False)).mean())


@pytest.mark.parametrize("role", [Role.IDENTIFIER, Role.IGNORED])
def test_names_are_the_first_sentence_and_red(role: Role) -> None:
    content = released({"firm": FIRMS}, {"firm": role})
    sentence = (
        "the release names 40 of 40 records: it has the column firm of the original, which `mask` leaves "
        "out with drop=['firm']"
    )
    verdict = content["verdict"]
    assert (verdict["answer"], verdict["sentence"]) == ("above", sentence)
    assert verdict["findings"][0]["key"] == "identifiers_left_in"
    head = document_of(content).to_dict()["headline"]
    assert head["verdict"].lower().startswith(sentence.lower()[:40])
    assert "Leave firm out before anything else" in said(content)


def test_the_command_that_is_suggested_takes_the_column_whatever_it_is_called() -> None:
    name = 'Firm, "legal" name\nit\'s = $HOME'
    asked = {name: FIRMS}, {name: Role.IDENTIFIER}
    with spelled_by(flag):
        content = released(*asked)
    sentence = content["verdict"]["sentence"]
    words = sentence[sentence.index("--drop") :]
    printed = subprocess.run(["bash", "-c", f"printf '%s\\0' {words}"], capture_output=True, check=True)
    assert DROPPED.parse(printed.stdout.decode("utf-8").split("\0")[1]) == [name]
    assert sentence.isprintable()
    assert words in said(content)
    assert f"drop={[name]!r}" in released(*asked)["verdict"]["sentence"]


@pytest.mark.parametrize(("algorithm", "column"), [("md5", "firm"), ("sha256", "pseudonym")])
def test_names_in_digests_are_names(algorithm: str, column: str) -> None:
    """Whoever knows the names computes their digests, or their beginnings, and looks them up."""
    draw = np.random.default_rng(8)
    original = pd.DataFrame({"turnover": draw.normal(size=N), "assets": draw.normal(size=N), "firm": FIRMS})
    masked = original[["turnover", "assets"]].assign(turnover=draw.normal(size=N), assets=draw.normal(size=N))
    masked[column] = [hashlib.new(algorithm, name.encode()).hexdigest()[:12] for name in FIRMS]
    schema = {"attributes": [{"name": "firm", "role": "identifier"}]}
    found = risk(original, masked, schema=schema, attributes=["turnover", "assets"], **FALLEN).verdict
    assert found.answer == "above"
    assert found.sentence.startswith(f"the release names 40 of 40 records: it has the column {column}")


def test_a_text_that_was_cut_stands_against_green() -> None:
    """Who knows what was written finds the text with most of its words."""
    draw = np.random.default_rng(8)
    known = "acute chronic pain left right knee heart nurse driver lives near school moved ill since"
    words = sorted(known.split())
    notes = [" ".join(draw.choice(words, 9)) for _ in range(N)]
    original = pd.DataFrame({"turnover": draw.normal(size=N), "note": notes})
    cut = [" ".join(text.split()[:7]).upper() for text in notes]
    masked = pd.DataFrame({"turnover": draw.normal(size=N), "note": cut})
    sets = [[set(text.lower().split()) for text in side] for side in (notes, cut)]
    alike = np.array([[len(one & other) / len(one | other) for other in sets[1]] for one in sets[0]])
    attack = int((alike.diagonal() > np.where(np.eye(N) == 1.0, -1.0, alike).max(axis=1)).sum())
    found = risk(original, masked, attributes=["turnover"], **FALLEN).verdict
    assert attack > N / 2
    assert found.answer == "open"
    assert f"whoever knows it finds {attack} of 40 records by that alone" in found.sentence


def test_dates_that_were_released_as_they_are_stand_against_green() -> None:
    columns = {"birth": BIRTH, "sex": [at % 2 for at in range(N)]}
    content = released(columns, {"birth": Role.IGNORED})
    verdict = content["verdict"]
    assert verdict["answer"] == "open"
    (finding,) = (one for one in verdict["findings"] if one["key"] == "unchanged_not_compared")
    assert finding["severity"] == "against-green"
    counts = {name: round(attack({name: values}) * N) for name, values in columns.items()}
    together = round(attack(columns) * N)
    assert together > counts["birth"] > counts["sex"] == 0
    assert finding["sentence"] == (
        "the columns birth, sex were released as they are and are not compared: whoever knows them finds "
        f"{together} of 40 records ({counts['birth']} by birth, 0 by sex)"
    )
    assert finding["sentence"] in verdict["sentence"] + " ".join(grounds_of(verdict))
    assert "Say what intruders know of birth and sex" in said(content)


@pytest.mark.parametrize("role", [Role.CONFIDENTIAL, Role.WEIGHT])
def test_what_no_intruder_knows_leaves_a_verdict_green(role: Role) -> None:
    verdict = released({"income": [1.5 + at for at in range(N)]}, {"income": role})["verdict"]
    assert verdict["answer"] == "below"
    assert {one["severity"] for one in verdict["findings"]} == {"information"}


def test_readers_outside_learn_that_there_are_names_and_not_which() -> None:
    from linkrisk.solver.documents.document import Audience

    content = released({"firm": FIRMS}, {"firm": Role.IDENTIFIER})
    texts = said(content, audience=Audience.EXTERNAL).lower()
    assert "the release has columns that name its records" in texts
    assert "firm" not in texts.replace("confirm", "")


def test_what_is_red_or_stands_against_green_without_a_number_is_said() -> None:
    named = VerdictFinding("names", Severity.RED, "the release names its records", ("firm",))
    made = verdict([about_links("worst_case", 0.01, 0.01), named], 0.05)
    assert (made.answer, made.sentence) == ("above", "the release names its records")
    assert made.findings[0] is named
    dates = VerdictFinding("dates", Severity.AGAINST_GREEN, "776 of 800 records are unique by their dates")
    made = verdict([about_links("worst_case", 0.009, 0.009, about=("weighted mean", "OWA")), dates], 0.05)
    assert made.answer == "open"
    assert made.sentence == (
        "none of the two kinds of distance searched (weighted mean, OWA) re-identifies more than 0.9 % of "
        "the records, but 776 of 800 records are unique by their dates"
    )
