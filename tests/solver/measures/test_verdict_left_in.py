"""Releases whose attack is in no distance: names that were left in, columns released as they are."""

from __future__ import annotations

import hashlib
import json
import subprocess
from typing import Any

import numpy as np
import pandas as pd
import pytest
from report_texts import said

from linkrisk import risk
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.errors import spelled_by
from linkrisk.solver.measures.verdict import grounds_of
from linkrisk.solver.options.keys import DROPPED
from linkrisk.solver.report.page import document_of
from linkrisk.solver.run.flags import flag

N = 40


def released(columns: dict[str, list[Any]], roles: dict[str, Role]) -> dict[str, Any]:
    """The JSON of `risk` on a file whose numbers say nothing any more, with some columns beside them."""
    draw = np.random.default_rng(8)
    names = ["turnover", "assets"]
    original = pd.DataFrame(draw.normal(size=(N, 2)), columns=names).assign(**columns)
    masked = original.assign(**{name: draw.normal(size=N) for name in names})
    known = [Attribute(name, Role.KEY, Scale.NUMERIC) for name in names]
    schema = Schema((*known, *(Attribute(name, role) for name, role in roles.items())))
    made = risk(
        original,
        masked,
        schema=schema,
        row_by_row=True,
        measures="worst-case",
        aggregator="owa",
        tolerated=0.5,
        time_limit=None,
    )
    found: dict[str, Any] = json.loads(made.to_json())
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


@pytest.mark.parametrize("algorithm", ["md5", "sha256"])
@pytest.mark.parametrize("column", ["firm", "pseudonym"])
def test_names_in_digests_are_names(algorithm: str, column: str) -> None:
    """Whoever knows the names computes their digests, or their beginnings, and looks them up."""
    draw = np.random.default_rng(8)
    original = pd.DataFrame({"turnover": draw.normal(size=N), "assets": draw.normal(size=N), "firm": FIRMS})
    masked = original[["turnover", "assets"]].assign(turnover=draw.normal(size=N), assets=draw.normal(size=N))
    masked[column] = [hashlib.new(algorithm, name.encode()).hexdigest()[:12] for name in FIRMS]
    looked_up = {hashlib.new(algorithm, name.encode()).hexdigest()[:12]: name for name in original["firm"]}
    attack = float((masked[column].map(looked_up) == original["firm"]).mean())
    schema = {"attributes": [{"name": "firm", "role": "identifier"}]}
    found = risk(
        original, masked, schema=schema, row_by_row=True, attributes=["turnover", "assets"],
        measures="worst-case", aggregator="owa", tolerated=0.5, time_limit=None,
    ).verdict  # fmt: skip
    assert attack == 1.0
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
    found = risk(
        original, masked, row_by_row=True, attributes=["turnover"], measures="worst-case", aggregator="owa",
        tolerated=0.5, time_limit=None,
    ).verdict  # fmt: skip
    assert attack > N / 2
    assert found.answer == "open"
    assert f"whoever knows it finds {attack} of 40 records by that alone" in found.sentence


def test_names_come_before_a_worst_case_that_is_red_as_well() -> None:
    frame = {"firm": FIRMS, "site": [name[::-1] for name in FIRMS]}
    verdict = released(frame, {"firm": Role.IDENTIFIER, "site": Role.IDENTIFIER})["verdict"]
    assert (
        "the columns firm, site of the original, which `mask` leaves out with drop=['firm', 'site']"
        in verdict["sentence"]
    )


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
