"""`python -m solver verify`: check the certificate of a fit."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from typing import Any

from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.schema import Attribute, Role, Scale, Schema
from linkrisk.datasets.microdata.schema_files import read_schema
from linkrisk.datasets.pairs.file_pair import FilePair, make_file_pair
from linkrisk.datasets.pairs.table_pair import BY_ID, BY_ROW
from linkrisk.datasets.public.default_pair import default_pair
from linkrisk.solver.certificates.checking.fields import read_object
from linkrisk.solver.certificates.checking.rejection import RejectedError
from linkrisk.solver.certificates.checking.setting import Setting
from linkrisk.solver.certificates.checking.verify import Verdict, demand_fit, fit_setting, verify
from linkrisk.solver.commands.arguments import add_files, names
from linkrisk.solver.commands.progress import progress_line, reporter
from linkrisk.solver.commands.verdict import coverage, proved, quoted
from linkrisk.solver.compiling.ahead import CERTIFICATES, compile_once
from linkrisk.solver.inputs.problem import check_who_is_who
from linkrisk.solver.run.errors import UsageError


def add_parser(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser(
        "verify",
        help="check the certificate of a fit from the two files, in exact arithmetic",
        description="Check that the parameters of FIT.json link as many records of the two files as it says, "
        "and that no parameters link more than it says, by the proof in the certificate. Exit code 1 when "
        "a check fails.",
        epilog="example: verify fit.json --certificate proof.json --original o.csv --masked m.csv",
    )
    parser.add_argument("fit", metavar="FIT.json", help="what `fit --json` wrote")
    parser.add_argument(
        "--certificate", required=True, metavar="FILE", help="what `fit --certificate` wrote in the same run"
    )
    add_files(parser)
    parser.add_argument(
        "--schema",
        metavar="FILE",
        help="JSON or TOML file with the record id and the missing codes of columns",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check and say what is proved; 1 when a check fails."""
    began = time.perf_counter()
    fit = read_object(arguments.fit, "--json")
    certificate = read_object(arguments.certificate, "--certificate")
    if "families" in fit:
        raise UsageError(
            f"{arguments.fit} is about several families, and a certificate about one: run `fit` with one "
            "--aggregator and --certificate"
        )
    setting = fit_setting(fit, arguments.fit)
    with progress_line("checking") as line:
        compile_once(CERTIFICATES, reporter(line))
        files = _files(arguments, setting)
        try:
            verdict = verify(fit, certificate, files, (arguments.fit, arguments.certificate))
        except RejectedError as error:
            return _rejected(error)
    print(f"of {_named(arguments, files)}:")
    print(proved(verdict, _aligned(files)))
    try:
        demand_fit(fit, verdict, arguments.fit)
    except RejectedError as error:
        return _rejected(error)
    print(_checked(verdict, time.perf_counter() - began))
    print(f"of {arguments.fit}: {coverage(verdict, fit, files.alignment)}")
    return 0


def _named(arguments: argparse.Namespace, files: FilePair) -> str:
    """The files that the claim is about, as this command was given them: nothing that a JSON says."""
    if arguments.original is None:
        return f"the embedded pair ({files.name})"
    return f"{quoted(arguments.original)} and, masked, {quoted(arguments.masked)}"


def _aligned(files: FilePair) -> str:
    """How the records of the two files were put together."""
    if files.alignment.startswith(BY_ID):
        return f"by the id column {quoted(files.alignment.removeprefix(BY_ID))}"
    return "row by row" if files.alignment == BY_ROW else "by the labels of the two indexes"


def _rejected(error: RejectedError) -> int:
    print("rejected: " + " ".join(str(error).splitlines()), file=sys.stderr)
    return 1


def _files(arguments: argparse.Namespace, setting: Setting) -> FilePair:
    """The two files, or the embedded pair, with the attributes of the fit and their categories."""
    check_who_is_who(arguments.id, arguments.row_by_row)
    attributes = setting.attributes
    options: dict[str, Any] = {
        "attributes": attributes,
        "id_column": arguments.id,
        "row_by_row": arguments.row_by_row,
        "schema": _schema(arguments, setting),
    }
    given = names(arguments.attributes, "--attributes")
    if given is not None and tuple(given) != attributes:
        raise UsageError(
            f"--attributes: {arguments.fit} is about {shown_names(attributes, ',')}; leave the option out"
        )
    original, masked = arguments.original, arguments.masked
    if original is None and masked is None:
        pair = default_pair()
        absent = [name for name in attributes if name not in pair.attributes]
        if absent:
            raise UsageError(
                f"{arguments.fit} is about {shown_names(absent, ',')}, which the embedded pair does not "
                "have: "
                "give the files of the fit with --original and --masked"
            )
        chosen = make_file_pair(pair.original, pair.masked, **options)
        return replace(chosen, name=pair.name)
    if original is None or masked is None:
        missing = "original" if original is None else "masked"
        raise UsageError(f"the {missing} file is missing: give both --original and --masked, or neither")
    return make_file_pair(original, masked, **options)


def _schema(arguments: argparse.Namespace, setting: Setting) -> Schema:
    """The categories of the fit; who is who and which codes are missing as the user's own schema says."""
    given = Schema(()) if arguments.schema is None else read_schema(arguments.schema)
    categories = {name: (Scale(scale), listed) for name, scale, listed in setting.schema}
    compared = []
    for name in setting.attributes:
        scale, listed = categories.get(name, (Scale.NUMERIC, None))
        compared.append(Attribute(name, None, scale, listed, missing=given.get(name).missing))
    ids = [Attribute(name, Role.RECORD_ID) for name in given.select(role=Role.RECORD_ID)]
    return Schema((*compared, *(each for each in ids if each.name not in setting.attributes)))


def _checked(verdict: Verdict, seconds: float) -> str:
    leaves = "1 leaf" if verdict.leaves == 1 else f"{verdict.leaves} leaves"
    parts = [_many(verdict.lost, "record") + " out of reach"]
    if verdict.method == "hitting-set":
        parts.append(f"{_many(verdict.cores, 'core')}, a hitting-set tree of {leaves}")
    if verdict.method == "simplex-tree":
        parts.append(f"a simplex tree of {leaves}")
    return f"checked: {', '.join(parts)}; {seconds:.1f} s"


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
