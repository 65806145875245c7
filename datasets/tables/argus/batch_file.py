"""Batches of tau-ARGUS (.arb): commands, one on each line, read and checked before anything is done."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_files import find_file, read_text
from linkrisk.datasets.tables.argus.batch_commands import (
    CELLS,
    MICRODATA,
    Apriori,
    Batch,
    Opened,
    Recode,
    Rule,
    Specified,
    Step,
    Suppress,
    Write,
)

METHODS = ("OPT", "MOD", "GH", "RND", "CTA", "NET", "CKM")
_RULES = {"P": (1, 3), "NK": (2, 2), "FREQ": (2, 2), "ZERO": (1, 1), "REQ": (4, 4)}
_SETTINGS = {"WGT": (1, 1), "MIS": (1, 1), "MAN": (1, 1)}
"""How many numbers each takes, at least and at most."""

_OPTIONS = ("AS", "SE", "FL", "QU", "HL", "SO", "AR", "HI", "TR", "AO", "AD", "AC")
_FORMATS = range(1, 8)
_WITHOUT_EFFECT = {
    "GOINTERACTIVE": "there are no windows",
    "LOGBOOK": "what is done is printed",
    "VERSIONINFO": "the version is in the JSON",
    "SOLVER": "an optimiser of our own is used",
    "SILENT": "nothing asks anything",
    "ANCO": "it changes nothing",
    "COVER": "linked tables are protected at once",
    "SETHTML": "there is no report of HTML here",
    "OUTPUTWINDOW": "there are no windows",
}


class _Reader:
    """Reads a batch line by line."""

    def __init__(self, path: Path) -> None:
        self.path, self.line = path, 0
        self.tables: list[Specified] = []
        self.steps: list[Step] = []
        self.ignored: list[str] = []
        self.kind: str | None = None
        self.data: Path | None = None
        self.opened: Opened | None = None
        self.read = False
        self._commands: dict[str, Callable[[str], None]] = {
            "OPENMICRODATA": lambda rest: self._open(MICRODATA, rest),
            "OPENTABLEDATA": lambda rest: self._open(CELLS, rest),
            "OPENMETADATA": self._metadata,
            "SPECIFYTABLE": self._table,
            "SAFETYRULE": self._rules,
            "READMICRODATA": lambda rest: self._read(MICRODATA, rest),
            "READTABLE": lambda rest: self._read(CELLS, rest),
            "APRIORI": self._apriori,
            "APRIORY": self._apriori,
            "RECODE": self._recode,
            "SUPPRESS": self._suppress,
            "WRITETABLE": self._write,
            "CLEAR": lambda _: self._clear(),
        }

    def take(self, text: str) -> None:
        """One line that is neither empty nor a comment."""
        match = re.match(r"<(\w+)>\s*(.*)$", text)
        word = match.group(1).upper() if match else ""
        if match and word in _WITHOUT_EFFECT:
            self.ignored.append(f"line {self.line}, <{word}>: {_WITHOUT_EFFECT[word]}")
        elif match and word in self._commands:
            self._commands[word](match.group(2).strip())
        else:
            listed = ", ".join(f"<{name}>" for name in self._commands if name != "APRIORY")
            shown = f"<{word}>" if match else repr(text)
            raise self.wrong(f"there is no command {shown}; there are {listed}")

    def wrong(self, what: str) -> DataError:
        """An error in the line that is read."""
        return DataError(f"{self.path}, line {self.line}: {what}")

    def _file(self, text: str) -> Path:
        name = _unquoted(text)
        found = Path(name) if Path(name).is_absolute() and Path(name).is_file() else None
        found = found or find_file(self.path.parent, re.split(r"[\\/]", name)[-1])
        inside = self.path.parent / name
        if inside.is_file():
            return inside
        if not name or found is None:
            raise self.wrong(f"there is no file {name!r} beside the batch")
        return found

    def _open(self, kind: str, rest: str) -> None:
        if self.data is not None:
            raise self.wrong("data is open already; <CLEAR> comes before other data")
        self.kind, self.data = kind, self._file(rest)

    def _metadata(self, rest: str) -> None:
        if self.data is None or self.kind is None:
            raise self.wrong("<OPENMETADATA> describes data; open that first")
        self.opened = Opened(self.kind, self.data, self._file(rest))

    def _table(self, rest: str) -> None:
        if self.opened is None:
            raise self.wrong("<SPECIFYTABLE> needs data and its metadata; open them first")
        if self.read:
            raise self.wrong("tables are specified before they are read")
        parts = [one.strip() for one in rest.split("|")]
        by = tuple(re.findall(r'"([^"]*)"', parts[0])) or tuple(parts[0].split())
        response = _unquoted(parts[1]) if len(parts) > 1 else ""
        if not by or not response or len(parts) > 4:
            raise self.wrong('write <SPECIFYTABLE> "A""B"|"RESPONSE"|"SHADOW"|"COST"')
        shadow = _unquoted(parts[2]) if len(parts) > 2 else ""
        cost, comma, power = parts[3].partition(",") if len(parts) > 3 else ("", "", "")
        counted = response.upper() == "<FREQ>"
        self.tables.append(
            Specified(
                self.opened,
                self.line,
                by,
                None if counted else response,
                shadow or None,
                _unquoted(cost) or None,
                self._number(power, "the power of costs") if comma else 1.0,
            )
        )

    def _rules(self, rest: str) -> None:
        if not self.tables or self.read:
            raise self.wrong("<SAFETYRULE> is of a table; specify that first")
        rules, settings = [], {}
        for text in filter(None, (one.strip() for one in rest.split("|"))):
            match = re.fullmatch(r"(\w+)\s*\(([^()]*)\)", text)
            name = match.group(1).upper() if match else ""
            known = {**_RULES, **_SETTINGS}
            if match is None or name not in known:
                raise self.wrong(
                    f"there is no rule {text!r}; there are {', '.join(known)}, each with (numbers)"
                )
            numbers = tuple(self._number(one, f"a number of {name}") for one in match.group(2).split(","))
            least, most = known[name]
            if not least <= len(numbers) <= most:
                span = str(least) if least == most else f"{least} to {most}"
                raise self.wrong(f"{name} takes {span} numbers, not {len(numbers)}")
            if name in _SETTINGS:
                settings[name] = numbers[0]
            else:
                rules.append(Rule(name, numbers))
        self.tables[-1].rules, self.tables[-1].settings = tuple(rules), settings

    def _read(self, kind: str, rest: str) -> None:
        if self.kind != kind or not self.tables:
            raise self.wrong(f"there is no table of {kind} to read")
        if kind == CELLS and rest:
            if rest[0] not in "012" or rest[1:].upper() not in ("", "T", "F"):
                raise self.wrong(f"<READTABLE> takes 0, or 1 to compute totals again, not {rest!r}")
            if rest[0] == "2":
                raise self.wrong("a table that does not add up cannot be protected; write <READTABLE> 1")
            for table in self.tables:
                if table.opened is self.opened:
                    table.recompute = rest[0] == "1"
        self.read = True

    def _apriori(self, rest: str) -> None:
        match = re.fullmatch(
            r'("[^"]*"|[^,]+?)\s*,\s*(\d+)\s*(?:,\s*"([^"]*)"\s*(?:,\s*([01]?)\s*(?:,\s*([01]?)\s*)?)?)?',
            rest,
        )
        if match is None:
            raise self.wrong('write <APRIORI> "FILE", TABLE, "SEPARATOR", and 0 or 1 twice')
        number = self._numbered(match.group(2))
        skip, expand = match.group(4) != "0", match.group(5) == "1"
        file = self._file(match.group(1))
        self.steps.append(Apriori(self.line, number, file, match.group(3) or ",", skip, expand))

    def _recode(self, rest: str) -> None:
        parts = [one.strip() for one in rest.split(",", 2)]
        if len(parts) != 3:
            raise self.wrong('write <RECODE> TABLE, VARIABLE, "FILE" or a level')
        number, name, what = self._numbered(parts[0]), _unquoted(parts[1]), _unquoted(parts[2])
        level = int(what) if re.fullmatch(r"[1-9]", what) else None
        self.steps.append(Recode(self.line, number, name, level, None if level else self._file(parts[2])))

    def _suppress(self, rest: str) -> None:
        match = re.match(r"(\w+)\s*\(([^()]*)\)\s*(.*)$", rest)
        method = match.group(1).upper() if match else ""
        if match is None or method not in METHODS:
            raise self.wrong(
                f"there is no method {rest!r}; there are {', '.join(METHODS)}, each with (TABLE,...)"
            )
        numbers = [self._number(one, f"a number of {method}") for one in match.group(2).split(",")]
        table = self._numbered(str(int(numbers[0])), linked=True)
        if table == 0 and method not in ("MOD", "GH", "OPT"):
            raise self.wrong(f"{method} is of one table, not of linked ones")
        self.steps.append(Suppress(self.line, method, table, tuple(numbers[1:])))

    def _write(self, rest: str) -> None:
        match = re.fullmatch(r'\(\s*(\d+)\s*,\s*(\d+)\s*,\s*([^,]*?)\s*,\s*("[^"]*"|[^,()]+)\s*\)', rest)
        if match is None:
            raise self.wrong('write <WRITETABLE> (TABLE, FORMAT, OPTIONS, "FILE")')
        number, kind, words = self._numbered(match.group(1)), int(match.group(2)), match.group(3).upper()
        if kind not in _FORMATS:
            raise self.wrong(f"there is no format {kind}; they are 1 to {_FORMATS[-1]}")
        options = {word: sign == "+" for word, sign in re.findall(r"([A-Z]{2})\s*([+-])", words)}
        left = re.sub(r"[A-Z]{2}\s*[+-]\s*", "", words)
        unknown = next((word for word in options if word not in _OPTIONS), left.strip())
        if unknown:
            raise self.wrong(
                f"there is no option {unknown!r}; there are {', '.join(_OPTIONS)}, each with + or -"
            )
        name = _unquoted(match.group(4))
        file = Path(name) if Path(name).is_absolute() else self.path.parent / name
        if any(isinstance(one, Write) and one.file == file for one in self.steps):
            raise self.wrong(f"{name} is written by another line already; give it another name")
        self.steps.append(Write(self.line, number, kind, options, file))

    def _clear(self) -> None:
        raise self.wrong(
            "a batch has the tables of one file of data here; write another batch for the others"
        )

    def _numbered(self, text: str, *, linked: bool = False) -> int:
        if not self.read:
            raise self.wrong("tables have to be read before that: <READMICRODATA> or <READTABLE>")
        number = int(text) if text.isdigit() else -1
        if not (0 if linked else 1) <= number <= len(self.tables):
            raise self.wrong(f"there is no table {text}; they are 1 to {len(self.tables)}")
        return number

    def _number(self, text: str, what: str) -> float:
        try:
            return float(text.strip())
        except ValueError:
            raise self.wrong(f"{what} is {text.strip()!r}, which is no number") from None


def read_batch(path: str | Path) -> Batch:
    """Read a batch.

    Raises
    ------
    DataError
        If it cannot be read, or a line is no command, not in its place, or names a file or table that there
        is not; it names the line.
    """
    reader = _Reader(Path(path))
    for reader.line, line in enumerate(read_text(Path(path))[0].splitlines(), start=1):
        text = line.replace("\t", " ").strip()
        if text and not text.startswith(("//", "\\\\")) and not text.upper().startswith("<COMMENT>"):
            reader.take(text)
    if not reader.tables or not reader.read:
        raise DataError(f"{path} reads no table; it needs <SPECIFYTABLE>, and <READMICRODATA> or <READTABLE>")
    return Batch(Path(path), tuple(reader.tables), tuple(reader.steps), tuple(reader.ignored))


def _unquoted(text: str) -> str:
    return text.strip().strip('"').strip()
