"""Outputs of a batch of tau-ARGUS: seven formats, of which four may be published."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.file_content import UTF8, encode
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.tables.argus.batch_commands import Write
from linkrisk.datasets.tables.argus.jj_files import jj_text
from linkrisk.datasets.tables.argus.ready_tables import RESPONDENTS
from linkrisk.datasets.tables.argus.written_tables import (
    described_files,
    empty_cells,
    key_columns,
    matrix,
    published_as_empty,
    records,
    sbs_text,
    tab_files,
)
from linkrisk.datasets.tables.relations import without_trivial_levels
from linkrisk.datasets.tables.stored_table import SENSITIVE, StoredTable
from linkrisk.datasets.tables.tabulating import SAMPLE
from linkrisk.solver.tables.operations.attacked_table import NOBODY
from linkrisk.solver.tables.operations.batch.tables import BatchTable, columns_of, safety_rules, width_of
from linkrisk.solver.tables.operations.make import make_table
from linkrisk.solver.tables.operations.suppress_and_audit import audit_table

MATRIX, PIVOT, CODES, SBS, INTERMEDIATE, JJ, NOISY = range(1, 8)
_NAMES = {"AR": INTERMEDIATE, "HI": INTERMEDIATE, "SO": INTERMEDIATE, "TR": JJ, "HL": SBS}
_NAMES |= {"AO": NOISY, "AD": NOISY, "AC": NOISY}
"""Options of one format only."""

_SUFFIXES = {"RND": "_Round", "CTA": "_CTA"}


def written(table: BatchTable, step: Write, where: str) -> tuple[dict[Path, bytes], list[str]]:
    """Encode the files of a command, and note options without effect."""
    said = [
        f"{where}, {word}+: it is of the format {_NAMES[word]} only"
        for word, on in step.options.items()
        if on and _NAMES.get(word, step.format) != step.format
    ]
    if table.changed is not None and step.options.get("AS"):
        said.append(f"{where}, AS+: values before {table.method} are not published")
    texts = _of_house(table, step, where) if step.format > CODES else {step.file: _published(table, step)}
    return {path: encode(text, UTF8) for path, text in texts.items()}, said


def may_be_published(table: BatchTable) -> bool:
    """Tell whether the audit passed; a table without protection is audited unchanged."""
    if table.changed is not None or table.noisy is not None:
        return True
    _audited(table)
    return table.result is None or table.result.protected


def _audited(table: BatchTable) -> None:
    """Audit a table without protection if it has sensitive cells."""
    if table.result is None and (table.stored.status == SENSITIVE).any():
        table.result = audit_table(table.stored, insiders=NOBODY)
        table.stored = table.result.table


def _published(table: BatchTable, step: Write) -> str:
    stored, options = _values(table), step.options
    gone, quotes = table.suppressed, options.get("QU", True)
    nobody = published_as_empty(stored, gone)
    if step.format == MATRIX:
        return matrix(stored, gone, nobody, quotes=quotes)
    heading = (table.spec.response or "Freq") + _SUFFIXES.get(table.method, "")
    return records(
        stored,
        gone,
        nobody,
        heading=heading if options.get("FL", step.format == PIVOT) else None,
        status=options.get("AS", False) and table.changed is None and table.noisy is None,
        without_empty=options.get("SE", False),
        quotes=quotes,
    )


def _of_house(table: BatchTable, step: Write, where: str) -> dict[Path, str]:
    options, quotes = step.options, step.options.get("QU", True)
    if step.format == NOISY:
        return _with_noise(table, step)
    if step.format == SBS:
        return {
            step.file: sbs_text(
                table.stored, table.suppressed, levels=options.get("HL", False), quotes=quotes
            )
        }
    if step.format == JJ:
        stored = table.stored
        return {step.file: jj_text(without_trivial_levels(stored) if options.get("TR") else stored)}
    if options.get("AR"):
        _audited(table)
    stored = _by_holdings(table, where) if options.get("HI") else table.stored
    if options.get("AR") and table.result is None:  # nothing is sensitive, and nothing suppressed
        stored = replace(stored, cells=stored.cells.assign(low=0.0, high=0.0))
    return tab_files(
        stored,
        step.file,
        brief=options.get("SO", False),
        audit=options.get("AR", False),
        without_empty=options.get("SE", False),
        quotes=quotes,
    )


def _with_noise(table: BatchTable, step: Write) -> dict[Path, str]:
    """Write values with noise; with options also the originals, the differences, and the cell keys."""
    assert table.noisy is not None
    cells, options = table.noisy.cells, step.options
    shown = _numbers(table, table.noisy.published_column)
    before = _numbers(table, "weighted" if "weighted" in cells.columns else "value")
    every = {
        "AO": ("original", before),
        "AD": ("difference", shown - before),
        "AC": ("cell_key", _numbers(table, "cell_key")),
    }
    house = dict(every[word] for word in every if options.get(word))
    left_out = empty_cells(table.stored) if options.get("SE") else None
    columns = key_columns(shown, house)
    return described_files(
        table.stored, step.file, columns, left_out=left_out, quotes=options.get("QU", True)
    )


def _by_holdings(table: BatchTable, where: str) -> StoredTable:
    """Return the table with the counts and largest contributions of holdings."""
    holding = None if table.source is None else table.source.of_kind("holding")
    if table.source is None or holding is None:
        raise DataError(f"{where}, HI+: there are no holdings, since no variable of microdata is <HOLDING>")
    spec, source = table.spec, table.source
    by = [source.named(name, where) for name in spec.by]
    own, held = safety_rules(spec, where)
    response = None if spec.response is None else source.named(spec.response, where)
    columns = columns_of(source, spec, where)
    if "weight" in columns:
        columns["weights_in_rules"] = SAMPLE
    made = make_table(
        source.frame,
        by,
        response=response,
        rules=[one.rule for one in (held or own) if one.name != "REQ"],
        hierarchies={name: source.trees[name] for name in by},
        holding=holding,
        **columns,
    )
    largest = made.tabulated.seen.largest
    shown = {f"largest_{at + 1}": largest[:, at] for at in range(width_of(held or own))}
    kept = [name for name in table.stored.cells.columns if not name.startswith("largest_")]
    counts = {RESPONDENTS: made.tabulated.respondents}
    return replace(table.stored, cells=with_columns(table.stored.cells[kept], {**counts, **shown}))


def _values(table: BatchTable) -> StoredTable:
    """Return the table with the values after rounding, adjustment or noise."""
    if table.noisy is not None:
        new = _numbers(table, table.noisy.published_column)
    elif table.changed is not None:
        new = table.changed.cells[table.changed.changed_column].to_numpy(dtype=np.float64)
    else:
        return table.stored
    numbers = {**table.stored.numbers, "value": new}
    return replace(table.stored, numbers=numbers, cells=table.stored.cells.assign(value=new))


def _numbers(table: BatchTable, column: str) -> FloatArray:
    """Return a column of a table with noise, whose cells are in the same order."""
    assert table.noisy is not None
    return table.noisy.cells[column].to_numpy(dtype=np.float64)
