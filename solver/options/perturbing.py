"""Options about noise by cell keys: keys, and the files that are written."""

from __future__ import annotations

from dataclasses import dataclass

from linkrisk.datasets.options.kinds import COLUMN, WHOLE
from linkrisk.datasets.options.option import again, option, written
from linkrisk.solver.options.tables import About


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Keys:
    """Keys of records."""

    record_key: str | None = option(
        None,
        "record keys, from 0 to less than 1",
        COLUMN,
        doc="column of record keys, from 0 to less than 1; drawn where absent",
        label="Record keys",
    )
    seed: int = option(0, "of the keys that are drawn; default: {default}", WHOLE, label="Seed")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Design:
    """How noise is drawn, and what is said of it; the `words` of an operation say how many tables say it."""

    write_design: str | None = written("write the perturbation {tables_written}", after="internal")
    json: str | None = again(
        About, "json", None, help="write design and changes as JSON", after="write_design"
    )
