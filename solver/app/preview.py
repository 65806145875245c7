"""Preview of a masking, computed by a child process on the file or its first records.

``python -m linkrisk.solver.app.preview FILE TARGET SIGNS METHOD ...`` draws with a seed of its own, which
is not kept: what is released later is another draw.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from linkrisk.solver.app.looking import found_by, shown_value, tell
from linkrisk.solver.app.project import OWN, Project

if TYPE_CHECKING:
    import pandas as pd

    from linkrisk.datasets.microdata.schema import Schema

MOST, ROWS, BARS = 20_000, 200, 12
"""Records that are masked, records that are shown, and bars of a distribution."""


async def preview(project: Project, file: str, methods: Sequence[str]) -> dict[str, Any]:
    """What becomes of a file of the project.

    Returns: ``records`` that were masked, of ``all``; ``does``: a sentence per method; ``columns``: for each
    masked column its ``name``, the share of values ``changed``, for numbers the mean absolute change in
    standard deviations (``moved``), and its ``distribution``: [category or range, share of records before,
    after]; ``as_is``: columns that stay; ``perhaps_codes``: masked as numbers, and perhaps none; ``rows``:
    for each record [before, after] per column; ``linked``: the share of records whose nearest masked record
    is their own, or ``not_linked``: why that was not counted. Or ``error``.
    """
    target = project.folder / OWN / "tmp" / f"preview-{secrets.token_hex(8)}.json"
    try:
        found = await found_by(__name__, project, file, target, *methods)
    finally:
        target.unlink(missing_ok=True)
    return dict(found or {"error": "the masking could not be tried"})


def main(file: str, target: str, signs: str, *methods: str) -> int:
    """Mask and write what has changed."""
    from linkrisk.solver.app.steps import about

    with about("mask"):
        return tell(file, target, signs, lambda: _tried(file, list(methods)))


def _tried(file: str, spelled: list[str]) -> dict[str, Any]:
    from linkrisk.datasets.microdata.names import code_in_words
    from linkrisk.solver.inputs.source import read_source
    from linkrisk.solver.masking.mask import mask_source, methods_of
    from linkrisk.solver.options.masking import MaskOptions

    methods = methods_of(spelled, {})
    source = read_source(file, methods, None)
    every = len(source.stored.frame)
    if every > MOST:
        source = replace(source, stored=replace(source.stored, frame=source.stored.frame.head(MOST)))
    result = mask_source(source, methods, MaskOptions(file, spelled))
    before, after = result.original, result.table
    columns = [_change(name, before[name], after[name]) for name in result.masked]
    # A code of a recoded column may be spelled like one that it is not.
    labels = source.labels([name for name in result.masked if name not in result.recodings], result.schema)
    for column in columns:
        column["distribution"] = [
            [code_in_words(column["name"], what, labels), *shares] for what, *shares in column["distribution"]
        ]
    shown = [
        [[shown_value(frame[name].iloc[at]) for frame in (before, after)] for name in result.masked]
        for at in range(min(ROWS, len(before)))
    ]
    schema = next((one.schema for one in methods if one.schema is not None), None)
    return {
        "records": len(before),
        "all": every,
        "does": [step.method.describe(before) for step in result.steps],
        "columns": columns,
        "as_is": list(result.as_is),
        "perhaps_codes": list(result.perhaps_codes),
        "rows": shown,
        **_linked(before, after, schema),
    }


def _change(name: str, before: pd.Series, after: pd.Series) -> dict[str, Any]:
    """How much of a column changes."""
    import pandas as pd

    same = (before == after) | (before.isna() & after.isna())
    numbers, others = (pd.to_numeric(one, errors="coerce") for one in (before, after))
    spread = float(numbers.std()) if numbers.notna().sum() > 1 else 0.0
    moved = float((others - numbers).abs().mean()) / spread if spread > 0 else None
    return {
        "name": name,
        "changed": float((~same).mean()),
        "moved": moved if moved == moved else None,
        "different": [int(before.nunique()), int(after.nunique())],
        "distribution": _distribution(before, after),
    }


def _distribution(before: pd.Series, after: pd.Series) -> list[list[Any]]:
    """Shares of the records by category, or by range of a number, before and after."""
    import numpy as np
    import pandas as pd

    both = pd.concat([before, after])
    scaled = None if both.nunique() <= BARS else _scaled(before, after)
    if scaled is not None:
        columns, written = scaled
        edges = np.histogram_bin_edges(np.concatenate(columns), BARS)
        counts = [np.histogram(one, edges)[0] / len(before) for one in columns]
        ends = [written(float(edge)) for edge in edges]
        names = [f"{low} to {high}" for low, high in pairwise(ends)]
        return [[name, float(old), float(new)] for name, old, new in zip(names, *counts, strict=True)]
    shares = pd.concat([one.value_counts() / len(one) for one in (before, after)], axis=1).fillna(0.0)
    most = shares.sum(axis=1).sort_values(ascending=False, kind="stable").index[:BARS]
    return [[shown_value(name), *map(float, shares.loc[name])] for name in most]


def _scaled(before: pd.Series, after: pd.Series) -> tuple[list[Any], Callable[[float], str]] | None:
    """The numbers of two columns of numbers, or the days of dates, and how one is written; None of others."""
    import numpy as np
    import pandas as pd

    from linkrisk.datasets.errors import DataError
    from linkrisk.datasets.microdata.dates import read_dates

    if pd.api.types.is_numeric_dtype(before) and pd.api.types.is_numeric_dtype(after):
        return [one.dropna().to_numpy(dtype=np.float64) for one in (before, after)], (
            lambda value: f"{value:,.0f}" if 1e3 <= abs(value) < 1e12 else f"{value:.4g}"
        )
    try:
        read = [one.days for one in read_dates([(before, "before"), (after, "after")])]
    except DataError:
        return None
    return [days[~np.isnan(days)] for days in read], lambda day: str(np.datetime64(int(day), "D"))


def _linked(before: pd.DataFrame, after: pd.DataFrame, schema: Schema | None) -> dict[str, Any]:
    """What linking each record to the nearest masked one gets right, identical candidates sharing a link."""
    from linkrisk.errors import LinkriskError
    from linkrisk.solver.inputs.reading import make_problem
    from linkrisk.solver.linkage.baselines import euclidean_form
    from linkrisk.solver.linkage.evaluator import Evaluator
    from linkrisk.solver.options.pair import ProblemOptions

    options = ProblemOptions(row_by_row=True, drop_constant=True, ties="share", schema=schema)
    try:
        pair = make_problem(before, after, options).pair
    except LinkriskError as error:
        return {"not_linked": str(error)}
    return {"linked": float(Evaluator(pair).count(euclidean_form(pair)).linked_weight) / pair.blocks}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
