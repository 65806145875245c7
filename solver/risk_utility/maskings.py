"""Many maskings from few texts: ranges and lists of parameters, written out."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.masking.spelled import masking_method
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.options.option import Option
from linkrisk.errors import called
from linkrisk.solver.run.errors import UsageError

THEN = "+"
"""Stands between methods that are applied one after the other."""

MOST = 10_000
"""Maskings of one sweep."""

_NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?::({_NUMBER}))?")
_SEED_BYTES = 4


@dataclass(frozen=True)
class Masking:
    """One masking of the original file.

    Attributes
    ----------
    methods : tuple of str
        As `mask --method` takes them, in the order in which they are applied.
    name : str
        Of the family that it belongs to: as the user says, else the names of the methods.
    """

    methods: tuple[str, ...]
    name: str

    @property
    def text(self) -> str:
        """All of it on one line."""
        return f" {THEN} ".join(self.methods)

    def seed(self, seed: int) -> int:
        """The seed of its random choices in a sweep with this one.

        It depends on nothing else, so that a masking is the same whatever others are swept with it.
        """
        digest = hashlib.sha256(f"{seed}\n{self.text}".encode()).digest()
        return int.from_bytes(digest[:_SEED_BYTES], "big")


def maskings_of(
    given: Sequence[str | Sequence[str]], names: Sequence[str | None] = (), schema: Schema | None = None
) -> list[Masking]:
    """Write out all maskings, each once, in the order in which they are given.

    Parameters
    ----------
    given : sequence of str or of sequences of str
        "METHOD parameter=value ...", several methods in order with " + " between them or as a sequence. A
        value may be a range ``2..20``, with a step ``5..50:5``, a list ``2,5,10..20``; several of them stand
        for all combinations.
    names : sequence of str or None
        What to call the family of each; None for the names of its methods.
    schema : Schema, optional
        What methods without a schema of their own go by.

    Raises
    ------
    DataError, UsageError
        If there is no such method or parameter, a range is empty, or there are too many maskings.
    """
    found: dict[tuple[str, ...], Masking] = {}
    for at, each in enumerate(given):
        name = names[at] if at < len(names) else None
        for methods in _written_out(each, schema):
            if methods in found:
                continue
            if len(found) == MOST:
                raise UsageError(
                    f"there are more than {MOST:,} maskings; take wider steps, as in k=2..200:10"
                )
            words = [shlex.split(method)[0] for method in methods]
            found[methods] = Masking(methods, name or f" {THEN} ".join(words))
    if not found:
        raise UsageError(
            f"there is no masking to sweep; give {called('methods')}, such as 'microaggregation k=2..20'",
            option="methods",
        )
    return list(found.values())


def _written_out(given: str | Sequence[str], schema: Schema | None) -> Iterator[tuple[str, ...]]:
    """All maskings that one text, or a sequence of methods, stands for."""
    texts = [given] if isinstance(given, str) else list(given)
    methods = [words for text in texts for words in _methods(text)]
    if not methods:
        raise UsageError("a masking without a method; write for example: microaggregation k=2..20")
    return product(*(_alternatives(words, schema) for words in methods))


def _methods(text: str) -> list[list[str]]:
    """The words of every method of a text."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise DataError(f"{text!r} cannot be read: {str(error).lower()}") from None
    parts: list[list[str]] = [[]]
    for word in words:
        if word == THEN:
            parts.append([])
        else:
            parts[-1].append(word)
    if not all(parts):
        raise UsageError(f"{text!r} lacks a method; write METHOD parameter=value, or several with + between")
    return parts


def _alternatives(words: Sequence[str], schema: Schema | None) -> list[str]:
    """One method with all combinations of its values, each read once to see that it can be."""
    name, *settings = words
    parameters = METHODS[name].parameters if name in METHODS else {}
    values: list[list[str]] = []
    for setting in settings:
        key, mark, value = setting.partition("=")
        values.append(
            [f"{key}={each}" for each in _values(parameters.get(key), value)] if mark else [setting]
        )
    many = 1
    for each in values:
        many *= len(each)
    if many > MOST:
        raise UsageError(f"{shlex.join(words)}: {many:,} maskings, and {MOST:,} at most; take wider steps")
    texts = [shlex.join([name, *combination]) for combination in product(*values)]
    for text in texts:
        masking_method(text, schema)
    return texts


def _values(option: Option | None, value: str) -> list[str]:
    """The values that a text stands for: itself where the method takes it as it is."""
    if option is None or option.kind.parse is None:
        return [value]
    try:
        option.kind.read(value)
    except DataError:
        pieces = value.split(",")
        if len(pieces) == 1 and _RANGE.fullmatch(value) is None:
            return [value]  # which the method refuses, and says why
        return list(dict.fromkeys(each for piece in pieces for each in _piece(piece.strip())))
    return [value]


def _piece(text: str) -> list[str]:
    """The values of a range; anything else is one."""
    found = _RANGE.fullmatch(text)
    if found is None:
        return [text]
    first, last = Decimal(found[1]), Decimal(found[2])
    step = Decimal(1 if found[3] is None else found[3])
    if step <= 0:
        raise UsageError(f"the step of {text} must be above 0")
    if last < first:
        raise UsageError(f"the range {text} is empty; write it from the smaller to the larger number")
    many = int((last - first) / step) + 1
    if many > MOST:
        raise UsageError(f"the range {text} has {many:,} values, and {MOST:,} at most; take wider steps")
    return [format((first + step * at).normalize(), "f") for at in range(many)]
