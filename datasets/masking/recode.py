"""Recoding by files of mu-ARGUS, by breaks, by cutting digits off, of dates to months, quarters or years."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.choosing import TABLE, chosen_by_default, known_columns
from linkrisk.datasets.masking.parameters import RecodeParameters
from linkrisk.datasets.masking.recoding import CategoricalMethod, Grouping
from linkrisk.datasets.microdata.categories import Categories
from linkrisk.datasets.microdata.dates import LEVELS, at_level, days_of_names
from linkrisk.datasets.microdata.recoding_files import RecodingFile
from linkrisk.datasets.microdata.schema import Role, Scale
from linkrisk.datasets.microdata.values import in_order, spelled
from linkrisk.errors import called


@dataclass(frozen=True, kw_only=True)
class Recode(RecodeParameters, CategoricalMethod):
    """Make one code of several: by files, breaks, first digits, dates (Hundepool and Willenborg 1997).

    Attributes
    ----------
    file : tuple of RecodingFile
        One for each attribute to mask.
    digits : int, optional
        Instead: how many characters are cut off at the end of every code, at least 1.
    breaks : tuple of float
        Instead, for numbers: ascending lower ends of groups, half-open intervals; a number becomes the
        largest of them that is not above it.
    labels : tuple of str
        What the groups of `breaks` are called, in their order; by default "10 to under 20".
    level : str, optional
        Instead: ``year``, ``quarter`` or ``month`` of dates.

    Raises
    ------
    DataError
        Unless exactly one of the four is given; if an attribute has two files, or none; if breaks do not
        ascend, or labels are not as many.
    """

    name: ClassVar[str] = "recode"

    def __post_init__(self) -> None:
        given = [self.digits is not None, bool(self.file), bool(self.breaks), self.level is not None]
        if given.count(True) != 1:
            raise DataError(
                f"give one of {called('file')}, {called('digits')}, {called('breaks')} and "
                f"{called('level')}: how to recode"
            )
        if self.level is not None and self.level not in LEVELS:
            raise DataError(f"level is {self.level}; dates have the levels {', '.join(LEVELS)}")
        if any(low >= high for low, high in pairwise(self.breaks)):
            raise DataError("breaks must ascend, as in 0,10,20")
        if self.labels and len(self.labels) != len(self.breaks):
            raise DataError(
                f"there are {len(self.labels)} labels for {len(self.breaks)} breaks; each break begins a "
                "group: give one label for each"
            )
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
        if self.breaks:
            return f"recoding to groups from {', '.join(map(spelled, self.breaks))}"
        if self.level is not None:
            return f"recoding to the {self.level}"
        if self.digits is None:
            return "recoding by files"
        return f"cutting {self.digits} {'character' if self.digits == 1 else 'characters'} off codes"

    def candidates(self, frame: pd.DataFrame, *, source: str = TABLE) -> tuple[str, ...]:
        """Name every key variable that has categories; numeric ones for breaks, dates for a level."""
        if self.level is None:
            return chosen_by_default(frame, source, self.schema, numeric=bool(self.breaks))
        kinds = known_columns(frame, self.schema)
        found = tuple(name for name, kind in kinds.items() if kind == (Role.KEY, Scale.DATE))
        if not found:
            raise DataError(
                f"{source} has no key variable of dates; name at least one with {called('attributes')}",
                option="attributes",
            )
        return found

    def recoding(self, attribute: str, categories: Categories) -> Grouping:
        """See `CategoricalMethod.recoding`."""
        if self.breaks:
            found = [self._group(attribute, code) for code in categories.names]
        elif self.level is not None:
            form = None if self.schema is None else self.schema.get(attribute).form
            days = days_of_names(categories.names, f"column {attribute!r}", form)
            found = [at_level(day, str(self.level)) for day in days.tolist()]
        elif self.digits is not None:
            found = [self._cut(attribute, code) for code in categories.names]
        elif attribute in self._files:
            found = self._files[attribute].becomes(categories.names)
        else:
            raise DataError(
                f"{attribute!r} has no recoding file; give one with {called('file')} or leave it out",
                option="file",
            )
        after = in_order(set(found)) if self.breaks else tuple(dict.fromkeys(found))
        position = {code: at for at, code in enumerate(after)}
        return Grouping(categories.names, after, np.array([position[code] for code in found], dtype=np.intp))

    def new_labels(self, attribute: str) -> dict[str, str]:
        """What the new codes of an attribute mean, where breaks or a list of codes say it."""
        if self.breaks:
            ends = [*(f"{spelled(low)} to under {spelled(high)}" for low, high in pairwise(self.breaks))]
            named = self.labels or (*ends, f"{spelled(self.breaks[-1])} and more")
            return dict(zip(map(spelled, self.breaks), named, strict=True))
        return self._files[attribute].new_labels() if attribute in self._files else {}

    def _group(self, attribute: str, code: str) -> str:
        """The break that begins the group of a number."""
        try:
            number = float(code)
        except ValueError:
            number = math.nan
        if math.isnan(number):
            raise DataError(f"{attribute!r} has {code!r}, which is no number: breaks are for numbers")
        at = bisect_right(self.breaks, number)
        if at == 0:
            raise DataError(
                f"{attribute!r} has {code}, which is below the first break, {spelled(self.breaks[0])}: put a "
                "lower one in front"
            )
        return spelled(self.breaks[at - 1])

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
