"""Ranges and lists of parameters, written out; plans as files."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal

from linkrisk.datasets.masking.registry import masking_method
from linkrisk.solver.risk_utility.maskings import MOST, Masking, maskings_of, read_plan
from linkrisk.solver.run.errors import UsageError


def texts(*given_texts):
    return [masking.text for masking in maskings_of(given_texts)]


def test_a_range_a_list_and_a_step():
    assert texts("microaggregation k=2..4") == [f"microaggregation k={k}" for k in (2, 3, 4)]
    assert texts("microaggregation k=9,2..3") == [f"microaggregation k={k}" for k in (9, 2, 3)]
    assert texts("noise percent=5..20:5") == [f"noise percent={p}" for p in (5, 10, 15, 20)]
    assert texts("pram change=0.1..0.3:0.1") == [f"pram change={p}" for p in ("0.1", "0.2", "0.3")]
    assert texts("noise percent=5..9:3") == ["noise percent=5", "noise percent=8"]


def test_several_ranges_and_several_methods_are_combined():
    assert texts("microaggregation k=2..3 attributes=a,b + noise percent=5,10 correlated") == [
        f"microaggregation k={k} attributes=a,b + noise percent={p} correlated"
        for k in (2, 3)
        for p in (5, 10)
    ]
    assert texts(["microaggregation k=2..3", "M4-33"]) == [f"microaggregation k={k} + M4-33" for k in (2, 3)]


def test_what_a_method_takes_as_it_is_is_one_value():
    named = """noise percent=5 'attributes="income, gross",a..b'"""
    (found,) = maskings_of([named])
    assert masking_method(found.methods[0]) == masking_method(named)


def test_a_masking_that_is_given_twice_is_one():
    assert texts("noise percent=5..7", "noise   percent=6", "noise percent=5.0,6.00") == [
        *("noise percent=5", "noise percent=6", "noise percent=7"),
        *("noise percent=5.0", "noise percent=6.00"),
    ]


def test_names():
    found = maskings_of(["noise percent=5..6", "microaggregation k=3 + M4-33"], [None, "both"])
    assert [masking.name for masking in found] == ["noise", "noise", "both"]
    assert maskings_of(["microaggregation k=3 + M4-33"])[0].name == "microaggregation + M4-33"


def test_seeds_depend_on_the_text_and_the_seed_alone():
    one, other = Masking(("noise percent=5",), "a"), Masking(("noise percent=6",), "a")
    assert one.seed(0) == Masking(("noise percent=5",), "b").seed(0)
    assert len({one.seed(0), one.seed(1), other.seed(0), other.seed(1)}) == 4
    # The same on every machine, and in every version: files can be made again.
    assert one.seed(0) == 1265701911


STEPS = st.decimals(Decimal("0.02"), 3, places=2)


@given(first=st.decimals(1, 50, places=2), step=STEPS, many=st.integers(1, 30))
def test_a_range_has_just_its_values(first, step, many):
    """Decimal numbers: the nearest binary ones would miss the end, which need not be hit."""
    last = first + (many - 1) * step
    for end in (last, last + step - Decimal("0.01")):
        found = texts(f"noise percent={first}..{end}:{step}")
        values = [Decimal(text.partition("=")[2]) for text in found]
        assert values == [first + at * step for at in range(many)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("noise percent=9..5", "the range 9..5 is empty; write it from the smaller to the larger number"),
        ("noise percent=5..9:0", "the step of 5..9:0 must be above 0"),
        ("microaggregation k=2..99999", "the range 2..99999 has 99,998 values, and 10,000 at most; take"),
        ("microaggregation k=2..5000 + noise percent=1..5", "there are more than 10,000 maskings; take wide"),
        ("global-recoding categories=1..200 level=1..200", "global-recoding categories=1..200 level=1..200:"),
        ("noise percent=5..9..2", "noise, percent: '5..9..2' is not a finite number"),
        ("noise percent=5,x", "noise, percent: 'x' is not a finite number"),
        ("noise percent=5 +", "'noise percent=5 +' lacks a method; write METHOD parameter=value, or"),
    ],
)
def test_what_is_refused(text, message):
    assert refusal(lambda: maskings_of([text])).startswith(message)


def test_no_masking_at_all():
    with pytest.raises(UsageError, match="there is no masking to sweep; give methods"):
        maskings_of([])
    with pytest.raises(UsageError, match="a masking without a method"):
        maskings_of([[]])
    assert len(maskings_of([f"microaggregation k=2..{MOST + 1}"])) == MOST


# ---- plans

PLAN = """
[sweep]
original = "census.csv"
attributes = ["AFNLWGT", "income, gross"]
time-limit = 30
drop-constant = true

[[masking]]
method = "microaggregation k=2..3"

[[masking]]
name = "coded and noisy"
methods = ["top-coding categories=3 attributes=age", "noise percent=5..15:5"]
"""
OPTIONS = ("original", "attributes", "time-limit", "drop-constant")


def plan_of(tmp_path, text):
    path = tmp_path / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return read_plan(path, OPTIONS)


def test_a_plan(tmp_path):
    plan = plan_of(tmp_path, PLAN)
    assert list(plan.options) == ["original", "attributes", "time-limit", "drop-constant"]
    assert list(plan.options.values()) == ["census.csv", 'AFNLWGT,"income, gross"', "30", True]
    assert [masking.name for masking in plan.maskings] == ["microaggregation"] * 2 + ["coded and noisy"] * 3
    assert plan.maskings[-1].methods == ("top-coding categories=3 attributes=age", "noise percent=15")
    assert plan_of(tmp_path, "[sweep]\n").maskings == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[swep]", "unknown table 'swep': did you mean 'sweep'?"),
        ("[sweep]\ntimelimit = 3", "unknown option 'timelimit': did you mean 'time-limit'?"),
        ("[sweep]\noriginal = 2020-01-01", "original must be a text, a number, true, or a list of these"),
        ("sweep = 3", "sweep must be a table, [sweep], with options below it"),
        ("[masking]\nmethod = 'noise'", "write [[masking]], in double brackets, once for each masking"),
        ("[[masking]]\nmethd = 'noise'", "unknown key of a masking, 'methd': did you mean 'method'?"),
        ("[[masking]]\nname = 'a'", 'masking 1 needs either method = "..." or methods = ["...", "..."]'),
        ("[[masking]]\nmethod = 3", 'masking 1 needs either method = "..." or methods = ["...", "..."]'),
        ("[[masking]]\nmethod = 'M4-33'\nname = ''", "the name of masking 1 must be a text"),
    ],
)
def test_plans_that_are_refused(tmp_path, text, message):
    assert refusal(lambda: plan_of(tmp_path, text)) == f"{tmp_path / 'plan.toml'}: {message}"


def test_plans_that_cannot_be_read(tmp_path):
    with pytest.raises(UsageError, match=r"nowhere.toml cannot be read: no such file or directory$"):
        read_plan(tmp_path / "nowhere.toml", OPTIONS)
    with pytest.raises(UsageError, match=r"plan.toml is not valid TOML: .*line 1, column 7"):
        plan_of(tmp_path, "[sweep\n")
    (tmp_path / "plan.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"plan.toml is not valid TOML: it is not text in UTF-8$"):
        read_plan(tmp_path / "plan.toml", OPTIONS)
