"""Batches of tau-ARGUS (.arb): commands, one on each line, read and checked before anything is done."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_metadata import find_file, read_text
from linkrisk.datasets.tables.argus.batch_commands import (
    CELLS,
    KEYS,
    LINKED,
    MICRODATA,
    Apriori,
    Batch,
    CellKeys,
    LineError,
    Method,
    Named,
    Opened,
    Recode,
    Specified,
    Step,
    Suppress,
    Write,
    check_format,
    method_of,
    number,
    output_of,
    rules_of,
    table_of,
    unquoted,
)

_WITHOUT_EFFECT = {
    "GOINTERACTIVE": "there are no windows",
    "SOLVER": "an optimiser of our own is used",
    "SILENT": "nothing asks anything",
    "ANCO": "it changes nothing",
    "COVER": "linked tables are protected at once",
    "COVERTABLES": "linked tables are protected at once",
    "SETHTML": "there is no report of HTML here",
    "REPORTSTR": "it changes nothing",
    "OUTPUTWINDOW": "there are no windows",
}
_INSTEAD = {
    "JJ": "a JJ file needs no batch; write tables suppress --table FILE.jj",
    "LINKMOD": "linked tables are protected by <SUPPRESS> MOD(0,...); write that",
}
"""Commands of old programs, and what does the same."""


class _Reader:
    """Reads a batch line by line."""

    def __init__(self, path: Path) -> None:
        self.path, self.line = path, 0
        self.tables: list[Specified] = []
        self.steps: list[Step] = []
        self.ignored: list[str] = []
        self.logbook: Named | None = None
        self.versions: list[Named] = []
        self._methods: dict[int, str] = {}
        self._cleared = (0, 0)  # how many tables and steps there were at the last <CLEAR>
        self._forget()
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
            "LOGBOOK": self._logbook,
            "VERSIONINFO": self._version,
        }

    def _forget(self) -> None:
        self.kind: str | None = None
        self.data: Path | None = None
        self.opened: Opened | None = None
        self.read = False

    def take(self, text: str) -> None:
        """Read one line that is neither empty nor a comment."""
        match = re.match(r"<(\w+)>\s*(.*)$", text)
        word = match.group(1).upper() if match else ""
        try:
            self._take(word, match.group(2).strip() if match else "", text)
        except LineError as error:
            raise self.wrong(str(error)) from None

    def _take(self, word: str, rest: str, text: str) -> None:
        if word in _WITHOUT_EFFECT:
            self.ignored.append(f"line {self.line}, <{word}>: {_WITHOUT_EFFECT[word]}")
        elif word in _INSTEAD:
            raise LineError(_INSTEAD[word])
        elif word in self._commands:
            self._commands[word](rest)
        else:
            listed = ", ".join(f"<{name}>" for name in self._commands if name != "APRIORY")
            raise LineError(f"there is no command {f'<{word}>' if word else repr(text)}; there are {listed}")

    def wrong(self, what: str) -> DataError:
        """Make an error of the current line."""
        return DataError(f"{self.path}, line {self.line}: {what}")

    def finished(self) -> bool:
        """Tell whether all that was opened since the last <CLEAR> is read."""
        return self.data is None or (self.read and len(self.tables) > self._cleared[0])

    def _file(self, text: str) -> Path:
        name = unquoted(text)
        found = Path(name) if Path(name).is_absolute() and Path(name).is_file() else None
        found = found or find_file(self.path.parent, re.split(r"[\\/]", name)[-1])
        inside = self.path.parent / name
        if inside.is_file():
            return inside
        if not name or found is None:
            raise LineError(f"there is no file {name!r} beside the batch")
        return found

    def _open(self, kind: str, rest: str) -> None:
        another = kind == self.kind == CELLS and not self.read and self.opened is not None
        if self.data is not None and not another:
            raise LineError("data is open already; <CLEAR> comes before other data")
        self.kind, self.data, self.opened = kind, self._file(rest), None

    def _metadata(self, rest: str) -> None:
        if self.data is None or self.kind is None:
            raise LineError("<OPENMETADATA> describes data; open that first")
        self.opened = Opened(self.kind, self.data, self._file(rest))

    def _table(self, rest: str) -> None:
        if self.opened is None:
            raise LineError("<SPECIFYTABLE> needs data and its metadata; open them first")
        if self.read:
            raise LineError("tables are specified before they are read")
        self.tables.append(table_of(rest, self.opened, self.line))

    def _rules(self, rest: str) -> None:
        if len(self.tables) == self._cleared[0] or self.read:
            raise LineError("<SAFETYRULE> is of a table; specify that first")
        self.tables[-1].rules, self.tables[-1].settings = rules_of(rest)

    def _read(self, kind: str, rest: str) -> None:
        if self.kind != kind or len(self.tables) == self._cleared[0]:
            raise LineError(f"there is no table of {kind} to read")
        if kind == CELLS and rest:
            if rest[0] not in "012" or rest[1:].upper() not in ("", "T", "F"):
                raise LineError(f"<READTABLE> takes 0, or 1 to compute totals again, not {rest!r}")
            if rest[0] == "2":
                raise LineError("a table that does not add up cannot be protected; write <READTABLE> 1")
            for table in self.tables[self._cleared[0] :]:
                table.recompute = rest[0] == "1"
        self.read = True

    def _apriori(self, rest: str) -> None:
        match = re.fullmatch(
            r'("[^"]*"|[^,]+?)\s*,\s*(\d+)\s*(?:,\s*"([^"]*)"\s*(?:,\s*([01]?)\s*(?:,\s*([01]?)\s*)?)?)?',
            rest,
        )
        if match is None:
            raise LineError('write <APRIORI> "FILE", TABLE, "SEPARATOR", and 0 or 1 twice')
        at = self._numbered(match.group(2))
        if at in self._methods:
            raise LineError(f"<APRIORI> comes before <SUPPRESS> {self._methods[at]}; move it up")
        skip, expand = match.group(4) != "0", match.group(5) == "1"
        file = self._file(match.group(1))
        self.steps.append(Apriori(self.line, at, file, match.group(3) or ",", skip, expand))

    def _recode(self, rest: str) -> None:
        parts = [one.strip() for one in rest.split(",", 2)]
        if len(parts) != 3:
            raise LineError('write <RECODE> TABLE, VARIABLE, "FILE" or a level')
        at, name, what = self._numbered(parts[0]), unquoted(parts[1]), unquoted(parts[2])
        before = next((one for one in self.steps[self._cleared[1] :] if not isinstance(one, Recode)), None)
        if before is not None:
            word = "SUPPRESS" if isinstance(before, CellKeys) else type(before).__name__.upper()
            raise LineError(f"<RECODE> comes before <{word}>; move it up")
        level = int(what) if re.fullmatch(r"[1-9]", what) else None
        self.steps.append(Recode(self.line, at, name, level, None if level else self._file(parts[2])))

    def _suppress(self, rest: str) -> None:
        said = method_of(rest)
        at = self._numbered(said.table, linked=True)
        if at == 0 and said.name not in LINKED:
            raise LineError(f"{said.name} is of one table, not of linked ones")
        every = (at,) if at else tuple(range(self._cleared[0] + 1, len(self.tables) + 1))
        done = next((self._methods[one] for one in every if one in self._methods), None)
        if done is not None:
            raise LineError(f"the table is protected by {done} already")
        self._methods |= dict.fromkeys(every, said.name)
        keys = said.name == KEYS
        self.steps.append(
            self._keys(said, at) if keys else Suppress(self.line, said.name, every, said.numbers)
        )

    def _keys(self, said: Method, at: int) -> CellKeys:
        """Parse CKM(T) "TABLE" of counts, CKM(T) "TABLE"|"TABLE OF SMALL CELLS"|EXTRA of sums."""
        counts = self.tables[at - 1].response is None
        if said.numbers or len(said.behind) > (1 if counts else 3):
            shape = '"FILE"' if counts else '"FILE"|"FILE OF SMALL CELLS"|EXTRA'
            raise LineError(f"write <SUPPRESS> CKM(TABLE) {shape}; what is left out is that of the metadata")
        noise, small, extra = (*said.behind, "", "")[:3]
        return CellKeys(
            self.line,
            at,
            self._file(noise) if noise else None,
            self._file(small) if small else None,
            number(extra, "the extra noise of CKM") if extra else 0.0,
        )

    def _write(self, rest: str) -> None:
        said = output_of(rest)
        at = self._numbered(said.table)
        check_format(said.format, self._methods.get(at, ""))
        self.steps.append(Write(self.line, at, said.format, said.options, self._new(said.file)))

    def _logbook(self, rest: str) -> None:
        if self.logbook is not None:
            raise LineError("there is a <LOGBOOK> already; one is for the whole batch")
        self.logbook = Named(self.line, self._new(unquoted(rest)))

    def _version(self, rest: str) -> None:
        self.versions.append(Named(self.line, self._new(unquoted(rest))))

    def _new(self, name: str) -> Path:
        """Return the path of a file to be written."""
        if not _names_file(name):
            raise LineError("it needs the name of a file")
        file = _beside(self.path, name)
        written = [one.file for one in self.steps if isinstance(one, Write)]
        written += [one.file for one in (self.logbook, *self.versions) if one is not None]
        if file in written:
            raise LineError(f"{name} is written by another line already; give it another name")
        return file

    def _clear(self) -> None:
        if not self.finished():
            raise LineError("data is open that no table is read of; leave it out, or read a table")
        self._cleared = len(self.tables), len(self.steps)
        self._forget()

    def _numbered(self, text: str, *, linked: bool = False) -> int:
        """Find a table by its number since the last <CLEAR>; 0: all of them."""
        if not self.read:
            raise LineError("tables have to be read before that: <READMICRODATA> or <READTABLE>")
        before = self._cleared[0]
        at = int(text) if text.isdigit() else -1
        if not (0 if linked else 1) <= at <= len(self.tables) - before:
            raise LineError(f"there is no table {text}; they are 1 to {len(self.tables) - before}")
        return at + before if at else 0


def _names_file(text: str) -> bool:
    return text != "" and not text.endswith("\\")


def _beside(batch: Path, name: str) -> Path:
    if os.sep == "/" and re.search(r"\\|^[A-Za-z]:/", name):  # of another machine: its name counts
        return batch.parent / re.split(r"[\\/:]", name)[-1]
    return Path(name) if Path(name).is_absolute() else batch.parent / name


def logbook_of(path: str | Path) -> Path | None:
    """Find the logbook that a batch names, be the rest of it right or wrong."""
    try:
        lines = read_text(Path(path))[0].splitlines()
    except DataError:
        return None
    for line in lines:
        match = re.match(r"\s*<LOGBOOK>\s*(.*)$", line, re.IGNORECASE)
        name = unquoted(match.group(1).strip()) if match else ""
        if _names_file(name):
            return _beside(Path(path), name)
    return None


def read_batch(path: str | Path) -> Batch:
    """Read a batch; an error names the line."""
    reader = _Reader(Path(path))
    lines = tuple(read_text(Path(path))[0].splitlines())
    for reader.line, line in enumerate(lines, start=1):
        text = line.replace("\t", " ").strip()
        if text and not text.startswith(("//", "\\\\")) and not text.upper().startswith("<COMMENT>"):
            reader.take(text)
    if not reader.tables or not reader.finished():
        raise DataError(f"{path} reads no table; it needs <SPECIFYTABLE>, and <READMICRODATA> or <READTABLE>")
    return Batch(
        Path(path),
        tuple(reader.tables),
        tuple(reader.steps),
        tuple(reader.ignored),
        lines,
        reader.logbook,
        tuple(reader.versions),
    )
