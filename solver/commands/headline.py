"""The headline of a printed summary: the worst case in one sentence, and a bar from 0 to 100 %."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import TextIO

from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.run.results import WEIGHTED, FamilyFit, objective
from linkrisk.solver.run.worst_sentence import shares_of, worst_sentence
from linkrisk.solver.worst_case.result import FitResult

_BLOCKS, _PLAIN = "█▒░", "#=."
"""What is re-identified, what lies between attack and bound, and the rest."""

_LEFT, _RIGHT = "  0 % ", " 100 %"
_LONGEST, _SHORTEST = 60, 10
"""Of the bar, in characters."""


def headline(result: FitResult, stream: TextIO | None = None) -> list[str]:
    """Sentence and bar as lines that fit the terminal, 80 columns where there is none.

    Parameters
    ----------
    result : FitResult
    stream : text stream, optional
        Where they will be written; standard output when absent.
    """
    stream = sys.stdout if stream is None else stream
    worst, ends, kinds = _shown(result)
    sentence = worst_sentence(
        *ends,
        worst.total,
        weighted=objective(worst.details) == WEIGHTED,
        confidence=result.confidence,
        kinds=kinds,
        guessed=result.guessed,
    )
    width = columns(stream)
    lines = textwrap.wrap(sentence, max(width - 1, 20), break_on_hyphens=False)
    shares = shares_of(*(result.guessed or ends), worst.total)
    return [*lines, bar(*shares, width - 1, _BLOCKS if _encodes(stream, _BLOCKS) else _PLAIN)]


def _shown(result: FitResult) -> tuple[FamilyFit, tuple[float, float], list[str]]:
    """The worst case, its ends, and the families that these are about where others have no bound."""
    some = 0 < len(result.with_bound) < len(result.results)
    names = [words_of(name).title for name in result.with_bound] if some else []
    return result.worst, result.bounded_interval, names


def bar(low: float, high: float, width: int, marks: str = _BLOCKS) -> str:
    """An interval of shares; what is more than nothing is seen, and so is what is less than all.

    Parameters
    ----------
    low, high : float
        From 0 to 1.
    width : int
        Of the line, with its ends; a bar has ten characters at least.
    marks : str
        One each for what is below `low`, between the two, and above `high`.
    """
    cells = min(max(width - len(_LEFT) - len(_RIGHT), _SHORTEST), _LONGEST)
    wanted = [(0.0, low), (low, high), (high, 1.0)]
    least = [int(end > begin) for begin, end in wanted]
    full = min(max(round(cells * low), least[0]), cells - least[1] - least[2])
    ends = min(max(round(cells * high), full + least[1]), cells - least[2])
    return _LEFT + marks[0] * full + marks[1] * (ends - full) + marks[2] * (cells - ends) + _RIGHT


def columns(stream: TextIO) -> int:
    """Width of a terminal; 80 of all else."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError, AttributeError):
        return 80


def _encodes(stream: TextIO, text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
