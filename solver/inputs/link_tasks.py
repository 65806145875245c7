"""Build the task of a linker from two files: columns, true partners, clerical decisions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.registry import masking_method
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.numeric import check_no_duplicates
from linkrisk.datasets.microdata.role_recognition import Recognition
from linkrisk.datasets.microdata.roles import CATEGORICAL, Role
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table, load_table
from linkrisk.datasets.pairs.alignment import TablePair, align, label_columns, load_tables, unaligned
from linkrisk.datasets.pairs.attributes import (
    check_compared,
    open_columns,
    record_id,
    special_columns,
    special_notes,
    text_columns,
    with_missing,
)
from linkrisk.datasets.pairs.categorical import NOT_INFERRED, listed_categories, spelled_alike
from linkrisk.datasets.pairs.cells import id_text
from linkrisk.datasets.pairs.linkage_frames import LinkageFrames, linkage_frames, recoded_frames
from linkrisk.datasets.pairs.recodings import date_recodings
from linkrisk.errors import called
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.inputs.reading import check_alignment_options
from linkrisk.solver.linkage.linker import LinkageTask, Linker
from linkrisk.solver.linkage.probabilistic.decisions import Reviewed
from linkrisk.solver.options.checks import check_asked
from linkrisk.solver.options.linking import LinkageOptions, UnknownOptions
from linkrisk.solver.run.errors import UsageError

Asked = LinkageOptions | UnknownOptions


def check_options(options: Asked, linker: Linker) -> None:
    """Refuse options out of range, and those that would be ignored."""
    check_asked(options)
    if not options.truth and not linker.lists_links:
        raise UsageError(
            f"{linker.name} is judged by the true links and says nothing without them: give "
            f"{called('method', 'prl')} with {called('passes')}, or take `link`, which "
            "knows the true links",
            option="method",
        )
    if options.training is not None and not linker.learns_from_training:
        raise UsageError(
            f"{linker.name} learns from the two files alone: leave {called('training')} out",
            option="training",
        )


def read_pair(original: Any, masked: Any, linker: Linker, options: Asked, schema: Schema | None) -> TablePair:
    """Read the two files, with their records aligned where the alignment is known."""
    check_alignment_options(options.id, options.row_by_row)
    listed = listed_categories(options.nominal, options.ordinal, schema)
    text = (*listed, *text_columns(schema), *(name for name in options.labels if name is not None))
    loaded = load_tables(original, masked, options.id, text, ("original", "masked"))
    tables = with_missing(loaded, schema)
    if not options.truth:
        first, second = spelled_alike(tables, listed)
        return unaligned(first, second, label_columns((first, second), options.labels, schema))
    id_column, notes = record_id(schema, tables, options.id, options.row_by_row)
    first, second = spelled_alike(tables, listed)
    if linker.lists_links and id_column is None and len(first.frame) != len(second.frame):
        raise UsageError(
            f"{first.source} has {len(first.frame):,} records and {second.source} has {len(second.frame):,}: "
            f"name the column that identifies them in both with {called('id')}, or take "
            "`find-links` if nobody knows which record is which",
            option="id",
        )
    pair = align(first, second, id_column=id_column, row_by_row=options.row_by_row)
    return replace(pair, notes=(*notes, *pair.notes))


def compared_frames(
    pair: TablePair,
    linker: Linker,
    options: Asked,
    schema: Schema | None,
    keys: Sequence[str],
    masking: Sequence[str] = (),
) -> tuple[LinkageFrames, tuple[str, ...]]:
    """Select the columns to compare and the keys, and the masking that is left to the linker.

    Levels of dates and recodings inferred from the files have been applied.
    """
    special = _left_out(pair, linker, options, schema)
    original, masked = _chosen(pair, linker, options, schema, special)
    known = options.truth and linker.common_attributes  # alignment and masking
    training = None
    if options.training is not None:
        listed = listed_categories(options.nominal, options.ordinal, schema)
        table = load_table(options.training, "training", tuple(listed))
        training = spelled_alike((pair.original, pair.masked, *with_missing([table], schema)), listed)[-1]
    frames = linkage_frames(
        pair,
        (original, masked),
        keys=keys,
        nominal=options.nominal,
        ordinal=options.ordinal,
        schema=schema,
        training=training,
        recoded=known and NOT_INFERRED not in masking,
    )
    frames = replace(frames, notes=(*special_notes(list(special), special), *frames.notes))
    if not known:
        return frames, tuple(masking)
    left, levels = date_recodings(masking, Table(frames.original, pair.original.source), frames.dates)
    days = {name: one.apply(frames.original[name].to_numpy()) for name, one in levels.items()}
    frames = replace(frames, original=with_columns(frames.original, days))
    others = tuple(str(text) for text in left)
    if NOT_INFERRED in masking:
        return frames, others
    return recoded_frames(frames, pair.partner, {*levels, *_masked(others, frames)}), others


def _masked(masking: Sequence[str], frames: LinkageFrames) -> set[str]:
    """List attributes with known masking; a method without attributes covers all categorical ones."""
    names = [name for name in frames.original_attributes if frames.schema[name].scale in CATEGORICAL]
    given = [masking_method(text).named for text in masking]
    return {name for attributes in given for name in (names if attributes is None else attributes)}


def _left_out(
    pair: TablePair, linker: Linker, options: Asked, schema: Schema | None
) -> dict[str, Recognition]:
    """List uninformative columns of both files, which are compared only if requested."""
    if options.attributes is not None or not linker.common_attributes:
        return {}
    found = special_columns((pair.original, pair.masked), schema, (*options.nominal, *options.ordinal))
    aside = (options.id, *options.labels)
    return {
        name: one
        for name, one in found.items()
        if one.role is Role.IGNORED and name not in aside and name in pair.masked.columns
    }


def _chosen(
    pair: TablePair,
    linker: Linker,
    options: Asked,
    schema: Schema | None,
    special: Collection[str],
) -> tuple[Sequence[str], Sequence[str]]:
    """List the attributes of either file."""
    own = (options.original_attributes, options.masked_attributes)
    tables = (pair.original, pair.masked)
    columns = [_columns(table, label, schema) for table, label in zip(tables, options.labels, strict=True)]
    if not linker.common_attributes:
        if options.attributes is not None:
            raise UsageError(
                f"{linker.name} compares files without attributes in common: name those of each file with "
                f"{called('original_attributes')} and {called('masked_attributes')}",
                option="original_attributes",
            )
        sides = [columns[at] if names is None else list(names) for at, names in enumerate(own)]
    elif own != (None, None):
        raise UsageError(
            f"{linker.name} compares attributes that both files have: name them with {called('attributes')}",
            option="attributes",
        )
    else:
        common = [name for name in columns[0] if name in columns[1] and name not in special]
        sides = [common if options.attributes is None else list(options.attributes)] * 2
    for names, table, label in zip(sides, tables, options.labels, strict=True):
        check_no_duplicates(names, "the attributes")
        if not names:
            what = (
                "no attribute in common with the other file" if linker.common_attributes else "no attribute"
            )
            raise UsageError(f"{table.source} has {what}: nothing can be compared")
        if label in names:
            raise UsageError(
                f"'{label}' is both the id column and an attribute: leave it out of the attributes"
            )
        check_compared(names, schema)
    return sides[0], sides[1]


def _columns(table: Table, id_column: str | None, schema: Schema | None) -> list[str]:
    """List the columns compared by default."""
    chosen = table.columns if schema is None else open_columns(table.columns, schema)
    return [name for name in chosen if name != id_column]


def linkage_task(
    pair: TablePair, frames: LinkageFrames, direction: Direction, seed: int
) -> tuple[LinkageTask, tuple[Sequence[str], Sequence[str]], IndexArray]:
    """Build the linker's task, the labels of queries and candidates, and the partner of each query."""
    sides = [
        (frames.original, frames.original_attributes, pair.original_labels, pair.original.source),
        (frames.masked, frames.masked_attributes, pair.masked_labels, pair.masked.source),
    ]
    partner = pair.partner
    if direction is Direction.MASKED_TO_ORIGINAL:
        sides.reverse()
        known = np.flatnonzero(pair.partner >= 0)
        partner = np.full(len(frames.masked), -1, dtype=np.intp)
        partner[pair.partner[known]] = known
    (queries, candidates), attributes, labels, sources = zip(*sides, strict=True)
    task = LinkageTask(
        queries=queries,
        candidates=candidates,
        query_attributes=attributes[0],
        candidate_attributes=attributes[1],
        schema=frames.schema,
        sources=sources,
        bijection=len(queries) == len(candidates) and bool((partner >= 0).all()),
        training=frames.training,
        seed=seed,
        masked_queries=direction is Direction.MASKED_TO_ORIGINAL,
    )
    return task, labels, partner


def twin_group(task: LinkageTask) -> IndexArray:
    """Label candidates such that those equal on every attribute have equal labels."""
    grouped = task.candidates.groupby(list(task.candidate_attributes), dropna=False, sort=False)
    return np.asarray(grouped.ngroup(), dtype=np.intp)


SIDES = ("original", "masked")
"""Columns with the labels of the records."""

DECISION = "decision"
"""Column with the clerical decision, or nothing where it is still open."""

WEIGHT = "weight"
"""The column with the match weight of each pair."""

LINK, NON_LINK = "link", "non-link"


def read_decisions(
    table: Any, labels: tuple[Sequence[str], Sequence[str]], *, reverse: bool
) -> Reviewed | None:
    """Read clerical decisions on pairs: the labels of `SIDES` and `DECISION`; None where all are open.

    `labels` are those of queries and candidates, `reverse` is whether the queries are the masked records.
    DataError if a column is missing, a record or word is unknown, or one pair has both decisions.
    """
    loaded = load_table(table, "decisions", (*SIDES, DECISION))
    for name in (*SIDES, DECISION):
        if name not in loaded.columns:
            raise DataError(
                f"{loaded.source} has no column {name!r}; decisions need the columns "
                f"{', '.join((*SIDES, DECISION))}, as {called('clerical')} writes them",
                option="decisions",
            )
    frame = loaded.frame
    word = _words(loaded)
    made = np.flatnonzero((word != "").to_numpy())
    if not made.size:
        return None
    rows: list[IndexArray] = []
    for name in reversed(SIDES) if reverse else SIDES:
        side = labels[len(rows)]
        place = pd.Index(side).get_indexer(pd.Index([_text(cell) for cell in frame[name].iloc[made]]))
        if (place < 0).any():
            row = int(made[np.argmax(place < 0)])
            raise DataError(
                f"{loaded.source}, row {row + 1}: {_text(frame[name].iloc[row])!r} is no record of the "
                f"{name} file; use the labels that {called('clerical')} writes",
                option="decisions",
            )
        rows.append(place.astype(np.intp))
    link = (word.iloc[made] == LINK).to_numpy()
    return _once(loaded.source, made, Reviewed(rows[0], rows[1], link))


def read_checked_links(table: Any) -> tuple[FloatArray, BoolArray]:
    """Read the weights of clerically reviewed links, and whether each was right.

    Rows with an open decision are left out; DataError as in `read_decisions`, or for a weight that is no
    number.

    Examples
    --------
    >>> import pandas as pd
    >>> from linkrisk.measures import read_checked_links
    >>> checked = pd.DataFrame({"weight": [3.0, 5.0], "decision": ["link", "non-link"]})
    >>> weight, right = read_checked_links(checked)
    >>> right.tolist()
    [True, False]
    """
    loaded = load_table(table, "decisions", (DECISION,))
    for name in (WEIGHT, DECISION):
        if name not in loaded.columns:
            raise DataError(
                f"{loaded.source} has no column {name!r}; checked links need the columns {WEIGHT} and "
                f"{DECISION}, as {called('clerical')} writes them",
                option="decisions",
            )
    word = _words(loaded)
    made = (word != "").to_numpy()
    weight = pd.to_numeric(loaded.frame[WEIGHT], errors="coerce").to_numpy(dtype=np.float64)
    wrong = made & ~np.isfinite(weight)
    if wrong.any():
        row = int(np.argmax(wrong))
        cell = str(loaded.frame[WEIGHT].iloc[row])
        raise DataError(f"{loaded.source}, row {row + 1}: the weight {cell!r} is no finite number; fix it")
    return weight[made], (word[made] == LINK).to_numpy(dtype=np.bool_)


def _words(loaded: Table) -> pd.Series:
    """Read the decisions, empty where they are open; DataError for another word."""
    cells = loaded.frame[DECISION]
    word = cells.map(lambda cell: "" if pd.isna(cell) else str(cell).strip().lower())
    wrong = ~word.isin(["", LINK, NON_LINK]).to_numpy()
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{loaded.source}, row {row + 1}: the decision {str(cells.iloc[row])!r} is neither "
            f"'{LINK}' nor '{NON_LINK}'; write one of them, or nothing where it is open"
        )
    return word


def _text(cell: Any) -> str:
    return "" if pd.isna(cell) else str(id_text(cell))


def _once(source: str, made: IndexArray, reviewed: Reviewed) -> Reviewed:
    """Drop repeated pairs; DataError where a pair has both decisions."""
    table = pd.DataFrame({"query": reviewed.query, "candidate": reviewed.candidate, "link": reviewed.link})
    twice = table.drop_duplicates().duplicated(["query", "candidate"]).to_numpy()
    table = table.drop_duplicates()
    if twice.any():
        row = int(made[table.index[int(np.argmax(twice))]])
        raise DataError(
            f"{source}, row {row + 1}: the pair was decided otherwise in a row before; leave one of the "
            "two out"
        )
    return Reviewed(*(table[name].to_numpy() for name in ("query", "candidate", "link")))
