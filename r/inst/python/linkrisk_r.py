"""What the R package asks Python for: tables of R as frames, a call, and its result as R takes it.

Columns cross as plain lists, with the places of missing values beside them: a list needs no array library
that both sides agree on, and R's NA is no value of Python's.
"""

from __future__ import annotations

import datetime
import inspect
import json
import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

import linkrisk
from linkrisk import LinkriskError
from linkrisk.errors import r_argument, spell_by

spell_by(r_argument)

EPOCH = pd.Timestamp(0)
DAY = 86400.0


def version() -> str:
    """Return the version of linkrisk."""
    return linkrisk.__version__


def call(function: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Call a function of linkrisk; what a user can mend comes back as one line and the kind of error."""
    try:
        made = getattr(linkrisk, function)
        taken = inspect.signature(made).parameters
        arguments = {name: _argument(value, str(taken[name].annotation)) for name, value in given.items()}
        if "schema" in taken and (columns := _declared(given)):
            arguments["schema"] = _with_columns(arguments.get("schema"), columns)
        return {"result": made(**arguments)}
    except LinkriskError as error:
        return _refused(error)


def attempt(action: Callable[..., Any], *given: Any, **named: Any) -> dict[str, Any]:
    """Do something with a result, such as writing its page; errors as for `call`."""
    try:
        return {"result": action(*given, **named)}
    except LinkriskError as error:
        return _refused(error)


def _refused(error: LinkriskError) -> dict[str, Any]:
    kinds = [kind.__name__ for kind in type(error).__mro__ if issubclass(kind, LinkriskError)]
    return {"error": " ".join(str(error).split()), "kinds": kinds[:-1] or kinds}


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) and "linkrisk_columns" in value


def _argument(value: Any, annotation: str) -> Any:
    """Return a value of R as a function takes it; in R one name and a list of one name are the same."""
    if _is_table(value):
        return frame(value)
    several = annotation.startswith(("Sequence[", "Masking", "Tables"))
    if several and isinstance(value, str):
        value = [value]
    if annotation.startswith("Tables") and isinstance(value, list):
        return [[each] if isinstance(each, str) else each for each in value]
    if annotation.startswith("Threshold") and isinstance(value, Mapping):
        return {int(size) if size.isdigit() else size: most for size, most in value.items()}  # names are text
    if annotation.startswith("Mapping[str, Sequence[") and isinstance(value, Mapping):
        return {name: [each] if isinstance(each, str) else each for name, each in value.items()}
    if isinstance(value, Mapping):
        return {name: _argument(each, "") for name, each in value.items()}
    if isinstance(value, list):
        return [_argument(each, "") for each in value]
    return value


def frame(table: Mapping[str, Any]) -> pd.DataFrame:
    """Make a frame of a table of R."""
    names = [column["name"] for column in table["linkrisk_columns"]]
    made = pd.concat(
        [_series(column, table["rows"]) for column in table["linkrisk_columns"]]
        or [pd.Series(dtype=object, index=range(table["rows"]))],
        axis="columns",
    ).iloc[:, : len(names)]
    made.columns = pd.Index(names, dtype=object)
    if table["row_names"] is not None:
        made.index = pd.Index(table["row_names"])
    return made


def _series(column: Mapping[str, Any], rows: int) -> pd.Series:
    kind, values = column["kind"], list(column["values"])
    gone = [at - 1 for at in column["missing"]]
    if kind == "factor":
        # R counts levels from 1; a missing value has no level.
        codes = [int(code) - 1 for code in values]
        for at in gone:
            codes[at] = -1
        made = pd.Categorical.from_codes(codes, column["levels"], ordered=column["ordered"])
        return pd.Series(made)
    if kind in ("date", "datetime"):
        unit = DAY if kind == "date" else 1.0
        moments: list[Any] = [EPOCH + datetime.timedelta(seconds=value * unit) for value in values]
        for at in gone:
            moments[at] = pd.NaT
        return pd.Series(moments, dtype="datetime64[us]")
    for at in gone:
        values[at] = None
    if kind == "logical":
        return pd.Series(values, dtype="boolean" if gone else "bool")
    if kind == "integer":
        return pd.Series(values, dtype="float64" if gone else "int64")
    if kind == "double":
        return pd.Series(values, dtype="float64")
    return pd.Series(values, index=range(rows), dtype=object)


def _declared(given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what labelled columns of all tables say of themselves, of the first one that has the column."""
    found: dict[str, dict[str, Any]] = {}
    for table in _tables(given.values()):
        for column in table["linkrisk_columns"]:
            if column["declared"]:
                found.setdefault(column["name"], dict(column["declared"]))
    return found


def _tables(values: Iterable[Any]) -> Iterable[Mapping[str, Any]]:
    for value in values:
        if _is_table(value):
            yield value
        elif isinstance(value, list):
            yield from (each for each in value if _is_table(each))


def _with_columns(schema: Any, columns: Mapping[str, dict[str, Any]]) -> Any:
    """Return a schema with what the columns say; what it says itself comes first, and a file stays alone."""
    if schema is not None and not isinstance(schema, Mapping):
        return schema
    said = [dict(each) for each in (schema or {}).get("attributes", [])]
    named = {each.get("name"): each for each in said}
    others = [{"name": name, **told} for name, told in columns.items() if name not in named]
    return {
        **(schema or {}),
        "attributes": [{**columns.get(each.get("name"), {}), **each} for each in said] + others,
    }


def details(result: Any) -> Any:
    """Return the JSON of a result; empty where it has none."""
    made = getattr(result, "to_dict", None)
    return {} if made is None else json.loads(json.dumps(made()))


def value(result: Any, name: str) -> Any:
    """Return what a result says of itself beside its JSON, where R has something like it."""
    found = None if name.startswith("_") else getattr(result, name, None)
    if isinstance(found, tuple | list):
        made = [_scalar(each) for each in found]
        return None if None in made else made
    return _scalar(found)


def _scalar(found: Any) -> Any:
    if isinstance(found, bool | str):
        return found
    if isinstance(found, numbers.Integral):
        return int(found)
    return float(found) if isinstance(found, numbers.Real) else None


def text(result: Any) -> str:
    """Return what a command prints of a result."""
    return str(result)


def table(result: Any) -> dict[str, Any] | None:
    """Return the table of a result as columns of R: the released one, or that of its lines."""
    before = _before(result)
    after = result.to_frame() if hasattr(result, "to_frame") else getattr(result, "cells", None)
    if not isinstance(after, pd.DataFrame):
        return None
    order = getattr(getattr(result, "release", None), "order", None)
    columns = []
    for name in after.columns:
        column = _column(str(name), after[name])
        if before is not None and name in before.columns:
            old = before[name] if order is None else before[name].iloc[order]
            column["changed"] = _changed(old, after[name])
        labels = getattr(result, "labels", None)
        new = labels.get(name) if isinstance(labels, Mapping) else None
        column["labels"] = new if isinstance(new, Mapping) and _texts(new) else None
        columns.append(column)
    return {
        "columns": columns,
        "rows": len(after),
        "order": None if order is None else [int(at) + 1 for at in order],
    }


def _texts(labels: Mapping[Any, Any]) -> bool:
    return all(isinstance(value, str) for value in labels.values())


def _before(result: Any) -> pd.DataFrame | None:
    """Return the table that was masked or suppressed, where the result is a released version of it."""
    stored = getattr(getattr(result, "source", None), "stored", None)
    return getattr(stored, "frame", None)


def _changed(before: pd.Series, after: pd.Series) -> list[int]:
    """Return the places (from 1) whose value is another one, or is missing only now."""
    old, new = before.astype(object).tolist(), after.astype(object).tolist()
    return [at + 1 for at, (a, b) in enumerate(zip(old, new, strict=True)) if not _same(a, b)]


def _same(a: Any, b: Any) -> bool:
    return bool(pd.isna(b)) if pd.isna(a) else not pd.isna(b) and bool(a == b)


def _column(name: str, series: pd.Series) -> dict[str, Any]:
    missing = series.isna().to_numpy(dtype=bool)
    made: dict[str, Any] = {"name": name, "missing": [at + 1 for at in missing.nonzero()[0].tolist()]}
    kind = series.dtype
    if isinstance(kind, pd.CategoricalDtype):
        levels = [_spelled(level) for level in kind.categories]
        codes = [float(code + 1) for code in series.cat.codes.tolist()]
        return {**made, "kind": "factor", "values": codes, "levels": levels, "ordered": bool(kind.ordered)}
    if pd.api.types.is_bool_dtype(kind):
        return {**made, "kind": "logical", "values": _numbers(series)}
    if pd.api.types.is_datetime64_any_dtype(kind):
        moments = series.dt.tz_convert(None) if series.dt.tz is not None else series
        seconds = [0.0 if pd.isna(each) else (each - EPOCH).total_seconds() for each in moments]
        return {**made, "kind": "datetime", "values": seconds}
    known = series[~missing].tolist()
    if pd.api.types.is_numeric_dtype(kind) or (known and all(_is_number(each) for each in known)):
        whole = all(float(each).is_integer() and abs(each) < 2**31 for each in known)
        return {**made, "kind": "integer" if whole else "double", "values": _numbers(series)}
    return {
        **made,
        "kind": "character",
        "values": ["" if gone else _spelled(each) for gone, each in zip(missing, series, strict=True)],
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numbers(series: pd.Series) -> list[float]:
    return [math.nan if pd.isna(each) else float(each) for each in series.tolist()]


def _spelled(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
