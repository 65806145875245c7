"""What the JSON of `link` says about how its parameters are to be applied to other files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.schema import Scale, Schema
from linkrisk.solver.linkage.probabilistic.passes.keys import parse_pass
from linkrisk.solver.run.errors import UsageError

_FIX = "give the file that `link --json` wrote"


def learned_parameters(learned: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters themselves; UsageError when there are none."""
    parameters = learned.get("parameters")
    if not isinstance(parameters, Mapping):
        raise UsageError(f"the learned result has no parameters; {_FIX}")
    return parameters


def learned_options(learned: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `solver.options.linking.LinkageOptions` under which parameters were learned.

    Raises
    ------
    UsageError
        If one is not of its kind.
    """
    known: dict[str, Any] = {}
    for key in ("direction", "ties"):
        if learned.get(key) is not None:
            known[key] = str(learned[key])
    for key in ("attributes", "original_attributes", "masked_attributes"):
        if learned.get(key) is not None:
            known[key] = _names(learned[key], key)
    if learned.get("schema") is not None:
        if not isinstance(learned["schema"], Mapping):
            raise UsageError(f'"schema" of the learned result is not a schema; {_FIX}')
        known["schema"] = reusable_schema(learned["schema"])
    if "precision_recall" in learned:
        known["curve"] = learned["precision_recall"] is not None
    return known


def learned_keys(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Columns of both files that the linker needs besides the attributes to compare."""
    blocking = _names(parameters.get("blocking", []), "blocking")
    try:
        passes = [parse_pass(text) for text in _names(parameters.get("passes", []), "passes")]
    except DataError as error:
        raise UsageError(f'"passes" of the learned result: {error}') from None
    return (*blocking, *dict.fromkeys(column for one in passes for column in one.columns))


def reusable_schema(schema: Mapping[str, Any], attributes: Sequence[str] = ()) -> dict[str, Any]:
    """A schema for other files: their nominal attributes may have other categories.

    Parameters
    ----------
    schema : mapping
        What was recorded.
    attributes : sequence of str
        All that were compared: those that the schema does not list were numeric, and have to be again.
    """
    recorded = Schema.from_dict(schema)
    rows = recorded.to_dict()["attributes"]
    rows += [
        {"name": name, "scale": Scale.NUMERIC.value} for name in attributes if name not in recorded.names
    ]
    for row in rows:
        if row.get("scale") == Scale.NOMINAL:
            row.pop("categories", None)
    return {"attributes": rows}


def _names(value: object, key: str) -> list[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise UsageError(f'"{key}" of the learned result is not a list of names; {_FIX}')
    return list(value)
