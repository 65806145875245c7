"""The codebook of a released file: what its columns are, and statistics of the released values alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.column_descriptions import guessed_schema
from linkrisk.datasets.microdata.ddi import SUFFIX, Codebook, Statistics, ddi_text
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.missing import is_declared_missing, overlapping, without_codes
from linkrisk.datasets.microdata.numeric import decimals_of
from linkrisk.datasets.microdata.roles import CATEGORICAL, NAMES_RECORDS, Scale
from linkrisk.datasets.microdata.schema import Attribute, Schema
from linkrisk.datasets.microdata.values import Kind as Values
from linkrisk.datasets.microdata.values import in_natural_order, kind_of, spelled, without_blanks

_NUMBERS = (Values.WHOLE, Values.NUMBER)


def codebook(
    stored: StoredFile, file: Path, declared: Schema | None = None, methods: Sequence[str] = ()
) -> bytes:
    """Write the codebook of a file that is released, as DDI.

    It holds nothing of the original: categories and their labels are those that occur, as one without a
    record would tell whom masking has taken out. How it was masked is said where `methods` say it.

    Parameters
    ----------
    stored : StoredFile
        As it is written, with the notes that still hold (`released_files.carried`).
    file : Path
        What it is called.
    declared : Schema, optional
        What is said of its columns besides.
    methods : sequence of str
        What was done to the data: it tells an intruder, too.
    """
    frame = without_blanks(stored.frame)
    guessed = guessed_schema(frame, stored.columns, declared)
    known = Schema(()) if declared is None else declared
    attributes, statistics, decimals = [], {}, {}
    for name in frame.columns:
        each = _released(frame[name], guessed[name], known.get(name), stored.notes(name).value_labels)
        attributes.append(each)
        statistics[name] = _statistics(frame[name], each)
        if each.scale is Scale.NUMERIC:
            values = without_codes(frame[name], each.missing).dropna().astype("object")
            numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64)
            decimals[name] = decimals_of(numbers[np.isfinite(numbers)])
    about = Codebook(file.stem, file.name, len(frame), statistics, decimals, methods)
    return ddi_text(Schema(tuple(attributes)), about).encode("utf-8")


def _released(column: pd.Series, guess: Attribute, declared: Attribute, labels: Any) -> Attribute:
    """What is said of a column, as far as it holds of the released values."""
    missing = guess.missing
    scale = declared.scale if _fits(declared.scale, column) else guess.scale
    occurring = {spelled(value) for value in without_codes(column, missing).dropna().unique()}
    words = {**labels, **declared.labels}
    kept = {code: text for code, text in words.items() if code in occurring or overlapping([code], missing)}
    categories = None
    if scale in CATEGORICAL and guess.role not in NAMES_RECORDS:
        listed = [code for code in declared.categories or guess.categories or () if code in occurring]
        others = in_natural_order(occurring - set(listed))
        if others and listed:
            scale = Scale.NOMINAL  # where new codes stand among the others nobody has said
        categories = (*listed, *others) or None
        scale = Scale.NOMINAL if categories is None else scale
    return Attribute(
        guess.name,
        guess.role,
        scale,
        categories,
        label=declared.label or guess.label,
        labels=kept if categories is None else {code: kept[code] for code in kept},
        missing=missing,
        form=declared.form if scale is Scale.DATE else None,
    )


def _fits(scale: Scale | None, column: pd.Series) -> bool:
    """Whether released values are still of a scale: intervals of numbers are none."""
    return scale in CATEGORICAL or (scale is Scale.NUMERIC and kind_of(column) in _NUMBERS)


def _statistics(column: pd.Series, each: Attribute) -> Statistics:
    gone = is_declared_missing(column, each.missing)
    known = column[~gone & column.notna().to_numpy(dtype=bool)]
    summary: dict[str, float | int] = {"vald": len(known), "invd": len(column) - len(known)}
    if each.role in NAMES_RECORDS:
        return Statistics(summary)
    if each.scale is Scale.NUMERIC and len(known):
        values = pd.to_numeric(known.astype("object"), errors="coerce").to_numpy(dtype=np.float64)
        if np.isfinite(values).all():
            summary |= {"min": float(values.min()), "max": float(values.max()), "mean": float(values.mean())}
            summary |= {"stdev": float(values.std(ddof=1))} if len(values) > 1 else {}
    counted = column[gone] if each.categories is None else column.dropna()
    return Statistics(summary, _frequencies(counted.map(spelled), each))


def _frequencies(codes: pd.Series, each: Attribute) -> dict[str, int]:
    """How often each code occurs, in the order of the list of categories, missing ones last."""
    found = {str(code): int(many) for code, many in codes.value_counts(sort=False).items()}
    ordered = [*(each.categories or ()), *in_natural_order(set(found) - set(each.categories or ()))]
    return {code: found[code] for code in ordered if code in found}


def check_codebook(path: str | Path) -> None:
    """Refuse a name that no codebook has."""
    if Path(path).suffix.lower() != SUFFIX:
        raise DataError(
            f"{path}: a codebook of DDI is an {SUFFIX} file; give it such a name", option="codebook"
        )


def codebook_files(
    path: str | Path,
    stored: StoredFile,
    output: str | Path,
    declared: Schema | None,
    methods: Sequence[str],
) -> dict[Path, bytes]:
    """Encode the codebook of a released file (see `codebook`)."""
    check_codebook(path)
    said = [f"{text[:1].upper()}{text[1:]}." for text in methods]
    return {Path(path): codebook(stored, Path(output), declared, said)}
