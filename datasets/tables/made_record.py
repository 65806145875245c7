"""What the owner of a table keeps of how it was made: rules and labels, for the report of its protection."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.strict_json import headed
from linkrisk.datasets.tables.cells_and_relations import StoredTable


def made_record(rules: Sequence[str], cells: int, more: dict[str, Any]) -> str:
    """The record as JSON."""
    return json.dumps(headed("made-table", {"rules": list(rules), "cells": cells, **more}), indent=2) + "\n"


def with_record(table: StoredTable, path: str | Path) -> StoredTable:
    """The table with the rules and labels of its record.

    Raises
    ------
    DataError
        If the record cannot be read, is none, or is that of another table.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        found = None
    rules = found.get("rules") if isinstance(found, dict) else None
    if not isinstance(rules, list) or not all(isinstance(one, str) for one in rules):
        raise DataError(f"{path} is no record of a table; name what `tables make --record` has written")
    if found.get("cells") != len(table):
        raise DataError(
            f"{path} is of a table of {found.get('cells')} cells, not of {len(table)}; name its own"
        )
    labels = found.get("labels", {})
    if not isinstance(labels, dict) or not all(_is_label(one) for one in labels.values()):
        raise DataError(f"{path}: its labels are not what `tables make --record` writes")
    counts = True if table.counts is None and found.get("counts") is True else table.counts
    return replace(table, rules=tuple(rules), labels=labels, counts=counts)


def _is_label(one: object) -> bool:
    return isinstance(one, dict) and isinstance(one.get("codes"), dict)
