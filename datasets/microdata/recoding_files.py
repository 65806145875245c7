"""Recoding files of mu-ARGUS (.grc): which codes of a variable become which.

A line ``3: 31-40, 99, 61-`` makes one code of others: single ones, ranges, and ranges open at one end. The
words ``<MISSING>`` and ``<CODELIST>`` name codes that mean a missing value afterwards, and a file of labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_metadata import read_code_list, read_text
from linkrisk.datasets.microdata.names import parse_pair
from linkrisk.datasets.microdata.values import spelled

Range = tuple[str, str]
"""From and to, both included; an empty text where it is open. A single code is a range of itself."""

_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?")

_MISSING, _CODES = "<MISSING>", "<CODELIST>"


@dataclass(frozen=True)
class RecodingLine:
    """One new code, and what becomes it."""

    number: int  # of the line in its file
    code: str
    ranges: tuple[Range, ...]

    def takes(self, code: str) -> bool:
        """Whether a code becomes the new one. Numbers are compared as such, words by letters."""
        return any(_inside(code, low, high) for low, high in self.ranges)


@dataclass(frozen=True)
class RecodingFile:
    """What becomes of the codes of one variable."""

    attribute: str
    path: str  # of the file, for messages
    lines: tuple[RecodingLine, ...]
    missing: tuple[str, ...] = ()  # codes that mean a missing value; as old codes they stay
    labels: str = ""  # file of labels of the new codes; empty where none is named

    @classmethod
    def read(cls, attribute: str, path: str | Path) -> Self:
        """Read a file."""
        lines, missing, labels = [], [], ""
        for number, text in enumerate(read_text(Path(path))[0].splitlines(), start=1):
            line = text.strip()
            if line.upper().startswith(_MISSING):
                missing += line[len(_MISSING) :].replace(",", " ").split()
            elif line.upper().startswith(_CODES):
                labels = line[len(_CODES) :].strip().strip('"')
            elif line:
                lines.append(_line(line, number, str(path)))
        if not lines:
            raise DataError(f"{path} recodes nothing; write a line for each new code, such as 3: 31-40, 99")
        return cls(attribute, str(path), tuple(lines), tuple(missing), labels)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read "ATTRIBUTE=FILE" (`read`)."""
        attribute, path = parse_pair(text)
        if not path:
            raise DataError(f"{text!r} is no recoding file; write ATTRIBUTE=FILE")
        return cls.read(attribute, path)

    def becomes(self, codes: Sequence[str]) -> list[str]:
        """What codes become, one by one."""
        return [self._becomes(code) for code in codes]

    def _becomes(self, code: str) -> str:
        takes = [line for line in self.lines if line.takes(code)]
        if len(takes) > 1:
            raise DataError(
                f"{self.path}, line {takes[1].number}: the code {code!r} is in line {takes[0].number} "
                "already; take it out of one"
            )
        if takes:
            return takes[0].code
        if code in self.missing:
            return code
        fraction = _NUMBER.fullmatch(code) is not None and not float(code).is_integer()
        breaks = "; for numbers with decimals give breaks, as in breaks=0,10,20" if fraction else ""
        raise DataError(
            f"{self.path}: no line takes the code {code!r} of {self.attribute!r}; add it to one, or to "
            f"{_MISSING}{breaks}"
        )

    @classmethod
    def of(cls, attribute: str, becomes: Mapping[str, str]) -> Self:
        """The file that makes codes these others."""
        groups: dict[str, list[str]] = {}
        for code, other in becomes.items():
            for one in (code, other):
                plain = one.splitlines() == [one] and one.strip() == one
                if not plain or any(sign in one for sign in ",:<>") or "-" in code:
                    raise DataError(
                        f"the code {one!r} of {attribute!r} cannot stand in a recoding file, where commas, "
                        "colons, dashes and blanks at the ends have a meaning; recode it to plain letters "
                        "and digits first"
                    )
            groups.setdefault(other, []).append(code)
        # A range of numbers takes those with leading zeros, too, which are other codes.
        alone = any(code.isdecimal() and str(int(code)) != code for code in becomes)
        lines = [
            RecodingLine(
                number, other, tuple((code, code) for code in codes) if alone else tuple(_runs(codes))
            )
            for number, (other, codes) in enumerate(groups.items(), start=1)
        ]
        return cls(attribute, f"{attribute}.grc", tuple(lines))

    def new_labels(self) -> dict[str, str]:
        """What the new codes mean, by the list of codes that the file names, where it lies beside it."""
        place = Path(self.path).parent / self.labels
        return read_code_list(place) if self.labels and place.is_file() else {}

    def text(self) -> str:
        """The file as mu-ARGUS reads it."""
        rows = [f"{line.code}: {', '.join(_shown(*each) for each in line.ranges)}" for line in self.lines]
        rows += [f"{_MISSING} {', '.join(self.missing)}"] if self.missing else []
        rows += [f"{_CODES} {self.labels}"] if self.labels else []
        return "\n".join(rows) + "\n"


def _line(text: str, number: int, path: str) -> RecodingLine:
    code, colon, rest = text.partition(":")
    items = [item.strip() for item in rest.split(",")]
    if not colon or not code.strip() or not all(items):
        raise DataError(f"{path}, line {number}: {text!r} recodes nothing; write it like 3: 31-40, 99, 61-")
    return RecodingLine(number, code.strip(), tuple(_range(item, number, path) for item in items))


def _range(item: str, number: int, path: str) -> Range:
    low, dash, high = (part.strip() for part in item.partition("-"))
    if not dash:
        return low, low
    if not low and not high:
        raise DataError(f"{path}, line {number}: {item!r} has neither end; write it like 31-40, -20 or 61-")
    if low and high and not _inside(low, "", high):
        raise DataError(f"{path}, line {number}: {item!r} ends before it begins; turn it round")
    return low, high


def _shown(low: str, high: str) -> str:
    return low if low == high else f"{low}-{high}"


def _inside(code: str, low: str, high: str) -> bool:
    if low == high:
        return code == low
    ends = [end for end in (low, high) if end]
    if all(map(_NUMBER.fullmatch, ends)):
        # A word is in no range of numbers, whatever its letters.
        if _NUMBER.fullmatch(code) is None:
            return False
        return (not low or float(low) <= float(code)) and (not high or float(code) <= float(high))
    return (not low or low <= code) and (not high or code <= high)


def _runs(codes: Sequence[str]) -> Iterator[Range]:
    """Codes as ranges, where whole numbers, which have no leading zeros, follow on each other."""
    numbers = sorted(int(code) for code in codes if code.isdecimal())
    begin = 0
    for at, number in enumerate(numbers):
        if at + 1 == len(numbers) or numbers[at + 1] != number + 1:
            yield str(numbers[begin]), str(number)
            begin = at + 1
    known = set(map(str, numbers))
    yield from ((code, code) for code in codes if code not in known)


def codes_become(
    before: pd.DataFrame, after: pd.DataFrame, names: Sequence[str]
) -> dict[str, dict[str, str]]:
    """What became of the codes of columns, where each code became one other."""
    found = {}
    for name in names:
        there = (before[name].notna() & after[name].notna()).to_numpy(dtype=bool)
        pairs = pd.DataFrame({"code": before[name][there].to_numpy(), "other": after[name][there].to_numpy()})
        pairs = pairs.drop_duplicates()
        becomes = {spelled(code): spelled(other) for code, other in pairs.itertuples(index=False)}
        if len(becomes) == len(pairs):
            found[name] = dict(sorted(becomes.items()))
    return found
