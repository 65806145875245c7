"""What a terminal and a notebook show of a masking, a suppression, a protocol and a description."""

import re
import xml.etree.ElementTree as ET

import pandas as pd
import pytest

from linkrisk import describe, mask, run_protocol, suppress, unsafe
from linkrisk.solver.documents.notebook import notebook
from linkrisk.solver.documents.short import short_of
from linkrisk.solver.suppression.page import suppression_document

NASTY = "<script>alert(\"1\")</script> & 'x'\x1b[31m\u202e"
SHOWN = "$'<script>alert(\"1\")</script> & \\'x\\'\\u001b[31m\\u202e'"
SEED = 271828182845


@pytest.fixture
def people():
    """Four towns by sex, one of them with a single person, and an income."""
    return pd.DataFrame(
        {
            NASTY: ["Urk", "Urk", "Urk", "Urk", "Delft", "Delft", NASTY],
            "sex": ["f", "m", "f", "m", "f", "f", "m"],
            "income": [7.5, 8.25, 3.5, 9.75, 1.25, 2.5, 6.5],
            "same": [NASTY] * 7,
        }
    )


def words(result) -> str:
    """The words of the card, which is well-formed and has no script whatever it shows."""
    html = result._repr_html_()
    assert "<script" not in html
    return " ".join(" ".join(ET.fromstring(html.replace("\x1b", "")).itertext()).split())


def shown(result) -> str:
    """What a terminal shows: nothing that moves in it or colours it."""
    text = str(result)
    assert re.sub(r"[^\S\n]", " ", text).replace("\n", "").isprintable()
    return text


def test_a_suppression_says_the_headline_of_its_page_and_what_was_taken(people):
    result = suppress(people, keys=[NASTY, "sex", "same"], k=2, ghosts={"sex": ["income"]})
    text, card = shown(result), words(result)
    head = "1 of 21 (4.8 %) values of key variables suppressed: proven, no fewer will do."
    assert (head in text, head in card) == (True, True)
    assert suppression_document(result.to_dict()).headline == result.in_short().headline
    assert "  suppressed  1 of " + SHOWN in text
    assert "  ghosts      income with sex\n" in text
    assert f"1 of {SHOWN}" in card
    assert "Before: 1 of 7 (14.3 %) records have an unsafe combination." in card


def test_unsafe_combinations_are_counted_by_variable_category_and_level(people):
    result = unsafe(
        people, k=2, recode=[f"global-recoding categories=2 attributes={'income'}"], keys=[NASTY, "sex"]
    )
    text, card = shown(result), words(result)
    assert "1 of 7 (14.3 %) records have an unsafe combination." in text
    assert "minimal unsafe combinations of records" in card
    assert f"{SHOWN} = " in text
    assert SHOWN in card


def test_a_masking_says_what_became_of_columns_but_not_the_seed(people):
    result = mask(people, "noise percent=5", seed=SEED)
    text, card = shown(result), words(result)
    assert text.startswith("the table: 7 records, 4 columns\n\n1 of 4 columns masked.\n")
    assert "  masked  income\n" in text
    assert f"  as is   {SHOWN}, sex, same\n" in text
    assert "independent normal noise with 5 % of the standard deviation of income" in card
    assert str(SEED) in result.to_json()
    assert str(SEED) not in text + card + repr(result)


def test_a_masking_says_what_stayed_and_what_was_lost():
    step = {"method": "local-suppression", "attributes": [NASTY, "b"], "said": "local suppression"}
    content = {
        "format": "linkrisk-masking",
        "version": 1,
        "name": NASTY,
        "records": 1200,
        "columns": 3,
        "methods": [step, {**step, "attributes": ["b"]}],
        "masked": [NASTY, "b"],
        "unchanged": ["b"],
        "as_is": ["id"],
        "left_alone": {"id": "id"},
        "withheld": {NASTY: 1500},
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
        "1 of 3 columns masked.",
        f"1,500 of {SHOWN}: these values become missing",
        "b: masking has not changed a single value",
        "b: local-suppression, then local-suppression",
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
    assert "1 of 1 step done." in shown(result)
    assert "  step 1  independent normal noise" in shown(result)
    assert "note: seeds were drawn: nothing makes this file again but these" in shown(result)
    assert f"people.csv to {tmp_path}/<b>.csv" in words(result)


def test_a_description_cuts_names_and_values_to_the_terminal(people, monkeypatch):
    result = describe(people)
    card = words(result)
    assert SHOWN in card
    assert "1.25 to 9.75" in card
    for columns in (50, 70, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        table = shown(result).split("\n\n")[1].splitlines()
        assert max(map(len, table)) <= columns
        assert ("..." in table[1]) == (columns < 200)
        assert any("1.25 to 9.75" in line for line in table)
