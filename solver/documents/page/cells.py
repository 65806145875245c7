"""Sentences and moments as a page has them."""

from __future__ import annotations

import re
from datetime import datetime

from markupsafe import Markup, escape

_SHARE = re.compile(r"(?<=\d) %")
_COMMAND = re.compile("`([a-z][a-z -]*)`")
_MINUS = re.compile(r"(?<![\w.)-])-(?=\d)")
# Words that would be broken at their hyphens: options, and the one of which this project is full.
_WHOLE = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|re-identif[a-z]*)", re.IGNORECASE | re.ASCII)


def prose(text: str) -> Markup:
    """Write sentences: numbers stay on a line with their per cent, `commands` in backquotes are set apart."""
    spaced = _MINUS.sub("\N{MINUS SIGN}", _SHARE.sub("\N{NO-BREAK SPACE}%", text))
    return Markup(_kept_whole(_COMMAND.sub(r"<code>\1</code>", str(escape(spaced)))))


def whole(text: str) -> Markup:
    """Write a text in which no line ends inside of options and of "re-identified"; copied, it is the same."""
    return Markup(_kept_whole(str(escape(text))))


def _kept_whole(escaped: str) -> str:
    return _WHOLE.sub(r'<span class="whole">\1</span>', escaped)


def day_text(moment: str) -> str:
    """Write a moment given as ISO 8601: ``23 November 2026, 22:05 UTC``; as it is when it is none."""
    try:
        read = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    return f"{read.day} {read:%B %Y, %H:%M} {read.tzname() or ''}".rstrip()
