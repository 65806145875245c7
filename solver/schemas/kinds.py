"""Every kind of JSON that is written, with its schema; and how one is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from linkrisk.datasets.microdata.strict_json import VERSION, headed, kind_of
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.schemas.keys import Json, schema_of, wrong

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
WRITTEN = {
    "fit": "fit --json",
    "evaluation": "evaluate --json",
    "link": "link --json",
    "risk": "risk --json",
    "sweep": "sweep --json",
    "report": "report --json",
    "suppression": "suppress --json",
    "suppressed-table": "tables suppress --json",
}
"""What writes a kind, for messages about a JSON that is something else."""


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


def read(found: object, *kinds: str) -> tuple[str, Json]:
    """Which of these kinds a JSON is, and its content.

    Raises
    ------
    UsageError
        If it is none of them, or not as it was written.
    """
    kind = kind_of(found)
    writers = " or ".join(f"`{WRITTEN[one]}`" for one in kinds if one in WRITTEN)
    if kind not in kinds or not isinstance(found, Mapping):
        said = (
            f"has format {found['format']!r}, version {found.get('version')!r}"
            if isinstance(found, Mapping) and "format" in found
            else "does not say its format"
        )
        raise UsageError(
            f"it {said}: give what {writers} of this version of linkrisk writes (version {VERSION})"
        )
    content = {name: value for name, value in found.items() if name not in ("format", "version")}
    complaint = wrong(content_schema(kind), content)
    if complaint is not None:
        raise UsageError(f"{complaint}: give what {writers} wrote, as it was written")
    return kind, content
