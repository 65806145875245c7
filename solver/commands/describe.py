"""`python -m solver describe`: what is in a file, and a first guess of its schema."""

from __future__ import annotations

from linkrisk.solver.options.data import DescribeCommand

ASKED = DescribeCommand
DESCRIPTION = (
    "Say what the columns of a file seem to be, and write that down as a schema, to be corrected by hand and "
    "given to the other commands as --schema. Values of columns that look like identifiers are not shown."
)
EXAMPLE = "example: describe survey.csv --output survey.toml"

_KEEP = "keep this with --output SCHEMA.toml, correct it, and use it as --schema\n"


def run(asked: DescribeCommand) -> int:
    """Describe, write the files that were asked for, and print."""
    from pathlib import Path

    from linkrisk.datasets.microdata.schema_files import check_suffix
    from linkrisk.solver.commands.targets import hand_over
    from linkrisk.solver.inputs.describe import describe

    if asked.output is not None:
        check_suffix(Path(asked.output))
    result = describe(asked.data)
    if asked.output is not None:
        result.write(asked.output)
    hand_over(asked, result, "" if asked.output is not None else _KEEP)
    if asked.output is not None:
        print(f"wrote {asked.output}: correct it, and use it as --schema of the other commands")
    return 0
