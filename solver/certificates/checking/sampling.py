"""Sampling weights, read from the two files once more: each double is the rational number that it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from linkrisk.datasets.microdata.numeric import numeric_matrix
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.solver.certificates.core.claims import demand


@dataclass(frozen=True)
class Sampling:
    """How many of the population each block stands for.

    Attributes
    ----------
    column : str
    file : str
        ``original`` or ``masked``: the file whose column it is.
    weights : tuple of Fraction
        One for each block, above zero.
    """

    column: str
    file: str
    weights: tuple[Fraction, ...]


def read_sampling(files: FilePair, column: str, pairs: Sequence[tuple[int, int]]) -> Sampling:
    """The weights of blocks: of the original file, or of the masked one where only that has the column.

    Parameters
    ----------
    files : FilePair
    column : str
    pairs : sequence of (int, int)
        The original and the masked record of each block.

    Raises
    ------
    RejectedError
        If neither file has the column, or a weight is not above zero.
    DataError
        If a cell of the column is no finite number.
    """
    frames = {"original": files.original, "masked": files.masked}
    file = next((name for name, frame in frames.items() if column in frame.columns), None)
    demand(file is not None, f"weight: neither file has a column {column!r}")
    assert file is not None
    values = numeric_matrix(frames[file], [column], f"the {file} file")[:, 0].tolist()
    rows = [own if file == "original" else other for own, other in pairs]
    for row in rows:
        demand(values[row] > 0.0, f"weight: {column!r}, row {row + 1} of the {file} file, is not above zero")
    return Sampling(column, file, tuple(Fraction(values[row]) for row in rows))


def check_column(files: FilePair, column: str | None, where: str) -> None:
    """Reject a fit that counts by another column than the schema that the user of `verify` has given."""
    expected = files.design.weight_column
    told = "none" if column is None else repr(column)
    demand(
        expected is None or expected == column,
        f"{where}, weight: the schema says that weights are in column {expected!r}, the fit has {told}",
    )
