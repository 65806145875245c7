"""What a linker sees of the original where the files show how the masked one was recoded."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.microdata.category_names import in_order
from linkrisk.datasets.microdata.scales import Scale
from linkrisk.datasets.pairs.categorical import INFERRED, CategoricalAttribute
from linkrisk.datasets.pairs.inferred import NumberRecoding, inferred_recodings
from linkrisk.datasets.pairs.linkage_frames import LinkageFrames
from linkrisk.datasets.pairs.remarks import recoding_notes


def recoded_frames(
    frames: LinkageFrames, partner: npt.NDArray[np.intp], known: Collection[str] = ()
) -> LinkageFrames:
    """Recode the original as the files show that the masked one was recoded (`inferred_recodings`).

    An intruder does that before he compares, whatever linker he takes.

    Parameters
    ----------
    frames : LinkageFrames
    partner : intp array (n,)
        The masked row of each original record, -1 where it has none.
    known : collection of str
        Attributes that are left as they are, as it is known how they were masked.
    """
    names = tuple(
        name for name in frames.original_attributes if name in frames.masked_attributes and name not in known
    )
    if not names:
        return frames
    sides = frames.original, frames.masked
    categorical = {
        name: CategoricalAttribute(name, scale, frames.schema[name].categories or _categories(name, *sides))
        for name in names
        if (scale := frames.schema[name].scale or Scale.NUMERIC) is not Scale.NUMERIC
    }
    values = tuple(np.column_stack([_values(side, categorical, name) for name in names]) for side in sides)
    found, numbers = inferred_recodings((values[0], values[1]), partner, names, categorical)
    original = frames.original.copy()
    for at, name in enumerate(names):
        after = _after(values[0][:, at], found.get(name), numbers.get(name))
        if after is None or len(np.unique(after)) < 2:  # of a constant the masked file is to be spoken of
            continue
        if name in categorical:
            cells = np.array([*categorical[name].categories, None], dtype=object)[after.astype(np.intp)]
            original[name] = pd.Series(cells, dtype=object)
        else:
            original[name] = after
    return replace(
        frames, original=original, notes=(*frames.notes, *recoding_notes(names, found, numbers, ()))
    )


def _after(
    values: FloatArray, attribute: CategoricalAttribute | None, number: NumberRecoding | None
) -> FloatArray | None:
    """An attribute of the original as the masked file has it; None where no recoding shows."""
    if number is not None:
        return number.apply(values)
    return None if attribute is None or attribute.masking != INFERRED else attribute.image(values)


def _categories(name: str, *sides: pd.DataFrame) -> tuple[str, ...]:
    return in_order({str(cell) for side in sides for cell in side[name].dropna().unique()})


def _values(frame: pd.DataFrame, categorical: dict[str, CategoricalAttribute], name: str) -> FloatArray:
    """A column as numbers; categories by their positions, missing ones behind all others."""
    if name not in categorical:
        return frame[name].to_numpy(dtype=np.float64)
    categories = categorical[name].categories
    place = {category: at for at, category in enumerate(categories)}
    return np.array([place.get(cell, len(categories)) for cell in frame[name]], dtype=np.float64)
