"""Options as the words of a command line: flags, parser, requests, and the table of a page."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.options.option import COMMAND, Option, options_of
from linkrisk.datasets.options.typed import NotSoError
from linkrisk.errors import plain
from linkrisk.solver.options.checks import check_asked
from linkrisk.solver.run.errors import UsageError

_FLAGS = {
    "hierarchies": "--hierarchy",
    "methods": "--method",
    "passes": "--pass",
    "rules": "--rule",
    "tables": "--table",
    "totals": "--total",
}
"""Flags that are not spelled like their keywords, such as those that are given several times."""

_SWITCHED = {
    ("certificates", True): "--certificate FILE",
    ("counts", False): "--counts no",
    ("counts", True): "--counts yes",
}
"""What is said on the command line for values that are no words there."""


def flag(name: str, value: Any = None) -> str:
    """Spell an option as the command line takes it: ``--k-additive``, ``--row-by-row``, ``--id ROW``."""
    if isinstance(value, bool) and (name, value) in _SWITCHED:
        return _SWITCHED[name, value]
    said = _FLAGS.get(name, "--" + name.replace("_", "-"))
    if value is None or value is True:
        return said
    word = _word(value)
    between = "=" if word.lstrip("$'").startswith("-") else " "  # else it would be an option of its own
    return f"{said}{between}{word}"


def _word(value: Any) -> str:
    """A value as one word of a command line, which is read as it is."""
    from linkrisk.datasets.microdata.names import shell_name, shell_names, shown_pair

    value = plain(value)
    if isinstance(value, dict):
        return shell_name(",".join(shown_pair(one, other) for one, other in value.items()))
    return shell_names(value) if isinstance(value, list | tuple) else shell_name(str(value))


O = TypeVar("O")  # noqa: E741


def add_options(parser: argparse.ArgumentParser, operation: type[Any]) -> None:
    """Declare the options of an operation, in groups by subject, in their order."""
    flags = flags_of(operation)
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for one in options_of(operation, COMMAND).values():
        if one.group not in groups:
            groups[one.group] = parser.add_argument_group(one.group.format_map(flags))
        how: dict[str, Any] = {"help": one.filled(one.help, flags).replace("%", "%%")}
        if one.bare:
            how |= {} if one.required else {"nargs": "?"}
            groups[one.group].add_argument(dest(one), metavar=one.metavar, **how)
            continue
        how["dest"] = dest(one)
        if one.kind.parse is None:
            how |= {"action": "store_true"}
        else:
            how |= {"metavar": one.metavar or one.kind.metavar, "required": one.required}
            how |= {"action": "append"} if one.kind.repeated else {"action": _Once} if one.once else {}
        groups[one.group].add_argument(flag_of(one), **how)


class _Once(argparse.Action):
    """Takes one value: of what is meant to be all in one file, nothing is left out without a word."""

    def __call__(
        self, _: object, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            raise UsageError(f"{option_string} is given twice; give it once, with all in one file")
        setattr(namespace, self.dest, values)


def flag_of(one: Option) -> str:
    """Return the flag of an option; of a switch that is on by default ``--no-...``."""
    said = one.flag or one.name.replace("_", "-")
    if one.bare:
        return one.metavar
    return f"--no-{said}" if one.switched_off else f"--{said}"


def dest(one: Option) -> str:
    """What parsed arguments call the value of an option: its flag, as parsers do it."""
    return one.name if one.bare else flag_of(one)[2:].replace("-", "_")


def flags_of(operation: type[Any]) -> dict[str, str]:
    """The flag of each option, by its keyword."""
    return {name: flag_of(one) for name, one in options_of(operation).items()}


def asked_of(operation: type[O], arguments: argparse.Namespace, **more: Any) -> O:
    """Make a request of parsed arguments; `more` are fields without a flag.

    Raises UsageError if a word is not what its option takes, with the option and how to write it.
    """
    values: dict[str, Any] = {}
    for name, one in options_of(operation, COMMAND).items():
        given = getattr(arguments, dest(one))
        if given is None or given is False:
            continue
        if one.kind.parse is None:
            values[name] = not one.switched_off
        elif one.kind.repeated:
            values[name] = one.kind.together([read_word(one, text, flag_of(one)) for text in given])
        else:
            values[name] = read_word(one, given, flag_of(one))
    asked = operation(**values, **more)
    check_asked(asked)
    return asked


def read_word(one: Option, text: str, name: str) -> Any:
    """Parse a word as a value of an option; UsageError, with its `name`, if it is none."""
    assert one.kind.parse is not None
    try:
        return one.kind.parse(text)
    except NotSoError as error:
        raise UsageError(f"{name} must be {error}, not '{error.word or text}'", option=one.name) from None
    except DataError as error:
        raise UsageError(f"{name}: {error}", option=one.name) from None


class _Reader(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def values_of(operation: type[Any], argv: Sequence[str]) -> dict[str, Any]:
    """The values that the words of a command line give; options that are unknown by now are passed over."""
    parser = _Reader(add_help=False, allow_abbrev=False)
    add_options(parser, operation)
    asked = asked_of(operation, parser.parse_known_args(argv)[0])
    known = options_of(operation, COMMAND)
    return {name: value for name in known if (value := getattr(asked, name)) != known[name].default}


def words(operation: type[Any], values: Mapping[str, Any]) -> list[str]:
    """The words of a command line that gives these values; those that are the defaults are left out."""
    found: list[str] = []
    for name, one in options_of(operation, COMMAND).items():
        value = values.get(name, one.default)
        if value == one.default:
            continue
        if one.kind.parse is None:
            found.append(flag_of(one))
            continue
        for each in one.kind.apart(value) if one.kind.repeated else [value]:
            found += [one.kind.spell(each)] if one.bare else [flag_of(one), one.kind.spell(each)]
    return found


def table(operation: type[Any]) -> str:
    """The options of a command as a table of a page, in Markdown."""
    flags = flags_of(operation)
    rows = ["| option | in Python | meaning |", "|---|---|---|"]
    for name, one in options_of(operation, COMMAND).items():
        metavar = "" if one.bare or one.kind.parse is None else f" {one.metavar or one.kind.metavar}"
        keyword = f"`{name}`" if "python" in one.faces else ""
        text = one.filled(one.help, flags).replace("|", "\\|")
        rows.append(f"| `{flag_of(one)}{metavar}` | {keyword} | {text} |")
    return "\n".join(rows)
