"""`completion`: what a shell offers behind the beginning of a command, made from the declared options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linkrisk.datasets.options.option import COMMAND, Option, options_of
from linkrisk.solver.commands.catalogue import CATALOGUE, COMMANDS, READ_NO_DATA
from linkrisk.solver.options.command_line import flag_of, flags_of
from linkrisk.solver.options.operations import operation
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.options.data import CompletionCommand

_PROGRAM = "linkrisk"
_LINE = 72
"""Letters of a description beside an offer."""

_WORD = re.compile(r"[\w.+-]+")
_EITHER = re.compile(r"[\w.-]+(\|[\w.-]+)+")


@dataclass(frozen=True)
class _Offer:
    """An option, or the bare word of a command: what may stand behind it."""

    flag: str  # empty for a bare word
    text: str
    takes: bool = False  # whether a value follows
    words: tuple[str, ...] = ()
    files: bool = False
    folders: bool = False
    repeated: bool = False


def completion(asked: CompletionCommand) -> int:
    """Print the script of a shell."""
    print(script(asked.shell), end="")
    return 0


def script(shell: str) -> str:
    """The script of a shell, which offers commands, options, choices and files."""
    makers = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    if shell not in makers:
        raise UsageError(f"unknown shell '{shell}': choose one of {', '.join(makers)}", option="shell")
    offers = {name: list(_offers(name)) for name, one in CATALOGUE.items() if one.run}
    lines = makers[shell](offers)
    return "\n".join(lines) + "\n"


def _offers(command: str) -> Iterator[_Offer]:
    asked = operation(command)
    flags = flags_of(asked)
    for one in options_of(asked, COMMAND).values():
        yield _offer(one, _in_short(one.filled(one.help, flags)))
    if command.split()[0] not in READ_NO_DATA:
        yield _Offer("--decimal", "what stands before decimals", takes=True, words=(".", ","))
        yield _Offer("--thousands", "what stands between thousands", takes=True)
    yield _Offer("--help", "show this help and exit")


def _offer(one: Option, text: str) -> _Offer:
    named = one.offered if one.choices or one.named else {}
    form = one.metavar or one.kind.metavar
    words = tuple(named) or (tuple(form.split("|")) if _EITHER.fullmatch(form) else ())
    return _Offer(
        "" if one.bare else flag_of(one),
        text,
        takes=one.kind.parse is not None,
        words=tuple(word for word in words if _WORD.fullmatch(word)),
        files=one.kind.field == "file" or one.kind.written or "FILE" in form.split("|"),
        folders=form == "FOLDER",
        repeated=one.kind.repeated,
    )


def _in_short(text: str) -> str:
    """The first part of a help text."""
    first = re.split(r"; |: | \(|\. ", text)[0]
    return first if len(first) <= _LINE else f"{first[: first.rfind(' ', 0, _LINE)]} ..."


def _actions(command: str) -> list[str]:
    return [name.split()[1] for name in CATALOGUE if name.startswith(f"{command} ")]


def _grouped() -> list[str]:
    """Commands that have actions."""
    return [name for name in COMMANDS if not CATALOGUE[name].run]


_BASH = """# Completion of linkrisk in bash, made by `linkrisk completion bash`.
_linkrisk() {
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}"
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "@COMMANDS@ --help --version" -- "$cur"))
        return
    fi
    case "$command" in
@ACTIONS@
    esac
    case "$command $prev" in
@VALUES@
    esac
    local flags="" bare=""
    case "$command" in
@FLAGS@
    esac
    if [ "${cur:0:1}" != "-" ]; then
        case "$command" in
@BARE@
        esac
    fi
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
}
_linkrisk_files() {
    compopt -o filenames 2> /dev/null
    local IFS=$'\\n'
    COMPREPLY+=($(compgen "$1" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _linkrisk linkrisk"""


def _bash(offers: dict[str, list[_Offer]]) -> list[str]:
    actions, flags = [], []
    values: dict[str, list[str]] = {}
    bare: dict[str, list[str]] = {}
    for name in _grouped():
        actions += [
            f"        {name})",
            '            if [ "$COMP_CWORD" -eq 2 ]; then',
            f'                COMPREPLY=($(compgen -W "{" ".join(_actions(name))}" -- "$cur")); return',
            "            fi",
            '            command="$command ${COMP_WORDS[2]}";;',
        ]
    for name, listed in offers.items():
        named = " ".join(one.flag for one in listed if one.flag)
        flags.append(f'        "{name}") flags="{named}";;')
        for one in listed:
            place = values if one.flag else bare
            if one.takes:
                place.setdefault(_bash_value(one), []).append(f'"{name} {one.flag}"'.replace(' "', '"'))
    found = {
        "COMMANDS": " ".join(COMMANDS),
        "ACTIONS": "\n".join(actions),
        "VALUES": "\n".join(f"        {'|'.join(at)}) {do} return;;" for do, at in values.items()),
        "FLAGS": "\n".join(flags),
        "BARE": "\n".join(f"            {'|'.join(at)}) {do} return;;" for do, at in bare.items()),
    }
    return [re.sub("@([A-Z]+)@", lambda match: found[match[1]], _BASH)]


def _bash_value(one: _Offer) -> str:
    """What offers a value."""
    do = f'COMPREPLY=($(compgen -W "{" ".join(one.words)}" -- "$cur"));' if one.words else ""
    do += " _linkrisk_files -f;" if one.files else " _linkrisk_files -d;" if one.folders else ""
    return do.strip() or ":;"


def _zsh(offers: dict[str, list[_Offer]]) -> list[str]:
    lines = [
        f"#compdef {_PROGRAM}",
        "# Completion of linkrisk in zsh, made by `linkrisk completion zsh`.",
        "_linkrisk() {",
        "    local -a listed",
        "    if (( CURRENT == 2 )); then",
        *_zsh_list(COMMANDS, ""),
        "        return",
        "    fi",
        "    local command=$words[2]",
    ]
    for name in _grouped():
        lines += [
            f"    if [[ $command == {name} ]]; then",
            "        if (( CURRENT == 3 )); then",
            *_zsh_list(_actions(name), f"{name} "),
            "            return",
            "        fi",
            '        command="$words[2] $words[3]"',
            "        shift words; (( CURRENT-- ))",
            "    fi",
        ]
    lines += ["    shift words; (( CURRENT-- ))", '    case "$command" in']
    for name, listed in offers.items():
        lines.append(f'        "{name}") _arguments \\')
        lines += [f"            {_zsh_option(one)} \\" for one in listed]
        lines[-1] = f"{lines[-1][:-2]};;"
    return [*lines, "    esac", "}", 'if [ "$funcstack[1]" = "_linkrisk" ]; then', '    _linkrisk "$@"',
            "else", f"    compdef _linkrisk {_PROGRAM}", "fi"]  # fmt: skip


def _zsh_list(names: Sequence[str], before: str) -> list[str]:
    said = [f"{name}:{_in_short(CATALOGUE[before + name].line)}" for name in names]
    return [f"        listed=({' '.join(map(_quoted, said))})", "        _describe command listed"]


def _zsh_option(one: _Offer) -> str:
    text = re.sub(r"([\[\]:\\])", r"\\\1", one.text)
    files = "_files" if one.files else "_files -/" if one.folders else " "
    offered = f"({' '.join(one.words)})" if one.words and not one.files else files
    if not one.flag:
        return _quoted(f"1:{text}:{offered}")
    value = f":value:{offered}" if one.takes else ""
    return _quoted(f"{'*' if one.repeated else ''}{one.flag}[{text}]{value}")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


_FISH = """# Completion of linkrisk in fish, made by `linkrisk completion fish`.
function __linkrisk_in
    set -l words (commandline -opc)
    set -l last (math 1 + (count $argv))
    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end
function __linkrisk_words
    test (count (commandline -opc)) -eq $argv[1]
end
complete -c linkrisk -f"""


def _fish(offers: dict[str, list[_Offer]]) -> list[str]:
    lines = [_FISH]
    lines += [_fish_line("__linkrisk_words 1", f"-a {name}", CATALOGUE[name].line) for name in COMMANDS]
    lines.append(_fish_line("__linkrisk_words 1", "-l version", "show the version"))
    for group in _grouped():
        given = f"__linkrisk_in {group}; and __linkrisk_words 2"
        actions = {name: CATALOGUE[f"{group} {name}"].line for name in _actions(group)}
        lines += [_fish_line(given, f"-a {name}", line) for name, line in actions.items()]
    for name, listed in offers.items():
        lines += [_fish_line(f"__linkrisk_in {name}", _fish_option(one), one.text) for one in listed]
    return lines


def _fish_option(one: _Offer) -> str:
    words = f' -a "{" ".join(one.words)}"' if one.words else ""
    if not one.flag:
        return f"-F{words}" if one.files else words.strip()
    value = f" -r -F{words}" if one.files or one.folders else f" -x{words}" if one.takes else ""
    return f"-l {one.flag[2:]}{value}"


def _fish_line(condition: str, what: str, text: str) -> str:
    escaped = _in_short(text).replace("\\", "\\\\").replace("'", "\\'")
    return f"complete -c {_PROGRAM} -n '{condition}' {what} -d '{escaped}'"
