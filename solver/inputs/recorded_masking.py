"""Masking in the JSON of a fit: recorded, and applied to other files again without opening files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkrisk.datasets.masking.spelled import names_files
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.pairs.categorical import INFERRED, CategoricalAttribute, KnownRecoding
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.errors import called
from linkrisk.solver.run.errors import UsageError


def what_masking_did(files: FilePair) -> dict[str, Any]:
    """Describe for the JSON how attributes were masked, and which cannot be compared for want of a recoding.

    Parameters
    ----------
    files : FilePair

    Returns
    -------
    dict
        ``masking``, the methods that were given and ``inferred`` where the files show more, and
        ``recodings``, where anything is known; ``not_comparable`` where an attribute is.
    """
    described: dict[str, Any] = {}
    recodings = _recodings(files)
    if files.masking or recodings:
        inferred = [INFERRED] if any(one["masking"] == INFERRED for one in recodings) else []
        described = {"masking": [*files.masking, *inferred], "recodings": recodings}
    if files.not_comparable:
        described["not_comparable"] = list(files.not_comparable)
    return described


def _recodings(files: FilePair) -> list[dict[str, Any]]:
    """What masking has made of attributes, whole, so that no file is needed again.

    One entry for each attribute whose masking is known: ``attribute``, ``masking`` and ``possible``, for
    each category of the schema a text with 1 where it can have become another one, 0 where not. Where the
    files show it, ``becomes`` instead, for each category the place of the one that it has become, -1 for
    any; of numeric attributes ``steps``, from which value on they have become which one (null: unchanged).
    """
    found: list[dict[str, Any]] = []
    for name in files.attributes:
        if name in files.recoded:
            steps = [list(step) for step in files.recoded[name].steps]
            found.append({"attribute": name, "masking": INFERRED, "steps": steps})
        elif name in files.categorical and files.categorical[name].possible is not None:
            found.append(_recoded_categories(files.categorical[name]))
    return found


def _recoded_categories(attribute: CategoricalAttribute) -> dict[str, Any]:
    possible = attribute.possible
    assert possible is not None
    head = {"attribute": attribute.name, "masking": attribute.masking}
    if attribute.masking == INFERRED:
        becomes = np.where(possible.all(axis=1), -1, possible.argmax(axis=1))
        return {**head, "becomes": becomes.tolist()}
    return {**head, "possible": ["".join("01"[int(can)] for can in row) for row in possible.tolist()]}


def recorded_masking(fitted: Mapping[str, Any]) -> list[str | KnownRecoding]:
    """The masking methods of a fit, for `ProblemOptions.masking`.

    A method that reads files (a PRAM matrix, a hierarchy) is replaced by the table of possible recodings that
    the fit recorded: the JSON may come from anybody, and must not make us open a file. What was inferred is
    inferred again.

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
        if text == INFERRED:
            continue
        if not names_files(text):
            found.append(text)
            continue
        tables = [table for table in _tables(fitted) if table.masking == text]
        if not tables:
            raise UsageError(
                f"the masking {text!r} names files, which are not opened because a JSON file says so: give "
                f"it again with {called('masking')}",
                option="masking",
            )
        found.extend(tables)
    return found


def _tables(fitted: Mapping[str, Any]) -> list[KnownRecoding]:
    """The tables that a fit recorded, by the categories of its schema."""
    try:
        schema = Schema.from_dict(fitted["schema"])
        return [_table(item, schema) for item in fitted.get("recodings") or () if "possible" in item]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UsageError(
            f"the recodings of the fit are malformed: give the masking again with {called('masking')}",
            option="masking",
        ) from None


def _table(item: Mapping[str, Any], schema: Schema) -> KnownRecoding:
    name, categories = item["attribute"], schema[item["attribute"]].categories or ()
    rows = [[{"0": False, "1": True}[can] for can in row] for row in item["possible"]]
    possible = np.array(rows, dtype=np.bool_)
    if possible.shape != (len(categories), len(categories)):
        raise ValueError(possible.shape)
    return KnownRecoding(name, str(item["masking"]), categories, categories, possible)
