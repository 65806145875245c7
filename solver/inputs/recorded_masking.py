"""Masking methods in the JSON of a fit, applied to other files again without opening files that they name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkrisk.datasets.masking.spelled import names_files
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.pairs.categorical import KnownRecoding
from linkrisk.solver.run.errors import UsageError


def recorded_masking(fitted: Mapping[str, Any]) -> list[str | KnownRecoding]:
    """The masking methods of a fit, for `ProblemOptions.masking`.

    A method that reads files (a PRAM matrix, a hierarchy) is replaced by the table of possible recodings that
    the fit recorded: the JSON may come from anybody, and must not make us open a file.

    Parameters
    ----------
    fitted : mapping
        The JSON of the fit.

    Raises
    ------
    UsageError
        If there is no such table, or it is malformed.
    """
    listed = fitted.get("masking")
    found: list[str | KnownRecoding] = []
    for text in map(str, listed if isinstance(listed, list) else []):
        if not names_files(text):
            found.append(text)
            continue
        tables = [table for table in _tables(fitted) if table.masking == text]
        if not tables:
            raise UsageError(
                f"the masking {text!r} names files, which are not opened because a JSON file says so: give "
                "it again with --masking"
            )
        found.extend(tables)
    return found


def _tables(fitted: Mapping[str, Any]) -> list[KnownRecoding]:
    """The tables that a fit recorded, by the categories of its schema."""
    try:
        schema = Schema.from_dict(fitted["schema"])
        return [_table(item, schema) for item in fitted.get("recodings") or ()]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UsageError(
            "the recodings of the fit are malformed: give the masking again with --masking"
        ) from None


def _table(item: Mapping[str, Any], schema: Schema) -> KnownRecoding:
    name, categories = item["attribute"], schema[item["attribute"]].categories or ()
    rows = [[{"0": False, "1": True}[can] for can in row] for row in item["possible"]]
    possible = np.array(rows, dtype=np.bool_)
    if possible.shape != (len(categories), len(categories)):
        raise ValueError(possible.shape)
    return KnownRecoding(name, str(item["masking"]), categories, categories, possible)
