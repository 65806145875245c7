"""Read masking methods as recorded by `mask --record` or the JSON of a fit."""

from __future__ import annotations

import codecs
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import CategoricalMethod
from linkrisk.datasets.masking.registry import METHODS, is_record, masking_method, names_files
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.datasets.microdata.strict_json import AmbiguousError, parse
from linkrisk.datasets.microdata.values import spelled
from linkrisk.datasets.pairs.attributes import open_columns
from linkrisk.datasets.pairs.categorical import (
    INFERRED,
    CategoricalAttribute,
    KnownRecoding,
    Masking,
    listed_categories,
)
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.errors import called
from linkrisk.solver.options.linking import LinkageOptions
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.errors import UsageError


def what_masking_did(files: FilePair) -> dict[str, Any]:
    """Report the masking of the attributes for the JSON, and attributes that lack a recoding to be compared.

    ``masking``, the methods that were given and ``inferred`` where the files show more, ``recodings``, where
    anything is known, and ``not_comparable``.
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
    """Report recodings of attributes completely, so that no file is needed again.

    One entry for each attribute with known masking: ``attribute``, ``masking`` and ``possible``, for each
    category of the schema a text with 1 where it can have become another one, 0 where not. Where the files
    show it, ``becomes`` instead, for each category the place of its new one, -1 for any; of numeric
    attributes ``steps``, from which value on they have become which one (null: unchanged).
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
    """Read the masking methods of a fit's JSON, for `ProblemOptions.masking`.

    A method that reads files (a PRAM matrix, a hierarchy) is replaced by the recorded table of possible
    recodings: the JSON is not trusted to name files. Inferred masking is inferred again. UsageError if there
    is no such table, or it is malformed.
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
    """Read the recorded tables, by the categories of the schema."""
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


Compared = ProblemOptions | LinkageOptions


def with_records(masking: Masking, options: Compared, *, numbers: bool = True) -> Masking:
    """Replace records of `mask` (paths, or text that ends in ``.json``) by the methods that they name.

    Categorical attributes of a record that are not compared are left out, and so are methods of numbers
    without `numbers`: these make no pair of records impossible, and recodings of numbers and dates show in
    the files. UsageError if a file is no such record, or holds what has to be given in another way.
    """
    if isinstance(masking, str):
        raise UsageError(f"masking is the text {masking!r}; give a list of methods")
    found: list[Any] = []
    for item in masking:
        if not isinstance(item, Path) and not (isinstance(item, str) and is_record(item)):
            found.append(item)
            continue
        found += _spelled_record(Path(item), options, numbers=numbers)
    return found


def recorded(options: ProblemOptions) -> ProblemOptions:
    """Replace the records by the methods of categories that they name."""
    return replace(options, masking=with_records(options.masking, options, numbers=False))


def _spelled_record(path: Path, options: Compared, *, numbers: bool) -> list[str]:
    """Convert the methods of a record to the syntax of `masking_method`."""
    steps = _steps(path)
    try:
        return [text for step in steps for text in _spelled(step, options, numbers=numbers)]
    except (DataError, UsageError) as error:
        raise UsageError(f"{called('masking', path)}: {error}", option="masking") from error
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _no_record(path) from None


def _steps(path: Path) -> Sequence[Mapping[str, Any]]:
    """Read the list of methods."""
    try:
        record = parse(path.read_bytes().removeprefix(codecs.BOM_UTF8))
    except OSError as error:
        raise UsageError(
            f"{called('masking', path)} cannot be read: {(error.strerror or str(error)).lower()}",
            option="masking",
        ) from None
    except (ValueError, RecursionError, AmbiguousError) as error:
        raise UsageError(
            f"{called('masking', path)} is not a record of `mask`, as it is no JSON: {error}",
            option="masking",
        ) from None
    steps = record.get("methods") if isinstance(record, dict) else None
    if not isinstance(steps, list) or not steps:
        raise _no_record(path)
    return steps


def _no_record(path: Path) -> UsageError:
    return UsageError(
        f"{called('masking', path)} is not a record that `mask --record` writes, with a list of methods: "
        "give such a file, or a method as in 'noise percent=20'",
        option="masking",
    )


def _spelled(step: Mapping[str, Any], options: Compared, *, numbers: bool) -> Iterator[str]:
    """Convert a method of a record to text, unless it masks attributes or numbers that are not requested."""
    name, given = str(step["method"]), dict(step["parameters"])
    attributes = [str(each) for each in step["attributes"]]
    if name not in METHODS:
        raise UsageError(f"there is no masking method {name!r}")
    known, schema = METHODS[name].parameters, given.pop("schema", None)
    if files := [key for key in given if "FILE" in known[key].kind.metavar]:
        raise UsageError(
            f"{name} was given a file ({files[0]}), which the record does not name: spell the method, as in "
            f"'{name} {files[0]}=A=FILE'"
        )
    if issubclass(METHODS[name].kind, CategoricalMethod):
        attributes = _compared(attributes, options)
        if not attributes:
            return
        _check_schema(name, attributes, schema, options)
    elif not numbers:
        return
    words = [
        name,
        *(
            _word(key, value)
            for key, values in given.items()
            for value in _each(values, repeated=known[key].kind.repeated)
        ),
    ]
    if "groups" not in given:  # these name their attributes
        words.append(f"attributes={shown_names(attributes, ',')}")
    text = shlex.join(words)
    masking_method(text)  # refuses what does not fit before anything is read
    yield text


def _each(values: Any, *, repeated: bool) -> list[Any]:
    """List the values of a parameter that may be repeated."""
    if isinstance(values, list) and not repeated:
        return [shown_names(map(spelled, values), ",")]
    return values if isinstance(values, list) else [values]


def _word(key: str, value: Any) -> str:
    """Convert one parameter to text."""
    if value is True:
        return key
    if isinstance(value, dict):  # attributes that are microaggregated together
        k = "" if value["k"] is None else f":{int(value['k'])}"
        return f"{key}={shown_names(map(str, value['attributes']), ',')}{k}"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{key}={value}"


def _compared(attributes: Sequence[str], options: Compared) -> list[str]:
    """Select the compared attributes, and their categories."""
    schema = schema_of(options.schema)
    names = listed_categories(options.nominal, options.ordinal, schema)
    if options.attributes is not None:
        asked = set(options.attributes)
    else:
        asked = set(attributes if schema is None else open_columns(attributes, schema))
    return [name for name in attributes if name in names and name in asked]


def _check_schema(name: str, attributes: Sequence[str], recorded: Any, options: Compared) -> None:
    """Refuse categories in another order than the schema's: recodings are recorded by position."""
    if recorded is None:
        return
    before, now = Schema.from_dict(recorded), schema_of(options.schema)
    for attribute in attributes:
        if attribute not in before.names:
            continue
        one, other = before[attribute], None if now is None else now.get(attribute)
        if other is None or (one.scale, one.categories) != (other.scale, other.categories):
            raise UsageError(
                f"{name} took the categories of {attribute!r} from a schema: give the same one with "
                f"{called('schema')}",
                option="schema",
            )
