"""Commands of a batch of tau-ARGUS, and how each line is parsed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

MICRODATA, CELLS = "microdata", "cells"


@dataclass(frozen=True)
class Opened:
    """Microdata or cells, and their metadata."""

    kind: str
    data: Path
    metadata: Path


@dataclass(frozen=True)
class Rule:
    """A safety rule with its numbers."""

    name: str
    numbers: tuple[float, ...]


@dataclass
class Specified:
    """A table: explanatory variables, response (None: counts), shadow, cost and its power, rules."""

    opened: Opened
    line: int
    by: tuple[str, ...]
    response: str | None
    shadow: str | None = None
    cost: str | None = None
    power: float = 1.0
    rules: tuple[Rule, ...] = ()
    settings: dict[str, float] = field(default_factory=dict)
    recompute: bool = False


@dataclass(frozen=True)
class Recode:
    """A recoding of a variable by a file, or down to a level."""

    line: int
    table: int
    variable: str
    level: int | None
    file: Path | None


@dataclass(frozen=True)
class Apriori:
    """An a-priori file for a table."""

    line: int
    table: int
    file: Path
    separator: str
    skip_unknown: bool
    expand: bool


@dataclass(frozen=True)
class Suppress:
    """A method for a table, or for several that are linked, and its numbers."""

    line: int
    method: str
    tables: tuple[int, ...]
    numbers: tuple[float, ...]


@dataclass(frozen=True)
class CellKeys:
    """Noise by cell keys for a table: perturbation tables, where its metadata does not name them.

    Of sums there are also one of small cells, and the extra noise of sensitive ones.
    """

    line: int
    table: int
    noise: Path | None = None
    small: Path | None = None
    extra: float = 0.0


@dataclass(frozen=True)
class Write:
    """A table written in a format, with its options."""

    line: int
    table: int
    format: int
    options: dict[str, bool]
    file: Path


@dataclass(frozen=True)
class Named:
    """A file that a line names."""

    line: int
    file: Path


Step: TypeAlias = Recode | Apriori | Suppress | CellKeys | Write


@dataclass(frozen=True)
class Batch:
    """All commands of a batch.

    Steps number tables from 1, in the order of all `tables`: behind <CLEAR> they count on.
    """

    path: Path
    tables: tuple[Specified, ...]
    steps: tuple[Step, ...]  # In the order of the file.
    ignored: tuple[str, ...]  # Commands without effect here, with the reason.
    lines: tuple[str, ...] = ()  # Its text.
    logbook: Named | None = None  # Where what is done is written, with times.
    versions: tuple[Named, ...] = ()  # Where the version of the program is written.


METHODS = ("OPT", "MOD", "GH", "RND", "CTA", "NET", "CKM")
LINKED = ("MOD", "GH", "OPT")
"""Methods of several tables at once."""

KEYS, _CHANGING = "CKM", ("RND", "CTA")
_RULES = {"P": (1, 3), "NK": (2, 2), "FREQ": (2, 2), "ZERO": (1, 1), "REQ": (3, 4)}
_SETTINGS = {"WGT": (1, 1), "MIS": (1, 1), "MAN": (1, 1)}
"""How many numbers each takes, at least and at most."""

_OPTIONS = ("AS", "SE", "FL", "QU", "HL", "SO", "AR", "HI", "TR", "AO", "AD", "AC")
_FORMATS = range(1, 8)
PUBLISHED, NOISY = (1, 2, 3), 7
"""Formats to be published, and the one of tables with noise, whose options say whether it may be."""


class LineError(ValueError):
    """An error in a line, in words that follow its number."""


@dataclass(frozen=True)
class Method:
    """<SUPPRESS>: a method, its table (0: all), its numbers, and the words behind the brackets."""

    name: str
    table: str
    numbers: tuple[float, ...]
    behind: tuple[str, ...]


@dataclass(frozen=True)
class Output:
    """The table, format, options and file of <WRITETABLE>."""

    table: str
    format: int
    options: dict[str, bool]
    file: str


def unquoted(text: str) -> str:
    """Strip the quotes around a name."""
    return text.strip().strip('"').strip()


def number(text: str, what: str) -> float:
    """Parse a number; `what` names it in the error."""
    try:
        return float(text.strip())
    except ValueError:
        raise LineError(f"{what} is {text.strip()!r}, which is no number") from None


def table_of(rest: str, opened: Opened, line: int) -> Specified:
    """Parse variables, response, shadow and cost of a table."""
    parts = [one.strip() for one in rest.split("|")]
    by = tuple(re.findall(r'"([^"]*)"', parts[0])) or tuple(parts[0].split())
    response = unquoted(parts[1]) if len(parts) > 1 else ""
    if len(parts) == 5:  # the manual has a bar before the power, the program a comma
        parts[3:] = [",".join(parts[3:])]
    if not by or not response or len(parts) > 4:
        raise LineError('write <SPECIFYTABLE> "A""B"|"RESPONSE"|"SHADOW"|"COST"')
    shadow = unquoted(parts[2]) if len(parts) > 2 else ""
    cost, _, power = parts[3].partition(",") if len(parts) > 3 else ("", "", "")
    return Specified(
        opened,
        line,
        by,
        None if response.upper() == "<FREQ>" else response,
        shadow or None,
        unquoted(cost) or None,
        number(power, "the power of costs") if power.strip() else 1.0,
    )


def rules_of(rest: str) -> tuple[tuple[Rule, ...], dict[str, float]]:
    """Parse rules and settings."""
    rules, settings = [], {}
    for text in filter(None, (one.strip() for one in rest.split("|"))):
        match = re.fullmatch(r"(\w+)\s*\(([^()]*)\)", text)
        name = match.group(1).upper() if match else ""
        known = {**_RULES, **_SETTINGS}
        if match is None or name not in known:
            raise LineError(f"there is no rule {text!r}; there are {', '.join(known)}, each with (numbers)")
        numbers = tuple(number(one, f"a number of {name}") for one in match.group(2).split(","))
        least, most = known[name]
        if not least <= len(numbers) <= most:
            span = str(least) if least == most else f"{least} to {most}"
            raise LineError(f"{name} takes {span} numbers, not {len(numbers)}")
        if name in _SETTINGS:
            settings[name] = numbers[0]
        elif name == "REQ" and len(numbers) == 3:  # as the manual has it: without a least number
            rules.append(Rule(name, (*numbers[:2], 0.0, numbers[2])))
        else:
            rules.append(Rule(name, numbers))
    return tuple(rules), settings


def method_of(rest: str) -> Method:
    """Parse a method with its numbers; only CKM has words behind the brackets, with bars between them."""
    match = re.match(r"(\w+)\s*\(([^()]*)\)\s*(.*)$", rest)
    name = match.group(1).upper() if match else ""
    if match is None or name not in METHODS:
        raise LineError(f"there is no method {rest!r}; there are {', '.join(METHODS)}, each with (TABLE,...)")
    table, *given = (one.strip() for one in match.group(2).split(","))
    numbers = tuple(number(one or "0", f"a number of {name}") for one in given)
    behind = match.group(3).split("//")[0]
    if behind.strip() and name != KEYS:
        raise LineError(f"{behind.strip()!r} stands behind {name}(...); leave it out")
    return Method(name, table, numbers, tuple(unquoted(one) for one in behind.split("|")))


def output_of(rest: str) -> Output:
    """Parse the table, the format and options that it is written with, and the file."""
    match = re.fullmatch(r'\(\s*(\d+)\s*,\s*(\d+)\s*,\s*([^,]*?)\s*,\s*("[^"]*"|[^,()]+)\s*\)', rest)
    if match is None:
        raise LineError('write <WRITETABLE> (TABLE, FORMAT, OPTIONS, "FILE")')
    kind, words = int(match.group(2)), match.group(3).upper()
    if kind not in _FORMATS:
        raise LineError(f"there is no format {kind}; they are 1 to {_FORMATS[-1]}")
    options = {word: sign == "+" for word, sign in re.findall(r"([A-Z]{2})\s*([+-])", words)}
    left = re.sub(r"[A-Z]{2}\s*[+-]\s*", "", words)
    unknown = next((word for word in options if word not in _OPTIONS), left.strip())
    if unknown:
        raise LineError(f"there is no option {unknown!r}; there are {', '.join(_OPTIONS)}, each with + or -")
    return Output(match.group(1), kind, options, unquoted(match.group(4)))


def check_format(kind: int, method: str) -> None:
    """Refuse a format in which a table of some method cannot be written."""
    if kind == NOISY and method != KEYS:
        raise LineError(f"the format {NOISY} is of tables protected by {KEYS}; write another one")
    if method == KEYS and kind not in (*PUBLISHED, NOISY):
        raise LineError(f"a table of {KEYS} has the formats 1, 2, 3 and {NOISY}, not {kind}")
    if method in _CHANGING and kind not in PUBLISHED:
        raise LineError(f"a table of {method} has the formats 1, 2 and 3, not {kind}")
