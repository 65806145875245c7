"""Releases of one small file, and the measure of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from linkrisk import risk

NAMES = ("A", "B")


def files(seed=3, records=8, noise=1.0, releases=2):
    """An original and releases of it, each with noise of its own."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(records, len(NAMES)))
    made = [values, *(values + noise * random.normal(size=values.shape) for _ in range(releases))]
    return [pd.DataFrame(each, columns=list(NAMES)) for each in made]


def taken(original, released, **options):
    options = {"aggregator": "all", "time_limit": None, **options}
    return risk(original, released, measures="releases", **options)


def wide(original, released):
    """The releases side by side, and the original as often."""
    return [
        pd.concat([each.add_suffix(str(at)) for at, each in enumerate(one)], axis=1)
        for one in ([original] * len(released), released)
    ]


def table(result):
    return result["releases"].to_frame().set_index(["number", "aggregator"])
