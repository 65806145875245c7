"""Small files of persons, and what passes do with them by definition: a plain double loop."""

from __future__ import annotations

import jellyfish
import numpy as np
import pandas as pd
from prl_cases import compare, task_of

from linkrisk.solver.linkage.probabilistic.blocking import parse_pass
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic

SURNAMES = ("smith", "smyth", "schmidt", "jones", "johns", "miller", "mueller", "o'brien", "taylor", "tailor")
NAMES = ("anna", "anne", "bob", "robert", "martha", "marta", "dwayne", "duane")
COMPARE = compare("surname=jaro-winkler:0.92,0.8", "name=jaro-winkler:0.9", "town=equal", "age=within:0,2")


def persons(records, seed=0, wrong=0.15, missing=0.05):
    """Two files of the same persons in the same order, the second with errors; cells are missing in both."""
    chance = np.random.default_rng(seed)
    surnames = 1.0 / (1 + np.arange(len(SURNAMES)))

    def drawn():
        return pd.DataFrame(
            {
                "surname": chance.choice(SURNAMES, records, p=surnames / surnames.sum()).astype(object),
                "name": chance.choice(NAMES, records).astype(object),
                "town": chance.choice(("york", "cork", "leeds", "hull"), records).astype(object),
                "age": chance.integers(20, 60, records).astype(float),
                "born": [
                    f"19{y}-{m:02}-{d:02}"
                    for y, m, d in chance.integers([10, 1, 1], [99, 13, 29], (records, 3))
                ],
            }
        )

    first = drawn()
    second = first.where(chance.random(first.shape) > wrong, drawn())
    for frame in (first, second):
        for name in frame:
            frame.loc[chance.random(records) < missing, name] = None
    return first, second


def task(records, seed=0, **facts):
    """A task on such files; dates of birth are there for keys only."""
    first, second = persons(records, seed)
    return task_of(first, second, ("surname", "name", "town", "age"), **facts)


def linker(*passes, **settings):
    settings.setdefault("compare", COMPARE)
    return Probabilistic(passes=tuple(parse_pass(text) for text in passes), **settings)


FUNCTIONS = {
    "soundex(surname)": ("surname", lambda text: jellyfish.soundex(text.replace("'", ""))),
    "surname[:3]": ("surname", lambda text: text[:3]),
    "name[-1:]": ("name", lambda text: text[-1:]),
    "year(born)": ("born", lambda text: text[:4]),
    "month(born)": ("born", lambda text: str(int(text[5:7]))),
}


def key_values(one, frame):
    """The values of the keys of a pass, given as a list, for every record; None where one is missing."""
    found = []
    for record in frame.to_dict("records"):
        values = []
        for key in one:
            column, function = FUNCTIONS.get(key, (key, lambda value: value))
            values.append(None if pd.isna(record[column]) else function(record[column]))
        found.append(None if None in values else tuple(values))
    return found


def pairs_by_definition(passes, queries, candidates):
    """The first pass of every pair that some pass compares."""
    found = {}
    for p, one in enumerate(passes):
        first, second = key_values(one, queries), key_values(one, candidates)
        for i, a in enumerate(first):
            for j, b in enumerate(second):
                if a is not None and a == b:
                    found.setdefault((i, j), p)
    return found
