"""Ready tables of ARGUS: a file of cells (.tab), its metadata (.rda) and hierarchies (.hrc)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_metadata import (
    METADATA,
    Metadata,
    Variable,
    find_file,
    parse_metadata,
    read_text,
)
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.tables.code_trees import TOTAL, CodeTree, parents_in, renamed
from linkrisk.datasets.tables.relations import relations_of_cells, with_sums
from linkrisk.datasets.tables.stored_table import (
    FIXED,
    SAFE,
    SECONDARY,
    SENSITIVE,
    STATUS,
    StoredTable,
    names_of_codes,
    stored_table,
)

_LEAD = "."
"""What stands before a code once for each level down, where the metadata does not say it."""


def total_of(variable: Variable) -> str:
    """Return the code of the total of a variable."""
    return variable.words.get("totcode", "").strip() or TOTAL


def tree_of(variable: Variable, codes: Iterable[str], path: Path) -> CodeTree:
    """Build the tree of a variable from its metadata: a file of codes, digits of levels, or a flat list.

    Declared missing codes that are in no tree stand right below the total.
    """
    total, words = total_of(variable), variable.words
    found = sorted(set(codes) - {total})
    if "hiercodelist" in words:
        name = re.split(r"[\\/]", words["hiercodelist"])[-1]
        file = find_file(path.parent, name)
        if file is None:
            raise DataError(f"{path}: the hierarchy {name} of {variable.name!r} is not in the same folder")
        parents = parents_in(file, total, words.get("hierleadstring") or _LEAD)
    elif "hierlevels" in words:
        parents = _by_digits(variable, [code for code in found if code not in variable.missing], path, total)
    else:
        parents = dict.fromkeys(found, total)  # in the order of the program, which is that of text
    missing = {code for code in found if code in variable.missing} - set(parents)
    return CodeTree.of(variable.name, {**parents, **dict.fromkeys(sorted(missing), total)}, str(path), total)


def tree_text(tree: CodeTree) -> str:
    """Write a tree as a file of ARGUS (.hrc), without its total."""
    below = {int(line[0]): line[1:].tolist() for line in tree.inner}
    lines, pending = [], [(0, at) for at in reversed(below.get(0, []))]
    while pending:
        depth, at = pending.pop()
        lines.append("@" * depth + tree.codes[at])
        pending += [(depth + 1, one) for one in reversed(below.get(at, []))]
    return "\n".join(lines) + "\n"


def _by_digits(variable: Variable, codes: Iterable[str], path: Path, total: str) -> dict[str, str]:
    """Nest codes by their first digits: with 3 1 1, 34100 is below 3410 below 341."""
    widths = variable.words["hierlevels"].split()
    if not widths or not all(width.isdigit() for width in widths):
        raise DataError(f"{path}: <HIERLEVELS> of {variable.name!r} are {' '.join(widths)!r}; write numbers")
    ends = [sum(map(int, widths[: at + 1])) for at in range(len(widths)) if widths[at] != "0"]
    parents: dict[str, str] = {}
    for code in codes:
        if len(code) > ends[-1]:
            raise DataError(
                f"{path}: the code {code!r} of {variable.name!r} has more than the {ends[-1]} digits of its "
                "levels"
            )
        above = total
        for part in dict.fromkeys(code[:end] for end in ends):
            parents[part] = above
            above = part
    return parents


SUFFIX = ".tab"
EMPTY = "E"
RESPONDENTS = "respondents"
MANUAL = 20.0
"""Percent of the value that the levels of a cell with the status unsafe are, where none are given."""

_SEPARATOR = ";"
_NUMBERS = {
    "shadow": "shadow",
    "cost": "cost",
    "lowerpl": "lower_protection",
    "upperpl": "upper_protection",
    "slidingpl": "sliding_protection",
    "lowerbound": "lower_bound",
    "upperbound": "upper_bound",
}
"""What numeric columns become."""


def metadata_of(path: str | Path) -> Path:
    """Find the metadata beside a file of cells."""
    found = find_file(Path(path).parent, f"{Path(path).stem}{METADATA}")
    if found is None:
        raise DataError(f"{path}: its metadata is missing; give {Path(path).stem}{METADATA}, or name it")
    return found


def argus_columns(path: str | Path, metadata: str | Path | None = None) -> tuple[list[str], list[str]]:
    """List the explanatory variables of a table, and what may be in its cells."""
    described = Path(metadata) if metadata is not None else metadata_of(path)
    known = parse_metadata(read_text(described)[0], described, cells=True)
    return [one.name for one in _explanatory(known)], [one.name for one in _responses(known)]


def read_argus_table(
    path: str | Path,
    metadata: str | Path | None = None,
    *,
    by: Sequence[str] | None = None,
    response: str | None = None,
    recompute: bool = False,
    manual: float = MANUAL,
) -> StoredTable:
    """Read a table of ARGUS; of variables that are not in `by` the cells of the total are taken.

    It has columns `respondents` (the frequency) and `largest_1`, ... (the largest contributions) where they
    are there. Of the statuses U is ``u``, M ``m``, P and E (empty) ``z``. Without given levels, those of
    unsafe cells are `manual` percent of the value.
    """
    described = Path(metadata) if metadata is not None else metadata_of(path)
    known = parse_metadata(read_text(described)[0], described, cells=True)
    raw = _columns(Path(path), known)
    codes = _explanatory(known)
    chosen = [_named(codes, name, described) for name in by] if by is not None else codes
    if not chosen:
        raise DataError(f"{described} has no explanatory variable; mark them with <RECODEABLE>")
    raw = _of_totals(raw, [one for one in codes if one not in chosen])
    for one in chosen:
        raw[one.name] = raw[one.name].replace("", total_of(one))
    names = names_of_codes([one.name for one in chosen])
    trees = [renamed(tree_of(one, raw[one.name], described), names[one.name]) for one in chosen]
    frame = raw[list(names)].rename(columns=names).reset_index(drop=True)
    frame = with_columns(frame, _numbers(raw, known, response, Path(path), described))
    frame[STATUS] = _status(raw, known, frame, Path(path))
    frame = with_usual_levels(frame, manual)
    terms = relations_of_cells(frame, trees, str(path))
    stored = stored_table(frame, terms, str(path), by=list(names.values()), trees=trees)
    return with_sums(stored) if recompute else stored


def _explanatory(metadata: Metadata) -> list[Variable]:
    return [one for one in metadata.variables if "recodable" in one.words]


def _responses(metadata: Metadata) -> list[Variable]:
    """List what may be in the cells, the usual one first."""
    answers = [
        one
        for one in metadata.variables
        if "numeric" in one.words and not any(kind in one.words for kind in _NUMBERS)
    ]
    return [*answers, *(one for one in metadata.variables if "frequency" in one.words)]


def _columns(path: Path, metadata: Metadata) -> pd.DataFrame:
    names = [one.name for one in metadata.variables]
    text = read_text(path)[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=metadata.separator or _SEPARATOR)
    rows, lines = [], []
    for row in reader:
        if not row or not any(cell.strip() for cell in row):
            continue
        if len(row) != len(names):
            raise DataError(
                f"{path}, line {reader.line_num}: {len(row)} cells where its .rda has {len(names)} variables"
            )
        rows.append([cell.strip() for cell in row])
        lines.append(reader.line_num)
    if not rows:
        raise DataError(f"{path} has no cells")
    return pd.DataFrame(rows, columns=names, index=lines)


def _of_totals(raw: pd.DataFrame, others: Sequence[Variable]) -> pd.DataFrame:
    """Keep the cells of the totals of other variables."""
    kept = np.ones(len(raw), dtype=bool)
    for one in others:
        kept &= raw[one.name].isin(["", total_of(one)]).to_numpy()
    return raw[kept].copy()


def _numbers(
    raw: pd.DataFrame, metadata: Metadata, response: str | None, path: Path, described: Path
) -> dict[str, pd.Series]:
    """Read the columns of numbers, named by what they are here."""
    frequency = [one for one in metadata.variables if "frequency" in one.words]
    asked = _responses(metadata)
    if not asked:
        raise DataError(f"{described} has neither a response (<NUMERIC>) nor a frequency (<FREQUENCY>)")
    value = asked[0] if response is None else _named(asked, response, described)
    made = {"value": _number(raw, value, path).fillna(0)}
    if frequency:
        made[RESPONDENTS] = _number(raw, frequency[0], path).fillna(0)
    for one in metadata.variables:
        kind = next((name for word, name in _NUMBERS.items() if word in one.words), None)
        if kind is not None:
            made[kind] = _number(raw, one, path)
    largest = [one for one in metadata.variables if "maxscore" in one.words]
    made.update({f"largest_{at}": _number(raw, one, path).fillna(0) for at, one in enumerate(largest, 1)})
    return {name: column.reset_index(drop=True) for name, column in made.items()}


def _number(raw: pd.DataFrame, variable: Variable, path: Path) -> pd.Series:
    """Read a column as numbers, with decimal points or commas; empty and '-' are missing."""
    texts = raw[variable.name].str.replace(",", ".", regex=False)
    found = pd.Series(pd.to_numeric(texts, errors="coerce"), index=raw.index, dtype=np.float64)
    wrong = (found.isna() & ~texts.isin(["", "-"])).to_numpy()
    if wrong.any():
        line = raw.index[int(np.argmax(wrong))]
        text = raw[variable.name].loc[line]
        raise DataError(f"{path}, line {line}, {variable.name!r}: {text!r} is not a number")
    whole = found.notna().all() and (found == np.rint(found)).all()
    return found.astype(np.int64) if whole else found


def _named(variables: Sequence[Variable], name: str, described: Path) -> Variable:
    for one in variables:
        if one.name.lower() == name.lower():
            return one
    listed = ", ".join(one.name for one in variables) or "none"
    raise DataError(f"{described} has no such variable {name!r}; of this kind there are: {listed}")


def _status(raw: pd.DataFrame, metadata: Metadata, frame: pd.DataFrame, path: Path) -> list[str]:
    nobody = frame[RESPONDENTS] == 0 if RESPONDENTS in frame else pd.Series(False, index=frame.index)
    column = next((one.name for one in metadata.variables if "status" in one.words), None)
    if column is None:
        return [FIXED if empty else SAFE for empty in nobody]
    safe, unsafe, protect = metadata.statuses
    meaning = {safe: SAFE, unsafe: SENSITIVE, protect: FIXED, "M": SECONDARY, EMPTY: FIXED, "": FIXED}
    found = []
    for line, text, empty in zip(raw.index, raw[column].str.upper(), nobody, strict=True):
        if text not in meaning:
            raise DataError(
                f"{path}, line {line}: there is no status {text!r}; {safe} is safe, {unsafe} unsafe, "
                f"{protect} always published, M suppressed with the unsafe ones, {EMPTY} empty"
            )
        found.append(FIXED if empty and text == safe else meaning[text])
    return found


def with_usual_levels(frame: pd.DataFrame, manual: float = MANUAL) -> pd.DataFrame:
    """Add levels of unsafe cells, in percent of the value where none are given."""
    unsafe = (frame[STATUS] == SENSITIVE).to_numpy()
    usual = np.abs(frame["value"].to_numpy(dtype=np.float64)) * manual / 100.0
    levels: Mapping[str, np.ndarray] = {
        name: np.where(unsafe, frame[name].fillna(pd.Series(usual)) if name in frame else usual, 0.0)
        for name in ("lower_protection", "upper_protection")
    }
    return with_columns(frame, levels)
