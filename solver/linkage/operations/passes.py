"""What `link` in passes hands back besides its counts: a report per pass, the links, pairs for review."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.errors import called
from linkrisk.solver.inputs.decisions import DECISION, SIDES, read_decisions
from linkrisk.solver.inputs.link_tasks import Asked
from linkrisk.solver.linkage.linker import LinkageTask, Truth
from linkrisk.solver.linkage.probabilistic.passes.deciding import Decisions, decide
from linkrisk.solver.linkage.probabilistic.passes.learned import LearnedPasses
from linkrisk.solver.linkage.probabilistic.passes.losses import expected_losses
from linkrisk.solver.linkage.probabilistic.passes.reporting import LinkedPasses, report_passes
from linkrisk.solver.linkage.result import OneToOne
from linkrisk.solver.run.errors import UsageError


def linked_passes(
    learned: LearnedPasses,
    task: LinkageTask,
    truth: Truth | None,
    labels: tuple[Sequence[str], Sequence[str]],
    options: Asked,
) -> LinkedPasses:
    """Decide on the pairs of passes, and report; by estimates where the true links are not known.

    Raises
    ------
    UsageError
        If an option does not go with passes, or decisions do not go with the pairs.
    DataError
        If the file of decisions cannot be used.
    """
    if options.threshold is not None:
        raise UsageError(
            f"passes link from the upper end of {called('clerical_band')}, or as the error rates say: leave "
            f"{called('threshold')} out",
            option="threshold",
        )
    reviewed = None
    if options.decisions is not None:
        reviewed = read_decisions(options.decisions, labels, reverse=task.masked_queries)
    found = decide(learned, options.one_to_one, reviewed, options.seed)
    links, clerical = (
        _listed(learned, found, which, labels, reverse=task.masked_queries)
        for which in (found.linked, found.clerical)
    )
    losses = expected_losses(learned, task, found) if truth is None else None
    return LinkedPasses(
        reports=report_passes(learned, found, truth, losses),
        decided=0 if reviewed is None else reviewed.link.size,
        matches=None if truth is None else truth.partner.size,
        estimated_missed=None if losses is None else losses.missed,
        links=links.drop(columns=["query", "candidate"]),
        clerical=_for_review(clerical, task),
    )


def one_to_one_of(passes: LinkedPasses, matching: str, truth: Truth) -> OneToOne:
    """The links as those of a matching, which links from the threshold of the passes on."""
    return OneToOne(matching, None, len(passes.links), passes.right or 0, truth.partner.size)


def check_not_passes(options: Asked) -> None:
    """Refuse options that only passes look at."""
    if options.decisions is not None:
        raise UsageError(
            f"{called('decisions')} is about pairs of passes: give {called('method', 'prl')} with "
            f"{called('passes')}, or leave it out",
            option="decisions",
        )


def _listed(
    learned: LearnedPasses,
    found: Decisions,
    which: NDArray[np.bool_],
    labels: tuple[Sequence[str], Sequence[str]],
    *,
    reverse: bool,
) -> pd.DataFrame:
    """Some pairs as a table, the likeliest first."""
    pairs = learned.scored_pairs
    rows = np.flatnonzero(which)
    rows = rows[np.argsort(-pairs.score[rows], kind="stable")]
    query, candidate = pairs.query[rows], pairs.candidate[rows]
    named = [np.array(labels[0], dtype=object)[query], np.array(labels[1], dtype=object)[candidate]]
    return pd.DataFrame(
        {
            "pass": learned.files.compared.pairs.first_pass[rows].astype(np.int64) + 1,
            **dict(zip(reversed(SIDES) if reverse else SIDES, named, strict=True)),
            "weight": pairs.score[rows],
            "probability": found.probability[rows],
            "query": query,
            "candidate": candidate,
        }
    )[["pass", *SIDES, "weight", "probability", "query", "candidate"]]


def _for_review(listed: pd.DataFrame, task: LinkageTask) -> pd.DataFrame:
    """The pairs with the values that were compared side by side, and room for a decision."""
    values = [
        task.queries.iloc[listed["query"]].reset_index(drop=True),
        task.candidates.iloc[listed["candidate"]].reset_index(drop=True),
    ]
    sides = reversed(SIDES) if task.masked_queries else SIDES
    by_side = dict(zip(sides, values, strict=True))
    shown = listed.drop(columns=["query", "candidate"])
    for name in task.query_attributes:
        for side in SIDES:
            shown[f"{name}_{side}"] = by_side[side][name]
    shown[DECISION] = None
    return shown
