"""What a batch of tau-ARGUS writes: seven formats, of which four are to be published."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from linkrisk.datasets.microdata.formats.encodings import UTF8, encode
from linkrisk.datasets.tables.argus.batch_commands import Write
from linkrisk.datasets.tables.argus.internal import nobody_in, sbs_text, tab_files
from linkrisk.datasets.tables.argus.jj_files import jj_text
from linkrisk.datasets.tables.argus.safe_files import matrix, records
from linkrisk.datasets.tables.cells_and_relations import StoredTable
from linkrisk.solver.api.tables.batch.steps import BatchTable
from linkrisk.solver.run.errors import UsageError

MATRIX, PIVOT, CODES, SBS, INTERMEDIATE, JJ, KEYS = range(1, 8)
PUBLISHED = (MATRIX, PIVOT, CODES)
_SUFFIXES = {"RND": "_Round", "CTA": "_CTA"}
_LEFT_OUT = {
    "AR": "intervals are written by tables audit --internal",
    "HI": "counts and largest contributions are those of respondents",
    "TR": "levels of a single code stay",
}


def written(table: BatchTable, step: Write, where: str) -> tuple[dict[Path, bytes], list[str]]:
    """The files of a command, and what is said of its options.

    Raises
    ------
    UsageError, DataError
        If the table cannot be written in this format.
    """
    said = [
        f"{where}, {word}+: {_LEFT_OUT[word]}"
        for word, on in step.options.items()
        if on and word in _LEFT_OUT
    ]
    if step.format == KEYS:
        raise UsageError(
            f"{where}: the format {KEYS} is of tables protected by CKM, which batches here do not run"
        )
    if table.changed is not None and step.format not in PUBLISHED:
        raise UsageError(f"{where}: a table of {table.method} has the formats 1, 2 and 3, not {step.format}")
    if table.changed is not None and step.options.get("AS"):
        said.append(f"{where}, AS+: values before {table.method} are not published")
    texts = _texts(table, step)
    return {path: encode(text, UTF8) for path, text in texts.items()}, said


def _texts(table: BatchTable, step: Write) -> dict[Path, str]:
    stored, options = _values(table), step.options
    gone, nobody, quotes = table.suppressed, nobody_in(table.stored), options.get("QU", True)
    if step.format == MATRIX:
        return {step.file: matrix(stored, gone, nobody, quotes=quotes)}
    if step.format in (PIVOT, CODES):
        heading = (table.spec.response or "Freq") + _SUFFIXES.get(table.method, "")
        text = records(
            stored,
            gone,
            nobody,
            heading=heading if options.get("FL", step.format == PIVOT) else None,
            status=options.get("AS", False) and table.changed is None,
            without_empty=options.get("SE", False),
            quotes=quotes,
        )
        return {step.file: text}
    if step.format == SBS:
        return {step.file: sbs_text(stored, gone, levels=options.get("HL", False))}
    if step.format == INTERMEDIATE:
        return tab_files(stored, step.file, brief=options.get("SO", False))
    return {step.file: jj_text(stored)}


def _values(table: BatchTable) -> StoredTable:
    """The table with the values that it has after rounding or adjustment."""
    if table.changed is None:
        return table.stored
    new = table.changed.cells[table.changed.changed_column]
    numbers = {**table.stored.numbers, "value": new.to_numpy(dtype=np.float64)}
    return replace(table.stored, numbers=numbers, cells=table.stored.cells.assign(value=new))
