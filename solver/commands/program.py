"""The program: it makes the parser of all commands, and prints errors as one line with an exit code.

Nothing heavy is imported before a command runs, for help without delay: the parser imports the options of
the command that is asked for, and the command what it needs.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import difflib
import importlib
import io
import os
import shlex
import signal
import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, NoReturn, TextIO

import linkrisk
from linkrisk.datasets.options.option import COMMAND, options_of
from linkrisk.errors import LinkriskError, spelled_by
from linkrisk.solver.commands.catalogue import CATALOGUE, COMMANDS, READ_NO_DATA, SEARCHING
from linkrisk.solver.options.command_line import add_options, asked_of, dest, flag
from linkrisk.solver.options.operations import operation
from linkrisk.solver.run.errors import UsageError, noted
from linkrisk.solver.run.interruption import (
    end_with,
    hold_interrupt,
    interrupt_blocked,
    unblock_interrupt,
)

_INSTALLED = "linkrisk"

_FILES = ("input", "file", "original", "data")
"""What commands call the file that they read, where it has an option."""


def program() -> str:
    """Return ``linkrisk`` where it is installed and called so, else ``python -m`` with the package."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    if spec is not None and spec.parent == _INSTALLED:
        return f"python -m {_INSTALLED}"
    called = os.path.splitext(os.path.basename(sys.argv[0]))[0]  # noqa: PTH119, PTH122  # pathlib takes 20 ms
    return _INSTALLED if spec is None and called == _INSTALLED else "python -m solver"


def as_called(command_line: Sequence[str]) -> str:
    """Return the command as it was typed, to be kept in a result."""
    return f"{program()} {shlex.join(command_line)}"


class _Parser(argparse.ArgumentParser):
    """A parser that reports wrong usage like every other bad input: one line, exit code 2."""

    def __init__(self, **settings: Any) -> None:
        # Abbreviations would turn into errors, or into other options, when options are added.
        super().__init__(**settings, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see `{self.prog} --help`)")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Name the parser that an unknown option was meant for, and its option with the closest name."""
        bare = [each for each in self._actions if not each.option_strings]
        if not any(isinstance(each, argparse._SubParsersAction) for each in bare):
            given = [word.partition("=")[0] for word in args or () if word[:2] == "--" and " " not in word]
            known = {*self._option_string_actions, "--"}
            self._refuse([option for option in given if option not in known], bare)
        found, extras = super().parse_known_args(args, namespace)
        self._refuse(extras, bare)
        return found, extras

    def _refuse(self, unknown: Sequence[str], bare: Sequence[argparse.Action]) -> None:
        if not unknown:
            return
        option = unknown[0].partition("=")[0]
        name, known = option.lstrip("-").replace("-", "_"), self._option_string_actions
        if not option.startswith("-"):
            self.error(f"unexpected argument '{option}'{_suggestion(option, known)}")
        for each in bare:
            if name in (*_FILES, each.dest):
                form = f"`{self.prog} {each.metavar}`"
                self.error(f"unknown option '{option}': {each.metavar} is given without one, as in {form}")
        meant = "--input" if name in _FILES and "--input" in known else option
        self.error(f"unknown option '{option}'{_suggestion(meant, known)}")


class _Version(argparse.Action):
    """Looks the version up only when it is asked for: that takes a tenth of a second."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(f"linkrisk {linkrisk.__version__}")
        parser.exit()


def build_parser(commands: Iterable[str] = COMMANDS, action: str | None = None) -> argparse.ArgumentParser:
    """Make the parser of all commands.

    `commands`: those that get their options; the others are only listed, and what they are asked is not
    imported. `action`: the one that gets its options, of a command with several; all of them where absent.
    """
    called = program()
    parser = _Parser(
        prog=called,
        description="Worst-case disclosure risk of a masked microdata file, with an upper bound.",
        epilog=f"`{called} COMMAND --help` explains a command; `{called} fit` needs no files to try it.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    made = {name: subparsers.add_parser(name, help=CATALOGUE[name].line) for name in COMMANDS}
    for name in commands:
        _declare(made[name], name, action)
        if name not in READ_NO_DATA:
            _add_reading_options(made[name])
    return parser


def _declare(parser: argparse.ArgumentParser, name: str, action: str | None = None) -> None:
    """Give the parser of a command its options; of its actions only that one, if it is known."""
    command = CATALOGUE[name]
    parser.description, parser.epilog = command.description, command.example
    if command.run:
        add_options(parser, operation(name))
        parser.set_defaults(run=partial(_run_command, name))
        return
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for each in [each for each in CATALOGUE if each.startswith(f"{name} ")]:
        made = actions.add_parser(each.split()[1], help=CATALOGUE[each].line)
        if action is None or each == f"{name} {action}":  # the others are only listed, and not imported
            _declare(made, each)


def _run_command(name: str, arguments: argparse.Namespace) -> int:
    """Check the files to be written, read what is asked, and do it."""
    from linkrisk.solver.commands.targets import check_targets

    module, _, function = CATALOGUE[name].run.partition(":")
    chapter, asked = importlib.import_module(f"{__package__}.{module}"), operation(name)
    more: dict[str, Any] = getattr(chapter, f"complete_{function}", lambda _: {})(arguments)
    written = [dest(one) for one in options_of(asked, COMMAND).values() if one.kind.written]
    check_targets(arguments, *written, other_formats=CATALOGUE[name].unchecked)
    if "command" in {one.name for one in fields(asked)}:
        more["command"] = as_called(arguments.command_line)
    return int(getattr(chapter, function)(asked_of(asked, arguments, **more)))


def _add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Declare how text files are read, for a command or all of its actions."""
    actions = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    for action in actions:
        for below in set(action.choices.values()):
            _add_reading_options(below)
    if actions:
        return
    group = parser.add_argument_group("numbers in text files and in text of workbooks")
    group.add_argument(
        "--decimal", metavar="SIGN", help="what stands before decimals, . or , (default: found out)"
    )
    group.add_argument("--thousands", metavar="SIGN", help="what stands between thousands: . , ' or blank")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns: 0 when done (also when a limit was hit and a valid interval is reported), 2 for wrong usage or
    bad input (one line on standard error), 1 for anything else.
    """
    output = _Output()
    try:
        with spelled_by(flag), contextlib.redirect_stdout(output):
            code = _run(sys.argv[1:] if argv is None else list(argv))
    except LinkriskError as error:
        code = _fail(str(error), 2)
    except (ArithmeticError, ValueError) as error:  # such as a matrix that is singular
        code = _fail(noted(error), 1)
    except RuntimeError as error:  # what backends raise when the optimiser itself failed
        code = _fail(str(error), 1)
    except MemoryError:
        code = _fail("out of memory: take a sample of the records, or fewer attributes", 1)
    except SystemExit:  # after --help and --version
        output.flush()
        raise
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 1
    output.flush()
    return 1 if output.failed else code


def run_program() -> NoReturn:
    """Run the command that the process was started with, and end the process."""
    if interrupt_blocked():  # the application starts commands so: a stop waits for their interval
        if {" ".join(sys.argv[1:2]), " ".join(sys.argv[1:3])} & set(SEARCHING):
            hold_interrupt()
        unblock_interrupt()
    try:
        code = main()
    except SystemExit as end:  # after --help and --version
        code = int(end.code or 0)
    _leave(code)


def _leave(code: int) -> NoReturn:
    """End the process, when what was to be done at its end is done, without taking it apart.

    All is written by then. Python would free all objects one by one, for a fifth of the time of a small fit,
    and wait for a search that has not noticed its end, or abort where it is in compiled code.
    """
    end_with(code)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the exit code tells how the command has ended
    # A command that searches nothing has not imported it.
    limits = sys.modules.get("linkrisk.solver.run.limits")
    if limits is None or not limits.still_working():
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _run(argv: list[str]) -> int:
    _check_command(argv)
    known = [name for name in COMMANDS if name == argv[0]]
    arguments = build_parser(known, "".join(argv[1:2])).parse_args(argv)
    arguments.command_line = argv
    signs = [getattr(arguments, name, None) for name in ("decimal", "thousands")]
    if signs == [None, None]:
        return int(arguments.run(arguments))
    from linkrisk.datasets.microdata.formats.number_text import reading

    with reading(*signs):
        return int(arguments.run(arguments))


def _check_command(argv: list[str]) -> None:
    """Refuse a missing or unknown command before the commands are imported."""
    known, see = ", ".join(COMMANDS), f"(see `{program()} --help`)"
    if not argv:
        raise UsageError(f"which command? {known} {see}")
    first = argv[0]
    if first in COMMANDS or first in ("-h", "--help", "--version"):
        return
    if first.startswith("-"):
        raise UsageError(f"give the command before '{first}': {known} {see}")
    raise UsageError(f"unknown command '{first}'{_suggestion(first, COMMANDS)} {see}")


def _suggestion(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f": did you mean '{close[0]}'?" if close else ""


def _fail(message: str, code: int) -> int:
    print("error: " + " ".join(message.splitlines()), file=sys.stderr)
    return code


class _Output(io.StringIO):
    """What a command prints, kept until it flushes it or ends: a failure to write is not taken for its own.

    `failed`: whether something could not be written; the command still goes on.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stream, self.failed = sys.stdout, False

    def flush(self) -> None:
        """Write what has been printed since to standard output."""
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        if text and not self.failed:
            self.failed = not _write_out(self._stream, text)


def _write_out(stream: TextIO | None, text: str) -> bool:
    """Write to standard output; False when it cannot be, silently when its reader went away (`| head`)."""
    if stream is None:
        return True
    if hasattr(stream, "reconfigure"):  # a name that a terminal cannot show must not cost the answer
        stream.reconfigure(errors="backslashreplace")
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        # Point it at nothing, so that what is still buffered cannot fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            _fail(f"cannot write to standard output: {(error.strerror or str(error)).lower()}", 1)
        return False
    return True
