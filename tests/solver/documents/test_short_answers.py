"""What terminal and notebook show of results: the same, whatever names and values contain."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from fit_runs import frames

from linkrisk import describe, evaluate, fit, link, mask, risk, run_protocol, suppress, sweep, unsafe, verify
from linkrisk.solver.documents.notebook import notebook
from linkrisk.solver.documents.short import short_of
from linkrisk.solver.documents.terminal import terminal
from linkrisk.solver.suppression.page import suppression_document
from linkrisk.solver.worst_case.contest import BackendRow

NASTY = "<script>alert(\"1\")</script> & 'x'"


def said(html: str) -> str:
    assert "<script" not in html
    return " ".join(" ".join(ET.fromstring(html).itertext()).split())


def shown(result) -> str:
    document = result.in_short() if hasattr(result, "in_short") else short_of(result)
    text = " ".join(terminal(document).split())
    for sentence in document.headline.sentences:
        assert " ".join(sentence.split()) in text
    return said(notebook(document))


@pytest.fixture(scope="module")
def pair():
    original, masked = frames(0)
    names = [NASTY, *original.columns[1:]]
    return original.set_axis(names, axis=1), masked.set_axis(names, axis=1)


@pytest.fixture(scope="module")
def one(pair):
    return fit(*pair, aggregator="weighted-mean", certificate=True)


@pytest.fixture(scope="module")
def measured(pair):
    return risk(*pair, aggregator="weighted-mean", measures=["worst-case", "uniqueness", "references"])


def test_a_fit_says_its_headline_first(one):
    words = shown(one)
    assert words.startswith(f"At worst {one.linked} of {one.records} records (")
    assert f"{NASTY} {one.parameters['weights'][NASTY]:.4f}" in words
    assert shown(one.worst) == words


def test_several_families_and_one_without_a_result(pair):
    found = fit(*pair, aggregator="weighted-mean,owa")
    content = found.to_dict()
    content["families"].append({"aggregator": "choquet", "reason": f"too large {NASTY}"})
    words = shown(content)
    assert "Weighted mean" in words
    assert f"no result: too large {NASTY}" in words
    assert f"At worst {found.linked} of" in words


def test_risk_and_its_measures(measured):
    words, sentence = shown(measured), measured.verdict.sentence
    assert words.startswith(f"{sentence[:1].upper()}{sentence[1:]}.")
    titles = measured.to_dict()["titles"]
    assert all(titles[name] in words for name in measured.measures)
    assert all(name in words and reason in words for name, reason in measured.not_measured.items())
    for name, result in measured.measures.items():
        own = shown(result)
        assert own.startswith(name)
        assert " ".join(result.paragraph.split()) in own
        assert all(finding.words[1:] in own for finding in result.findings)


def test_a_sweep_with_a_run_that_was_refused():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(12, 2)), columns=[NASTY, "b"])
    methods = ["noise percent=50", "microaggregation k=100"]
    found = sweep(frame, methods, aggregator="owa", measures="worst-case", workers=1, work_limit=1.0)
    words = shown(found)
    assert words.startswith("1 of 2 maskings were measured")
    assert all(run.reason is None or run.reason in words for run in found.runs)
    content = {**found.to_dict(), "name": NASTY, "unfinished": [NASTY], "maskings": 3}
    assert "stopped: 1 of 3 maskings are not measured" in shown(content)
    assert NASTY in shown(content)


def test_a_verification_that_holds_and_one_that_does_not(one, pair):
    held = verify(one, *pair)
    assert shown(held).startswith("Verified. Proved: At worst")
    assert str(held).startswith("of the original and, masked, the release:\nproved: no weighted mean links")
    refused = {**held.to_dict(), "verified": False, "rejected": NASTY, "proved": None}
    assert shown(refused).startswith(f"Rejected: {NASTY}")


def test_an_evaluation_says_how_many_are_linked_and_what_others_link(pair, one):
    result = evaluate(*pair, parameters=one)
    words, total = shown(result), result.records
    assert words.startswith(f"{result.linked} of {total} records (")
    for name, words_of in (("euclid", "Euclidean"), ("mahalanobis", "classical Mahalanobis")):
        assert f"{words_of} distance {result.to_dict()['baselines'][name]} of {total}" in words


def test_a_link_names_the_linker_and_its_matching(pair):
    result = link(*pair, method="dbrl", one_to_one="hungarian")
    words = shown(result)
    assert words.startswith(f"{result.linked} of {result.records} records (")
    assert "dbrl, original to masked" in words
    assert result.one_to_one is not None
    assert f"hungarian {result.one_to_one.correct} of {result.one_to_one.claimed} links right" in words
    nothing = {"matching": NASTY, "claimed": 0, "correct": 0, "precision": None, "recall": 0.0}
    words = shown({**result.to_dict(), "one_to_one": nothing, "notes": [NASTY]})
    assert f"one to one, {NASTY} 0 of 0 links right, precision -, recall 0.0000" in words
    assert words.endswith(NASTY)


def test_found_links_claim_nothing_about_the_truth():
    counts = {"compared": 30, "linked": 12, "clerical": 1, "estimated_false_links": 0.42}
    passes = {
        "passes": [{**counts, "keys": NASTY, "estimated_lost": 0.1, "estimated_lost_so_far": 0.1}],
        **counts,
        "decided": 0,
        "estimated_missed": None,
    }
    content = {
        "format": "linkrisk-links", "method": "prl", "queries": 1000, "candidates": 20, "name": "a and b",
        "direction": "original-to-masked", "matching": None, "passes": passes, "notes": [],
    }  # fmt: skip
    words = shown(content)
    assert words.startswith("12 links; which of them are right is not known.")
    assert "1,000 and 20 records" in words
    assert f"1 {NASTY} 30 12 1 0.4 10.0 %" in words


def test_a_contradiction_stands_in_the_headline():
    numbers = dict.fromkeys(field.name for field in fields(BackendRow))
    row = {
        **numbers, "engine": "milp", "backend": NASTY, "status": "feasible", "limit": "time", "version": "1",
    }  # fmt: skip
    said_of = {
        "records": 3, "candidates": 3, "attributes": ["a"], "name": "x", "direction": "original-to-masked",
    }  # fmt: skip
    content = {**said_of, "aggregator": "owa", "aggregator_options": {}, "notes": [], "margin": 0.001}
    more = {"backends": [row], "disagreements": [f"{NASTY} lies"], "format": "linkrisk-comparison"}
    words = said(notebook(short_of({**content, **more})))
    assert words.startswith(f"DISAGREEMENT: {NASTY} lies")
    assert "feasible" in words


MOVING = "<script>alert(\"1\")</script> & 'x'\x1b[31m\u202e"
MOVED = "$'<script>alert(\"1\")</script> & \\'x\\'\\u001b[31m\\u202e'"
SEED = 271828182845


@pytest.fixture
def people():
    return pd.DataFrame(
        {
            MOVING: ["Urk", "Urk", "Urk", "Urk", "Delft", "Delft", MOVING],
            "sex": ["f", "m", "f", "m", "f", "f", "m"],
            "income": [7.5, 8.25, 3.5, 9.75, 1.25, 2.5, 6.5],
            "same": [MOVING] * 7,
        }
    )


def words(result) -> str:
    html = result._repr_html_()
    assert "<script" not in html
    return " ".join(" ".join(ET.fromstring(html.replace("\x1b", "")).itertext()).split())


def printed(result) -> str:
    text = str(result)
    assert re.sub(r"[^\S\n]", " ", text).replace("\n", "").isprintable()
    return text


def test_a_suppression_says_the_headline_of_its_page_and_what_was_taken(people):
    result = suppress(people, keys=[MOVING, "sex", "same"], k=2, ghosts={"sex": ["income"]})
    text, card = printed(result), words(result)
    head = "1 of 21 (4.8 %) values of key variables suppressed: proven, no fewer will do."
    assert (head in text, head in card) == (True, True)
    assert suppression_document(result.to_dict()).headline == result.in_short().headline
    assert "  suppressed  1 of " + MOVED in text
    assert "  ghosts      income with sex\n" in text
    assert f"1 of {MOVED}" in card
    assert "Before: 1 of 7 (14.3 %) records have an unsafe combination." in card


def test_unsafe_combinations_are_counted_by_variable_category_and_level(people):
    result = unsafe(
        people, k=2, recode=[f"global-recoding categories=2 attributes={'income'}"], keys=[MOVING, "sex"]
    )
    text, card = printed(result), words(result)
    assert "1 of 7 (14.3 %) records have an unsafe combination." in text
    assert "minimal unsafe combinations of records" in card
    assert f"{MOVED} = " in text
    assert MOVED in card


def test_a_masking_says_what_became_of_columns_but_not_the_seed(people):
    result = mask(people, "noise percent=5", seed=SEED)
    text, card = printed(result), words(result)
    assert text.startswith("the table: 7 records, 4 columns\n\n1 of 4 columns masked.\n")
    assert "  masked  income\n" in text
    assert f"  as is   {MOVED}, sex, same\n" in text
    assert "independent normal noise with 5 % of the standard deviation of income" in card
    assert str(SEED) in result.to_json()
    assert str(SEED) not in text + card + repr(result)


def test_a_masking_says_what_stayed_and_what_was_lost():
    step = {"method": "local-suppression", "attributes": [MOVING, "b"], "said": "local suppression"}
    content = {
        "format": "linkrisk-masking",
        "version": 1,
        "name": MOVING,
        "records": 1200,
        "columns": 3,
        "methods": [step, {**step, "attributes": ["b"]}],
        "masked": [MOVING, "b"],
        "unchanged": ["b"],
        "as_is": ["id"],
        "left_alone": {"id": "id"},
        "withheld": {MOVING: 1500},
        "identifiers": ["id"],
        "order": [1],
        "order_told_by": ["id"],
        "labels": {"b": {str(at): f"l{at}" for at in range(9)}},
        "perhaps_codes": ["b"],
        "several_per_household": {"b": "id"},
        "renumbered": ["n"],
    }
    html = notebook(short_of(content))
    text = " ".join(ET.fromstring(html.replace("\x1b", "")).itertext())
    for said in (
        *("1 of 3 columns masked.", f"1,500 of {MOVED}: these values become missing"),
        *("b: masking has not changed a single value", "b: local-suppression, then local-suppression"),
        "id (as id); to mask them anyway, name them with attributes",
        "id: left in, and name the records; drop leaves them out",
        "by id, as they were; renumber makes new ones",
        "0 = l0, 1 = l1, 2 = l2, 3 = l3, 4 = l4, 5 = l5, 6 = l6, 7 = l7, ...",
        "b: few different whole numbers, masked as numbers; if these are codes, say so in a schema",
        "b had one value in each household (id) and has several now",
    ):
        assert said in text


def test_a_protocol_says_its_steps_and_whether_it_can_be_repeated(people, tmp_path):
    people.to_csv(tmp_path / "people.csv", index=False)
    lines = ['[input]\nfile = "people.csv"', '[[step]]\ncommand = "mask"\nmethod = "noise percent=5"']
    (tmp_path / "steps.toml").write_text("\n".join(lines), encoding="utf-8")
    result = run_protocol(tmp_path / "steps.toml", tmp_path / "<b>.csv")
    assert "1 of 1 step done." in printed(result)
    assert "  step 1  independent normal noise" in printed(result)
    assert "note: seeds were drawn: nothing makes this file again but these" in printed(result)
    assert f"people.csv to {tmp_path}/<b>.csv" in words(result)


def test_a_description_cuts_names_and_values_to_the_terminal(people, monkeypatch):
    result = describe(people)
    card = words(result)
    assert MOVED in card
    assert "1.25 to 9.75" in card
    for columns in (50, 70, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        table = printed(result).split("\n\n")[1].splitlines()
        assert max(map(len, table)) <= columns
        assert ("..." in table[1]) == (columns < 200)
        assert any("1.25 to 9.75" in line for line in table)
