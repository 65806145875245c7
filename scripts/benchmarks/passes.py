"""Link two files of drawn persons in three passes, and print what it takes and what is found.

    python scripts/benchmarks/passes.py --persons 1000000 --seed 1
    python scripts/benchmarks/passes.py --persons 100000 --seed 1 2 3 --splink PYTHON

Each seed has a process of its own, and its files are made by another one, so that seconds and memory are
those of `link` alone: reading the two CSV files, joining, comparing, learning, deciding, judging. PYTHON is
an interpreter with `pip install splink`, which links the same files after that (`splink_runs.py`).

The attributes are those of febrl4 without its number of social security, which hardly any two persons share
and no census has. Names are made of syllables, with the frequencies of Zipf and Mandelbrot; persons of one
street number, street and suburb are nobody's family. Errors are as frequent as in febrl4: 2.2 attributes of a
person on average, typing errors (a letter inserted, deleted, replaced or exchanged with the next), another
value, none at all, or two attributes that changed places.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from harness import alone, parser, timed
from numpy.typing import NDArray
from splink_runs import by_splink

from linkrisk.solver.linkage.operations.link import link
from linkrisk.solver.linkage.probabilistic.blocking import parse_pass
from linkrisk.solver.linkage.probabilistic.comparisons import parse_comparison
from linkrisk.solver.linkage.result import LinkResult

PASSES = ("date_of_birth", "postcode,given_name[:2]", "suburb[:4],surname[:2]")
TEXTS = ("given_name", "surname", "address_1", "address_2", "suburb")
BAND = (0.1, 0.5)
"""A pair is linked from even odds on, as precision allows; below that and above one in ten it is clerical."""

COMPARE = (
    *(f"{name}=jaro-winkler:0.92,0.8" for name in TEXTS),
    "postcode=levenshtein:1,0.7",
    "date_of_birth=levenshtein:1,0.8",
    "street_number=equal",
    "state=equal",
)


def main() -> None:
    """Print the figures of one run."""
    made = parser(__doc__)
    made.add_argument("--persons", type=int, default=10_000)
    made.add_argument("--seed", type=int, nargs="+", default=[1], help="seeds of the persons")
    made.add_argument("--linked-leave", action="store_true", help="linked records leave after each pass")
    made.add_argument("--frequency-weights", action="store_true")
    made.add_argument("--splink", metavar="PYTHON", help="interpreter that has Splink, to link them too")
    arguments = made.parse_args()
    settings = {"linked_leave": arguments.linked_leave, "frequency_weights": arguments.frequency_weights}
    for seed in arguments.seed:
        for line in figures(arguments.persons, seed, settings, splink=arguments.splink):
            print(line, flush=True)


def figures(
    persons: int, seed: int, settings: dict[str, bool], *, splink: str | None = None, process: bool = True
) -> Iterator[str]:
    """What it takes to link two files and what is found, by processes of their own or by this one."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{name}.csv" for name in ("first", "second")]
        for do, given in ((write_files, ()), (measured, (settings,))):
            task = (persons, seed, files, *given)
            lines = alone(do, *task) if process else do(*task)
        yield from lines or []
        if splink is not None:
            yield splink_line(splink, files)


def measured(persons: int, seed: int, files: list[Path], settings: dict[str, bool]) -> list[str]:
    """Seconds, memory, pairs, and the links that are right."""
    linked_files(list(draw_persons(100, seed)), settings)  # loads compiled code
    result, spent = timed(lambda: linked_files(files, settings))
    took = f"{spent.seconds:.0f} s ({spent.processor:.0f} s of processor time)"
    return [
        f"{persons:,} x {persons:,} persons, seed {seed}: {took}",
        f"  peak memory {spent.megabytes:,.0f} MB",
        *report(result),
    ]


def splink_line(python: str, files: list[Path]) -> str:
    """The same of Splink."""
    found = by_splink(python, "passes", files, files[0].with_name("splink.json"))
    return (
        f"  Splink {found['version']} on DuckDB {found['duckdb']}: {found['seconds']:.0f} s "
        f"({found['processor_seconds']:.0f} s of processor time), peak memory {found['peak_mb']:,.0f} MB; "
        f"{found['linked']:,} links: precision {found['precision']:.4f}, recall {found['recall']:.4f}"
    )


def write_files(persons: int, seed: int, files: list[Path]) -> None:
    """Draw the persons and write both files."""
    for frame, file in zip(draw_persons(persons, seed), files, strict=True):
        frame.to_csv(file, index=False)


def linked_files(files: list[Path] | list[object], settings: dict[str, bool]) -> LinkResult:
    """Link two files, one to one."""
    return link(
        *files,
        method="prl",
        id="rec_id",
        nominal=[*TEXTS, "street_number", "postcode", "state", "date_of_birth"],
        one_to_one="greedy",
        parameters={
            "compare": tuple(map(parse_comparison, COMPARE)),
            "passes": tuple(map(parse_pass, PASSES)),
            "clerical_band": BAND,
            **settings,
        },
    )


def report(result: LinkResult) -> Iterator[str]:
    """What every pass compared and linked."""
    passes = result.passes
    assert passes is not None
    for one in passes.reports:
        yield (
            f"  {one.keys:34} {one.compared:>12,} pairs {one.linked:>9,} linked {one.clerical:>7,} clerical "
            f"{one.estimated_false_links:>8,.0f} false expected, {100 * one.lost:.1f} % of true links lost"
        )
    compared = sum(one.compared for one in passes.reports)
    yield f"  {'all':34} {compared:>12,} pairs; lost {100 * passes.reports[-1].lost_so_far:.2f} %"
    right = sum(one.right for one in passes.reports)
    rates = f"precision {passes.precision or 0:.4f}, recall {passes.recall:.4f}"
    yield f"  {len(passes.links):,} links, {right:,} right: {rates}"
    yield from (f"  note: {note}" for note in result.details["notes"] if not note.startswith("column "))


# ---------------------------------------------------------------- persons


NAMES = np.ndarray[tuple[int], np.dtype[np.object_]]

SIZES = {"given_name": 3_000, "surname": 25_000, "street": 30_000, "place": 40_000, "suburb": 2_500}
"""How many different names there are."""

STATES = ("nsw", "vic", "qld", "wa", "sa", "tas", "act", "nt")
WAYS = ("street", "place", "court", "crescent", "road", "close", "avenue", "drive")

CHANGED = {
    "given_name": 0.32, "surname": 0.33, "street_number": 0.16, "address_1": 0.38, "address_2": 0.43,
    "suburb": 0.25, "postcode": 0.16, "state": 0.05, "date_of_birth": 0.09,
}  # fmt: skip
"""How often each attribute is changed, in proportion to the others."""

MANY = (0.30, 0.34, 0.23, 0.10, 0.03)
"""How often 1, 2, ... attributes of a person are changed."""

LACKING = {
    "given_name": 0.02,
    "street_number": 0.03,
    "address_1": 0.02,
    "address_2": 0.08,
    "date_of_birth": 0.02,
}
"""How often an attribute is missing in the first file."""

TYPING, OTHER, MISSING = 0.62, 0.22, 0.08
"""Kinds of errors; the rest are two attributes that change places."""

PLACES = {
    "given_name": "surname", "surname": "given_name", "address_1": "address_2", "address_2": "address_1",
}  # fmt: skip
"""What changes places with what; other attributes get a typing error instead."""

_STARTS = "b,br,c,ch,d,f,g,gr,h,j,k,l,m,n,p,r,s,sh,st,t,th,v,w"
_SYLLABLES = [start + vowel for start in _STARTS.split(",") for vowel in "aeiou"]
_ENDINGS = ("", "", "n", "r", "s", "ll", "tt", "ck", "son", "ton", "ley")
_LETTERS, _DIGITS = np.array(list("abcdefghijklmnopqrstuvwxyz")), np.array(list("0123456789"))


def draw_persons(persons: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw two files; records of the same person have the same `rec_id`, in different rows."""
    chance = np.random.default_rng(seed)
    first = _persons(persons, chance)
    second = _with_errors(first, chance)
    for name, share in LACKING.items():
        first.loc[chance.random(persons) < share, name] = ""
    second = second.iloc[chance.permutation(persons)].reset_index(drop=True)
    return first, second


def _persons(persons: int, chance: np.random.Generator) -> pd.DataFrame:
    names = {kind: _names(size, chance) for kind, size in SIZES.items()}
    drawn = {kind: chance.choice(size, persons, p=_zipf(size)) for kind, size in SIZES.items()}
    ways = np.array(WAYS, dtype=object)[chance.integers(len(WAYS), size=SIZES["street"])]
    streets = names["street"] + " " + ways
    postcodes = chance.permutation(np.arange(1000, 9000))[: SIZES["suburb"]]
    states = np.array(STATES, dtype=object)[chance.choice(len(STATES), SIZES["suburb"], p=_zipf(len(STATES)))]
    age = 100 * 365 * np.sqrt(chance.random(persons)) * chance.random(persons) ** 0.25
    birth = np.datetime64("2015-12-31") - age.astype(int)
    number = np.ceil(chance.exponential(60, persons)).astype(int)
    return pd.DataFrame(
        {
            "rec_id": [f"p{person}" for person in range(persons)],
            "given_name": names["given_name"][drawn["given_name"]],
            "surname": names["surname"][drawn["surname"]],
            "street_number": number.astype(str).astype(object),
            "address_1": streets[drawn["street"]],
            "address_2": names["place"][drawn["place"]],
            "suburb": names["suburb"][drawn["suburb"]],
            "postcode": postcodes[drawn["suburb"]].astype(str).astype(object),
            "state": states[drawn["suburb"]],
            "date_of_birth": np.char.replace(birth.astype(str), "-", "").astype(object),
        }
    ).astype(object)


def _names(size: int, chance: np.random.Generator) -> NAMES:
    """Different names of two or three syllables, and more where these do not suffice."""
    found: dict[str, None] = {}
    while len(found) < size:
        parts = chance.integers(len(_SYLLABLES), size=(size, 3)).tolist()
        many, ends = (
            chance.integers(2, 4, size=size).tolist(),
            chance.integers(len(_ENDINGS), size=size).tolist(),
        )
        for syllables, number, end in zip(parts, many, ends, strict=True):
            found["".join(_SYLLABLES[part] for part in syllables[:number]) + _ENDINGS[end]] = None
    return np.array(list(found)[:size], dtype=object)


def _zipf(size: int) -> NDArray[np.float64]:
    weight = 1.0 / (np.arange(size) + 1 + size / 100) ** 0.9
    return np.asarray(weight / weight.sum())


def _with_errors(first: pd.DataFrame, chance: np.random.Generator) -> pd.DataFrame:
    persons, names = len(first), list(CHANGED)
    many = 1 + chance.choice(len(MANY), persons, p=MANY)
    # The attributes of the largest keys are drawn without replacement, in proportion to their weights.
    keys = chance.random((persons, len(names))) ** (1.0 / np.array(list(CHANGED.values())))
    rank = (-keys).argsort(axis=1).argsort(axis=1)
    second = {name: first[name].to_numpy(dtype=object).copy() for name in first}
    for k, name in enumerate(names):
        _change(second, first, name, np.flatnonzero(rank[:, k] < many), chance)
    return pd.DataFrame(second)


def _change(
    second: Mapping[str, NAMES],
    first: pd.DataFrame,
    name: str,
    rows: NDArray[np.intp],
    chance: np.random.Generator,
) -> None:
    """Make errors in an attribute of some persons."""
    kind = np.searchsorted(np.cumsum([TYPING, OTHER, MISSING]), chance.random(rows.size), side="right")
    if name not in PLACES:
        kind[kind == 3] = 0
    typed, other, missing, moved = (rows[kind == which] for which in range(4))
    column = second[name]
    letters = _DIGITS if name in ("street_number", "postcode", "date_of_birth") else _LETTERS
    column[typed] = _mistyped(column[typed], letters, chance)
    column[other] = first[name].to_numpy()[chance.integers(len(first), size=other.size)]
    column[missing] = ""
    if moved.size:
        twin = second[PLACES[name]]
        column[moved], twin[moved] = twin[moved].copy(), column[moved].copy()


def _mistyped(values: NAMES, letters: NDArray[np.str_], chance: np.random.Generator) -> list[str]:
    """One letter inserted, deleted, replaced, or exchanged with the next."""
    how, where = chance.integers(4, size=values.size), chance.random(values.size)
    new = letters[chance.integers(letters.size, size=values.size)]
    made = []
    for text, kind, share, letter in zip(values, how.tolist(), where.tolist(), new.tolist(), strict=True):
        at = int(share * len(text))
        if kind == 0:
            made.append(text[:at] + letter + text[at:])
        elif kind == 1 and len(text) > 1:
            made.append(text[:at] + text[at + 1 :])
        elif kind == 2:
            made.append(text[:at] + letter + text[at + 1 :])
        else:
            made.append(text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :])
    return made


if __name__ == "__main__":
    main()
