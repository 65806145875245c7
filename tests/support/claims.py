"""Two small files in the working folder, their fit and certificate, and false claims written into these."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

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


def forge(**claims):
    """The same claims in the fit and, where it has them, in the certificate; `linked` is then said of all."""
    fit, proof = read("fit.json"), read("proof.json")
    fit.update(claims)
    proof.update({key: value for key, value in claims.items() if key in proof})
    if "linked" in claims:
        for row in fit["records_table"]["rows"]:
            row[1] = True
    Path("fit.json").write_text(json.dumps(fit), encoding="utf-8")
    Path("proof.json").write_text(json.dumps(proof), encoding="utf-8")
