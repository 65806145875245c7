"""Several releases of the same persons as one file: side by side, or the means of what they say."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

import pandas as pd

from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.datasets.pairs.releases import side_by_side
from linkrisk.solver.inputs.problem import Problem, problem_of
from linkrisk.solver.measures.task import RiskTask


def together(task: RiskTask) -> Problem | None:
    """The last release beside those that can be aligned with it; None where there are none."""
    files = _side_by_side(task)
    return None if files is None else problem_of(files, task.first.options)


def means(task: RiskTask) -> Problem | None:
    """Each attribute once, so that what releases add by chance is averaged out.

    Of numbers the mean over the releases, in standard deviations; of categories those of the first one.
    """
    files = _side_by_side(task)
    if files is None:
        return None
    assert task.releases is not None
    names = list(dict.fromkeys(name for one in task.releases.files for name in one.attributes))
    categorical = {name: one for name, one in files.categorical.items() if name in names}
    original, masked = (_means(frame, names, categorical) for frame in (files.original, files.masked))
    averaged = replace(
        files, original=original, masked=masked, attributes=tuple(names), categorical=categorical
    )
    return problem_of(averaged, task.first.options)


def _means(frame: pd.DataFrame, names: Sequence[str], categorical: Container[str]) -> pd.DataFrame:
    found = {}
    for name in names:
        columns = [each for each in frame.columns if each == name or each.startswith(f"{name} (release ")]
        scaled = frame[name]
        if name not in categorical:
            values = frame[columns]
            scaled = ((values - values.mean()) / values.std(ddof=0)).mean(axis=1)
        found[name] = scaled
    return pd.DataFrame(found, index=frame.index)


def _side_by_side(task: RiskTask) -> FilePair | None:
    releases = task.releases
    members = () if releases is None else releases.group(len(releases.files))
    if releases is None or len(members) < 2:
        return None
    return side_by_side(releases.of(members), members)
