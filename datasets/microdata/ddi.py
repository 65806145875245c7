"""DDI-Codebook (2.5): what columns are, read from the codebook of a study into a schema, and written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.dates import DATE_FORMS
from linkrisk.datasets.microdata.missing import Missing, MissingRange, overlapping
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.roles import CATEGORICAL, Role, Scale
from linkrisk.datasets.microdata.schema import Attribute, Schema
from linkrisk.datasets.microdata.values import are_numbers, spelled

SUFFIX = ".xml"

_NAMESPACE = "ddi:codebook:2_5"
_LARGEST = 256 * 2**20
"""Bytes of a file that is read: the largest codebooks of official surveys have some tens of millions."""

_DEEPEST = 64
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BREAK = re.compile(r"\s*\n\s*")
_SYSTEM_MISSING = {"", "sysmiss"}
"""What some programs call a missing value for which there is no code."""

_NATURES = {
    Scale.NUMERIC: "interval",
    Scale.ORDINAL: "ordinal",
    Scale.NOMINAL: "nominal",
    Scale.TEXT: "other",
}
_SCALES = {
    "ordinal": Scale.ORDINAL,
    "nominal": Scale.NOMINAL,
    **dict.fromkeys(("interval", "ratio", "percent"), Scale.NUMERIC),
}


@dataclass
class _Variable:
    """What has been read of a ``var``."""

    attributes: dict[str, str]
    line: int
    label: str = ""
    form: dict[str, str] = field(default_factory=dict)
    form_text: str = ""
    categories: list[tuple[str, str, bool]] = field(
        default_factory=list
    )  # code, label, whether it is missing
    missing: list[str | MissingRange] = field(default_factory=list)


class _Reader:
    """Reads the events of a parser; keeps nothing but what a schema needs."""

    def __init__(self, path: Path) -> None:
        self.variables: list[_Variable] = []
        self._path, self._stack = path, [""]
        self._text: list[str] = []
        self._category = ("", "", False)
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text.append
        # Entities can make a short file as long as memory is, or name other files: there are none without.
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    def read(self, content: bytes) -> None:
        """Read a file; DataError with the line where it cannot be."""
        try:
            self._parser.Parse(content, True)
        except expat.ExpatError as error:
            why = expat.ErrorString(error.code)
            raise DataError(f"{self._path}, line {error.lineno}: no valid XML: {why}; correct it") from None

    def _refuse_doctype(self, *_: Any) -> None:
        raise self._error("a document type declaration (<!DOCTYPE ...>) is not read; take it out")

    def _error(self, why: str, line: int | None = None) -> DataError:
        return DataError(f"{self._path}, line {line or self._parser.CurrentLineNumber}: {why}")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(" ")[2]
        inside = self._stack[-1]
        if len(self._stack) == 1 and name != "codeBook":
            other = "DDI-Lifecycle; export it as DDI-Codebook" if "ddi" in tag.lower() else f"<{name}>"
            raise self._error(f"no codebook of DDI (<codeBook>), but {other}")
        if len(self._stack) > _DEEPEST:
            raise self._error(f"elements are nested more than {_DEEPEST} deep; this is no codebook")
        self._stack.append(name)
        self._text.clear()
        if name == "var" and inside == "dataDscr":
            self.variables.append(_Variable(attributes, self._parser.CurrentLineNumber))
        elif self.variables and "var" in self._stack:
            self._within(name, attributes)

    def _within(self, name: str, attributes: dict[str, str]) -> None:
        if name == "catgry":
            self._category = ("", "", attributes.get("missing", "").upper() == "Y")
        elif name == "varFormat":
            self.variables[-1].form = attributes
        elif name in ("item", "range") and "invalrng" in self._stack:
            self.variables[-1].missing += self._invalid(name, attributes)

    def _invalid(self, name: str, attributes: dict[str, str]) -> list[str | MissingRange]:
        if name == "item":
            code = attributes.get("VALUE", "").strip()
            return [] if code.lower() in _SYSTEM_MISSING else [code]
        ends = [attributes.get("min", ""), attributes.get("max", "")]
        try:
            low, high = (float(end) if end.strip() else None for end in ends)
            return [MissingRange(-math.inf if low is None else low, math.inf if high is None else high)]
        except (ValueError, DataError) as error:
            raise self._error(f"the missing codes from {ends[0]!r} to {ends[1]!r}: {error}") from None

    def _end(self, _: str) -> None:
        name = self._stack.pop()
        text = _BREAK.sub(" ", "".join(self._text)).strip()
        self._text.clear()
        if not self.variables or "var" not in self._stack:
            return
        inside, variable = self._stack[-1], self.variables[-1]
        code, label, missing = self._category
        if inside == "var" and name == "labl":
            variable.label = variable.label or text  # of several languages the first
        elif inside == "catgry" and name == "catValu":
            self._category = (text, label, missing)
        elif inside == "catgry" and name == "labl":
            self._category = (code, label or text, missing)
        elif inside == "var" and name == "catgry" and code.lower() not in _SYSTEM_MISSING:
            variable.categories.append(self._category)
        elif inside == "var" and name == "varFormat":
            variable.form_text = text

    def schema(self) -> Schema:
        """What was read, as a schema."""
        if not self.variables:
            raise DataError(f"{self._path} describes no variables (<dataDscr>, <var>)")
        made = []
        for one in self.variables:
            name = one.attributes.get("name", "")
            try:
                made.append(_attribute(name, one))
            except DataError as error:
                raise self._error(str(error), one.line) from None
        try:
            return Schema(tuple(made))
        except DataError as error:
            raise DataError(f"{self._path}: {error}") from None


def read_ddi(content: bytes, path: Path) -> Schema:
    """Read the variables of a codebook: names, labels, codes, missing codes, scales, and which is the weight.

    Of DDI-Codebook 1.2 to 2.6. Variables without a ``nature`` are numeric where they are continuous, nominal
    where they are discrete and their categories have labels; of others the values decide.
    """
    if len(content) > _LARGEST:
        raise DataError(f"{path} has {len(content):,} bytes; a codebook of at most {_LARGEST:,} is read")
    reader = _Reader(path)
    reader.read(content)
    return reader.schema()


def _attribute(name: str, read: _Variable) -> Attribute:
    codes = [code for code, _, gone in read.categories if not gone]
    missing = _missing(read)
    codes = [code for code in codes if code not in set(overlapping(codes, missing))]
    scale = _scale(read, codes)
    dated = read.form_text if scale is Scale.DATE and read.form_text in DATE_FORMS else None
    return Attribute(
        name,
        Role.WEIGHT if read.attributes.get("wgt") == "wgt" else None,
        scale,
        tuple(codes) if scale in CATEGORICAL and codes else None,
        label=read.label,
        labels={code: label for code, label, _ in read.categories if label},
        missing=missing,
        form=dated,
    )


def _missing(read: _Variable) -> Missing:
    """The codes and ranges that are declared missing, each once."""
    found = tuple(dict.fromkeys(read.missing))
    for code, _, gone in read.categories:
        if gone and not overlapping([code], found):
            found += (code,)
    return found


def _scale(read: _Variable, codes: Sequence[str]) -> Scale | None:
    said, nature = read.attributes, read.attributes.get("nature", "")
    text = read.form.get("type") == "character"
    if read.form.get("category") == "date":
        return Scale.DATE
    if nature in _SCALES:
        found = _SCALES[nature]
        return Scale.NOMINAL if found is Scale.ORDINAL and not codes else found
    if nature == "other" and text and not codes:
        return Scale.TEXT
    if said.get("intrvl") == "contin":
        return None if text else Scale.NUMERIC
    named = any(label for code, label, _ in read.categories if code in set(codes))
    return Scale.NOMINAL if named and said.get("intrvl") == "discrete" else None


def ddi_losses(schema: Schema) -> tuple[str, ...]:
    """What of a schema a codebook does not hold, a sentence each."""
    roles = [each.name for each in schema.attributes if each.role not in (None, Role.WEIGHT)]
    trees = [each.name for each in schema.attributes if each.hierarchy is not None]
    listed = [
        each.name
        for each in schema.attributes
        if each.scale in CATEGORICAL and each.categories is None and set(each.labels) - _gone(each)
    ]
    said = {
        "roles other than that of a weight are not written to a codebook": roles,
        "hierarchies are not written to a codebook": trees,
        "codes with labels become the list of all categories": listed,
    }
    return tuple(f"{words} ({shown_names(names, most=3)})" for words, names in said.items() if names)


def _gone(each: Attribute) -> set[str]:
    return set(overlapping(each.labels, each.missing))


@dataclass(frozen=True)
class Statistics:
    """What is said of the values of a variable: all of the file that the codebook is of."""

    summary: Mapping[str, float | int] = field(default_factory=dict)  # by type of ``sumStat``
    frequency: Mapping[str, int] = field(default_factory=dict)  # by code


@dataclass(frozen=True)
class Codebook:
    """What a codebook says besides its variables."""

    title: str
    file: str = ""
    records: int | None = None
    statistics: Mapping[str, Statistics] = field(default_factory=dict)
    decimals: Mapping[str, int] = field(default_factory=dict)
    methods: Sequence[str] = ()


def ddi_text(schema: Schema, about: Codebook) -> str:
    """Write a codebook of DDI 2.5; DataError where a text has a sign that XML cannot hold."""
    text = "\n".join(_lines(schema, about)) + "\n"
    found = _NOT_XML.search(text)
    if found is not None:
        line = text[text.rfind("\n", 0, found.start()) + 1 :].partition("\n")[0].strip()
        raise DataError(
            f"a codebook cannot hold the control character {found.group()!r}: {line[:60]!r}; take it out"
        )
    return text


def _lines(schema: Schema, about: Codebook) -> Iterator[str]:
    title = f"<citation><titlStmt><titl>{escape(about.title)}</titl></titlStmt></citation>"
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<codeBook xmlns="{_NAMESPACE}" version="2.5">'
    yield "  <stdyDscr>"
    yield f"    {title}"
    if about.methods:
        yield "    <method>"
        for said in about.methods:
            yield f'      <notes subject="statistical disclosure control">{escape(said)}</notes>'
        yield "    </method>"
    yield "  </stdyDscr>"
    if about.file:
        sizes = f"<caseQnty>{about.records}</caseQnty><varQnty>{len(schema.attributes)}</varQnty>"
        yield '  <fileDscr ID="F1">'
        yield f"    <fileTxt><fileName>{escape(about.file)}</fileName><dimensns>{sizes}</dimensns></fileTxt>"
        yield "  </fileDscr>"
    yield "  <dataDscr>"
    for number, each in enumerate(schema.attributes, start=1):
        yield from _of_variable(each, number, about)
    yield "  </dataDscr>"
    yield "</codeBook>"


def _of_variable(each: Attribute, number: int, about: Codebook) -> Iterator[str]:
    statistics = about.statistics.get(each.name, Statistics())
    decimals = about.decimals.get(each.name)
    said = {
        "ID": f"V{number}",
        "name": each.name,
        "files": "F1" if about.file else None,
        "dcml": None if decimals is None else str(decimals),
        "wgt": "wgt" if each.role is Role.WEIGHT else None,
        "intrvl": None if each.scale is None else "contin" if each.scale is Scale.NUMERIC else "discrete",
        "nature": _NATURES.get(each.scale) if each.scale else None,
    }
    yield f"    <var{_attributes(said)}>"
    if each.label:
        yield f"      <labl>{escape(each.label)}</labl>"
    if each.missing:
        yield f"      <invalrng>{''.join(map(_of_missing, each.missing))}</invalrng>"
    for kind, value in statistics.summary.items():
        yield f'      <sumStat type="{kind}">{spelled(value)}</sumStat>'
    gone = set(overlapping([*each.labels, *statistics.frequency], each.missing))
    for code in dict.fromkeys([*(each.categories or ()), *each.labels, *statistics.frequency]):
        inner = f"<catValu>{escape(code)}</catValu>"
        if each.labels.get(code):
            inner += f"<labl>{escape(each.labels[code])}</labl>"
        if code in statistics.frequency:
            inner += f'<catStat type="freq">{statistics.frequency[code]}</catStat>'
        yield f"      <catgry{_attributes({'missing': 'Y' if code in gone else None})}>{inner}</catgry>"
    yield f"      {_format(each)}"
    yield "    </var>"


def _format(each: Attribute) -> str:
    if each.scale is Scale.DATE:
        return f'<varFormat type="character" category="date">{escape(each.form or "")}</varFormat>'
    codes = [*(each.categories or ()), *each.labels]
    numbers = each.scale is Scale.NUMERIC or (bool(codes) and are_numbers(codes))
    return f'<varFormat type="{"numeric" if numbers else "character"}"/>'


def _of_missing(code: str | MissingRange) -> str:
    if isinstance(code, str):
        return f"<item{_attributes({'VALUE': code})}/>"
    ends = {"min": code.low, "max": code.high}
    known = {name: spelled(end) for name, end in ends.items() if math.isfinite(end)}
    return f"<range{_attributes(known)}/>"


def _attributes(said: Mapping[str, str | None]) -> str:
    return "".join(f" {name}={quoteattr(text)}" for name, text in said.items() if text is not None)
