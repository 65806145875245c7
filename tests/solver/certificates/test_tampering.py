"""Every number of a small certificate, and of its fit, is changed: no false statement gets through."""

from __future__ import annotations

import base64
import copy
import zlib
from contextlib import contextmanager
from dataclasses import replace

import pytest
from aggregator_cases import BY_LABEL, CERTIFIABLE
from certified import certified, kinds

from linkrisk.solver.certificates.core.claims import RejectedError
from linkrisk.solver.run.errors import UsageError

every_case = pytest.mark.parametrize("case", CERTIFIABLE, ids=[case.label for case in CERTIFIABLE])
REFUSALS = (RejectedError, UsageError)


def numbers(content, path=()):
    if isinstance(content, dict):
        for key, value in content.items():
            yield from numbers(value, (*path, key))
    elif isinstance(content, list):
        for at, value in enumerate(content):
            yield from numbers(value, (*path, at))
    elif isinstance(content, int | float) and not isinstance(content, bool):
        yield path


def value_at(content, path):
    for key in path:
        content = content[key]
    return content


def changed(content, path, value):
    out = copy.deepcopy(content)
    value_at(out, path[:-1])[path[-1]] = value
    return out


@contextmanager
def altered(content, path, value):
    inner = value_at(content, path[:-1])
    before, inner[path[-1]] = inner[path[-1]], value
    try:
        yield
    finally:
        inner[path[-1]] = before


def others(value):
    if isinstance(value, int):
        return [value + 1, value - 1, 2 * value + 3, -value - 1]
    return [value * (1 + 1e-6) + 1e-9, value * (1 - 1e-6) - 1e-9, -value - 1e-9, value + 1.0]


def outcome(made, certificate):
    try:
        return made.check(certificate=certificate)
    except REFUSALS:
        return None


SMALLEST = (
    ("weighted-mean", "hitting-set", 7, 5),
    ("weighted-mean", "simplex-tree", 7, 5),
    ("owa", "hitting-set", 1, 5),
    ("choquet", "hitting-set", 10, 5),
    ("2-additive", "simplex-tree", 10, 5),
    ("3-additive", "hitting-set", 10, 5),
    ("mahalanobis", "hitting-set", 6, 6),
    ("mahalanobis-absolute", "hitting-set", 1, 6),
)
"""Family, method, seed and rows of a file that is more than lost records, whatever ties and direction are."""


@pytest.mark.parametrize("at", range(len(SMALLEST)))
def test_no_changed_number_makes_a_false_statement_pass(at):
    label, method, seed, rows = SMALLEST[at]
    ties = ("strict", "share")[at % 2]
    direction = ("original-to-masked", "masked-to-original")[at // 2 % 2]
    made = certified(BY_LABEL[label], seed, method=method, ties=ties, direction=direction, rows=rows)
    assert made.certificate["proof"]["method"] == method
    assert ("core" if method == "hitting-set" else "leaf") in kinds(made.certificate)
    assert (made.certificate["bound"]["unit"] > 1) == (ties == "share" and direction == "original-to-masked")
    honest = made.check()
    refused = 0
    for path in [*numbers(made.certificate)]:
        old = value_at(made.certificate, path)
        for value in others(old):
            if value == old:
                continue
            with altered(made.certificate, path, value):
                verdict = outcome(made, made.certificate)
            refused += verdict is None
            if path[0] in ("proof", "bound"):
                # True all the same, or refused.
                assert verdict is None or (
                    float(verdict.bound) >= made.optimum * (1 - 1e-8) and verdict.linked == honest.linked
                ), path
            else:
                assert verdict is None, path
    assert refused > 50


@pytest.mark.parametrize(
    ("label", "method"),
    [("weighted-mean", "simplex-tree"), ("owa", "simplex-tree"), ("choquet", "hitting-set")],
)
def test_no_changed_text_makes_a_false_statement_pass(label, method):
    made = certified(BY_LABEL[label], seed=3, method=method)
    assert made.certificate["proof"]["method"] == method
    for path, value in (
        (("problem", "direction"), "original-to-masked"),
        (("problem", "ties"), "share"),
        (("proof", "method"), "lost"),
    ):
        with pytest.raises(REFUSALS):
            made.check(certificate=changed(made.certificate, path, value))


@pytest.mark.parametrize(
    ("label", "seed", "rows"), [("weighted-mean", 6, 9), ("owa", 3, 6), ("2-additive", 2, 7)]
)
def test_every_byte_of_a_simplex_tree_matters(label, seed, rows):
    ties = "share" if label == "owa" else "strict"
    made = certified(BY_LABEL[label], seed, method="simplex-tree", rows=rows, ties=ties)
    path = ("proof", "tree")
    codes = zlib.decompress(base64.b64decode(value_at(made.certificate, path)))
    assert len(codes) > 3
    refused = 0

    def tree(content):
        text = base64.b64encode(zlib.compress(content)).decode()
        return changed(made.certificate, path, text)

    assert made.check(certificate=tree(codes)).bound == made.optimum
    for at in range(len(codes)):
        for code in {0, 1, 2, 3, 4, 255} - {codes[at]}:
            verdict = outcome(made, tree(codes[:at] + bytes([code]) + codes[at + 1 :]))
            refused += verdict is None
            assert verdict is None or verdict.bound >= made.optimum
        for other in (codes[:at], codes[:at] + codes[at + 1 :], codes + codes[at : at + 1]):
            assert outcome(made, tree(other)) is None
    assert refused > len(codes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not a compressed tree|damaged"),
        ("%%%", "not a compressed tree"),
        ("AAAA", "not a compressed tree"),
    ],
)
def test_a_tree_that_is_none(content, message):
    made = certified(BY_LABEL["weighted-mean"], seed=3, method="simplex-tree")
    with pytest.raises(UsageError, match=message):
        made.check(certificate=changed(made.certificate, ("proof", "tree"), content))


def test_rivals_cannot_be_invented_or_emptied():
    made = certified(BY_LABEL["weighted-mean"], seed=3, method="simplex-tree")
    rivals = made.certificate["proof"]["rivals"]
    block, own = rivals[0]
    partner = made.problem.pair.partner[block]
    for wrong in ([], [int(partner)], [-1], [*own, 99]):
        with pytest.raises(RejectedError, match=r"rivals\[0\]"):
            made.check(certificate=changed(made.certificate, ("proof", "rivals", 0, 1), wrong))
    with pytest.raises(RejectedError, match="listed twice"):
        made.check(certificate=changed(made.certificate, ("proof", "rivals"), [*rivals, rivals[0]]))


@every_case
def test_a_changed_fit_is_rejected(case):
    ties = ("strict", "share")[CERTIFIABLE.index(case) % 2]
    made = certified(case, seed=11, ties=ties, rows=5)
    keys = ["records", "candidates", "linked"]
    if ties == "share":
        keys.append("expected_links")
    for key in keys:
        for value in (made.fitted[key] + 1, made.fitted[key] - 1):
            with pytest.raises(REFUSALS):
                made.check(fitted={**made.fitted, key: value})
    for key in ("linked_upper_bound", "expected_links_upper_bound"):
        if made.fitted.get(key) is not None:
            with pytest.raises(RejectedError, match=f"{key}: "):
                made.check(fitted={**made.fitted, key: made.fitted[key] - 1})
    with pytest.raises(RejectedError, match="lost: "):
        made.check(fitted={**made.fitted, "lost": made.fitted["lost"] + 1})
    for path in numbers(made.fitted["parameters"]):
        wrong = copy.deepcopy(made.fitted)
        value_at(wrong["parameters"], path[:-1])[path[-1]] += 5.0
        with pytest.raises(RejectedError, match="fit, parameters"):
            made.check(fitted=wrong)
        both = changed(made.certificate, ("parameters", *path), value_at(wrong["parameters"], path))
        with pytest.raises(RejectedError):  # no parameters of the family, or no measure of the coefficients
            made.check(fitted=wrong, certificate=both)
    for at in range(made.fitted["records"]):
        row = made.fitted["records_table"]["rows"][at]
        wrong = changed(made.fitted, ("records_table", "rows", at, 1), not row[1])
        with pytest.raises(RejectedError, match=f"records_table: row {at + 1} "):
            made.check(fitted=wrong)


def test_other_data_are_noticed():
    """A cell of a file moved by a millionth: the distances in the table of records are others."""
    made = certified(BY_LABEL["choquet"], seed=3)
    files = made.problem.files
    masked = files.masked.copy()
    masked.iloc[2, 1] *= 1 + 1e-6
    object.__setattr__(made.problem, "files", replace(files, masked=masked))
    with pytest.raises(RejectedError, match=r"records_table: row \d+, \w+: .*, but it is"):
        made.check()
