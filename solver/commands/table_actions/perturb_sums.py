"""`python -m solver tables perturb-sums`: sums with noise, the same wherever the same records are summed."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from linkrisk.solver.commands.arguments import names, number, whole_number
from linkrisk.solver.commands.table_actions.common import (
    PAGES,
    add_missing,
    add_reports,
    incomplete_lines,
    refuse_alone,
    renamed_lines,
    write_changed,
    written_lines,
)
from linkrisk.solver.commands.table_actions.given import hierarchies_of
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.solver.api.tables.perturb_sums import PerturbedSums


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "example: tables perturb-sums --input firms.csv --by region,size --response turnover --share 0.1 "
        "--noise most=10,variance=3 --output safe.csv"
    )
    parser.add_argument("--input", required=True, metavar="FILE", help="microdata, whose records are summed")
    parser.add_argument("--by", required=True, metavar="A,B", help="explanatory variables, one to six")
    parser.add_argument("--response", required=True, metavar="COLUMN", help="what is summed")
    parser.add_argument(
        "--hierarchy", metavar="A=FILE", action="append", help="see `tables make`; once for each variable"
    )
    parser.add_argument("--weight", metavar="COLUMN", help="sampling weights")
    add_missing(parser)
    parser.add_argument("--negative", action="store_true", help="contributions may be negative")
    _add_noise(parser)
    parser.add_argument(
        "--decimals", metavar="N", help="of the perturbed sums; default: on the grid of all sums"
    )
    parser.add_argument("--keys", metavar="COLUMN", help="record keys, from 0 to less than 1")
    parser.add_argument("--seed", metavar="N", help="of the keys that are drawn; default: 0")
    parser.add_argument("--output", metavar="FILE", help="write the table as it may be published")
    parser.add_argument("--internal", metavar="FILE", help="write sums, cell keys and noise: for the house")
    parser.add_argument("--write-design", metavar="FILE", help="write the perturbation tables")
    parser.add_argument("--json", metavar="FILE", help="write design and changes as JSON")
    add_reports(parser)


def _add_noise(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the noise")
    group.add_argument(
        "--noise",
        required=True,
        metavar="DESIGN",
        help="most=D,variance=V[,steps=N][,levels=1/5/D][,stay=P], or a file with columns i, v, p and type",
    )
    group.add_argument("--odd", metavar="DESIGN", help="of cells with an odd number of records")
    group.add_argument("--small", metavar="DESIGN", help="of what is too small for relative noise")
    group.add_argument(
        "--share", required=True, metavar="P", help="of a contribution, that a noise of 1 stands for"
    )
    group.add_argument("--least", metavar="P", help="the share of very large ones, with --flex-point")
    group.add_argument("--flex-point", metavar="X", help="from where on the share falls")
    group.add_argument("--power", metavar="Q", help="how fast it falls; default: 3")
    group.add_argument(
        "--scale",
        default="largest",
        metavar="WHAT",
        help="what noise is in proportion to: largest (contributions), mean, range or sum; default: largest",
    )
    group.add_argument(
        "--factors", metavar="1,E,E", help="of the largest contribution, the second, ...; default: 1"
    )
    group.add_argument("--rule", metavar="RULE", action="append", help="what is sensitive: see `tables make`")
    group.add_argument("--extra", metavar="N", help="more absolute noise of sensitive cells")
    group.add_argument(
        "--other-key", action="store_true", help="look the largest up by another key than counts"
    )
    group.add_argument(
        "--turn-digits", metavar="N", help="make other keys by turning N digits round, not by mixing bits"
    )
    group.add_argument("--zeros", action="store_true", help="keys of records that contribute 0 count, too")


def run(arguments: argparse.Namespace) -> int:
    """Sum, perturb, write, and print what was done."""
    from linkrisk.solver.api.tables.perturb_sums import perturb_sums
    from linkrisk.solver.commands import targets

    written = ("output", "internal", "write_design", "json", *PAGES)
    targets.check_targets(arguments, *written)
    refuse_alone(arguments, "--power", "--least", what="says how fast the share falls to the least")
    factors = names(arguments.factors, "--factors") or ("1",)
    result = perturb_sums(
        arguments.input,
        names(arguments.by, "--by") or (),
        response=arguments.response,
        noise=arguments.noise,
        share=number(arguments.share, "--share"),
        scale=arguments.scale,
        factors=[number(one, "--factors") for one in factors],
        least=_number(arguments.least, "--least"),
        flex_point=_number(arguments.flex_point, "--flex-point"),
        power=3.0 if arguments.power is None else number(arguments.power, "--power"),
        odd=arguments.odd,
        small=arguments.small,
        rules=arguments.rule or (),
        extra=_number(arguments.extra, "--extra") or 0.0,
        same_key=not arguments.other_key,
        digits=whole_number(arguments.turn_digits, "--turn-digits"),
        zeros=arguments.zeros,
        weight=arguments.weight,
        missing=arguments.missing,
        schema=arguments.schema,
        negative=arguments.negative,
        decimals=whole_number(arguments.decimals, "--decimals"),
        hierarchies=hierarchies_of(arguments),
        keys=arguments.keys,
        seed=whole_number(arguments.seed, "--seed") or 0,
    )
    write_changed(arguments, result, write_design=result.design)
    print(_summary(arguments, result))
    return 0


def _number(text: str | None, option: str) -> float | None:
    return None if text is None else number(text, option)


def _summary(arguments: argparse.Namespace, result: PerturbedSums) -> str:
    found = result.to_dict()
    absolute, relative = found["changes"]["absolute"], found["changes"]["relative"]
    of = "relation does" if found["relations"] == 1 else "relations do"
    share = "" if found["least"] is None else f", {100 * found['least']:g} % of very large ones"
    lines = [
        f"table       {several(found['records'], 'record')} in {several(found['cells'], 'cell')}, "
        f"{found['sensitive']} sensitive",
        f"noise       at most {found['largest_noise']:g} times {100 * found['share']:g} % of the "
        f"{found['scale']}{share}, variance {found['variance']:.4g}, mean 0",
        f"perturbed   {several(found['changed'], 'cell')}: by {absolute['mean']:.4g} on average, "
        f"{absolute['max']:.4g} at most; {100 * relative['mean']:.3g} % on average",
        f"sums        {found['not_adding_up']} of {found['relations']} {of} not add up any more",
        *_finer(found),
    ]
    lines += [
        *incomplete_lines(arguments, found["coded"], found["left_out"]),
        *renamed_lines(found["renamed"]),
    ]
    return "\n".join([*lines, *written_lines(arguments, "output", "internal")])


def _finer(found: Mapping[str, Any]) -> list[str]:
    """What more decimals than the sums have would tell."""
    if found["decimals"] <= found["decimals_of_sums"]:
        return []
    return [
        f"decimals    {found['decimals']}, where sums have {found['decimals_of_sums']}: they show which "
        "sums have no noise, and how it was made"
    ]
