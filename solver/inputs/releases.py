"""Assign an original to each release, where several files are given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.datasets.microdata.tables import Table, load_table
from linkrisk.datasets.pairs.alignment import records_named
from linkrisk.datasets.pairs.attributes import text_columns, with_missing
from linkrisk.datasets.pairs.categorical import listed_categories
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.datasets.pairs.several_files import joined_sources
from linkrisk.errors import called
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.errors import UsageError


class Way(StrEnum):
    """Whether an intruder can align the records of several releases."""

    TOGETHER = "together"
    APART = "apart"


Groups = tuple[tuple[int, ...], ...]
"""Releases by number, from 1: those of a group can be aligned with each other, and with no others."""


def aligned_groups(way: str, releases: int) -> Groups:
    """Parse which releases an intruder can align: ``together``, ``apart``, or groups as in ``1+2,3``.

    Ascending in each group, groups by their first releases. UsageError if it says something else, or a
    release is in no group or in two.
    """
    if way == Way.TOGETHER:
        return (tuple(range(1, releases + 1)),)
    if way == Way.APART:
        return tuple((number,) for number in range(1, releases + 1))
    if not re.fullmatch(r"\s*[0-9]{1,6}(\s*[+,]\s*[0-9]{1,6})*\s*", str(way), re.ASCII):
        raise UsageError(
            f"unknown way to attack releases {str(way)!r}: choose {' or '.join(Way)}, or say which can be "
            "aligned, as in 1+2,3"
        )
    groups = sorted(tuple(sorted(map(int, group.split("+")))) for group in str(way).split(","))
    if sorted(number for group in groups for number in group) != list(range(1, releases + 1)):
        raise UsageError(
            f"{called('releases', way)} must have each of the releases 1 to {releases} once: those that can "
            "be aligned joined by +, the groups by commas",
            option="releases",
        )
    return tuple(groups)


def spelled_groups(groups: Groups) -> str:
    """Format groups as text that `aligned_groups` parses."""
    if len(groups) == 1:
        return Way.TOGETHER.value
    if all(len(group) == 1 for group in groups):
        return Way.APART.value
    return ",".join("+".join(map(str, group)) for group in groups)


@dataclass(frozen=True, eq=False)
class Releases:
    """Several releases of one file; the last is the one to be assessed."""

    # in order of publication, each with its comparison
    files: tuple[FilePair, ...]
    groups: Groups  # which can be aligned (`aligned_groups`)
    options: ProblemOptions  # for all of them

    def group(self, number: int) -> tuple[int, ...]:
        """List the earlier releases that can be aligned with this one, itself the last."""
        group = next(group for group in self.groups if number in group)
        return tuple(other for other in group if other <= number)

    def of(self, numbers: Sequence[int]) -> tuple[FilePair, ...]:
        """Select the files of some releases."""
        return tuple(self.files[number - 1] for number in numbers)


@dataclass(frozen=True, eq=False)
class Given:
    """One release with the options to read it."""

    original: Any
    masked: Any
    options: ProblemOptions


def given_releases(
    original: Any, masked: Any, options: ProblemOptions, way: str, *, versions: bool
) -> list[Given]:
    """List the releases in order of publication, each with its original.

    Several originals are sources that are joined by id; or, with `versions`, one for each release. UsageError
    or DataError if the numbers of files or the options do not fit, or sources cannot be joined.
    """
    originals, released = _listed(original), _listed(masked)
    groups = aligned_groups(way, max(1, len(released)))
    if len(groups) > 1 and Direction(options.direction) is not Direction.ORIGINAL_TO_MASKED:
        raise UsageError(
            f"{called('releases', way)} is about persons whom an intruder looks for in every release: leave "
            f"{called('direction')} out",
            option="releases",
        )
    if versions:
        if len(originals) != len(released) or len(originals) < 2:
            raise UsageError(
                f"{called('versions')} takes one original for each of several releases, not {len(originals)} "
                f"for {len(released)}: give {called('original')} as often as {called('masked')}",
                option="versions",
            )
    elif len(originals) > 1:
        originals = [_joined(originals, options)]
    if len(originals) < 2 and len(released) < 2:
        return [Given(originals[0] if originals else None, released[0] if released else None, options)]
    text = _text(options)
    originals = [
        _named(each, "original", at, len(originals), text) for at, each in enumerate(originals, start=1)
    ]
    released = [_named(each, "masked", at, len(released), text) for at, each in enumerate(released, start=1)]
    originals = originals if versions else originals * len(released)
    each_options = _with_records(_of_their_own(options, released, text))
    return [Given(*each) for each in zip(originals, released, each_options, strict=True)]


def _listed(given: Any) -> list[Any]:
    """Convert one or several tables to a list."""
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def _text(options: ProblemOptions) -> tuple[str, ...]:
    """List columns of text files that hold names and not numbers."""
    schema = schema_of(options.schema)
    ids = () if options.id is None else (options.id,)
    return (*listed_categories(options.nominal, options.ordinal, schema), *text_columns(schema), *ids)


def _named(given: Any, what: str, number: int, several: int, text: Sequence[str]) -> Any:
    """Name a frame by its number where there are several; a file has a name."""
    if several < 2 or isinstance(given, str | Path | Table):
        return given
    return load_table(given, f"{what} {number}", text)


def _joined(sources: Sequence[Any], options: ProblemOptions) -> Table:
    """Join several sources to one table."""
    schema = schema_of(options.schema)
    column = options.id or (None if schema is None else schema.only(Role.RECORD_ID))
    if column is None or options.row_by_row:
        raise UsageError(
            "several original files are joined by the ids of their records: name the column with "
            f"{called('id')}, or give one version for each release with {called('versions', True)}",
            option="id",
        )
    text = _text(options)
    tables = [load_table(each, f"original {at}", text) for at, each in enumerate(sources, start=1)]
    return joined_sources(with_missing(tables, schema), column)


def _with_records(releases: Sequence[ProblemOptions]) -> list[ProblemOptions]:
    """Give each release the alignment recorded with its own masking.

    The record of another release has another order: under a wrong alignment, almost nothing is linked.
    """
    records = records_named(releases[0].id)
    if not records:
        return list(releases)
    if len(records) != len(releases):
        many = "one record" if len(records) == 1 else f"{len(records)} records"
        raise UsageError(
            f"{called('id')} names {many} of maskings, and there are {len(releases)} releases, each "
            "with an order of its own: name one record for each, in the order of the releases, joined by "
            "commas",
            option="id",
        )
    return [replace(each, id=record) for each, record in zip(releases, records, strict=True)]


def _of_their_own(
    options: ProblemOptions, releases: Sequence[Any], text: Sequence[str]
) -> list[ProblemOptions]:
    """Restrict the options of each release to the attributes that it has, if others have the rest."""
    if options.attributes is None or isinstance(options.attributes, str) or len(releases) < 2:
        return [options] * len(releases)
    tables = [load_table(each, "masked", text) for each in releases]
    everywhere = {name for table in tables for name in table.columns}
    found = []
    for table in tables:
        # Attributes that no release has stay, and are refused when reading.
        kept = [name for name in options.attributes if name in table.columns or name not in everywhere]
        if not kept:
            raise DataError(
                f"{table.source} has none of the attributes {shown_names(options.attributes)}; name some "
                f"that it has in {called('attributes')}, too",
                option="attributes",
            )
        found.append(replace(options, attributes=kept))
    return found
