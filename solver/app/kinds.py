"""Which files of a project hold records, and which ones only tables are made of."""

from __future__ import annotations

from pathlib import Path

from linkrisk.datasets.microdata.formats.argus_files import DATA, METADATA, find_file
from linkrisk.datasets.microdata.formats.registry import known_suffixes
from linkrisk.datasets.microdata.hierarchies import TREE
from linkrisk.datasets.tables.argus import apriori, jj_files, ready_tables

COMPRESSED = ".json.gz"
"""How the names of compressed certificates end."""

SCHEMAS = (".toml", ".json")

ALWAYS = {
    "trees": (TREE,),
    "tables": (jj_files.SUFFIX,),
    "apriori": (apriori.SUFFIX,),
    "certificates": (COMPRESSED,),
}
"""What files are by their suffix alone that are no records."""

KINDS = (
    f"{', '.join(known_suffixes())}; for tables a tree of codes ({TREE}), a JJ file ({jj_files.SUFFIX}), an "
    f"a-priori file ({apriori.SUFFIX}) or a certificate (.json, {COMPRESSED}); or a schema (.toml, .json)"
)
"""What is read, in words."""


def suffixes() -> tuple[str, ...]:
    """How the names of all files end that a command may be given as data."""
    return (*known_suffixes(), *(suffix for suffixes in ALWAYS.values() for suffix in suffixes))


def table_part(path: Path) -> str:
    """What a file is that only tables are made of; empty for one of records.

    ``tables``, ``trees``, ``apriori``, ``certificates``, or ``metadata``: what the columns of cells of ARGUS
    are. Those cells and their metadata have suffixes of files of records; what lies beside them tells which.
    """
    name, suffix = path.name.lower(), path.suffix.lower()
    for kind, ends in ALWAYS.items():
        if name.endswith(ends):
            return kind
    if suffix in (METADATA, ready_tables.SUFFIX) and not _beside(path, DATA):
        if suffix == METADATA:
            return "metadata"
        return "tables" if _beside(path, (METADATA,)) else ""
    return ""


def _beside(path: Path, ends: tuple[str, ...]) -> bool:
    """Whether a file of the same name with another end lies there."""
    return any(find_file(path.parent, f"{path.stem}{end}") is not None for end in ends)
