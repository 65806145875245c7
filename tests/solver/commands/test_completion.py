"""What shells offer is what the options declare; asked of bash, and of others where they are installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from cli_runs import refuse, run

from linkrisk.datasets.options.option import COMMAND, options_of
from linkrisk.solver.commands.catalogue import CATALOGUE, COMMANDS
from linkrisk.solver.commands.completion import script
from linkrisk.solver.options.command_line import flag_of
from linkrisk.solver.options.operations import operation

ASKED = {
    "bash": """source ./script.bash
COMP_WORDS=({words} '{last}'); COMP_CWORD={many}; _linkrisk; printf '%s\\n' "${{COMPREPLY[@]}}" """,
    "fish": "source ./script.fish; complete -C '{words} {last}' | string split -f 1 \\t",
}
RUNNING = {"bash": ["bash", "--norc", "-c"], "fish": ["fish", "--no-config", "-c"]}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    for shell in ("bash", "zsh", "fish"):
        (folder / f"script.{shell}").write_text(script(shell), encoding="utf-8")
    (folder / "survey.csv").touch()
    (folder / "with blank.csv").touch()
    (folder / "folder").mkdir()
    return folder


def offered(folder, shell, typed):
    """What a shell offers behind what was typed, whose last word may be empty."""
    *words, last = typed.split(" ")
    asked = ASKED[shell].format(words=" ".join(words), last=last, many=len(words))
    done = subprocess.run(
        [*RUNNING[shell], asked], capture_output=True, text=True, cwd=folder, check=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
    )  # fmt: skip
    assert done.stderr == ""
    return {line for line in done.stdout.split("\n") if line}


@pytest.fixture(params=["bash", "fish"])
def shell(request):
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return request.param


CASES = [
    ("linkrisk ", {*COMMANDS}),
    ("linkrisk fi", {"fit", "find-links"}),
    ("linkrisk tables per", {"perturb-counts", "perturb-sums"}),
    ("linkrisk datasets ", {"list", "show", "fetch"}),
    ("linkrisk completion ", {"bash", "zsh", "fish"}),
    ("linkrisk fit --direction ", {"original-to-masked", "masked-to-original"}),
    ("linkrisk tables suppress --meth", {"--method"}),
    ("linkrisk tables suppress --method o", {"optimal"}),
    ("linkrisk suppress --problem ", {"cover", "recount", "joint"}),
    ("linkrisk mask --method top", {"top-coding"}),
    ("linkrisk tables audit --counts ", {"yes", "no"}),
    ("linkrisk fit --original su", {"survey.csv"}),
    ("linkrisk describe su", {"survey.csv"}),
    ("linkrisk mask --codebook su", {"survey.csv"}),
]


@pytest.mark.parametrize(("typed", "expected"), CASES)
def test_what_is_offered(scripts, shell, typed, expected):
    more = {"--help", "--version"} if typed == "linkrisk " else set()
    assert offered(scripts, shell, typed) - more == expected


def test_names_of_files_with_blanks_are_one_offer_and_folders_are_told_apart(scripts):
    assert offered(scripts, "bash", "linkrisk fit --original w") == {"with blank.csv"}
    assert offered(scripts, "bash", "linkrisk mask --write-recodings ") == {"folder"}
    assert offered(scripts, "bash", "linkrisk fit --seed ") == set()


@pytest.mark.parametrize("command", [name for name, one in CATALOGUE.items() if one.run])
def test_every_option_is_offered(scripts, command):
    known = {flag_of(one) for one in options_of(operation(command), COMMAND).values() if not one.bare}
    found = offered(scripts, "bash", f"linkrisk {command} --")
    assert known | {"--help"} == found - {"--decimal", "--thousands"}
    for other in ("zsh", "fish"):
        text = (scripts / f"script.{other}").read_text(encoding="utf-8")
        for flag in known:
            assert flag in text or f"-l {flag[2:]}" in text


@pytest.mark.parametrize("other", ["bash", "zsh", "fish"])
def test_the_script_is_one_of_its_shell(scripts, other):
    if shutil.which(other) is None:
        pytest.skip(f"{other} is not installed")
    subprocess.run([other, "-n", scripts / f"script.{other}"], check=True)


def test_the_command(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "completion", "fish") == script("fish")
    refuse(capsys, "unknown shell 'ksh': choose one of bash, zsh, fish", "completion", "ksh")
    assert list(Path().iterdir()) == []
