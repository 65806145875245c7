"""Write the functions of the R package and their help from the options that linkrisk declares.

python scripts/r_package.py: writes r/R/functions.R, r/NAMESPACE and the pages of r/man that they need.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import linkrisk

R = Path(__file__).resolve().parent.parent / "r"

FUNCTIONS = (
    *("fit", "risk", "verify", "mask", "suppress", "unsafe"),
    *("make_table", "suppress_table", "audit_table", "round_table", "adjust_table", "perturb_counts"),
)

PYTHON_ALONE = ("cancel", "on_progress", "on_found", "on_read", "command", "reserve", "steering")
"""What a program in Python gives, and nobody in R."""

BY_HAND = (
    *("S3method(as.data.frame,linkrisk_result)", "S3method(format,linkrisk_result)"),
    *("S3method(names,linkrisk_result)", "S3method(print,linkrisk_result)"),
    *('S3method("$",linkrisk_result)', 'S3method("[[",linkrisk_result)', "export(write_report)"),
)

EXAMPLES = {
    "fit": 'result <- fit(original, masked, aggregator = "all")\nresult$linked\nresult$linked_upper_bound',
    "risk": 'risk(original, masked, schema = "survey.toml")',
    "verify": "result <- fit(original, masked, certificate = TRUE)\nverify(result, original, masked)",
    "mask": 'masked <- mask(people, "microaggregation k=3 attributes=age,income", seed = 1)$table',
    "suppress": 'safe <- suppress(people, keys = c("town", "sex", "trade"), k = 3)\nsafe$table',
    "unsafe": 'unsafe(people, keys = c("town", "sex", "trade"), k = 3)',
    "make_table": 'made <- make_table(firms, c("region", "trade"), response = "turnover", rules = "p=10")',
    "suppress_table": 'made <- make_table(firms, "region", response = "turnover", rules = "p=10")\n'
    "suppress_table(made)$table",
    "audit_table": "audit_table(cells, relations)",
    "round_table": 'round_table(make_table(people, c("town", "sex")), base = 5)$table',
    "adjust_table": 'adjust_table(make_table(firms, "region", response = "turnover", rules = "p=10"))',
    "perturb_counts": 'perturb_counts(people, c("town", "sex"), most = 2, variance = 1)$table',
}

RETURNS = """A result, which prints as the command line prints it. \\code{$table} is its table, a tibble where
package tibble is installed and else a data frame; \\code{$details} is everything else, as a list, and every
part of it also has its own name, such as \\code{$status}; \\code{$python} is the object of Python. What
a user can mend is an error of class \\code{linkrisk_error} with one line."""


def parameters(name: str) -> dict[str, inspect.Parameter]:
    """Return what the function of R takes, in the order of the one of Python."""
    taken = inspect.signature(getattr(linkrisk, name)).parameters
    return {each: one for each, one in taken.items() if each not in PYTHON_ALONE}


def default(value: object) -> str:
    """Spell a default in R."""
    if value is None or value == ():
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"


def usage(name: str) -> str:
    """Write the arguments of a function, broken into lines."""
    empty = inspect.Parameter.empty
    words = [
        each if one.default is empty else f"{each} = {default(one.default)}"
        for each, one in parameters(name).items()
    ]
    lines, line = [], ""
    for word in words:
        if line and len(line) + len(word) > 88:
            lines.append(line.rstrip())
            line = ""
        line += f"{word}, "
    return "\n  ".join([*lines, line.removesuffix(", ")])


def explained(name: str) -> Iterator[tuple[str, str]]:
    """Yield the arguments with what the docstring says of them."""
    said = inspect.getdoc(getattr(linkrisk, name)) or ""
    part = re.split(r"\n(?:Returns|Yields)\n-+\n", re.split(r"\nParameters\n-+\n", said)[1])[0]
    for found in re.finditer(r"^(\w+) : (.+)\n((?:    .*\n?)+)", part, re.MULTILINE):
        if found[1] in parameters(name):
            yield found[1], f"{type_in_r(found[2])}. {in_r(found[3])}"


TYPES = (
    ("path, frame (pandas, polars, pyarrow) or ndarray of shape (n, a)", "path, data frame or matrix"),
    ("path, frame, StoredTable or MadeTable", "path, data frame or result of make_table"),
    ("path, frame, ndarray of shape (n, a), result or mapping", "path, data frame, matrix or result"),
    ("sequence of str or MaskingMethod", "character vector"),
    ("str, MaskingMethod or character vector", "character vector"),
    ("sequence of Hierarchy or str", "character vector"),
    ("sequence of str or PrimaryRule", "character vector"),
    ("mapping of str to sequence of str", "named list of character vectors"),
    ("mapping of tuples of str to float", "named list"),
    ("sequence of sequence of str", "list of character vectors"),
    ("sequence of str", "character vector"),
    ("mapping of str to path, frame or several", "named list of paths or data frames"),
    ("mapping of str to int", "named numbers"),
    ("mapping of str to float", "named numbers"),
    ("mapping of int to float", "named numbers"),
    ("Mapping[str, Any]", "named list"),
    ("Mapping[str, str]", "named character vector"),
    ("Sequence[TableLike]", "list of these"),
    ("str or Incomplete", "text"),
    ("mapping or Schema", "or list"),
    ("Sequence[TableSource or tuple[Frame, ...]]", "list of tables"),
    ("Result, named list, str or path", "result, its JSON as a list, or path"),
    ("text or character vector", "character vector"),
    ("bool", "logical"),
    ("float", "number"),
    ("frame", "data frame"),
    ("str", "text"),
    ("int", "whole number"),
    ("None", "NULL"),
)
"""Types of Python, and what R has for them, in the order in which they are looked for."""


def type_in_r(text: str) -> str:
    """Say in words of R what an argument is."""
    for python, r in TYPES:
        text = re.sub(rf"(?<![\w.]){re.escape(python)}(?![\w-])", r, text)
    return text.replace("data data frame", "data frame").replace("path, or list", "path or list")


def in_r(text: str) -> str:
    """Say in words of R what a docstring says."""
    for python, r in (
        ("pandas frames", "data frames"),
        ("None", "NULL"),
        ("True", "TRUE"),
        ("False", "FALSE"),
    ):
        text = re.sub(rf"\b{python}\b", r, text)
    return " ".join(text.split())


def rd(text: str) -> str:
    """Escape text for a page of help; what stands between backquotes is code."""
    safe = text.replace("\\", "\\\\").replace("%", "\\%").replace("{", "\\{").replace("}", "\\}")
    return re.sub(r"``(.+?)``|`(.+?)`", lambda found: f"\\code{{{found[1] or found[2]}}}", safe)


def page(name: str) -> str:
    """Write the page of help of a function."""
    said = (inspect.getdoc(getattr(linkrisk, name)) or "").split("\nParameters\n")[0].strip()
    title, _, more = said.partition("\n")
    items = "\n".join(f"\\item{{{each}}}{{{rd(text)}}}" for each, text in explained(name))
    shown = rd(in_r(more) or title)
    return "\n".join(
        (
            "% Written by scripts/r_package.py.",
            *(f"\\name{{{name}}}", f"\\alias{{{name}}}", f"\\title{{{rd(title.removesuffix('.'))}}}"),
            *("\\description{", shown, "}"),
            *("\\usage{", f"{name}({usage(name)})", "}"),
            *("\\arguments{", items, "}"),
            *("\\value{", RETURNS, "}"),
            *("\\examples{\\dontrun{", EXAMPLES[name], "}}", ""),
        )
    )


def functions() -> str:
    """Write the functions."""
    parts = ["# Written by scripts/r_package.py: the options are those that linkrisk declares."]
    parts += [
        f'{name} <- function({usage(name)}) {{\n  ask("{name}", match.call(), environment())\n}}'
        for name in FUNCTIONS
    ]
    return "\n\n".join(parts) + "\n"


def written() -> dict[Path, str]:
    """Return all files that are written, with their text."""
    exports = sorted(f"export({name})" for name in FUNCTIONS)
    pages = {R / "man" / f"{name}.Rd": page(name) for name in FUNCTIONS}
    return {
        R / "R" / "functions.R": functions(),
        R / "NAMESPACE": "\n".join([*BY_HAND, *exports]) + "\n",
        **pages,
    }


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
    sys.stdout.write(f"wrote {len(written())} files of the R package\n")
