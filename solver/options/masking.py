"""Options of `mask` and `run_protocol`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.masking.parameters import all_options
from linkrisk.datasets.options import typed
from linkrisk.datasets.options.kinds import COLUMN, FILE, NAMES, TEXT, WHOLE, WRITTEN, Kind, Range, several
from linkrisk.datasets.options.option import (
    COMMAND,
    FACES,
    PROTOCOL,
    PYTHON,
    again,
    declared,
    option,
    written,
)
from linkrisk.solver.options import names
from linkrisk.solver.options.data import Data, Described, Dropped, Order
from linkrisk.solver.options.linking import with_parameters
from linkrisk.solver.options.run import Live, Watched

if TYPE_CHECKING:
    from pathlib import Path

    from linkrisk.solver.options.types import MaskingMethod, Reporter, SchemaLike


_CALLED = frozenset({PYTHON})
_TYPED = frozenset({COMMAND})


@dataclass(frozen=True)
class Methods(Data):
    """The table, and how it is masked."""

    method: str | MaskingMethod | Sequence[str | MaskingMethod] = field(
        metadata=declared(
            "{choices}. Its parameters are options, or part of it, as in 'noise percent=5 attributes=A,B'; "
            "in this form it can be given several times, and methods are applied in order",
            several(TEXT),
            doc='the name of a method; or with its parameters, as in ``"noise percent=5 attributes=A,B"``; '
            "or a method such as ``AdditiveNoise(percent=5)``. Several are applied in order",
            choices=names.MASKING_METHODS,
            metavar="METHOD",
            label="Method",
        )
    )
    _: KW_ONLY
    parameters: Mapping[str, Any] | None = option(
        None, "parameters of the method, where it is given by its name alone", TEXT, faces=_CALLED
    )
    schema: SchemaLike | None = option(
        None, "what the columns are, for all methods without a schema of their own", FILE, faces=_CALLED
    )
    on_read: Callable[[Any], None] | None = option(
        None,
        "called with the table and what its file says of it, before any work is done",
        TEXT,
        faces=_CALLED,
    )


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What columns are used for."""

    id: str | None = option(None, "column of record ids, never masked", COLUMN, label="Column of ids")
    weight: str | None = option(
        None, "column of sampling weights, never masked", COLUMN, label="Column of weights"
    )
    strata: Sequence[str] = option(
        (),
        "columns: records with other values of them are masked apart",
        NAMES,
        doc="columns: records with other values of them are masked apart from each other, as if each stratum "
        "were a table by itself",
        label="Strata",
    )


@dataclass(frozen=True, kw_only=True)
class Shuffled:
    """How the records are written."""

    shuffle: bool = again(Order, "shuffle", False, faces=FACES)
    renumber: Sequence[str] = again(
        Order, "renumber", (), help="columns of ids that get new numbers, in that order", faces=FACES
    )


@dataclass(frozen=True, kw_only=True)
class MaskOptions(Methods, Columns, Dropped, Shuffled, Watched):
    """Options of `mask`."""

    seed: int | None = option(
        None,
        "not negative. The same seed gives the same table; a new one that nobody can guess when absent",
        replace(WHOLE, within=Range(0, whole=True)),
        faces=_CALLED,
    )


@dataclass(frozen=True, kw_only=True)
class Output:
    """What is written."""

    output: str = field(
        metadata=declared(
            "file to write, in the format that its suffix says; without a suffix in that of the input",
            WRITTEN,
            faces=_TYPED,
        )
    )


@dataclass(frozen=True, kw_only=True)
class MaskCommand(Methods, Output, Columns, Dropped, Shuffled, Described, Watched):
    """Options of the command `mask`, besides the parameters of all methods."""

    write_recodings: str | None = option(
        None,
        "write what became of the codes of each recoded column as a recoding file of mu-ARGUS (.grc)",
        TEXT,
        metavar="FOLDER",
        faces=_TYPED,
    )
    seed: str | None = option(
        None,
        "seed of every random choice, or the record of a masking that has it (.json); default: a new one "
        "that nobody can guess",
        Kind(str, "N", typed=typed.whole),
        faces=frozenset({COMMAND, PROTOCOL}),
        label="Seed",
    )
    record: str | None = written(
        "JSON file to keep: how the masked file was made, with the seed, which is then not printed"
    )
    protocol: str | None = written(
        "TOML file to which this step is added, with its seed, which is then not printed; `run-protocol` "
        "does all steps again or undoes the last ones"
    )


MASK = with_parameters(MaskCommand, all_options(), "", "protocol")
"""The command with the parameters of all methods."""


@dataclass(frozen=True)
class RunProtocolOptions:
    """Options of `run_protocol`."""

    protocol: str | Path = field(
        metadata=declared(
            "TOML file; files that it names are in its folder",
            FILE,
            bare=True,
            metavar="FILE",
            label="Protocol",
        )
    )
    output: str | Path = field(
        metadata=declared(
            "file to write, in the format that its suffix says; without a suffix in that of the input",
            WRITTEN,
        )
    )
    _: KW_ONLY
    undo: int = option(
        0, "leave out the last N steps; all of them give the input back", WHOLE, label="Steps to undo"
    )
    record: str | Path | None = option(
        None,
        "write the protocol with the seeds that were drawn, digests of all files, and what was suppressed: "
        "it makes the same file again; keep it secret",
        WRITTEN,
    )
    codebook: str | Path | None = again(Described, "codebook", None, faces=FACES)
    say_methods: bool = again(Described, "say_methods", False, faces=FACES)
    on_progress: Reporter | None = again(
        Live, "on_progress", None, doc="called with the progress of the steps"
    )


@dataclass(frozen=True, kw_only=True)
class RunProtocolCommand(RunProtocolOptions):
    """Options of the command `run-protocol`."""

    json: str | None = written("write what was done as JSON, without seeds")
