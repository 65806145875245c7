"""PC-Axis (.px): a table across and down with its codes and labels, as statistical offices publish it."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import ColumnNotes
from linkrisk.datasets.microdata.formats.file_content import decode
from linkrisk.datasets.microdata.names import code_in_words, name_in_words
from linkrisk.datasets.microdata.numeric import decimals_of
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.tables.argus.written_tables import (
    NOBODY,
    of_missing,
    published_as_empty,
)
from linkrisk.datasets.tables.code_trees import CodeTree
from linkrisk.datasets.tables.sdmx_csv import CellsDialect
from linkrisk.datasets.tables.stored_table import FIXED, SAFE, STATUS, StoredTable, as_written

SUFFIX = ".px"

_SUPPRESSED = '".."'
_DOTS = {"." * many for many in range(1, 7)}
_MOST_CELLS = 10_000_000
_LONGEST = 200
"""Letters of a line of a list, which may be divided after a comma."""

_KEYWORD = re.compile(
    r"""\s*(?P<word>[A-Za-z][\w-]*)\s*
    (?:\[(?P<language>[^\]]*)\])?\s*
    (?:\(\s*(?P<of>"[^"]*"(?:\s*,\s*"[^"]*")*)\s*\))?\s*=""",
    re.VERBOSE,
)
_TEXT = re.compile(r'(?:"[^"]*+"|[^";]++)*+')
_PIECE = re.compile(r'"(?P<quoted>[^"]*)"|(?P<comma>,)|(?P<bare>[^",\s]+)')
_PAIR = re.compile(r'"([^"]*)"\s*:\s*"([^"]*)"')
_CODEPAGE = re.compile(rb'CODEPAGE\s*=\s*"([\w.-]+)"', re.IGNORECASE)
_CHARSET = re.compile(rb'CHARSET\s*=\s*"', re.IGNORECASE)
_DOS = "cp850"
"""What a file without CHARSET is written in."""

_TIMES = {
    "A1": r"\d{4}",
    "H1": r"\d{4}[HS]\d",
    "Q1": r"\d{4}[QK]\d",
    "M1": r"\d{4}M\d\d",
    "W1": r"\d{4}W\d\d",
}
"""How points in time are written, by their kind in TIMEVAL."""


@dataclass(frozen=True)
class _Words:
    """The keywords of a file in its main language."""

    path: Path
    values: Mapping[tuple[str, str], str]  # by keyword and what it is of, nothing where it is of the table
    data: Sequence[str]

    def of(self, word: str, name: str = "") -> list[str]:
        """The values of a keyword; none where it is not there."""
        return _values(self.values.get((word, name), ""))


def read_px(path: Path) -> Table:
    """Read the cells of a file: codes, and `value`, or a column for each content (CONTVARIABLE).

    A variable whose ELIMINATION names a value has its total there; points in time (TIMEVAL) have none. A dash
    is a 0 that is always published; dots are missing values.
    """
    words = _words(_text(path), path)
    names = [*words.of("STUB"), *words.of("HEADING")]
    if not names:
        raise DataError(f"{path} has neither STUB nor HEADING; name its variables there")
    variables = {name: _Variable.of(words, name) for name in names}
    columns = [one.column for one in variables.values()]
    if len(set(columns)) < len(names):
        raise DataError(f"{path} has two variables {max(columns, key=columns.count)!r}; rename one of them")
    shape = [len(one.codes) for one in variables.values()]
    if math.prod(shape) != len(words.data):
        raise DataError(
            f"{path}: DATA has {len(words.data):,} cells, and its variables make {math.prod(shape):,} "
            f"({' x '.join(map(str, shape))})"
        )
    value, nil = _numbers(words.data, path)
    contents = next(iter(words.of("CONTVARIABLE")), None)
    if contents in variables and len(variables[contents].codes) > 1:
        frame = _by_content(variables, contents, value.reshape(shape), path)
        del variables[contents]
    else:
        frame = _codes(variables).assign(value=as_written(value))
        if nil.any():
            frame[STATUS] = np.where(nil, FIXED, SAFE)
    kept = list(variables.values())
    dialect = CellsDialect(
        tuple(one.column for one in kept),
        totals={one.column: one.total for one in kept if one.total is not None},
        apart=tuple(one.column for one in kept if one.timed),
        trees={one.column: one.tree for one in kept if one.tree is not None},
    )
    notes = {one.column: ColumnNotes(label=one.label, value_labels=one.labels) for one in kept}
    return Table(frame, str(path), path=path, notes=notes, dialect=dialect)


@dataclass(frozen=True)
class _Variable:
    """A variable of a table."""

    column: str
    label: str
    codes: tuple[str, ...]
    labels: dict[str, str]
    total: str | None
    timed: bool
    tree: CodeTree | None

    @classmethod
    def of(cls, words: _Words, name: str) -> _Variable:
        """What a file says of a variable."""
        texts, codes = words.of("VALUES", name), words.of("CODES", name)
        if not (texts or codes):
            raise DataError(f"{words.path}: there are no VALUES of {name!r}; list them")
        codes, texts = codes or texts, texts or codes
        if len(codes) != len(texts):
            raise DataError(f"{words.path}: {name!r} has {len(texts)} VALUES and {len(codes)} CODES")
        twice = next((code for at, code in enumerate(codes) if code in set(codes[:at])), None)
        if twice is not None:
            raise DataError(f"{words.path}: {name!r} has the code {twice!r} twice; give each value its own")
        column = next(iter(words.of("VARIABLECODE", name)), name)
        labels = {code: text for code, text in zip(codes, texts, strict=True) if code != text}
        gone = next(iter(words.of("ELIMINATION", name)), "")
        total = gone if gone in codes else dict(zip(texts, codes, strict=True)).get(gone)
        pairs = _PAIR.findall(words.values.get(("HIERARCHIES", name), ""))
        tree = None
        if pairs:
            top = words.of("HIERARCHIES", name)[0].partition(":")[0]
            parents = {child: parent for parent, child in pairs}
            tree, total = CodeTree.of(column, parents, f"{words.path}, HIERARCHIES of {name!r}", top), top
        timed = ("TIMEVAL", name) in words.values and total is None
        label = "" if column == name else name
        return cls(column, label, tuple(codes), labels, total, timed, tree)


def _codes(variables: Mapping[str, _Variable]) -> pd.DataFrame:
    """A line for each cell, the last variable running fastest."""
    index = pd.MultiIndex.from_product([one.codes for one in variables.values()])
    return pd.DataFrame(
        {one.column: index.get_level_values(at).astype(object) for at, one in enumerate(variables.values())}
    )


def _by_content(
    variables: Mapping[str, _Variable], contents: str, value: FloatArray, path: Path
) -> pd.DataFrame:
    """A column of values for each content."""
    one, axis = variables[contents], list(variables).index(contents)
    frame = _codes({name: other for name, other in variables.items() if name != contents})
    columns = [one.labels.get(code, code) for code in one.codes]
    clash = next((name for name in columns if name in frame or columns.count(name) > 1), None)
    if clash is not None:
        raise DataError(f"{path}: the content {clash!r} of {contents!r} is named like another one; rename it")
    lines = np.moveaxis(value, axis, -1).reshape(len(frame), len(columns))
    values = {name: as_written(lines[:, at]) for at, name in enumerate(columns)}
    return pd.concat([frame, pd.DataFrame(values, index=frame.index)], axis=1)


def _numbers(data: Sequence[str], path: Path) -> tuple[FloatArray, BoolArray]:
    """The numbers of cells, and which ones are dashes."""
    texts = pd.Series(data, dtype=object)
    nil = texts.eq(NOBODY).to_numpy(dtype=np.bool_)
    found = pd.to_numeric(texts.mask(nil, "0"), errors="coerce").to_numpy(dtype=np.float64)
    wrong = ~np.isfinite(found) & ~texts.isin(_DOTS).to_numpy()
    if wrong.any():
        at = int(np.argmax(wrong))
        raise DataError(
            f"{path}: cell {at + 1} of DATA is {data[at]!r}; it must be a number, a dash, or one to six dots"
        )
    return found, nil


def _text(path: Path) -> str:
    """The text of a file in the encoding that it says: Windows with CHARSET, else that of DOS."""
    content = path.read_bytes()
    named, head = _CODEPAGE.search(content[:10_000]), content[:10_000]
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        name = named[1].decode("ascii") if named else "" if _CHARSET.search(head) else _DOS
        try:
            if name and codecs.lookup(name).name != "utf-8":
                return content.decode(name)
        except (LookupError, UnicodeDecodeError):
            raise DataError(
                f"{path} is not written in {name}, as its CODEPAGE says; save it as UTF-8"
            ) from None
    return decode(content, path)[0]


def _words(text: str, path: Path) -> _Words:
    found: dict[tuple[str, str], str] = {}
    place = 1 if text.startswith("\ufeff") else 0
    while text[place:].strip():
        match = _KEYWORD.match(text, place)
        if match is None:
            line = text.count("\n", 0, place + len(text[place:]) - len(text[place:].lstrip())) + 1
            raise DataError(f'{path}, line {line}: no keyword of PC-Axis, such as STUB="region";')
        word, of = match["word"].upper(), ",".join(_values(match["of"] or ""))
        if word == "DATA":
            return _Words(path, found, _data(text[match.end() :], found, path))
        value = _TEXT.match(text, match.end())
        place = match.end() if value is None else value.end()
        if text[place : place + 1] != ";":
            line = text.count("\n", 0, match.start("word")) + 1
            raise DataError(
                f"{path}, line {line}: {word} does not end with a semicolon, or has a single quote sign"
            )
        if match["language"] is None:
            found[word, of] = text[match.end() : place].strip()
        place += 1
    raise DataError(f"{path} has no DATA; it is not a PC-Axis file, or cut off")


def _data(text: str, found: Mapping[tuple[str, str], str], path: Path) -> list[str]:
    if any(word == "KEYS" for word, _ in found):
        raise DataError(f"{path} has KEYS, lines for some cells only; save it without keys")
    if not text.rstrip().endswith(";"):
        raise DataError(f"{path}: DATA does not end with a semicolon; the file is cut off")
    return [one for one in re.split(r'[\s,;"]+', text) if one]


def _values(text: str) -> list[str]:
    """The values of a keyword; a text in several pieces is one."""
    found, current = [], ""
    for piece in _PIECE.finditer(text):
        if piece["comma"]:
            found.append(current)
            current = ""
        else:
            current += piece["quoted"] if piece["quoted"] is not None else piece["bare"]
    return [*found, current] if text.strip() else []


def published_px(table: StoredTable, suppressed: BoolArray, path: Path) -> dict[Path, bytes]:
    """Encode what may be published: two dots where a cell is not, a dash where nobody is in it."""
    if not table.by:
        raise DataError(f"{table.name} has no columns of codes; PC-Axis names cells by them")
    texts = "".join(f"{line}\n" for line in _lines(table, suppressed, path))
    return {path: texts.encode("utf-8")}


def _lines(table: StoredTable, suppressed: BoolArray, path: Path) -> Iterator[str]:
    codes = {name: list(dict.fromkeys(table.codes[name])) for name in table.by}
    if math.prod(map(len, codes.values())) > _MOST_CELLS:
        raise DataError(
            f"cannot write {path}: PC-Axis has a cell for each combination of codes, here more than "
            f"{_MOST_CELLS:,}; write .csv"
        )
    names = {name: _plain(name_in_words(name, table.labels), path) for name in table.by}
    texts = {name: _texts(table, name, codes[name], path) for name in table.by}
    *down, across = table.by
    digits = decimals_of(table.numbers["value"][~suppressed])
    yield 'CHARSET="ANSI";'
    yield 'AXIS-VERSION="2013";'
    yield 'CODEPAGE="utf-8";'
    yield 'LANGUAGE="en";'
    yield f"DECIMALS={digits};"
    yield f'MATRIX="{re.sub(r"[^A-Za-z0-9_-]+", "_", path.stem)[:20]}";'
    yield 'SUBJECT-CODE="";'
    yield 'SUBJECT-AREA="";'
    yield f'TITLE="{_plain("Value by " + " and ".join(names.values()), path)}";'
    yield 'CONTENTS="Value";'
    yield f'UNITS="{"number" if table.counts else "unknown"}";'
    if down:
        yield from _listed("STUB", [names[name] for name in down])
    yield from _listed("HEADING", [names[across]])
    for name in table.by:
        yield from _listed(f'VALUES("{names[name]}")', texts[name].values())
    for name in table.by:
        yield from _of_variable(table, name, names[name], codes[name], texts[name], path)
    yield (
        'NOTE=".. is not published, so that nobody finds out what single ones have contributed; '
        '- nobody is in the cell";'
    )
    yield "DATA="
    yield from _cells(table, suppressed, codes, digits)
    yield ";"


def _of_variable(
    table: StoredTable, name: str, shown: str, codes: Sequence[str], texts: Mapping[str, str], path: Path
) -> Iterator[str]:
    """What is said of a variable besides its values: time, codes, total, hierarchy, column."""
    tree = next((one for one in table.trees if one.variable == name), None)
    total = codes[0] if len(codes) == 1 else None if tree is None else tree.codes[0]
    time = next(
        (kind for kind, form in _TIMES.items() if all(re.fullmatch(form, code) for code in codes)), ""
    )
    if tree is not None and total not in codes and time:
        points = [re.sub(r"\D", "", code) for code in codes]
        yield from _listed(f'TIMEVAL("{shown}")', points, f"TLIST({time}),")
    if any(text != code for code, text in texts.items()):
        yield from _listed(f'CODES("{shown}")', [_plain(code, path) for code in codes])
    if shown != name:
        yield f'VARIABLECODE("{shown}")="{_plain(name, path)}";'
    if total is not None and total in texts:
        yield f'ELIMINATION("{shown}")="{texts[total]}";'
    if isinstance(tree, CodeTree) and len(tree.inner) > 1:
        pairs = [
            f'"{_plain(tree.codes[parent], path)}":"{_plain(tree.codes[at], path)}"'
            for at, parent in enumerate(tree.parent.tolist())
            if parent >= 0
        ]
        yield from _joined(f'HIERARCHIES("{shown}")=', [f'"{_plain(tree.codes[0], path)}"', *pairs])


def _texts(table: StoredTable, name: str, codes: Sequence[str], path: Path) -> dict[str, str]:
    """What each code is called: its label where that is the label of no other."""
    labels = table.labels.get(name, {}).get("codes", {})
    texts = {code: str(labels.get(code) or code) for code in codes}
    listed = list(texts.values())
    return {
        code: _plain(text if listed.count(text) == 1 else code_in_words(name, code, table.labels), path)
        for code, text in texts.items()
    }


def _cells(
    table: StoredTable, suppressed: BoolArray, codes: Mapping[str, Sequence[str]], digits: int
) -> Iterator[str]:
    """The cells, a line for each combination of codes but the last."""
    shape = [len(one) for one in codes.values()]
    nobody = published_as_empty(table, suppressed)
    places = (pd.Index(codes[name]).get_indexer(pd.Index(table.codes[name])) for name in table.by)
    at = np.ravel_multi_index(tuple(places), shape)
    cells = np.full(math.prod(shape), _shown(of_missing(table, suppressed, nobody), digits), dtype=object)
    cells[at] = [
        _SUPPRESSED if gone else _shown(NOBODY, digits) if empty else f"{one + 0.0:.{digits}f}"
        for one, gone, empty in zip(table.numbers["value"].tolist(), suppressed, nobody, strict=True)
    ]
    for line in cells.reshape(-1, shape[-1]):
        yield " ".join(line) + " "


def _shown(sign: str, digits: int) -> str:
    return f'"{NOBODY}"' if sign == NOBODY else f"{0:.{digits}f}"


def _plain(text: str, path: Path) -> str:
    if '"' in text or not text.isprintable():
        raise DataError(f"cannot write {path}: {text!r} has quotes or line breaks, which PC-Axis cannot hold")
    return text


def _listed(word: str, values: Iterable[str], before: str = "") -> Iterator[str]:
    yield from _joined(f"{word}={before}", [f'"{one}"' for one in values])


def _joined(line: str, values: Sequence[str]) -> Iterator[str]:
    """A keyword and its values, in lines that end after a comma."""
    for at, one in enumerate(values):
        line += one + (";" if at == len(values) - 1 else ",")
        if len(line) > _LONGEST:
            yield line
            line = ""
    if line:
        yield line
