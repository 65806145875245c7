"""Categorical attributes under every aggregator: by definition, by brute force, by growing rows, verified."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import brute_force as plain
import brute_optimum
import categorical_cases as mixed
import numpy as np
import pandas as pd
import pytest
from aggregator_cases import BY_LABEL
from cli_runs import PAIR, flat, refuse, run
from fit_runs import steered
from pairwise import pairwise

from linkrisk import evaluate, fit
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.solver.certificates.checking.verify import demand_fit, verify
from linkrisk.solver.certificates.core.claims import RejectedError
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.linkage.baselines import euclidean_form, mahalanobis_form
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.matching import assigned_blocks, distance_matrix
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.result import plain as plainly

LABELS = ("weighted-mean", "owa", "choquet", "2-additive", "3-additive", "mahalanobis-absolute")
DIRECTIONS = ("original-to-masked", "masked-to-original")
each_case = pytest.mark.parametrize("case", [BY_LABEL[label] for label in LABELS], ids=LABELS)


def problem_of(case, files, **more):
    return make_problem(*files, ProblemOptions(aggregator=case.name, **{**case.options, **more}))


@each_case
@pytest.mark.parametrize("seed", range(4))
def test_links_ranks_and_distances_by_definition(case, seed):
    ties, direction, aware = ("strict", "share")[seed % 2], DIRECTIONS[seed // 2], seed in (1, 2)
    files = mixed.frames(seed, 16, numeric=seed % 3)
    problem = problem_of(case, files, **mixed.options(aware, ties=ties, direction=direction))
    reference = mixed.reference(*files, direction, share=ties == "share", aware=aware, reachable_only=False)
    aggregator, evaluator = problem.aggregator, Evaluator(problem.pair, 1)
    possible = np.array([reference.possible[b][reference.partner[b]] for b in range(16)])
    assert np.array_equal(problem.pair.reachable, possible)
    points = [aggregator.equal(), *aggregator.domain.sample(4, np.random.default_rng(seed))]
    for theta in points:
        form = aggregator.form(theta)
        made = evaluator.rank(form)
        assert np.array_equal(made.linked, evaluator.count(form).linked)
        assert not np.isnan(np.concatenate([made.distance, made.nearest_other, made.margin])).any()
        wanted = plain.outcome(
            reference, case.define(aggregator, aggregator.decode(theta)), aggregator.differences.value
        )
        for block in range(16):
            if not possible[block]:
                assert (made.linked[block], made.distance[block]) == (False, np.inf)
                assert made.rank[block] == 1 + len(reference.rivals(block))
                continue
            assert made.linked[block] == wanted.linked[block]
            assert made.rank[block] == wanted.rank[block]
            assert made.ties[block] == wanted.ties[block]
            assert made.distance[block] == pytest.approx(wanted.distance[block], rel=1e-9, abs=1e-12)
            assert made.nearest_other[block] == pytest.approx(
                wanted.nearest_other[block], rel=1e-9, abs=1e-12
            )


@pairwise(
    case=[BY_LABEL[label] for label in LABELS], direction=DIRECTIONS, aware=[False, True], seed=[40, 41]
)
def test_a_proven_result_is_the_exact_optimum_and_is_verified(case, direction, aware, seed):
    files = mixed.frames(seed, 7, numeric=1)
    options = mixed.options(aware, aggregator=case.name, direction=direction, ties="strict", **case.options)
    reference = mixed.reference(*files, direction, aware=aware)
    best = brute_optimum.optimum(reference, case.family(3))
    assert best == pytest.approx(brute_optimum.optimum(reference, case.family(3), 1e-4))
    result = fit(*files, engine="exact", time_limit=None, certificate=True, **options)
    assert result.status == "optimal"
    assert result.linked == best
    content = json.loads(result.to_json())
    assert evaluate(*files, parameters=content).linked == best
    problem = make_problem(*files, ProblemOptions(**options))
    certificate = json.loads(json.dumps(result.certificate))
    verdict = verify(content, certificate, problem.files, ("fit", "certificate"))
    demand_fit(content, verdict, "fit")
    assert (verdict.linked, verdict.bound_count) == (best, best)


def certified(aware=True):
    """A fit with some impossible partners, its certificate and its files."""
    files = mixed.frames(5, 30)
    options = mixed.options(aware, time_limit=None, certificate=True)
    result = fit(*files, **options)
    problem = make_problem(*files, ProblemOptions(**mixed.options(aware)))
    return json.loads(result.to_json()), json.loads(json.dumps(result.certificate)), problem


def test_a_certificate_of_impossible_partners_is_checked():
    content, certificate, problem = certified()
    assert 0 < (~problem.pair.reachable).sum() < 30
    names = ("fit", "certificate")
    verdict = verify(content, certificate, problem.files, names)
    assert verdict.linked == content["linked"]
    lost = certificate["proof"]["lost"]
    impossible = np.flatnonzero(~problem.pair.reachable).tolist()
    assert [[block, block] for block in impossible] == [item for item in lost if item[0] == item[1]]

    def rejected(change, what):
        fitted, written = copy.deepcopy(content), copy.deepcopy(certificate)
        change(written, fitted)
        with pytest.raises(RejectedError) as caught:
            verify(fitted, written, problem.files, names)
        assert what in str(caught.value)

    other = int(np.flatnonzero(problem.pair.reachable)[0])
    rejected(
        lambda written, _: written["proof"]["lost"].append([other, other]),
        f"candidate {other} is not a rival of block {other}",
    )
    rejected(
        lambda written, _: written["problem"]["schema"]["attributes"][1]["categories"].__setitem__(-1, "new"),
        "the fit and the certificate have different",
    )

    def silent(written, _):
        del written["problem"]["masking"], written["problem"]["recodings"]

    rejected(silent, "the fit and the certificate have different possible")

    def swap(written, fitted):
        for part in (fitted, written["problem"]):
            part["schema"]["attributes"][0]["categories"].reverse()

    rejected(swap, "problem, schema: the files are read with other categories")

    def forget(written, fitted):
        for part in (fitted, written["problem"]):
            del part["masking"], part["recodings"]

    rejected(forget, "fit, records_table: row ")


@pytest.mark.parametrize("label", ["weighted-mean", "choquet", "mahalanobis-absolute"])
@pytest.mark.parametrize("aware", [pytest.param(False, marks=pytest.mark.slow), True])
def test_growing_rows_find_the_same_optimum(label, aware):
    case = BY_LABEL[label]
    files = mixed.frames(8, 40)
    options = mixed.options(aware, aggregator=case.name, time_limit=None, **case.options)
    whole = fit(*files, **options)
    grown = fit(*files, **options, steering=steered(most_reduced=0, most_unreduced=0))
    assert whole.proven
    assert grown.proven
    assert whole.linked == grown.linked
    milp = fit(*files, engine="milp", **options)
    assert milp.linked <= whole.linked <= milp.linked_upper_bound


def test_a_known_masking_method_never_costs_links_of_possible_partners():
    """Each rival that it rules out can only help; partners that it rules out are never linked."""
    files = mixed.frames(9, 60)
    open_eyes, blind = (
        make_problem(*files, ProblemOptions(**mixed.options(aware))) for aware in (True, False)
    )
    reachable = open_eyes.pair.reachable
    for theta in blind.aggregator.domain.sample(20, np.random.default_rng(0)):
        form = blind.aggregator.form(theta)
        seen = Evaluator(open_eyes.pair, 1).count(form).linked
        assert (seen >= (Evaluator(blind.pair, 1).count(form).linked & reachable)).all()
        assert not seen[~reachable].any()


def test_the_evaluator_is_exact_on_every_number_of_threads_and_with_pruning():
    files = mixed.frames(10, 700, numeric=2)
    problem = make_problem(*files, ProblemOptions(**mixed.options(True)))
    form = problem.aggregator.form(np.array([0.1, 0.05, 0.8, 0.05]))
    one, many = Evaluator(problem.pair, 1).rank(form), Evaluator(problem.pair, 3).rank(form)
    matrix = distance_matrix(problem.pair, form)
    own = matrix[np.arange(700), problem.pair.partner]
    rivals = matrix.copy()
    rivals[np.arange(700), problem.pair.partner] = np.inf
    np.testing.assert_allclose(one.distance, own, rtol=1e-12)
    np.testing.assert_allclose(one.nearest_other, rivals.min(axis=1), rtol=1e-12)
    assert np.array_equal(one.linked, many.linked)
    assert np.array_equal(one.rank, many.rank)


def test_one_to_one_assignment_uses_no_impossible_pair_for_a_link():
    files = mixed.frames(11, 40)
    problem = make_problem(*files, ProblemOptions(**mixed.options(True)))
    form = problem.aggregator.form(problem.aggregator.equal())
    matrix = distance_matrix(problem.pair, form)
    assert np.isinf(matrix).any()
    assert np.array_equal(
        np.isfinite(matrix),
        problem.pair.possible(np.arange(40)[:, None], np.arange(40)),
    )
    assert assigned_blocks(problem.pair, form).sum() <= problem.pair.reachable.sum()


def test_baselines_with_categories():
    files = mixed.frames(12, 80, numeric=2)
    pair = make_problem(*files, ProblemOptions(**mixed.options(False))).pair
    assert euclidean_form(pair).parameters.tolist() == [0.25] * 4
    matrix = mahalanobis_form(pair).parameters
    c = pair.partner_distances(Differences.SIGNED)
    scale = np.trace(matrix)
    inverse = np.zeros((4, 4))
    inverse[0, 0], inverse[1, 1] = 1 / (c[:, 0] ** 2).mean(), 1 / (c[:, 1] ** 2).mean()
    inverse[2:, 2:] = np.linalg.inv(c[:, 2:].T @ c[:, 2:] / len(c))
    np.testing.assert_allclose(matrix, inverse / np.trace(inverse) * scale, rtol=1e-9, atol=1e-12)
    classical = make_problem(*(frame[["x0", "x1"]] for frame in files), ProblemOptions()).pair
    alone = mahalanobis_form(classical).parameters
    np.testing.assert_allclose(matrix[2:, 2:] / alone, np.full((2, 2), matrix[2, 2] / alone[0, 0]))


def test_nominal_attributes_alone_link_by_agreement():
    original = pd.DataFrame({"a": list("pqrp"), "b": ["1", "1", "2", "2"]})
    result = fit(original, original, nominal=["a", "b"], time_limit=None)
    assert (result.linked, result.proven) == (4, True)
    assert plainly(result.to_dict()["baselines"]["euclid"]) == 4
    masked = original.assign(a=list("pprp"))
    assert fit(original, masked, nominal=["a", "b"], time_limit=None).linked == 2


def test_signed_differences_are_refused_and_absolute_ones_are_the_default():
    files = mixed.frames(13)
    result = fit(*files, aggregator="mahalanobis", time_limit=None, **mixed.options(False))
    assert result.to_dict()["differences"] == "absolute"
    with pytest.raises(Exception, match="differences of categories have no sign") as caught:
        fit(*files, aggregator="mahalanobis", differences="signed", **mixed.options(False))
    assert str(caught.value) == (
        "differences of categories have no sign: use differences='absolute', or leave categorical "
        "attributes out"
    )


def test_parameters_are_applied_to_a_file_with_other_nominal_categories():
    files = mixed.frames(14, 30)
    content = json.loads(fit(*files, time_limit=None, **mixed.options(False)).to_json())
    others = tuple(frame.assign(town=[f"new {name}" for name in frame["town"]]) for frame in files)
    assert evaluate(*others, parameters=content).linked == content["linked"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with a mixed file pair and its schema."""
    monkeypatch.chdir(tmp_path)
    for name, frame in zip(("original.csv", "masked.csv"), mixed.frames(5, 30), strict=True):
        frame.to_csv(name, index=False)
    Path("schema.json").write_text(json.dumps(mixed.SCHEMA))


KNOWN = [word for method in mixed.MASKING for word in ("--masking", method)]


@pytest.mark.usefixtures("folder")
def test_from_the_command_line_to_a_verified_result(capsys):
    written = ["--json", "fit.json", "--certificate", "proof.json", "--report", "fit.html"]
    printed = run(capsys, "fit", *PAIR, "--schema", "schema.json", *KNOWN, *written)
    content = json.loads(Path("fit.json").read_text())
    assert content["schema"]["attributes"][0]["categories"] == list(mixed.SIZES)
    assert content["masking"] == list(mixed.MASKING)
    assert f"re-identified in the worst case  {content['linked']} of 30" in printed
    page = Path("fit.html").read_text()
    assert "size (ordinal), town (nominal)" in page
    assert "; ".join(mixed.MASKING) in page
    counted = run(capsys, "evaluate", *PAIR, "--parameters", "fit.json", "--one-to-one")
    assert f"re-identified {content['linked']} of 30" in flat(counted)
    verified = run(capsys, "verify", "fit.json", "--certificate", "proof.json", *PAIR)
    assert verified.splitlines()[1].startswith("assuming, which verify cannot check: size was masked by ")
    told = f"proved under this assumption: no weighted mean links more than {content['linked']} of 30"
    assert verified.splitlines()[2].startswith(told)
    blind = run(capsys, "evaluate", *PAIR, "--parameters", "fit.json", "--nominal", "size,town")
    assert blind != counted


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            ["--ordinal", "size", "--nominal", "town"],
            "the ordinal attribute 'size' has categories in words ('huge', for example), whose order is not "
            "known; list them in ascending order in --schema",
        ),
        (["--schema", "none.json"], "none.json cannot be read: no such file or directory"),
        (["--nominal", "city"], "--nominal: 'city' is not among the attributes to compare"),
        (
            ["--nominal", "size,town", "--masking", "noise percent=3"],
            "noise does not recode categories; the methods that do are top-coding, bottom-coding, "
            "global-recoding, recode, pram",
        ),
        (
            ["--nominal", "size,town", "--aggregator", "mahalanobis", "--differences", "signed"],
            "differences of categories have no sign: use --differences absolute, or leave categorical "
            "attributes out",
        ),
    ],
)
def test_bad_usage_is_refused_in_one_line(capsys, more, message):
    refuse(capsys, message, "fit", *PAIR, *more)
