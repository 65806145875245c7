"""When the rows of a comparison contradict each other, on rows made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from linkrisk.solver.worst_case.contest import BackendRow, disagreements


def row(backend: str, status: str, kept: float | None, bound: float | None) -> BackendRow:
    return BackendRow(
        "milp", backend, status, None, None, kept, kept, bound, None, 1, 1, 1, 0.0, 0.0, None, "1"
    )  # fmt: skip


def exact_row(status: str, linked: float | None, kept: float | None, bound: float | None) -> BackendRow:
    return BackendRow(
        "exact", None, status, None, None, linked, kept, bound, None, None, None, None, None, 0.0, None, "1"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], []),
        ([row("a", "optimal", 5, 5)], []),
        ([row("a", "optimal", 5, 5), row("b", "optimal", 5, 5), row("c", "feasible", 4, 7)], []),
        ([row("a", "optimal", 5, 5), row("b", "failed", None, None)], []),
        ([row("a", "optimal", 5, 5), row("b", "no_solution", None, 9)], []),
        # Noise of the last digits is no contradiction.
        ([row("a", "optimal", 29 / 3, 29 / 3), row("b", "optimal", 29 / 3 + 1e-9, 29 / 3 + 1e-9)], []),
        # A proof of less than what another backend found.
        (
            [row("a", "optimal", 5, 5), row("b", "optimal", 6, 6)],
            [
                "a and b both claim a proof, but of different optima: 5 and 6",
                "b links 6, more than the bound 5 of a",
            ],
        ),
        # A feasible answer can refute a proof, too.
        ([row("a", "optimal", 5, 5), row("b", "feasible", 6, 8)], ["b links 6, more than the bound 5 of a"]),
        # And a bound without any solution can be refuted.
        (
            [row("a", "no_solution", None, 3), row("b", "feasible", 4, 9)],
            ["b links 4, more than the bound 3 of a"],
        ),
        # A backend can contradict itself.
        ([row("a", "optimal", 6, 5)], ["a links 6, more than the bound 5 of a"]),
        # Two proofs without a solution that refutes either.
        (
            [row("a", "optimal", 5, 7), row("b", "optimal", 5, 8)],
            ["a and b both claim a proof, but of different optima: 7 and 8"],
        ),
    ],
)  # fmt: skip
def test_disagreements(rows, said):
    assert disagreements(rows) == said


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([exact_row("optimal", 5, 5, 5), row("a", "optimal", 5, 5)], []),
        # The exact engine counts links below the margin too: more is no contradiction, in either order.
        ([exact_row("optimal", 6, 5, 6), row("a", "optimal", 5, 5)], []),
        ([row("a", "optimal", 5, 5), exact_row("optimal", 6, 5, 6)], []),
        # Fewer is one.
        (
            [row("a", "optimal", 5, 5), exact_row("optimal", 4, 4, 4)],
            [
                "a and exact both claim a proof, but of different optima: 5 and 4",
                "a links 5, more than the bound 4 of exact",
            ],
        ),
        # What it links by the margin is held against a backend's bound.
        (
            [exact_row("feasible", 6, 6, 8), row("a", "feasible", 4, 5)],
            ["exact links 6, more than the bound 5 of a"],
        ),
        # Its own bound covers every link, whatever the margin.
        ([exact_row("feasible", 6, 4, 5)], ["exact links 6, more than the bound 5 of exact"]),
        ([exact_row("failed", None, None, None), row("a", "optimal", 5, 5)], []),
        ([exact_row("interrupted", None, None, 4), row("a", "feasible", 4, 9)], []),
    ],
)  # fmt: skip
def test_disagreements_with_the_exact_engine(rows, said):
    assert disagreements(rows) == said


def test_all_links_of_a_backend_are_held_against_the_exact_bound():
    """Also those below the margin, of which the backend's own bound does not speak."""
    narrow = replace(row("a", "optimal", 5, 5), linked=6)
    assert disagreements([narrow]) == []
    assert disagreements([narrow, exact_row("feasible", 5, 5, 6)]) == []
    assert disagreements([narrow, exact_row("optimal", 5, 5, 5)]) == [
        "a links 6, more than the bound 5 of exact"
    ]
