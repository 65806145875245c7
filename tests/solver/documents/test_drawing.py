"""One document, drawn as text and as a card."""

import io
import xml.etree.ElementTree as ET

from hypothesis import example, given
from hypothesis import strategies as st

from linkrisk.solver.charts.chart import Column, Of, Table
from linkrisk.solver.documents.document import Choice, Code, Headline, Items, Number, Numbers, Paragraph
from linkrisk.solver.documents.notebook import ROWS, notebook
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.terminal import terminal

TABLE = Table(
    (Column("name", "Name"), Column("many", "Records", Of.COUNT), Column("share", "Share", Of.SHARE)),
    [["a", 12345, 0.5], ["城市", None, 1 / 3]],
    "By name",
)
NASTY = "<script>alert(\"1\")</script> & 'x'"


def everything(text: str = "words", rows: int = 2):
    table = Table(TABLE.columns, [*TABLE.rows] * rows, text)
    return short(
        [pairs((text, "352 of 400")), Paragraph(text)],
        [Numbers(text, (Number(text, "0.5", "0.4 to 0.6"),)), Items(text, (text,)), Code(text, text)],
        [table, Choice(text, ((text, (Paragraph(text),)),))],
        said=Headline("unknown", text, f"worst: {text}", (f"reason: {text}",), (0.25, 0.5)),
        asked=[f"asked: {text}"],
        notes=[f"first {text}", f"second {text}", f"first {text}"],
        how="exact, seed 0",
    )


def test_text_has_question_answer_findings_notes_and_way_in_this_order():
    document = short(
        [pairs(("re-identified", "352 of 400"), ("tied", "3")), Paragraph("proven: no more")],
        [],
        [TABLE],
        said=Headline("unknown", "At worst 352 of 400 records.", bar=(0.5, 0.75)),
        asked=["a.csv and b.csv: 400 records"],
        notes=["look here", "look here"],
        how="exact, seed 0",
    )
    assert terminal(document, io.StringIO()).splitlines() == [
        "a.csv and b.csv: 400 records",
        "",
        "At worst 352 of 400 records.",
        "  0 % " + "█" * 30 + "▒" * 15 + "░" * 15 + " 100 %",
        "",
        "  re-identified  352 of 400",
        "  tied           3",
        "  proven: no more",
        "",
        "  By name",
        "    Name  Records   Share",
        "    a      12,345  50.0 %",
        "    城市        -  33.3 %",
        "",
        "note: look here",
        "exact, seed 0",
    ]


def test_sentences_are_broken_to_the_terminal_and_other_lines_are_not():
    long = "word " * 40
    said = Headline("unknown", long.strip(), reasons=(long.strip(),))
    drawn = terminal(short([Paragraph(long.strip())], said=said), io.StringIO()).splitlines()
    assert sum(line.startswith("  word") for line in drawn) > 2
    assert max(map(len, drawn[:-2])) < 80
    assert drawn[-1] == f"  {long.strip()}"


def test_every_block_is_in_the_text_and_in_the_card():
    document = everything("unheard of")
    text, card = terminal(document, io.StringIO()), " ".join(ET.fromstring(notebook(document)).itertext())
    for drawn in (text, card):
        assert drawn.count("unheard of") >= 13
        for part in ("0.4 to 0.6", "12,345", "worst: unheard", "reason: unheard", "asked: unheard", "seed 0"):
            assert part in drawn
        assert drawn.count("first unheard of") == 1


def test_longer_tables_say_in_a_card_how_many_rows_they_have_more():
    assert f"{2 * 10 - ROWS} more" in notebook(everything(rows=10))


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=30))
@example(NASTY)
@example("<b>")
@example("]]>&amp;")
def test_any_text_is_drawn_in_a_card_that_is_well_formed_and_has_no_script(text):
    document = everything(text)
    terminal(document, io.StringIO())
    ET.fromstring(notebook(document))
    assert "<script" not in notebook(document)
