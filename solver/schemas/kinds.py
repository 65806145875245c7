"""Every kind of JSON that is written, with its schema; and how one is read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from linkrisk.datasets.microdata.strict_json import VERSION, headed, kind_of
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.schemas.keys import schema_of, wrong

_WHERE = {
    "fit": "fit:Fit",
    "evaluation": "linkage:Evaluation",
    "link": "linkage:Link",
    "links": "linkage:FoundLinks",
    "comparison": "linkage:Comparison",
    "risk": "risk:Risk",
    "measure": "risk:AnyMeasure",
    "sweep": "risk:Sweep",
    "verification": "risk:Verification",
    "suppression": "suppression:Suppression",
    "suppression-answer": "files:Answer",
    "unsafe": "suppression:Unsafe",
    "masking": "files:Masking",
    "protocol": "files:ProtocolRun",
    "description": "files:Description",
    "dataset": "files:Dataset",
    "datasets": "files:Datasets",
    "report": "files:Report",
    "suppressed-table": "tables:SuppressedTable",
    "rounded-table": "changed_tables:RoundedTable",
    "adjusted-table": "changed_tables:AdjustedTable",
    "perturbed-counts": "changed_tables:PerturbedCounts",
    "perturbed-sums": "changed_tables:PerturbedSums",
    "recoded-table": "changed_tables:RecodedTable",
    "table-comparison": "tables:TableComparison",
    "made-table": "tables:MadeTable",
    "tabulation": "tables:Tabulation",
    "batch": "tables:Batch",
}
KINDS = tuple(_WHERE)


def typed(kind: str) -> Any:
    """The type of the content of a kind."""
    module, _, name = _WHERE[kind].partition(":")
    return getattr(import_module(f"linkrisk.solver.schemas.{module}"), name)


@cache
def content_schema(kind: str) -> dict[str, Any]:
    """The schema of what a kind has besides its format."""
    return schema_of(typed(kind))


def file_schema(kind: str) -> dict[str, Any]:
    """The schema of a whole JSON of a kind, as it is published."""
    schema = dict(content_schema(kind))
    named: dict[str, Any] = schema.pop("$defs", {})
    whole = []
    for one in schema.get("anyOf", [schema]):
        part = named[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
        said = {name: {"const": value} for name, value in headed(kind, {}).items()}
        whole.append(
            {**part, "properties": {**said, **part["properties"]}, "required": [*said, *part["required"]]}
        )
    used = json.dumps([whole, *named.values()])
    kept = {name: one for name, one in named.items() if f'"#/$defs/{name}"' in used}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"linkrisk-{kind}",
        **(whole[0] if len(whole) == 1 else {"anyOf": whole}),
        **({"$defs": kept} if kept else {}),
    }


@cache
def _open_schema(kind: str) -> dict[str, Any]:
    """The same for a reader, who leaves alone what it does not know."""
    closed, opened = (f'"additionalProperties": {word}' for word in ("false", "true"))
    found: dict[str, Any] = json.loads(json.dumps(content_schema(kind)).replace(closed, opened))
    return found


def read(found: Mapping[str, Any], kinds: Sequence[str], give: str) -> str:
    """Which of these kinds a JSON is, with all that such a JSON has to have.

    Parameters
    ----------
    found : mapping
        The JSON.
    kinds : sequence of str
    give : str
        What to give instead of it, for messages.

    Raises
    ------
    UsageError
        If it is none of them, or not as it was written.
    """
    kind = kind_of(found)
    if kind is None or kind not in kinds:
        said = f"has the format {found['format']!r}" if "format" in found else "does not say its format"
        raise UsageError(f"it {said}; {give} (version {VERSION})")
    complaint = wrong(_open_schema(kind), found)
    if complaint is not None:
        raise UsageError(f"{complaint}; {give}, as it was written")
    return kind
