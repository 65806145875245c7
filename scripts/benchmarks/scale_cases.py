"""File pairs of any size: public records resampled, a little apart from each other, then protected."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from harness import CENSUS

from linkrisk.datasets.masking.microaggregation import PROTECTIONS
from linkrisk.datasets.public.registry import load

NOMINAL = ["workclass", "education", "marital-status", "occupation"]
NUMERIC = ["age", "hours-per-week"]

CASES = ("M6-385", "noise", "mixed")
"""Microaggregation of pairs of attributes; noise of so many percent; categories exchanged and noise."""

_APART = 0.05
"""Of a standard deviation: what keeps records that were drawn twice from being twins."""

_EXCHANGED = 0.1
"""Share of the categories that are exchanged for one of another record."""


def make_files(folder: Path, case: str, records: int, percent: float = 10.0) -> tuple[Path, Path]:
    """Write a pair as Parquet, unless it is there."""
    paths = [folder / f"{case}_{records}_{which}.parquet" for which in ("original", "masked")]
    if not all(path.exists() for path in paths):
        random = np.random.default_rng(1)
        original = mixed(records, random) if case == "mixed" else census(records, random)
        masked = (
            PROTECTIONS[case].apply(original) if case == "M6-385" else disturbed(original, percent, random)
        )
        for frame, path in zip((original, masked), paths, strict=True):
            frame.to_parquet(path, index=False)
    return paths[0], paths[1]


def _drawn(
    source: pd.DataFrame, numeric: list[str], records: int, random: np.random.Generator
) -> pd.DataFrame:
    drawn = source.iloc[random.integers(0, len(source), records)].reset_index(drop=True)
    deviation = source[numeric].std().to_numpy()
    drawn[numeric] = drawn[numeric] + _APART * deviation * random.normal(size=(records, len(numeric)))
    return drawn


def census(records: int, random: np.random.Generator) -> pd.DataFrame:
    """Six attributes of Census records resampled."""
    return _drawn(load("census")[CENSUS].astype(float), CENSUS, records, random)


def mixed(records: int, random: np.random.Generator) -> pd.DataFrame:
    """Adult resampled, with categories and numbers."""
    source = load("adult")[[*NOMINAL, *NUMERIC]].dropna()
    return _drawn(source.astype(dict.fromkeys(NUMERIC, float)), NUMERIC, records, random)


def disturbed(original: pd.DataFrame, percent: float, random: np.random.Generator) -> pd.DataFrame:
    """Noise of so many percent of a deviation, and categories exchanged."""
    masked = original.copy()
    for name in original.columns:
        if pd.api.types.is_numeric_dtype(original[name]):
            noise = random.normal(size=len(original))
            masked[name] = original[name] + percent / 100.0 * original[name].std() * noise
        else:
            other = original[name].to_numpy()[random.permutation(len(original))]
            masked[name] = original[name].where(random.random(len(original)) >= _EXCHANGED, other)
    return masked
