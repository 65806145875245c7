"""Metadata of ARGUS (.rda), and its files of codes and text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from linkrisk.datasets.errors import DataError, read_bytes
from linkrisk.datasets.microdata.formats.file_content import content_of, decode

METADATA = ".rda"
DATA = (".asc", ".dat")
_CODE_LIST = re.compile(r"<CODELIST>\s*\"?([^\"\r\n]+?)\"?\s*$", re.IGNORECASE | re.MULTILINE)
_R_DATA = ("a gzip file", "a bzip2 file", "an xz file", "an R file")
_WORD = re.compile(rb"^\s*<[A-Za-z]+>", re.MULTILINE)


def find_file(folder: Path, name: str) -> Path | None:
    """A file of a folder by its name, whose capital letters may be others; None where there is none."""
    exact = folder / name
    if exact.is_file():
        return exact
    wanted = name.casefold()
    found = sorted(path for path in folder.iterdir() if path.name.casefold() == wanted and path.is_file())
    return found[0] if found else None


def pair_of(path: Path) -> tuple[Path, Path]:
    """The metadata and the data of which one is given."""
    if path.suffix.lower() == METADATA:
        read_text(path)  # data of R has no files beside it
        candidates = [f"{path.stem}{suffix}" for suffix in DATA]
        data = next((found for name in candidates if (found := find_file(path.parent, name))), None)
        if data is None:
            raise DataError(
                f"{path}: its data file is missing; put {' or '.join(candidates)} into {path.parent}"
            )
        return path, data
    metadata = find_file(path.parent, f"{path.stem}{METADATA}")
    if metadata is None:
        raise DataError(f"{path}: its metadata file is missing; put {path.stem}{METADATA} into {path.parent}")
    return metadata, path


def read_text(path: Path) -> tuple[str, str]:
    """The text of a file of ARGUS and its encoding; R has files of the same suffix."""
    content = read_bytes(path)
    found = content_of(content)
    if path.suffix.lower() == METADATA and found is not None and found.words in _R_DATA:
        raise DataError(f"{path} is data of R, not metadata of ARGUS; name it .RData")
    return decode(content, path)


def is_metadata(content: bytes) -> bool:
    """Whether this is metadata of ARGUS, whatever its name says: text with words such as <NUMERIC>."""
    return b"\0" not in content[:1000] and _WORD.search(content[:10_000]) is not None


def read_code_list(path: Path) -> dict[str, str]:
    """The labels of codes in a .cdl file: a code, a comma, a label on each line."""
    labels = {}
    for line in read_text(path)[0].splitlines():
        code, comma, label = line.partition(",")
        if comma:
            labels[code.strip().strip('"')] = label.strip().strip('"').strip()
    return labels


def code_lists(path: Path) -> list[Path]:
    """The code lists that a table of ARGUS names and that lie beside it; none of another format."""
    if path.suffix.lower() not in (METADATA, *DATA):
        return []
    text = read_text(pair_of(path)[0])[0]
    names = [re.split(r"[\\/]", name)[-1] for name in _CODE_LIST.findall(text)]
    found = [find_file(path.parent, name) for name in names]
    return [one for one in found if one is not None]


_TOKEN = re.compile(r'"([^"]*)"|(\S+)')

_ORDER = (
    *("recodable", "codelist", "idlevel", "truncable", "numeric", "decimals", "weight", "household_id"),
    *("household", "suppressweight", "related", "totcode", "distance", "hierarchical", "hierlevels"),
    *("hiercodelist", "hierleadstring", "holding", "request", "recordkey", "pfile", "pfile_cont"),
    *("pfile_sep", "ckm", "includezeros", "parity", "separation", "scaling", "frequency", "shadow", "cost"),
    *("lowerpl", "upperpl", "slidingpl", "lowerbound", "upperbound", "maxscore", "status"),
)
"""What can be said of a variable, in the order of ARGUS's own files; written in capital letters."""

_KEYWORDS = {word: word.upper() for word in _ORDER} | {"household_id": "HOUSE_ID", "cost": "COSTVAR"}
"""How each word is written."""

_WORDS = {
    **{word.upper(): word for word in _ORDER},
    **{keyword: word for word, keyword in _KEYWORDS.items()},
    "RECODEABLE": "recodable",
    "SUPPRESSPRIORITY": "suppressweight",
    "PFILE_FREQ": "pfile",
}
"""What each keyword says."""

_OF_NUMERIC = ("shadow", "cost", "lowerpl", "upperpl", "slidingpl", "lowerbound", "upperbound")
"""What a numeric variable of a table is, said in the same line; the last three are our own words."""

_FLAGS = {
    *("recodable", "truncable", "numeric", "weight", "household_id", "household"),
    *("hierarchical", "holding", "recordkey", "frequency", "maxscore", "status", *_OF_NUMERIC),
}
_NUMBERS = {"idlevel", "decimals", "suppressweight"}
_TEXTS = {
    *("codelist", "related", "totcode", "hiercodelist", "hierleadstring"),
    *("pfile", "pfile_cont", "pfile_sep"),
}
_SEVERAL = {"hierlevels", "distance", "request", "ckm", "scaling"}
"""Words with several values, which are kept with blanks between them."""

_STATUSES = {"SAFE": "S", "UNSAFE": "U", "PROTECT": "P"}
"""Words that say how a file of cells writes a status, and how it does without them."""


@dataclass(frozen=True)
class Variable:
    """A variable of a file."""

    name: str  # the column
    start: int  # where it begins in a line, from 1; 0 in a separated file
    length: int  # how many letters it has at most
    missing: tuple[str, ...] = ()  # at most two codes
    # what else is said of it: ``idlevel``, ``weight``, ``decimals``, ...; those without a value are empty
    words: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Metadata:
    """All that an .rda file says."""

    variables: tuple[Variable, ...]  # in the order of the file
    separator: str | None = None  # what stands between the variables; None in a fixed-width file
    names_in_front: bool = False  # whether the first line of a separated file has the names
    unknown: tuple[str, ...] = ()  # keywords that are left out
    # how a file of cells writes that a cell is safe, unsafe, and always published
    statuses: tuple[str, str, str] = ("S", "U", "P")


class _Reader:
    """Reads an .rda file line by line."""

    def __init__(self, path: Path, cells: bool) -> None:
        self.path, self.cells = path, cells
        self.line = 0
        self.variables: list[Variable] = []
        self.separator: str | None = None
        self.names_in_front = False
        self.unknown: list[str] = []
        self.statuses = dict(_STATUSES)

    def take(self, tokens: list[str]) -> None:
        if not tokens[0].startswith("<"):
            self.variables.append(self._variable(tokens))
        elif self.cells and tokens[0].strip("<>").upper() in (*_STATUSES, "SEPARATOR"):
            self._heading(tokens)
        elif self.variables:
            self._word(tokens)
        else:
            self._heading(tokens)

    def _heading(self, tokens: list[str]) -> None:
        word = tokens[0].strip("<>").upper()
        if word == "SEPARATOR":
            if len(tokens) != 2 or len(tokens[1]) != 1:
                raise self.wrong('<SEPARATOR> needs one character, such as ";"')
            self.separator = tokens[1]
        elif self.cells and word in _STATUSES and len(tokens) == 2:
            self.statuses[word] = tokens[1].upper()
        elif word == "NAMESINFRONT":
            self.names_in_front, self.separator = True, self.separator or ";"
        elif word == "SPSS":
            raise self.wrong("<SPSS> describes an SPSS file; give the .sav file itself")
        else:
            self.unknown.append(tokens[0])

    def _variable(self, tokens: list[str]) -> Variable:
        if tokens[0] in {variable.name for variable in self.variables}:
            raise self.wrong(f"the variable {tokens[0]!r} is described twice")
        if self.cells:  # no places: the file is separated
            return Variable(tokens[0], 0, 0, tuple(code for code in tokens[1:3] if code))
        fixed = self.separator is None
        needed = "its start and length" if fixed else "its length"
        places = tokens[1 : 3 if fixed else 2]
        if len(places) < (2 if fixed else 1) or not all(place.isdigit() and int(place) for place in places):
            raise self.wrong(f"the variable {tokens[0]!r} needs {needed} as numbers from 1")
        missing = tuple(code for code in tokens[1 + len(places) : 3 + len(places)] if code)
        return Variable(tokens[0], int(places[0]) if fixed else 0, int(places[-1]), missing)

    def _word(self, tokens: list[str]) -> None:
        variable = self.variables[-1]
        word = _WORDS.get(tokens[0].strip("<>").upper())
        if word is None:
            self.unknown.append(tokens[0])
            return
        if word == "numeric" and len(tokens) > 1:
            kind = _WORDS.get(tokens[1].strip("<>").upper())
            if kind not in _OF_NUMERIC:
                raise self.wrong(f"{tokens[1]} is no kind of a numeric variable")
            variable.words[kind] = ""
        value = "" if word in _FLAGS else tokens[1] if len(tokens) > 1 else None
        if word in _SEVERAL:
            value = " ".join(tokens[1:])
        if value is None or (word in _NUMBERS and not value.isdigit()):
            raise self.wrong(
                f"{tokens[0]} of {variable.name!r} needs a {'number' if word in _NUMBERS else 'name'}"
            )
        variable.words[word] = value

    def wrong(self, what: str) -> DataError:
        return DataError(f"{self.path}, line {self.line}: {what}")


def parse_metadata(text: str, path: Path, *, cells: bool = False) -> Metadata:
    """Read the text of an .rda file, which describes microdata or `cells`."""
    reader = _Reader(path, cells)
    for number, line in enumerate(text.splitlines(), start=1):
        tokens = [quoted or plain for quoted, plain in _TOKEN.findall(line)]
        reader.line = number
        if tokens:
            reader.take(tokens)
    if not reader.variables:
        raise DataError(f"{path} is not an ARGUS metadata file: it describes no variable")
    if reader.separator is None and not cells:
        _check_places(reader.variables, path)
    return Metadata(
        tuple(reader.variables),
        reader.separator,
        reader.names_in_front,
        tuple(dict.fromkeys(reader.unknown)),
        (reader.statuses["SAFE"], reader.statuses["UNSAFE"], reader.statuses["PROTECT"]),
    )


def _check_places(variables: Iterable[Variable], path: Path) -> None:
    ordered = sorted(variables, key=lambda variable: variable.start)
    for one, other in pairwise(ordered):
        if other.start < one.start + one.length:
            raise DataError(
                f"{path}: the variables {one.name!r} and {other.name!r} overlap; fix their positions"
            )


def metadata_text(metadata: Metadata, *, cells: bool = False) -> str:
    """The text of an .rda file, which describes microdata or `cells`."""
    lines = [] if metadata.separator is None else [f'<SEPARATOR> "{metadata.separator}"']
    lines += ["<NAMESINFRONT>"] if metadata.names_in_front else []
    for variable in metadata.variables:
        place = (
            []
            if cells
            else [str(variable.length)]
            if metadata.separator is not None
            else [str(variable.start), str(variable.length)]
        )
        lines.append(" ".join([variable.name, *place, *(f'"{code}"' for code in variable.missing)]))
        lines += [f"  {line}" for line in _word_lines(variable.words)]
    return "\n".join(lines) + "\n"


def _word_lines(words: Mapping[str, str]) -> list[str]:
    lines = []
    for word, keyword in _KEYWORDS.items():
        if word in words and word not in _OF_NUMERIC:
            value = words[word]
            quoted = f'"{value}"' if word in _TEXTS else value
            kinds = [f"<{_KEYWORDS[kind]}>" for kind in _OF_NUMERIC if word == "numeric" and kind in words]
            lines.append(" ".join([f"<{keyword}>", *([quoted] if value else []), *kinds]))
    return lines
