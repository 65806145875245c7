"""What readers outside find in the report of a table: nothing that helps an intruder."""

from __future__ import annotations

import pytest
from report_texts import leaves
from table_files import write_table_files
from table_pages import INNER, texts

from linkrisk import adjust_table, round_table
from linkrisk.solver.documents.document import Audience
from linkrisk.solver.tables.pages.build import table_document
from linkrisk.solver.tables.pages.outside import for_external

# Readers outside


def test_nothing_that_helps_an_intruder_is_outside(secret):
    inside, outside = texts(secret.to_html()), texts(secret.to_html(external=True))
    found = secret.to_dict()["table"]["intervals"]
    numbers = {
        round(number)
        for name in ("value", "low", "high", "lower_level", "upper_level")
        for number in found[name]
        if number >= 1000
    }
    assert numbers >= {70001, 91081, 4321, 5432}
    for number in numbers:
        assert str(number) not in outside, number
    assert "70001" in inside
    assert "4321" in inside
    for words in ("987654", "cells.csv", "cost", "proven", "exact", "ensitive", "secondary", "seed"):
        assert words in inside.replace("secondary", "secondary") or words in ("secondary", "seed"), words
        assert words not in outside, words


def test_values_of_a_rounding_are_not_outside(tmp_path):
    result = round_table(**write_table_files(tmp_path, INNER), base=10)
    assert "70001" in texts(result.to_html())
    outside = texts(result.to_html(external=True))
    for value in {number for line in INNER for number in line} | set(result.cells["value"]):
        assert str(value) not in outside
    assert "multiple of 10" in outside


def test_values_of_an_adjustment_that_were_changed_are_not_outside(tmp_path):
    levels = {(1, 1): 4321.0, (2, 3): 5432.0}
    result = adjust_table(**write_table_files(tmp_path, INNER, levels))
    assert "70001" in texts(result.to_html())
    outside = texts(result.to_html(external=True))
    published = set(result.cells["adjusted"])
    before = {number for line in INNER for number in line} | set(result.cells["value"]) | {4321, 5432}
    assert len(before - published) >= 4
    for value in before - published:
        assert str(value) not in outside
    assert all(f"{value:,}" in outside or str(value) in outside for value in published)
    assert "Controlled tabular adjustment" in outside


def test_what_is_new_stays_inside(protected):
    given = {**protected, "invented": "ZQXJ", "name": "ZQXJ", "rules": ["ZQXJ"], "backend": "ZQXJ"}
    given["table"] = {**given["table"], "invented": "ZQXJ"}
    assert "ZQXJ" in table_document(given).to_json()
    assert "ZQXJ" not in table_document(given, Audience.EXTERNAL).to_json()


def test_outside_only_what_can_be_counted_in_the_published_table(protected):
    kept = for_external(protected)
    assert kept["loss"]["row"] == [["T", 5, 0], ["1", 5, 2], ["2", 5, 0], ["3", 5, 2], ["4", 5, 2]]
    rest = {name: part for name, part in kept.items() if name != "table"}
    numbers = {leaf for leaf in leaves(rest) if isinstance(leaf, int | float)}
    assert numbers <= {25, 10, 6, 5, 4, 3, 2, 1, 0}
    assert set(rest) == {
        *("cells", "relations", "suppressed", "protected", "protection", "variables", "loss", "from"),
        *("least", "none_beside"),
    }
    cells = protected["table"]["all"]
    pairs = zip(cells["value"], cells["status"], strict=True)
    assert kept["table"]["all"]["shown"] == [None if status in "um" else value for value, status in pairs]
    assert set(kept["table"]["all"]) == {"codes", "shown"}


def test_a_table_that_must_not_be_published_is_not_outside(failed):
    assert not failed["protected"]
    assert "table" not in for_external(failed)


@pytest.mark.parametrize(
    ("looked", "said"),
    [
        (
            {"who": ["singletons"], "left_out": None, "in_part": False},
            "computed too closely by readers who know what is published, and nothing more, or by respondents "
            "who are alone in a cell.",
        ),
        (
            {"who": ["contributors", "coalitions"], "left_out": None, "in_part": True},
            "or by any respondent and respondents whom the office expects to tell one another, as far as any "
            "suppression could keep it from these.",
        ),
        (
            {"who": [], "left_out": "a reason", "in_part": False},
            "and nothing more. Respondents who are alone in a cell, and subtract what they know, were not "
            "looked at.",
        ),
    ],
)
def test_from_whom_it_is_protected(protected, looked, said):
    document = table_document({**protected, "from": looked}, Audience.EXTERNAL)
    assert document.headline.worst.endswith(said)


def test_a_table_that_failed_is_not_for_readers_outside(failed):
    head = table_document(failed, Audience.EXTERNAL).headline
    assert (head.answer, head.verdict) == ("above", "This table is not protected, and must not be published.")
