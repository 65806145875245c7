"""Files, their fit and certificate, with weights and without, and false claims written into these."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from certified import frames

from linkrisk.solver.commands.program import main

PAIR = ("--original", "original.csv", "--masked", "masked.csv")
CLAIM = ("verify", "fit.json", "--certificate", "proof.json", *PAIR)
PROOF = ("--json", "fit.json", "--certificate", "proof.json")


def save(original, masked):
    pd.DataFrame(original).to_csv("original.csv", index=False)
    pd.DataFrame(masked).to_csv("masked.csv", index=False)


def fitted(*options):
    assert main(["fit", *PAIR, *PROOF, "--time-limit", "none", *options]) == 0
    return read("fit.json")


def read(name):
    return json.loads(Path(name).read_text(encoding="utf-8"))


def write(name, content):
    Path(name).write_text(json.dumps(content), encoding="utf-8")


def forge(**claims):
    """The same claims in the fit and, where it has them, in the certificate; `linked` is then said of all."""
    fit, proof = read("fit.json"), read("proof.json")
    fit.update(claims)
    proof.update({key: value for key, value in claims.items() if key in proof})
    if "linked" in claims:
        for row in fit["records_table"]["rows"]:
            row[1] = True
    write("fit.json", fit)
    write("proof.json", proof)


# File pairs with sampling weights, and claims about them on the command line


SCHEMA = {"attributes": [{"name": "W", "role": "weight"}]}
KINDS = {
    "whole": lambda random, n: random.integers(1, 7, n).astype(float),
    "tenths": lambda random, n: random.integers(1, 60, n) / 10,
    "wide": lambda random, n: 10.0 ** random.uniform(-3, 9, n),
    "two sizes": lambda random, n: np.where(random.random(n) < 0.5, 1e9, 1e-3) * random.integers(1, 4, n),
    "alike": lambda _, n: np.full(n, 37.3),
}


def weighted(seed, kind, rows=7, columns=2):
    """A pair of files, with weights in column W of the original one."""
    original, masked = frames(seed, rows, columns)
    weights = KINDS[kind](np.random.default_rng(seed + 500), rows)
    return original.assign(W=weights), masked


def weighted_folder():
    """Files and schema in the working folder, with weights that a second column of weights differs from."""
    original, masked = weighted(11, "tenths", rows=12)
    save(original.assign(other=2.0 * original["W"], text="a"), masked)
    Path("schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    Path("other.json").write_text(json.dumps({"attributes": [{"name": "other", "role": "weight"}]}))
    return original, masked


SCHEMED = ("--schema", "schema.json", "--attributes", "V1,V2")
CHECK = (*CLAIM, "--schema", "schema.json")


def written(*options):
    assert main(["fit", *CLAIM[4:], *PROOF, *SCHEMED, "--time-limit", "none", *options]) == 0
    return read("fit.json")


def rejected(capsys, *argv):
    """The one line that a forgery is refused with."""
    capsys.readouterr()
    assert main(list(argv or CHECK)) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("rejected: ")
    return error
