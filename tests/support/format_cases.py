"""Tables for tests of file formats: every kind of value, notes on columns, and a small SAS file."""

from __future__ import annotations

import base64
import datetime as dt
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.formats.registry import Format, format_of, formats, read_file
from linkrisk.datasets.microdata.missing import MissingRange
from linkrisk.datasets.microdata.values import cells_of, kind_of

WRITTEN = tuple(suffix for made in formats() if not made.cannot_write for suffix in made.suffixes)
"""Suffixes of all files that are written."""

BIG = 2**53 + 1

COLUMNS: dict[str, pd.Series] = {
    "code": pd.Series(["007", "080", None, "12"], dtype="str"),
    "letters": pd.Series(["ä", "日本 ß", "=1+1", "x, y;\t|"], dtype="str"),
    "wide": pd.Series(["x" * 300, "ü" * 400, "y", None], dtype="str"),
    "number": pd.Series([0.1 + 0.2, -1e-5, np.nan, 1.5]),
    "whole": pd.Series([1, 2, 2, 40]),
    "gaps": pd.Series([1.0, np.nan, 2.0, 40.0]),
    "big": pd.Series([BIG, 1, 2, -BIG]),
    "logical": pd.Series([True, False, True, True]),
    "day": pd.Series([dt.date(2020, 2, 29), dt.date(1850, 1, 1), None, dt.date(2000, 1, 1)], dtype=object),
    "moment": pd.Series(
        pd.to_datetime(["2020-01-01 12:00:05", "1999-12-31 00:00:00", None, "2000-01-01"], format="mixed")
    ),
    "blank": pd.Series(["", None, "a", "b"], dtype="str"),
}
"""One column for each kind of value that formats treat differently."""


def table(*names: str, **notes: ColumnNotes) -> StoredFile:
    """Some of `COLUMNS`, by default all, with these notes."""
    return StoredFile(pd.DataFrame({name: COLUMNS[name] for name in names or COLUMNS}), columns=notes)


LABELLED = ColumnNotes("Größe in Worten", {"1": "eins", "2": "zwei ß", "40": "vierzig"}, ("40",), "nominal")
RANGED = ColumnNotes("", {"-9": "keine Angabe"}, (MissingRange(-9, -1), "40"), "ordinal")


def there_and_back(stored: StoredFile, path: Path) -> StoredFile:
    """Write a table and read it."""
    for file, content in format_of(path).write(stored, path).items():
        file.write_bytes(content)
    return read_file(path)


def described(column: pd.Series) -> tuple[str, list[object]]:
    """What the values of a column are, and the values; equal for columns that mean the same."""
    return kind_of(column).value, [
        str(cell) if isinstance(cell, pd.Timestamp) else cell for cell in cells_of(column)
    ]


def of_suffix(suffix: str) -> Format:
    """The format of files that end so."""
    return format_of(f"x{suffix}")


# A small SAS file: no library writes one


_CONTENT = (
    "c-muNK!8K98WT2)2%g_NiGzXjxM7ckynvvw5`(cZBa<N`M2QFk12ZFvxG|%$F@uN*g90-n%$#7yU<Ef%A6FO05XWHG5CvR-fdByM"
    "hpFrQmUjPD$$du{jiFcof*H|-E%gjc3=DlueKPY(E0DyE^$ZR440H_*%?$Jm4fPDsjjOOQi#Ibt@Im$--"
    "NCsFhSAl}*mdV0vO5_@!6+C7qhJ(_f>AIEM!_f;1*2dTjDkS~W<vX|=zyOc%3$JW;097RcpzL2W>j?tpyCo}`ZKs7bOaNsxCB%@0"
    "44zKus`91&?ac&Goa!=XyOS_aSJqY1*o_KntL8_U>9FNKpf3@C@_I5H!v_q3}iG|Ld8GWqYQBD`%w?3FaD@EFf>AlUxbP?a5x-"
    "ZLd1Z`C>RB!U=)mkQ7}Tlzu*7C09~9Dhk6SJ7NYdy2RaPw6zNB@AEN!g3Y0GcrI~?{kpb42`v0Ga0kvWE2dWR&z7c@ZtRR8~(WnA"
    "9Q&<=oIMDdW0BY2KMEgPoYMTa>HbJwUf#EMyj}1ad1bzMnJiim-8c>i^#gLeu%HUpfc-"
    "!ImsSGKJm7uvBS8N`FnFos{b{eG{9(L4lgoOwjT6>NS&A*Ij?nCGQM^nd&rj8XY-Wk#SiOz>6FM{do7m@0I{--"
    "Rx4mI!%2q5_h6?_K*a7!G@=S7njG*Ck6x3J(aAKhFT^zuglRo)LRo%|nR@j<KpD5(IJ&zR8oTxfhAG(JBXpMz#T<v>bvB1rb|fY~"
    "xc+ROrUDX1PnEk{=%$>R(fFaQ8QSNRt"
)


def sas_file() -> bytes:
    """Four records, as the C library ReadStat (of pyreadstat) writes them to a file of version 9.

    ``plz`` is text (007, blank, 012, ä). ``age`` has the label Größe and the values 20, 25.5, a missing one
    with the letter A and one without. ``day`` has the format DATE9 and the days 0, 1 and 3 from 1960 on.
    """
    return zlib.decompress(base64.b85decode(_CONTENT))
