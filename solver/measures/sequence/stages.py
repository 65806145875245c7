"""The worst cases of a sequence of releases: of each with those before it that can be aligned with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.datasets.pairs.releases import same_files, side_by_side
from linkrisk.solver.inputs.problem import Problem, problem_of
from linkrisk.solver.inputs.releases import Releases
from linkrisk.solver.measures.sequence.embedding import embedded
from linkrisk.solver.measures.task import RiskTask, parameters_of
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import noted
from linkrisk.solver.run.limits import no_time
from linkrisk.solver.run.results import FamilyFit
from linkrisk.solver.worst_case.families import family_problems, search_families
from linkrisk.solver.worst_case.result import Family
from linkrisk.solver.worst_case.search import Start


@dataclass(frozen=True, eq=False)
class Stage:
    """What an intruder has at one time, and the worst cases of it."""

    number: int  # how many releases there are by then: that of the last one, from 1
    # the releases that are attacked together: the last one, with those before it that can be aligned
    members: tuple[int, ...]
    files: FilePair  # of these, side by side
    problems: Mapping[str, Problem]  # of every family that was searched
    # what was found, or why nothing was. Stages of the same files have the same one
    families: tuple[Family, ...]

    @property
    def results(self) -> dict[str, FamilyFit]:
        """Of the families that have one."""
        return {family.aggregator: family.result for family in self.families if family.result is not None}


def files_of_stages(releases: Releases) -> list[FilePair]:
    """What is searched: every release beside those before it that can be aligned with it."""
    groups = [releases.group(number) for number in range(1, len(releases.files) + 1)]
    return [side_by_side(releases.of(group), group) for group in groups]


def searched_stages(task: RiskTask, releases: Releases, clock: Clock) -> list[Stage]:
    """Search every stage, each of the same files once.

    The worst case of the last release by itself is known already. A stage starts from the answers of all that
    were searched before it, so that it has their attacks.
    """
    number = len(releases.files)
    last = Stage(number, (number,), task.files, task.problems, task.worst.families)
    known, stages = [last], []
    all_files = files_of_stages(releases)
    left = sum(not _among(files, [last.files, *all_files[:at]]) for at, files in enumerate(all_files))
    for number, files in enumerate(all_files, start=1):
        same = next((stage for stage in known if same_files(stage.files, files)), None)
        if same is not None:
            stages.append(Stage(number, releases.group(number), files, same.problems, same.families))
            continue
        part = clock.part(None if clock.remaining is None else max(1e-9, clock.remaining / max(left, 1)))
        stage = _searched(task, releases, number, files, known, part)
        left -= 1
        known.append(stage)
        stages.append(stage)
    return stages


def _among(files: FilePair, others: Sequence[FilePair]) -> bool:
    return any(same_files(files, other) for other in others)


def _searched(
    task: RiskTask, releases: Releases, number: int, files: FilePair, known: Sequence[Stage], clock: Clock
) -> Stage:
    """The worst cases of one stage; where there is none, with the reason."""
    names, members = [family.aggregator for family in task.worst.families], releases.group(number)
    if clock.expired:
        return Stage(
            number, members, files, {}, tuple(Family(name, None, no_time("search")) for name in names)
        )
    try:
        first = problem_of(files, task.first.options)
        found = family_problems(first, names, releases.options)
        problems = {name: problem for name, problem in found.items() if isinstance(problem, Problem)}
        starts = {name: list(_starts(problem, known)) for name, problem in problems.items()}
        families = search_families(first, found, task.request, clock, starts).families
    except Exception as error:  # the other stages go on
        why = noted(error)
        return Stage(number, members, files, {}, tuple(Family(name, None, why) for name in names))
    return Stage(number, members, files, problems, families)


def latest(stages: Sequence[Stage], number: int) -> list[Stage]:
    """What an intruder has at one time: the last stage by then of every group that can be aligned."""
    found = {stage.members[0]: stage for stage in stages if stage.number <= number}
    return list(found.values())


def _starts(problem: Problem, known: Sequence[Stage]) -> Iterator[Start]:
    """What other stages have learned of the family, as parameters of this problem, where these contain it."""
    name = problem.aggregator.name
    for at, stage in enumerate(known):
        result, smaller = stage.results.get(name), stage.problems.get(name)
        if result is None or smaller is None:
            continue
        # The first is the last release by itself, whose attributes have its number beside those of others.
        number = f" (release {stage.number})" if at == 0 else ""
        positions = _positions(smaller.files.attributes, problem.files.attributes, number)
        if positions is None:
            continue
        theta = embedded(smaller.aggregator, problem.aggregator, positions, parameters_of(smaller, result))
        if theta is not None:
            linked = dict(zip(result.table.record.tolist(), result.table.linked.tolist(), strict=True))
            yield Start(
                theta, np.array([linked.get(label, False) for label in problem.labels], dtype=np.bool_)
            )


def _positions(smaller: Sequence[str], larger: Sequence[str], number: str) -> list[int] | None:
    """Where attributes are among more of them, with a number or without; None where one is not."""
    found = [f"{name}{number}" if f"{name}{number}" in larger else name for name in smaller]
    return [larger.index(name) for name in found] if set(found) <= set(larger) else None
