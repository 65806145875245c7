"""Options of a microdata file and how it is written, of `describe`, `datasets` and `app`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING

from linkrisk.datasets.microdata.names import parse_names, shown_names
from linkrisk.datasets.options import typed
from linkrisk.datasets.options.kinds import FILE, NAMES, NUMBER, SWITCH, TEXT, WHOLE, WRITTEN
from linkrisk.datasets.options.option import APP, COMMAND, PROTOCOL, PYTHON, declared, option, written

if TYPE_CHECKING:
    from linkrisk.solver.options.types import SchemaLike, TableLike


OF_WRITING = frozenset({COMMAND, PROTOCOL, APP})
"""Where it is said how a table is written: functions say it when they write."""

DROPPED = replace(
    NAMES,
    parse=lambda text: [] if text == "none" else list(parse_names(text)),
    spell=lambda value: '"none"' if list(value) == ["none"] else shown_names(value, ",") or "none",
    typed=typed.columns,
)


@dataclass(frozen=True)
class Data:
    """The table."""

    data: TableLike = field(
        metadata=declared(
            "file of any format, or the name of a data set",
            FILE,
            doc="the table, a file of any format; a text without suffix and folder is the name of a public "
            "data set",
            flag="input",
            label="File",
            faces=frozenset({PYTHON, COMMAND, APP}),
        )
    )


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """Which columns go."""

    drop: Sequence[str] | None = option(
        None,
        "columns that are left out; default: the direct identifiers of the schema; 'none' keeps all",
        DROPPED,
        doc="columns to leave out; by default the direct identifiers of the schema. An empty one keeps all",
        label="Columns left out",
    )


@dataclass(frozen=True, kw_only=True)
class Order:
    """How the records are written."""

    shuffle: bool = option(
        False, "write records in random order, whole households together", SWITCH, faces=OF_WRITING,
        label="Write the records in random order, whole households together",
    )  # fmt: skip
    renumber: Sequence[str] = option(
        (),
        "columns of ids that are written as 1, 2, 3, ... in that order",
        NAMES,
        faces=OF_WRITING,
        label="Ids that get new numbers",
    )


@dataclass(frozen=True, kw_only=True)
class Described:
    """The codebook of what is released."""

    codebook: str | None = written(
        "write a codebook of the released file as DDI (.xml): columns, labels, statistics of released values"
    )
    say_methods: bool = option(
        False,
        "say in it what was done to the data, which tells an intruder, too",
        SWITCH,
        faces=frozenset({COMMAND}),
        needs=("codebook",),
        because="is said in the codebook",
    )


@dataclass(frozen=True)
class DescribeOptions:
    """Options of `describe`."""

    data: TableLike = field(
        metadata=declared("the file, of any format", FILE, bare=True, metavar="FILE", label="File")
    )
    _: KW_ONLY
    schema: SchemaLike | None = option(
        None,
        "what is known of the columns: a schema (.toml, .json), or the codebook of the study as DDI (.xml); "
        "only the rest is guessed",
        FILE,
        label="Schema, or codebook of DDI",
        usual="none: all is guessed",
    )


@dataclass(frozen=True, kw_only=True)
class DescribeCommand(DescribeOptions):
    """Options of the command `describe`."""

    output: str | None = option(
        None, "write the schema, as .toml (with comments), .json, or DDI (.xml)", WRITTEN, metavar="SCHEMA"
    )
    json: str | None = option(None, "write all that is found as JSON", WRITTEN)


_TYPED = frozenset({COMMAND})


@dataclass(frozen=True, kw_only=True)
class Named:
    """Which data set."""

    name: str = field(
        metadata=declared(
            "data set that `datasets list` names", TEXT, bare=True, metavar="NAME", faces=_TYPED
        )
    )


@dataclass(frozen=True, kw_only=True)
class ListCommand:
    """Options of `datasets list`."""

    json: bool = option(False, "print JSON", SWITCH, faces=_TYPED)


@dataclass(frozen=True, kw_only=True)
class ShowCommand(Named, ListCommand):
    """Options of `datasets show`."""


@dataclass(frozen=True, kw_only=True)
class FetchCommand(Named):
    """Options of `datasets fetch`."""

    output: str | None = written("also write it, in the format of the suffix")


@dataclass(frozen=True, kw_only=True)
class CompletionCommand:
    """Options of the command `completion`."""

    shell: str = field(
        metadata=declared(
            "{choices}",
            TEXT,
            bare=True,
            metavar="SHELL",
            choices=("bash", "zsh", "fish"),
            faces=_TYPED,
        )
    )


LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, kw_only=True)
class AppCommand:
    """Options of the command `app`."""

    project: str = option(
        "linkrisk-project",
        "project folder, made where it is missing; default: {default}",
        TEXT,
        bare=True,
        metavar="FOLDER",
        faces=_TYPED,
    )
    port: int | None = option(
        None, "port; default: 8377, or a free one where that is taken", WHOLE, faces=_TYPED
    )
    runs: int | None = option(
        None, "runs at a time, others wait; default: one for two processors", WHOLE, faces=_TYPED
    )
    max_upload: float = option(
        500.0, "megabytes of the largest file taken; default: {default}", NUMBER, metavar="MB", faces=_TYPED
    )
    host: str = option(
        LOOPBACK[0],
        "listen at another address than the loopback one: others on the network can then reach it, and "
        "nothing is encrypted",
        TEXT,
        metavar="ADDRESS",
        faces=_TYPED,
    )
    published_at: str | None = option(
        None,
        "address that browsers open, where that is not the one that is listened at: 127.0.0.1:8080 for the "
        "published port of a container",
        TEXT,
        metavar="ADDRESS",
        faces=_TYPED,
    )
