"""The record that `mask --record` writes, as the masking methods that it names."""

from __future__ import annotations

import codecs
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.recoding import CategoricalMethod
from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.masking.spelled import is_record, masking_method
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.strict_json import AmbiguousError, parse
from linkrisk.datasets.microdata.values import spelled
from linkrisk.datasets.pairs.attributes import open_columns
from linkrisk.datasets.pairs.categorical import Masking, listed_categories
from linkrisk.errors import called
from linkrisk.solver.inputs.problem import schema_of
from linkrisk.solver.options.linking import LinkageOptions
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.errors import UsageError

Compared = ProblemOptions | LinkageOptions


def with_records(masking: Masking, options: Compared, *, numbers: bool = True) -> Masking:
    """The same methods, with those that a record names in its place.

    Parameters
    ----------
    masking : sequence of str, Path or KnownRecoding
        A path, or text that ends in ``.json``, is a record.
    options : ProblemOptions or LinkageOptions
        Categorical attributes of a record that are not compared are left out.
    numbers : bool
        Whether methods of numbers that a record names are wanted. They make no pair of records impossible,
        and recodings of numbers and dates show in the files.

    Raises
    ------
    UsageError
        If a file is no such record, or it holds what has to be given in another way.
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
    """The same options with the methods of categories that records name in the place of the records."""
    return replace(options, masking=with_records(options.masking, options, numbers=False))


def _spelled_record(path: Path, options: Compared, *, numbers: bool) -> list[str]:
    """The methods of a record, spelled as `masking_method` reads them."""
    steps = _steps(path)
    try:
        return [text for step in steps for text in _spelled(step, options, numbers=numbers)]
    except (DataError, UsageError) as error:
        raise UsageError(f"{called('masking', path)}: {error}", option="masking") from error
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _no_record(path) from None


def _steps(path: Path) -> Sequence[Mapping[str, Any]]:
    """The list of methods."""
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
    """A method of a record as text, unless it masks what is not compared or numbers that nobody asks for."""
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
    masking_method(text)  # whatever does not fit is said before anything is read
    yield text


def _each(values: Any, *, repeated: bool) -> list[Any]:
    """The values of a parameter, one for each time that it is given."""
    if isinstance(values, list) and not repeated:
        return [shown_names(map(spelled, values), ",")]
    return values if isinstance(values, list) else [values]


def _word(key: str, value: Any) -> str:
    """One parameter as text."""
    if value is True:
        return key
    if isinstance(value, dict):  # attributes that are microaggregated together
        k = "" if value["k"] is None else f":{int(value['k'])}"
        return f"{key}={shown_names(map(str, value['attributes']), ',')}{k}"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{key}={value}"


def _compared(attributes: Sequence[str], options: Compared) -> list[str]:
    """Those that are compared, and by their categories."""
    schema = schema_of(options.schema)
    names = listed_categories(options.nominal, options.ordinal, schema)
    if options.attributes is not None:
        asked = set(options.attributes)
    else:
        asked = set(attributes if schema is None else open_columns(attributes, schema))
    return [name for name in attributes if name in names and name in asked]


def _check_schema(name: str, attributes: Sequence[str], recorded: Any, options: Compared) -> None:
    """Refuse categories of a schema that is not the one given here: their order says what is recoded."""
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
