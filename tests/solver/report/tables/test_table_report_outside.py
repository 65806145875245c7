"""What readers outside find in the report of a table: nothing that helps an intruder."""

from __future__ import annotations

from report_texts import leaves
from table_files import write_table_files
from table_pages import INNER, texts

from linkrisk import adjust_table, round_table
from linkrisk.solver.report.content.tables.build import table_document
from linkrisk.solver.report.content.tables.outside import for_external
from linkrisk.solver.report.document import Audience

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


def test_values_of_an_adjustment_are_not_outside(tmp_path):
    levels = {(1, 1): 4321.0, (2, 3): 5432.0}
    result = adjust_table(**write_table_files(tmp_path, INNER, levels))
    assert "70001" in texts(result.to_html())
    outside = texts(result.to_html(external=True))
    for value in {number for line in INNER for number in line} | set(result.cells["value"]) | {4321, 5432}:
        assert str(value) not in outside
    assert "Controlled tabular adjustment" in outside


def test_what_is_new_stays_inside(protected):
    given = {**protected, "invented": "ZQXJ", "name": "ZQXJ", "rules": ["ZQXJ"], "backend": "ZQXJ"}
    given["table"] = {**given["table"], "invented": "ZQXJ"}
    assert "ZQXJ" in table_document(given).to_json()
    assert "ZQXJ" not in table_document(given, Audience.EXTERNAL).to_json()


def test_outside_only_what_can_be_counted_in_the_published_table(protected):
    kept = for_external(protected)
    assert kept["loss"]["row"] == [["T", 5, 0], ["1", 5, 2], ["2", 5, 0], ["3", 5, 2], ["4", 5, 2]]
    numbers = {leaf for leaf in leaves(kept) if isinstance(leaf, int | float)}
    assert numbers <= {25, 10, 6, 5, 4, 3, 2, 1, 0}
    assert set(kept) == {
        *("cells", "relations", "suppressed", "protected", "protection", "variables", "loss")
    }


def test_a_table_that_failed_is_not_for_readers_outside(failed):
    head = table_document(failed, Audience.EXTERNAL).headline
    assert (head.answer, head.verdict) == ("above", "This table is not protected, and must not be published.")
