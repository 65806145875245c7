"""Calls of public functions, and their output files, which are checked before the work is done."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.options.option import PYTHON, keywords, options_of
from linkrisk.errors import called, needs_extra
from linkrisk.solver.commands.progress import progress_line, reporter
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.number_format import count

if TYPE_CHECKING:
    import pandas as pd

    from linkrisk.datasets.options.option import Option
    from linkrisk.solver.run.result import Reported, Result

R = TypeVar("R")

_TABLES = ("table", "links", "clerical")
_NO_FILES = ("command", "action", "command_line")


def check_targets(
    arguments: Any, *names: str, other_formats: Sequence[str] = (), also: Sequence[str] = ()
) -> None:
    """Refuse output files that could not be written in the end, or would overwrite an input.

    `arguments`: the parsed arguments. `names`: those of them that name output files, such as ``json`` for
    `--json`. Whatever file any other one names is an input. `other_formats`: those of the names whose
    suffixes are somebody else's business. `also`: inputs that no argument names. Raises UsageError with the
    option, the file and how to fix it.
    """
    inputs = dict.fromkeys(map(_real, also), "an input file") | _inputs(arguments, names)
    taken: dict[str, str] = {}
    for name, path in named_paths(arguments, names):
        option = _option(name)
        _check_target(path, option, () if name in other_formats else _suffixes(name))
        if name == "report":  # not after the search
            needs_extra("a report", "altair", "jinja2", "vl_convert")
        if Path(path).exists() and not Path(path).is_file():
            continue  # a device such as /dev/null takes anything, any number of times
        if _real(path) in inputs:
            raise UsageError(f"{option} {path} would overwrite {inputs[_real(path)]}: give another name")
        other = taken.setdefault(_real(path), name)
        if other != name:
            raise UsageError(f"{_option(other)} and {option} both name {path}: give each a different file")


def answered(
    asked: Any, function: Callable[..., R], doing: str, limit: float | None = None, **more: Any
) -> R:
    """Call a public function with what is asked, and show its progress; `doing` is its first line."""
    known = options_of(type(asked), PYTHON)
    with progress_line(doing, limit) as line:
        watched = {"on_progress": reporter(line)} if "on_progress" in known else {}
        return function(**keywords(type(asked), asked, **watched, **more))


def hand_over(asked: Any, result: Result, more: str = "", /, **tables: Callable[[], pd.DataFrame]) -> None:
    """Print a result in short, write the files that were asked for, and name them.

    A reader that has gone away does not cost the files of a long run.

    `asked`: of which some fields name files. `more`: what to print besides. `**tables`: each makes the table
    of an option.
    """
    from linkrisk.datasets.microdata.writing import write_table
    from linkrisk.solver.documents.short import short_of
    from linkrisk.solver.documents.terminal import terminal

    content = result.to_dict()  # once: of large files it lists many records
    try:
        print(terminal(short_of(content)) + more, end="")
        sys.stdout.flush()  # now, whatever files and certificate take
    finally:
        write_content(asked, content)
        wanted = {name: path for name in tables if (path := getattr(asked, name)) is not None}
        for name, path in wanted.items():
            write_table(tables[name](), path)
    records = result.table if "table" in tables and hasattr(result, "table") else None
    if records is not None and records.left_out and asked.table is None and (asked.json or _report(asked)):
        what = f"JSON and report do not list {count(len(records))} records"
        print(f"note: {what}; --table FILE.parquet writes them", file=sys.stderr)
    say_written(asked.json, *wanted.values(), _report(asked))


def write_content(asked: Any, content: Mapping[str, Any]) -> None:
    """Write JSON and report of a result, as far as they were asked for."""
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.solver.run.result import dump_json

    if asked.json is not None:
        write_whole(asked.json, dump_json(content))
    if (path := _report(asked)) is not None:
        from linkrisk.solver.report.operations.report import report

        report(content).save(path)


def _report(asked: Any) -> str | None:
    path: str | None = getattr(asked, "report", None)
    return path


def files_about(asked: Any, result: Reported) -> dict[Path, bytes]:
    """What is written about a result besides its table: JSON and pages, by their files."""
    makers: dict[str, Callable[[], str]] = {
        "json": result.to_json,
        "report": result.to_html,
        "external_report": lambda: result.to_html(external=True),
    }
    wanted = {name: path for name in makers if (path := getattr(asked, name)) is not None}
    return {Path(path): makers[name]().encode("utf-8") for name, path in wanted.items()}


def say_written(*paths: str | None) -> None:
    """Print which output files were written; what is no file, such as /dev/stdout, speaks for itself."""
    for path in paths:
        if path is not None and Path(path).is_file():
            print(f"wrote {path}")


def _inputs(arguments: Any, outputs: Sequence[str]) -> dict[str, str]:
    """What to call each file that is there and that an argument names, but for those of `outputs`.

    So no list of inputs has to know every option: also the file in ``A=FILE`` is one, those in
    ``CELLS,RELATIONS``, and that of a method such as ``recode file=A=FILE``.
    """
    line = {part.partition("=")[0] for part in getattr(arguments, "command_line", ())}
    found: dict[str, str] = {}
    for name, value in vars(arguments).items():
        if name in outputs or name in _NO_FILES:
            continue
        listed = value if isinstance(value, list) else [value]
        texts = [one for one in listed if isinstance(one, str)]
        called = f"the {_option(name)} file" if _option(name) in line else "an input file"
        for text in texts:
            found |= {_real(piece): called for piece in _pieces(text) if _is_file(piece)}
    return found


def _pieces(text: str) -> Iterator[str]:
    """All of a text that may be the name of a file."""
    try:
        words = shlex.split(text)
    except ValueError:  # a quote without end
        words = []
    yield from (text, *text.split(","))
    for part in (text, *words):
        while "=" in part:
            part = part.partition("=")[2]
            yield part


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def paths_of(arguments: Any, name: str) -> list[str]:
    """The files that an option names: none, one, or several where it may be given several times."""
    given: str | list[str] | None = getattr(arguments, name, None)
    return [given] if isinstance(given, str) else given or []


def named_paths(arguments: Any, names: Sequence[str]) -> list[tuple[str, str]]:
    """Each file that options name, with the name of its option."""
    return [(name, path) for name in names for path in paths_of(arguments, name)]


def _suffixes(name: str) -> tuple[str, ...]:
    """How the file of an option has to end; empty where it may end in any way."""
    if name in _TABLES:
        from linkrisk.datasets.microdata.formats.registry import known_suffixes

        return known_suffixes(to_write=True)
    if name == "write_model":
        from linkrisk.solver.backends.model_file import SUFFIXES

        return SUFFIXES
    if name == "codebook":
        from linkrisk.datasets.microdata.ddi import SUFFIX

        return (SUFFIX,)
    return ()


def _check_target(path: str, option: str, suffixes: tuple[str, ...]) -> None:
    if not path:
        raise UsageError(f"{option} needs a file name, not an empty text")
    target, folder = Path(path), Path(path).parent
    if target.is_dir():
        raise UsageError(f"cannot write {option} {path}: it is a folder; give a file name")
    if suffixes and target.suffix.lower() not in suffixes:
        raise UsageError(f"cannot write {option} {path}: end the name in {_either(suffixes)}")
    if not folder.is_dir():
        raise UsageError(f"cannot write {option} {path}: the folder {folder} does not exist; create it first")
    if not target.exists() and not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(
            f"cannot write {option} {path}: the folder {folder} is not writable; choose another one"
        )


def _either(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def _real(path: str) -> str:
    return os.path.realpath(path)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # what can be no name at all
        return False


def given_settings(
    arguments: object, options: Mapping[str, Option], own: Mapping[str, Option]
) -> dict[str, Any]:
    """Those that the user has given, each read as the method that is asked for reads it.

    `options`: of all methods. `own`: of the method. What it does not have stays text: the method is the one
    to refuse it. Raises UsageError on bad text, or where one is given twice that the method takes once.
    """
    values = {name: getattr(arguments, name, None) for name in options}
    return {
        name: _read(name, value, own[name]) if name in own else value
        for name, value in values.items()
        if value is not None
    }


def _read(name: str, value: Any, option: Option) -> Any:
    """The value of an option, of which there are several where any method takes several."""
    kind = option.kind
    if kind.parse is None:
        return True
    texts = value if isinstance(value, list) else [value]
    if len(texts) > 1 and not kind.repeated:
        raise UsageError(f"{called(name)} is given twice; give it once", option=name)
    try:
        read = tuple(map(kind.read, texts))
    except (DataError, UsageError) as error:
        raise UsageError(f"{called(name)}: {error}", option=name) from error
    return read if kind.repeated else read[0]
