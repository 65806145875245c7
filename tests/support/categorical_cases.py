"""Small mixed file pairs, and their distances by definition, one pair of records after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import brute_force as plain
import numpy as np
import pandas as pd

from linkrisk.datasets.masking.recoding import GlobalRecoding, TopCoding
from linkrisk.formulations.linkage.distances import of_kind

SIZES = ("small", "middle", "large", "huge")
SCHEMA = {
    "attributes": [
        {"name": "size", "scale": "ordinal", "categories": list(SIZES)},
        {"name": "town", "scale": "nominal"},
    ]
}
MASKING = ("top-coding categories=2 attributes=size", "global-recoding categories=2 attributes=town")


def frames(seed: int, rows: int = 7, numeric: int = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    """An ordinal, a nominal and some numeric attributes; masked, and then blurred once more by chance.

    What chance has changed is what the masking methods cannot have done.
    """
    random = np.random.default_rng(seed)
    content: dict[str, Any] = {
        "size": random.choice(["0", "1", "2", "3"], rows),
        "town": random.choice(list("abcd"), rows),
    }
    for k in range(numeric):
        content[f"x{k}"] = random.normal(size=rows) * 10.0
    original = pd.DataFrame(content)
    masked = TopCoding(categories=2, attributes=("size",)).apply(original)
    masked = GlobalRecoding(categories=2, attributes=("town",)).apply(masked)
    for name in ("size", "town"):
        changed = random.random(rows) < 0.15
        masked.loc[changed, name] = random.permutation(masked[name].to_numpy())[changed]
    for k in range(numeric):
        masked[f"x{k}"] += random.normal(size=rows) * 8.0
    for frame in (original, masked):
        frame["size"] = [SIZES[int(code)] for code in frame["size"]]
    return original, masked


@dataclass(frozen=True)
class MixedRecords(plain.Records):
    """Records whose distances are a matrix of vectors; impossible pairs are no rivals."""

    vectors: Any = None
    possible: Any = None
    moved: Any = None

    def rounding(self, block):
        return self.moved[block]

    def distances(self, block, kind):
        return [[d * d if kind == "squared" else d for d in vector] for vector in self.vectors[block]]

    def rivals(self, block):
        return [j for j in super().rivals(block) if self.possible[block][j]]


def reference(
    original: pd.DataFrame,
    masked: pd.DataFrame,
    direction: str,
    *,
    share: bool = False,
    aware: bool = False,
    reachable_only: bool = True,
) -> MixedRecords:
    """The linkage by definition; blocks whose partner is impossible left out, as nothing can link them."""
    numeric = [name for name in original if name not in ("size", "town")]
    standard = (
        [plain.standardised(frame[numeric].to_numpy()) for frame in (original, masked)] if numeric else []
    )
    rows = len(original)
    top = {name: name if at < 2 else "large" for at, name in enumerate(SIZES)}
    recoded = GlobalRecoding(categories=2, attributes=("town",)).apply(original)["town"]
    grouped = dict(zip(original["town"], recoded, strict=True))

    columns = {name: (original[name].to_list(), masked[name].to_list()) for name in original}

    def vector(i, j):
        c = []
        for name, (own, other) in columns.items():
            first, second = own[i], other[j]
            if name == "size":
                c.append(abs(SIZES.index(first) - SIZES.index(second)) / len(SIZES))
            elif name == "town":
                c.append(float(first != second))
            else:
                k = numeric.index(name)
                c.append(abs(float(standard[0][i, k]) - float(standard[1][j, k])))
        return c

    def possible(i, j):
        (sizes, recoded_sizes), (towns, recoded_towns) = columns["size"], columns["town"]
        made = top[sizes[i]] == recoded_sizes[j]
        return not aware or (made and grouped[towns[i]] == recoded_towns[j])

    offsets = [plain.offset(frame[numeric].to_numpy()) for frame in (original, masked)] if numeric else []

    def moved(i):
        sizes = dict.fromkeys(original, 0.0)
        for k, name in enumerate(numeric):
            sizes[name] = sum(
                abs(float(z[i, k])) + more[k] for z, more in zip(standard, offsets, strict=True)
            )
        sizes = [plain.ROUNDING * size for size in sizes.values()]
        return [2.0 ** np.frexp(size)[1] if size else 0.0 for size in sizes]

    numeric_lengths = plain.grains(*standard, np.sum(offsets, axis=0)) if numeric else []
    lengths = {"size": 2.0**-18 / 2, "town": 2.0**-18, **dict(zip(numeric, numeric_lengths, strict=True))}
    forward = direction == "original-to-masked"
    order = (lambda i, j: (i, j)) if forward else (lambda i, j: (j, i))
    blocks = [i for i in range(rows) if possible(i, i) or not reachable_only]
    candidates = masked if forward else original
    return MixedRecords(
        queries=np.array(blocks),
        candidates=pd.DataFrame({n: pd.factorize(candidates[n])[0] for n in candidates}).to_numpy(),
        partner=blocks,
        share=share,
        vectors=[[vector(*order(i, j)) for j in range(rows)] for i in blocks],
        possible=[[possible(*order(i, j)) for j in range(rows)] for i in blocks],
        moved=[moved(i) for i in blocks],
        lengths=[lengths[name] for name in original],
    )


def options(aware: bool, **more: Any) -> dict[str, Any]:
    """Options of `fit` for these frames."""
    return {"schema": SCHEMA, "masking": MASKING if aware else (), **more}


def attribute_distances(queries, candidates, kind, tables=None):
    """Standardised records (..., attributes) compared attribute by attribute; leading axes broadcast."""
    difference = queries - candidates
    if tables is not None:
        tables.place(difference, queries, candidates)
    return of_kind(difference, kind)
