"""Recoding by a file of mu-ARGUS, or by cutting digits off codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import option, parse_whole
from linkrisk.datasets.masking.recoding import CategoricalMethod, Grouping
from linkrisk.datasets.microdata.categories import Categories
from linkrisk.datasets.microdata.recoding_files import RecodingFile


@dataclass(frozen=True, kw_only=True)
class Recode(CategoricalMethod):
    """Make one code of several, by files or by their first digits (Hundepool and Willenborg 1997).

    Attributes
    ----------
    file : tuple of RecodingFile
        One for each attribute to mask.
    digits : int, optional
        Instead: how many characters are cut off at the end of every code, at least 1.

    Raises
    ------
    DataError
        Unless exactly one of the two is given; if an attribute has two files, or none.
    """

    name: ClassVar[str] = "recode"

    file: tuple[RecodingFile, ...] = field(
        default=(),
        metadata=option(
            "recoding file of mu-ARGUS for an attribute; give it once for each",
            RecodingFile.parse,
            metavar="A=FILE.grc",
            repeated=True,
        ),
    )
    digits: int | None = field(
        default=None,
        metadata=option("number of characters to cut off the end of every code", parse_whole, metavar="N"),
    )

    def __post_init__(self) -> None:
        if (self.digits is None) == (not self.file):
            raise DataError("give either --file or --digits: how to recode")
        if self.digits is not None and self.digits < 1:
            raise DataError(f"digits is {self.digits}; it must be at least 1")
        if len(self._files) < len(self.file):
            raise DataError("an attribute has two recoding files; give one for each")
        if self.file and self.attributes is None:
            # A file names its attribute, which need not be said again.
            object.__setattr__(self, "attributes", tuple(self._files))

    @property
    def action(self) -> str:
        """What is done, with the parameters."""
        if self.digits is None:
            return "recoding by files"
        return f"cutting {self.digits} {'character' if self.digits == 1 else 'characters'} off codes"

    def recoding(self, attribute: str, categories: Categories) -> Grouping:
        """See `CategoricalMethod.recoding`."""
        if self.digits is not None:
            found = [self._cut(attribute, code) for code in categories.names]
        elif attribute in self._files:
            found = self._files[attribute].becomes(categories.names)
        else:
            raise DataError(f"{attribute!r} has no recoding file; give one with --file or leave it out")
        after = tuple(dict.fromkeys(found))
        position = {code: at for at, code in enumerate(after)}
        return Grouping(categories.names, after, np.array([position[code] for code in found], dtype=np.intp))

    def _cut(self, attribute: str, code: str) -> str:
        assert self.digits is not None
        if len(code) <= self.digits:
            raise DataError(
                f"the code {code!r} of {attribute!r} has {len(code)} characters, of which {self.digits} are "
                "to be cut off; give codes of equal length, such as 007"
            )
        return code[: -self.digits]

    @property
    def _files(self) -> Mapping[str, RecodingFile]:
        return {item.attribute: item for item in self.file}
