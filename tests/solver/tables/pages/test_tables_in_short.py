"""What terminals and notebooks show of results of tables: as on the page, and nothing that is code."""

from __future__ import annotations

import json
from html import unescape

import pandas as pd
import pytest
from small_tables import write_table_files

from linkrisk import (
    adjust_table,
    compare_table,
    make_table,
    make_tables,
    perturb_counts,
    perturb_sums,
    recode_table,
    round_table,
    suppress_table,
)
from linkrisk.solver.documents.document import Numbers
from linkrisk.solver.documents.short import short_of
from linkrisk.solver.tables.pages.build import table_document

NASTY = "<img src=x onerror=alert(1)>&"
BY = [NASTY, "size"]


@pytest.fixture(scope="module")
def firms() -> pd.DataFrame:
    """Sixty firms, in regions and with a variable whose names are HTML."""
    sizes = ["big", "small", "small", "small", "small"]
    amounts = [1000 + 17 * at for at in range(60)]
    return pd.DataFrame({NASTY: [NASTY, "South", "East"] * 20, "size": sizes * 12, "turnover": amounts})


@pytest.fixture(scope="module")
def results(firms):
    made = make_table(firms, BY, response="turnover", rules=["frequency=5"], publish_respondents=True)
    amounts = make_table(firms, BY, response="turnover", rules=["p=30"])
    counted = make_table(firms, BY, rules=["frequency=5"])
    found = [
        suppress_table(made, exact=True),
        round_table(counted, base=5),
        adjust_table(counted),
        perturb_counts(firms, BY, most=2, variance=1.0, seed=3),
        perturb_sums(firms, BY, response="turnover", noise="most=5,variance=2", share=0.1, seed=3),
        recode_table(firms, BY, rules=["frequency=5"], suppress=True),
        compare_table(amounts, backends=["highs"]),
        make_tables(firms, [BY, ["size"]], rules=["frequency=5"]),
        counted,
    ]
    return {type(one).__name__: one for one in found}


KINDS = [
    *("TableResult", "RoundedTable", "AdjustedTable", "PerturbedCounts", "PerturbedSums", "RecodedTable"),
    *("TableComparison", "MadeTables", "MadeTable"),
]


@pytest.mark.parametrize("name", KINDS)
def test_every_result_has_both_faces(results, name):
    result = results[name]
    card, text = result._repr_html_(), str(result)
    assert "<img" not in card
    assert "onerror=alert(1)&gt;&amp;" in card or NASTY not in json.dumps(result.to_dict())
    first = result.in_short().headline.sentences[0]
    assert first in unescape(card)
    assert " ".join(first.split()) in " ".join(text.split())
    assert short_of(json.loads(result.to_json())) == result.in_short()  # of what was written, too


@pytest.mark.parametrize("name", KINDS[:6])
def test_a_terminal_says_what_the_page_says(results, name):
    given = results[name].to_dict()
    document, short = table_document(given), short_of(given)
    assert short.headline == document.headline
    blocks = [block for section in document.sections for block in section.blocks]
    page = {(one.words, one.value) for block in blocks if isinstance(block, Numbers) for one in block.numbers}
    said = [block for section in short.sections for block in section.shown]
    numbers = [one for block in said if isinstance(block, Numbers) for one in block.numbers]
    assert numbers or name == "RecodedTable"
    for one in numbers:
        assert any(one.words == words and one.value.startswith(value) for words, value in page)


def test_numbers_of_respondents_are_a_part_of_their_own(results):
    text = str(results["TableResult"])
    assert "  Numbers of respondents\n    They are published beside the values" in text
    assert text.count("  Nearest to its level ") == 2
    assert "every level is met" in text


def test_who_may_have_forgotten_something_is_told(tmp_path):
    files = write_table_files(tmp_path)
    assert "if they count, say so: counts=True" in str(suppress_table(**files))
    text = str(suppress_table(**write_table_files(tmp_path, levels={})))
    assert "note: sensitive cells are those of status u: there was nothing to protect" in text
