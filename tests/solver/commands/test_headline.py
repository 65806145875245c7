"""The headline of printed summaries: one sentence, and a bar that says the same."""

import io
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fit_runs import frames
from hypothesis import given
from hypothesis import strategies as st

from linkrisk import fit
from linkrisk.solver.app.answers import interval_of
from linkrisk.solver.documents.short import short
from linkrisk.solver.documents.terminal import bar, columns, terminal
from linkrisk.solver.report.page import document_of
from linkrisk.solver.run.number_format import percent
from linkrisk.solver.schemas.intervals import ends_said, shares_of, worst_sentence

KIND = "can be re-identified by a distance of this kind"


def stream_of(encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding)


@pytest.mark.parametrize(
    ("ends", "options", "said"),
    [
        ((352, 354, 400), {}, f"At worst between 352 and 354 of 400 records (88.0 % to 88.5 %) {KIND}."),
        ((381, 381, 400), {}, f"At worst 381 of 400 records (95.2 %) {KIND}."),
        ((0, 0, 0), {}, f"At worst 0 of 0 records (0.0 %) {KIND}."),
        ((1, 1, 1), {}, f"At worst 1 of 1 records (100.0 %) {KIND}."),
        ((9.5, 10, 12345), {}, f"At worst between 9.5 and 10 of 12,345 records (0.1 %) {KIND}."),
        (
            (10, 20, 40),
            {"weighted": True, "confidence": 0.95},
            "At worst records that stand for between 10 and 20 of 40 (25.0 % to 50.0 %) "
            f"{KIND}, with 95 % confidence.",
        ),
        ((0, 120, 120), {}, f"At least 0 of 120 records (0.0 %) {KIND}; no bound was found in time."),
        ((60, 119.9, 120), {}, f"At least 60 of 120 records (50.0 %) {KIND}; no bound was found in time."),
        (
            (53343.2, 72134.9, 72134.9),
            {"weighted": True, "confidence": 0.95},
            f"Records that stand for at least 53,343 of 72,135 (73.9 %) {KIND}; no bound was found in time.",
        ),
        (
            (2278.1, 2278.2, 72134.9),
            {"weighted": True},
            f"At worst records that stand for 2,278 of 72,135 (3.2 %) {KIND}.",
        ),
        (
            (0, 0, 240),
            {"guessed": (32.83, 40)},
            f"At worst between 32.83 and 40 of 240 records (13.7 % to 16.7 %) {KIND} where equal records are "
            "guessed among (0.0 % without).",
        ),
    ],
)
def test_the_sentence(ends, options, said):
    assert worst_sentence(*ends, **options) == said


@pytest.mark.parametrize(
    ("ends", "certain", "said"),
    [
        ((0.1 + 0.2, 0.3), True, "proven"),
        ((0.3, 0.1 + 0.2), True, "proven"),
        ((0.2, 0.3), True, "20.0 % to 30.0 %, sure"),
        ((0.2, None), True, "or more, no bound in time"),
        ((0.739, 1.0), True, "or more, no bound in time"),
        ((1.0, 1.0), True, "proven"),
        ((0.2, None), False, "20.0 % or more, sure"),
        ((None, 0.2), False, "20.0 % or less, sure"),
        ((0.2, 1.0), False, "20.0 % to 100.0 %, sure"),
        ((0.0321, 0.0324), False, "3.2 %, sure"),
    ],
)
def test_what_stands_beside_a_number(ends, certain, said):
    assert ends_said(*ends, "sure", percent, certain=certain, share=True) == said


def test_a_file_of_equal_groups_is_not_said_to_be_safe():
    """Of three equal records one is guessed right, and none is nearest alone."""
    values = np.repeat(np.arange(6.0), 3)
    masked = pd.DataFrame({"x": values, "y": values**2})
    original = masked + np.tile([0.0, 0.01, 0.02], 6)[:, None]
    found = fit(original, masked, aggregator="weighted-mean", row_by_row=True)
    assert found.interval == (0, 0)
    assert found.guessed == pytest.approx((6, 6))
    said = found.in_short().headline.verdict
    assert (
        said
        == f"At worst 6 of 18 records (33.3 %) {KIND} where equal records are guessed among (0.0 % without)."
    )
    assert said in found._repr_html_()
    assert said in " ".join(str(found).split())
    assert document_of(found.to_dict()).headline.worst == said
    assert interval_of(found.to_dict()).proven


@given(st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted), st.integers(1, 200))
def test_every_part_that_is_there_is_seen(ends, width):
    low, high = ends
    drawn = bar(low, high, width, "#=.")
    cells = drawn.removeprefix("  0 % ").removesuffix(" 100 %")
    assert len(cells) >= 10
    assert len(drawn) <= max(width, 22)
    assert cells == "#" * cells.count("#") + "=" * cells.count("=") + "." * cells.count(".")
    for mark, part in (("#", low), ("=", high - low), (".", 1.0 - high)):
        share = cells.count(mark) / len(cells)
        assert share > 0 if part > 0 else share <= 1 / len(cells)
        assert abs(share - part) <= 2.1 / len(cells)


def test_the_bar_of_nothing_and_of_all():
    assert bar(0.0, 0.0, 22, "#=.") == "  0 % .......... 100 %"
    assert bar(1.0, 1.0, 22, "#=.") == "  0 % ########## 100 %"
    assert bar(0.0, 1.0, 22, "#=.") == "  0 % ========== 100 %"
    assert bar(0.001, 0.999, 22, "#=.") == "  0 % #========. 100 %"


@pytest.fixture(scope="module")
def result():
    return fit(*frames(0), aggregator="weighted-mean")


def headline(result):
    """The sentence and the bar alone."""
    return short(said=result.in_short().headline)


@pytest.mark.parametrize(("encoding", "full"), [("utf-8", "█"), ("ascii", "#"), ("latin-1", "#")])
def test_blocks_where_they_can_be_written(result, encoding, full):
    stream = stream_of(encoding)
    lines = terminal(headline(result), stream).splitlines()
    assert full in lines[-1]
    stream.write("\n".join(lines))  # which is what would fail
    assert " ".join(lines[:-1]) == worst_sentence(*result.interval, result.total)


@pytest.mark.parametrize("width", [30, 40, 80, 200])
def test_lines_fit_the_terminal(result, width, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("os.get_terminal_size", lambda _: SimpleNamespace(columns=width))
    stream = SimpleNamespace(fileno=lambda: 1, encoding="utf-8")
    assert max(map(len, terminal(headline(result), stream).splitlines())) < width


def test_what_is_no_terminal_has_80_columns(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert columns(io.StringIO()) == 80


def test_shares_of_nothing():
    assert shares_of(0, 0, 0) == (0.0, 0.0)
