"""`python -m solver tables perturb-counts`: counts with noise, the same wherever records are the same."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from linkrisk.solver.commands.arguments import names, number, whole_number
from linkrisk.solver.commands.table_actions.common import (
    PAGES,
    add_missing,
    add_reports,
    incomplete_lines,
    renamed_lines,
    write_changed,
    written_lines,
)
from linkrisk.solver.commands.table_actions.given import hierarchies_of
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.solver.api.tables.perturb_counts import PerturbedCounts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "example: tables perturb-counts --input p.csv --by region,sex --most 2 --variance 1 --output safe.csv"
    )
    parser.add_argument("--input", required=True, metavar="FILE", help="microdata, whose records are counted")
    parser.add_argument("--by", required=True, metavar="A,B", help="explanatory variables, one to six")
    parser.add_argument(
        "--hierarchy", metavar="A=FILE", action="append", help="see `tables make`; once for each variable"
    )
    parser.add_argument("--most", metavar="D", help="the largest noise")
    parser.add_argument("--variance", metavar="V", help="of the noise")
    parser.add_argument("--small", metavar="N", help="counts of 1 to N never appear; default: 0, all may")
    parser.add_argument("--stay", metavar="P", help="the least probability that a count stays")
    parser.add_argument(
        "--any-shape", action="store_true", help="probabilities may fall on the way up to no noise"
    )
    parser.add_argument(
        "--design", metavar="FILE", help="a perturbation table instead of these: columns i, v and p"
    )
    parser.add_argument("--weight", metavar="COLUMN", help="sampling weights: weighted counts, too")
    add_missing(parser)
    parser.add_argument("--keys", metavar="COLUMN", help="record keys, from 0 to less than 1")
    parser.add_argument("--seed", metavar="N", help="of the keys that are drawn; default: 0")
    parser.add_argument("--output", metavar="FILE", help="write the table as it may be published")
    parser.add_argument("--internal", metavar="FILE", help="write counts, cell keys and noise: for the house")
    parser.add_argument("--write-design", metavar="FILE", help="write the perturbation table")
    parser.add_argument("--json", metavar="FILE", help="write design and changes as JSON")
    add_reports(parser)


def run(arguments: argparse.Namespace) -> int:
    """Count, perturb, write, and print what was done."""
    from linkrisk.solver.api.tables.perturb_counts import perturb_counts
    from linkrisk.solver.commands import targets

    written = ("output", "internal", "write_design", "json", *PAGES)
    targets.check_targets(arguments, *written)
    stay, variance = arguments.stay, arguments.variance
    result = perturb_counts(
        arguments.input,
        names(arguments.by, "--by") or (),
        most=whole_number(arguments.most, "--most"),
        variance=None if variance is None else number(variance, "--variance"),
        small=whole_number(arguments.small, "--small") or 0,
        stay=None if stay is None else number(stay, "--stay"),
        monotone=not arguments.any_shape,
        design=arguments.design,
        hierarchies=hierarchies_of(arguments),
        weight=arguments.weight,
        missing=arguments.missing,
        schema=arguments.schema,
        keys=arguments.keys,
        seed=whole_number(arguments.seed, "--seed") or 0,
    )
    write_changed(arguments, result, write_design=result.design)
    print(_summary(arguments, result))
    return 0


def _summary(arguments: argparse.Namespace, result: PerturbedCounts) -> str:
    found = result.to_dict()
    changes = found["changes"]
    absolute, relative = changes["absolute"], changes["relative"]
    of = "relation does" if found["relations"] == 1 else "relations do"
    lines = [
        f"table       {several(found['records'], 'record')} in {several(found['cells'], 'cell')}",
        f"noise       at most {found['largest_noise']}, variance {found['variance']:.4g}, mean 0",
        f"perturbed   {several(found['changed'], 'cell')}: by {absolute['mean']:.3g} on average, "
        f"{absolute['max']:g} at most; {100 * relative['mean']:.3g} % on average",
        f"zeros       {several(changes['false_zeros'], 'count')} became 0, those of 0 have stayed",
        f"sums        {found['not_adding_up']} of {found['relations']} {of} not add up any more",
    ]
    lines += [
        *incomplete_lines(arguments, found["coded"], found["left_out"]),
        *renamed_lines(found["renamed"]),
    ]
    return "\n".join([*lines, *written_lines(arguments, "output", "internal")])
