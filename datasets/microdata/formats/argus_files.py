"""The files that belong to one of ARGUS: data, metadata and code lists beside each other."""

from __future__ import annotations

import re
from pathlib import Path

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.encodings import decode
from linkrisk.datasets.microdata.formats.foreign import content_of

METADATA = ".rda"
DATA = (".asc", ".dat")
_CODE_LIST = re.compile(r"<CODELIST>\s*\"?([^\"\r\n]+?)\"?\s*$", re.IGNORECASE | re.MULTILINE)
_WORD = re.compile(rb"^\s*<[A-Za-z]+>", re.MULTILINE)
_R_DATA = ("a gzip file", "a bzip2 file", "an xz file", "an R file")


def find_file(folder: Path, name: str) -> Path | None:
    """A file of a folder by its name, whose capital letters may be others; None where there is none."""
    exact = folder / name
    if exact.is_file():
        return exact
    wanted = name.casefold()
    found = sorted(path for path in folder.iterdir() if path.name.casefold() == wanted and path.is_file())
    return found[0] if found else None


def pair_of(path: Path) -> tuple[Path, Path]:
    """The metadata and the data of which one is given.

    Raises
    ------
    DataError
        If the other one is not beside it.
    """
    if path.suffix.lower() == METADATA:
        read_text(path)  # data of R has no files beside it
        candidates = [f"{path.stem}{suffix}" for suffix in DATA]
        data = next((found for name in candidates if (found := find_file(path.parent, name))), None)
        if data is None:
            raise DataError(
                f"{path}: its data file is missing; put {' or '.join(candidates)} into {path.parent}"
            )
        return path, data
    metadata = find_file(path.parent, f"{path.stem}{METADATA}")
    if metadata is None:
        raise DataError(f"{path}: its metadata file is missing; put {path.stem}{METADATA} into {path.parent}")
    return metadata, path


def read_text(path: Path) -> tuple[str, str]:
    """The text of a file of ARGUS and its encoding; R has files of the same suffix."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from error
    found = content_of(content)
    if path.suffix.lower() == METADATA and found is not None and found.words in _R_DATA:
        raise DataError(f"{path} is data of R, not metadata of ARGUS; save the table as CSV (UTF-8)")
    return decode(content, path)


def is_metadata(content: bytes) -> bool:
    """Whether this is metadata of ARGUS, whatever its name says: text with words such as <NUMERIC>."""
    return b"\0" not in content[:1000] and _WORD.search(content[:10_000]) is not None


def read_code_list(path: Path) -> dict[str, str]:
    """The labels of codes in a .cdl file: a code, a comma, a label on each line."""
    labels = {}
    for line in read_text(path)[0].splitlines():
        code, comma, label = line.partition(",")
        if comma:
            labels[code.strip().strip('"')] = label.strip().strip('"').strip()
    return labels


def code_lists(path: Path) -> list[Path]:
    """The code lists that a table of ARGUS names and that lie beside it; none of another format."""
    if path.suffix.lower() not in (METADATA, *DATA):
        return []
    text = read_text(pair_of(path)[0])[0]
    names = [re.split(r"[\\/]", name)[-1] for name in _CODE_LIST.findall(text)]
    found = [find_file(path.parent, name) for name in names]
    return [one for one in found if one is not None]
