"""SAS: .sas7bdat, which is read only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import Format, StoredFile
from linkrisk.datasets.microdata.formats.foreign import check_content
from linkrisk.datasets.microdata.formats.readstat import (
    load,
    notes_of,
    with_letters,
    with_missing_text,
    with_whole_numbers,
)


class Sas(Format):
    """Doubles and text, as SAS keeps them."""

    name = "SAS"
    suffixes = (".sas7bdat",)
    cannot_write = "no free library writes .sas7bdat files; write .xpt, which SAS reads, or .csv"

    def read(self, path: Path, *, text_columns: Sequence[str] = ()) -> StoredFile:  # noqa: ARG002
        """Read a file (see `Format.read`). Blank text is missing, as it is in SAS."""
        import pyreadstat

        content = path.read_bytes()
        check_content(content, path, self.name, self.suffixes)
        frame, meta = load(pyreadstat.read_sas7bdat, content, path, self.name, user_missing=True)
        notes = notes_of(meta, "sas")
        names = list(frame.columns)
        frame = with_whole_numbers(with_missing_text(with_letters(frame, notes), names), names)
        return StoredFile(frame, columns=notes)

    def write(self, stored: StoredFile, path: Path) -> dict[Path, bytes]:  # noqa: ARG002
        """Always a DataError."""
        raise DataError(f"{path}: {self.cannot_write}")

    def loses(self, stored: StoredFile) -> tuple[str, ...]:  # noqa: ARG002
        """Nothing, as nothing is written."""
        return ()
