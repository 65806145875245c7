"""The checker that can be copied alone: it says what `verify` says, of honest pairs and of forged ones."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest
from aggregator_cases import BY_LABEL
from categorical_cases import SCHEMA as CATEGORIES
from categorical_cases import frames as mixed_frames
from certified import frames
from forgeries import mutated
from forgery_run import REFUSALS, honest_pairs
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import random_pattern, random_table
from small_tables import frames_of

from linkrisk import audit_table, fit, open_table
from linkrisk.solver.certificates import core
from linkrisk.solver.certificates.checking.verify import demand_fit, verify
from linkrisk.solver.certificates.core import __main__ as command
from linkrisk.solver.certificates.core import check, claims, records, tables
from linkrisk.solver.certificates.operations.verify import exact_table
from linkrisk.solver.certificates.writing.table import table_certificate
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.tables.attackers.certified import certify

CORE_REFUSALS = (claims.RejectedError, claims.MalformedError)
SHOWN = ("records_table", "tied", "measure", "importance", "interaction", "baselines", "euclid", "sampling")
"""What `verify` recounts besides: numbers that a fit shows, on which no claim rests."""


def texts(column):
    return ["" if pd.isna(value) else str(value) for value in column.tolist()]


def files_of(pair):
    columns = {name: (False, texts(pair.masked[name])) for name in pair.masked.columns}
    columns |= {name: (True, texts(pair.original[name])) for name in pair.original.columns}
    values = [side.T.tolist() for side in (pair.original_values, pair.masked_values)]
    return records.Files(*values, pair.partner.tolist(), columns)


def same(ours, theirs):
    names = check.Verdict.__dataclass_fields__.keys() - {"family"}
    return all(getattr(ours, name) == getattr(theirs, name) for name in names)


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("honest"))
        return honest_pairs()


def test_both_checkers_say_the_same_of_every_family_and_way_of_a_proof(honest):
    for pair in honest:
        claim, certificate = map(json.loads, pair.texts)
        files = pair._files(claim)
        ours = check.check_fit(claim, certificate, files_of(files))
        assert same(ours, pair.verdict), pair.label


def test_both_checkers_refuse_the_same_forgeries(honest, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random, outcomes = Random(7), {"both": 0, "neither": 0, "shown": 0}
    for at in range(75):
        pair = honest[at % len(honest)]
        forged = mutated(pair.texts, Random(random.getrandbits(64)))
        ours = theirs = ""
        try:
            pair.check(*forged)
        except REFUSALS as error:
            theirs = str(error)
        try:
            claim, certificate = (_read(text, tmp_path / "forged.json") for text in forged)
            check.check_fit(claim, certificate, files_of(pair._files(claim)))
        except (*CORE_REFUSALS, *REFUSALS) as error:
            ours = str(error)
        if theirs and not ours:
            assert any(word in theirs for word in SHOWN), theirs
            outcomes["shown"] += 1
        else:
            assert bool(ours) == bool(theirs), (pair.label, ours, theirs)
            outcomes["neither" if ours else "both"] += 1
    assert min(outcomes["both"], outcomes["neither"]) > 7


def _read(text, path):
    path.write_text(text, encoding="utf-8")
    return claims.read_json(path)


@pytest.mark.parametrize(("label", "strata"), [("weighted-mean", "group"), ("choquet", None)])
def test_samples_are_drawn_again_and_limits_follow(label, strata, monkeypatch):
    original, masked = frames(3, 40)
    for frame in (original, masked):
        frame["group"] = np.where(np.arange(len(frame)) % 3 == 0, "a", "b")
    case = BY_LABEL[label]
    options = {"aggregator": case.name, "attributes": ["V1", "V2", "V3"], **case.options}
    drawn = {"sample": 8, "samples": 3, "strata": strata, "seed": 4}
    made = fit(original, masked, certificate=True, time_limit=None, **drawn, **options)
    claim, certificate = json.loads(made.to_json()), json.loads(json.dumps(made.certificate))
    files = make_problem(original, masked, ProblemOptions(**options)).files
    theirs = verify(claim, certificate, files, ("fit", "certificate"))
    ours = check.check_fit(claim, certificate, files_of(files))
    assert same(ours, theirs)
    assert ours.limit is not None
    claim["linked_confidence_limit"] -= 1
    with pytest.raises(claims.RejectedError, match="limit"):
        check.check_fit(claim, certificate, files_of(files))
    # However unlikely: what was linked was linked.
    monkeypatch.setattr("linkrisk.solver.certificates.core.samples.ruled_out", lambda *_: True)
    for limit in (ours.linked - 1, -1_000):
        claim["linked_confidence_limit"] = limit
        with pytest.raises(claims.RejectedError, match="limit"):
            check.check_fit(claim, certificate, files_of(files))
        with pytest.raises(claims.RejectedError, match="limit"):
            verify(claim, certificate, files, ("fit", "certificate"))


@pytest.mark.parametrize(
    ("label", "missing"), [("owa", "nearest"), ("choquet", "expected"), ("mahalanobis-absolute", "farthest")]
)
def test_missing_values_and_categories(label, missing):
    original, masked = mixed_frames(5, 16, numeric=2)
    numeric = [name for name in original if pd.api.types.is_numeric_dtype(original[name])]
    original.loc[[1, 4], numeric[0]] = np.nan
    masked.loc[[2], numeric[1]] = np.nan
    other = next(name for name in original if name not in numeric)
    original.loc[[3], other] = masked.loc[[5], other] = None
    case = BY_LABEL[label]
    options = {"aggregator": case.name, "missing": missing, "schema": CATEGORIES, **case.options}
    made = fit(original, masked, engine="exact", certificate=True, time_limit=None, **options)
    claim, certificate = json.loads(made.to_json()), json.loads(json.dumps(made.certificate))
    files = make_problem(original, masked, ProblemOptions(**options)).files
    theirs = verify(claim, certificate, files, ("fit", "certificate"))
    demand_fit(claim, theirs, "fit")
    assert same(check.check_fit(claim, certificate, files_of(files)), theirs)


# ---- tables


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), share=st.floats(0.2, 0.7), flip=st.booleans())
def test_a_table_is_read_as_the_project_reads_it(tmp_path_factory, seed, share, flip):
    generator = np.random.default_rng(seed)
    table = random_table(generator, ((4, 4), (5, 5)), share=0.3)
    suppressed = random_pattern(generator, table, share)
    cells, relations = frames_of(table, suppressed)
    certificate = json.loads(json.dumps(table_certificate(suppressed, certify(table, suppressed))))
    if flip:
        certificate["protected"] = not certificate["protected"]
    folder = tmp_path_factory.mktemp("table")
    cells.to_csv(folder / "cells.csv", index=False)
    relations.to_csv(folder / "relations.csv", index=False)
    read = [command.read_columns(folder / f"{name}.csv") for name in ("cells", "relations")]
    ours = tables.read_table(*read, counts=False)
    if flip:
        with pytest.raises(claims.RejectedError, match="protected"):
            tables.check_table(ours, certificate)
        return
    theirs = exact_table(open_table(cells, relations))
    assert (ours.numbers, ours.status, ours.relations) == (theirs.numbers, theirs.status, theirs.relations)
    found = tables.check_table(ours, certificate)
    assert found.protected == certificate["protected"]
    assert found.missed >= len(certificate["missed"])


# ---- alone


@pytest.fixture
def alone(tmp_path):
    """Run a copy of the folder without any installed package: what it prints, and its exit code."""
    folder = Path(core.__file__).parent
    shutil.copytree(folder, tmp_path / "core", ignore=shutil.ignore_patterns("__pycache__"))

    def run(*words):
        command = [sys.executable, "-S", "-E", "-m", "core", *map(str, words)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


WORDS = ["fit.json", "--certificate", "proof.json", "--original", "original.csv", "--masked", "masked.csv"]


def save(folder, **contents):
    for name, content in contents.items():
        (folder / f"{name}.json").write_text(json.dumps(content))


def test_the_folder_runs_without_the_project(alone, tmp_path):
    paths = [tmp_path / "original.csv", tmp_path / "masked.csv"]
    for frame, path in zip(frames(1, 12), paths, strict=True):
        frame.to_csv(path, index=False)
    made = fit(*paths, row_by_row=True, certificate=True, time_limit=None)
    claim, proof = made.to_dict(), made.certificate
    save(tmp_path, fit=claim, proof=proof)
    done = alone(*WORDS)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "proved: no weighted mean whose distances differ by more than a tie links more than "
        f"{made.linked_upper_bound} records, so at most {made.linked_upper_bound} of 12",
        f"proved: the parameters of the fit link {made.linked} records",
        "of this problem: records aligned row by row, 0 without a partner",
        "of this problem: aggregator 'weighted-mean'",
        "of this problem: direction 'original-to-masked'",
        "of this problem: ties 'strict'",
        "of this problem: standardisation 'own'",
        "of this problem: differences 'squared'",
        "of this problem: missing 'expected'",
        "of this problem: attributes ['V1', 'V2', 'V3']",
    ]
    done = alone(*WORDS[:-2])
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    endless = {**proof, "bound": {**proof["bound"], "of": 10**400}}
    nothing = {**proof, "bound": {**proof["bound"], "of": 0}}
    for wrong, code in (
        ({"fit": {**claim, "linked": made.linked + 1}}, 1),
        ({"proof": endless}, 1),
        ({"proof": nothing}, 1),
        ({"fit": {"linked": np.nan}}, 2),
    ):
        save(tmp_path, **{"fit": claim, "proof": proof, **wrong})
        done = alone(*WORDS)
        assert (done.returncode, done.stderr.count("\n")) == (code, 1)
        assert done.stderr.startswith("rejected: ") == (code == 1)


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ("inf", "V1, row 2: 'inf' is no value of this attribute"),
        ("1_0", "V1, row 2: '1_0' is no value of this attribute"),
        ("", "V1 has fewer than two values"),
        ("1,2", "rows of different lengths"),
    ],
)
def test_files_that_cannot_be_used_are_one_line(alone, tmp_path, cells, why):
    original, masked = frames(1, 5, 1)
    made = fit(original, masked, certificate=True, time_limit=None)
    save(tmp_path, fit=made.to_dict(), proof=made.certificate)
    masked.to_csv(tmp_path / "masked.csv", index=False)
    (tmp_path / "original.csv").write_text(f"V1\n1\n{cells}\n\n\n\n")
    done = alone(*WORDS)
    assert done.returncode in (1, 2)
    assert why in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_table_is_checked_without_the_project(alone, tmp_path):
    cells = pd.DataFrame(
        {"value": [0.3, 0.1, 0.2], "status": ["s", "u", "m"], "lower_protection": [0.0, 0.1, 0.0]}
    )
    terms = pd.DataFrame({"relation": [0, 0, 0], "cell": [0, 1, 2], "coefficient": [-1, 1, 1]})
    result = audit_table(cells, terms, exact=True)
    cells.to_csv(tmp_path / "cells.csv", index=False)
    terms.to_csv(tmp_path / "relations.csv", index=False)
    proof = table_certificate(result.suppressed, result.certified)
    (tmp_path / "proof.json").write_text(json.dumps(proof))
    done = alone("proof.json", "--cells", "cells.csv", "--relations", "relations.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "proved, of a table of amounts: 1 of 1 levels hold, 0 do not, 0 are undecided; "
        "relations miss 0 by at most 0\n"
    )
    done = alone("proof.json", "--cells", "cells.csv", "--relations", "relations.csv", "--counts")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    cells.assign(status=["s", "U", "M"]).to_csv(tmp_path / "cells.csv", index=False)
    assert alone("proof.json", "--cells", "cells.csv", "--relations", "relations.csv").returncode == 2
