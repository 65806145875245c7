"""The pages: links lead somewhere, commands parse, options and JSON keys are explained, examples are true."""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from linkrisk import fit
from linkrisk.datasets.masking.registry import METHODS, masking_method
from linkrisk.datasets.public.registry import names as dataset_names
from linkrisk.formulations.linkage.aggregators import AGGREGATORS
from linkrisk.solver.backends.registry import BACKENDS
from linkrisk.solver.commands.program import build_parser, main
from linkrisk.solver.linkage.registry import LINKERS
from linkrisk.solver.options.table_protection import METHODS as TABLE_METHODS
from linkrisk.solver.risk_utility.maskings import maskings_of

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
MADE = {DOCS / "reference" / f"{name}.md" for name in ("api", "json", "options")}
PAGES = sorted({*DOCS.rglob("*.md"), *ROOT.glob("*.md")} - MADE)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```[^\n]*\n.*?^```$", re.MULTILINE | re.DOTALL)
COMMAND = "python -m solver"
CALL = r"(?:python -m solver|linkrisk)"

# Where each command is explained.
HOMES = {
    "fit": "start/five-minutes", "compare": "start/five-minutes", "evaluate": "start/five-minutes",
    "verify": "methods/certificates", "link": "methods/linkers", "find-links": "methods/linkers",
    "mask": "how-to/masking", "risk": "methods/risk", "report": "how-to/report",
    "sweep": "methods/risk-utility",
    "describe": "how-to/schema", "suppress": "methods/suppression", "unsafe": "methods/suppression",
    "run-protocol": "how-to/masking", "tables": "methods/tables", "app": "how-to/app",
    "datasets": "how-to/files", "compile": "start/five-minutes", "completion": "start/five-minutes",
}  # fmt: skip


def page_id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


everywhere = pytest.mark.parametrize("page", PAGES, ids=page_id)


@everywhere
def test_what_python_examples_import_is_there(page: Path) -> None:
    for block in re.findall(
        r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Import | ast.ImportFrom) and "linkrisk" in ast.unparse(node):
                exec(compile(ast.unparse(node), page.name, "exec"), {})


@everywhere
def test_python_examples_import_from_the_front_door(page: Path) -> None:
    """Those of who adds something to linkrisk itself are in extend.md."""
    deep = r"^(?:>>> )?(?:from|import) linkrisk\.(?:solver|formulations|datasets)\b"
    assert page.name == "extend.md" or not re.search(deep, page.read_text(encoding="utf-8"), re.MULTILINE)


def anchors(page: Path) -> set[str]:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    found: dict[str, int] = {}
    out = set()
    for heading in re.findall(r"^#+ +(.+?)\s*$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        seen = found.get(slug, 0)
        found[slug] = seen + 1
        out.add(f"{slug}-{seen}" if seen else slug)
    return out


def links(page: Path) -> list[str]:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return [
        target for target in LINK.findall(text) if "://" not in target and not target.startswith("mailto:")
    ]


def commands(page: Path) -> list[str]:
    """Command lines in fenced blocks, continuation lines joined, and those in running text with an option."""
    text = page.read_text(encoding="utf-8")
    found = []
    for block in FENCE.findall(text):
        lines = block.replace("\\\n", " ").split("\n")
        found += [line.removeprefix("$").strip() for line in lines if re.match(rf"(\$ +)?{CALL} [a-z]", line)]
    return found + re.findall(rf"`({CALL} [a-z][^`]* --[^`]+)`", FENCE.sub("", text))


def arguments_of(command: str) -> list[str]:
    words = shlex.split(re.sub(f"^{CALL}", "", command), comments=True)
    ends = [at for at, word in enumerate(words) if word in ("|", ">", "&&", ";")]
    return words[: min(ends, default=len(words))]


COMMANDS = sorted({(page_id(page), command) for page in PAGES for command in commands(page)})


@everywhere
def test_links_lead_to_existing_files_and_headings(page):
    broken = []
    for target in links(page):
        name, _, anchor = target.partition("#")
        there = (page.parent / name).resolve() if name else page
        if there in MADE:  # when the site is built
            continue
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(target)
    assert broken == []


def test_commands_are_found_in_the_pages():
    where = {page for page, _ in COMMANDS}
    assert {
        "docs/start/five-minutes.md",
        "docs/methods/distances.md",
        "docs/how-to/masking.md",
        "docs/how-to/files.md",
        "docs/tutorials/steward.md",
    } <= where


def masking_method_name(text: str) -> str:
    return masking_method(text).name if "=" in text else text


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_commands_are_understood(page, command):
    del page
    argv = arguments_of(command)
    parsed = vars(build_parser().parse_args(argv))
    assert set((parsed.get("aggregator") or "all").split(",")) <= {"all", *AGGREGATORS}
    methods = parsed.get("method") or []
    # Those of mask are a list, and may hold their parameters.
    if argv[0] == "sweep":
        methods = (
            [method for masking in maskings_of(methods) for method in masking.methods] if methods else []
        )
    names = [methods] if isinstance(methods, str) else [masking_method_name(text) for text in methods]
    assert set(names) <= {*METHODS, *LINKERS, *TABLE_METHODS}
    backends = [parsed.get("backend"), *(parsed.get("backends") or "").split(",")]
    assert {name for name in backends if name} <= set(BACKENDS)
    assert parsed.get("name") in {None, *dataset_names()}


def test_every_command_has_its_page():
    parsers = next(a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    assert set(parsers.choices) == set(HOMES)
    for command, home in HOMES.items():
        page = (DOCS / f"{home}.md").read_text(encoding="utf-8")
        assert re.search(f"{CALL} {command}\\b|`{command}`", page)


@everywhere
def test_no_page_names_a_folder_of_one_machine(page):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"(?:^|[\s`\"'(])(?:/(?:work|home|tmp|root|Users)/|[A-Z]:\\)\S*", text) == []


@pytest.mark.usefixtures("still_time")
def test_the_printed_result_is_that_of_today(capsys):
    """Up to the parameters, which may be others of the same count on another machine."""
    assert main(["fit", "--aggregator", "weighted-mean"]) == 0
    counts = capsys.readouterr().out.split("\n\n")[:3]
    page = (DOCS / "methods/distances.md").read_text(encoding="utf-8")
    assert f"$ {COMMAND} fit --aggregator weighted-mean\n" + "\n\n".join(counts) in page


@pytest.mark.usefixtures("still_time")
@pytest.mark.parametrize(
    ("aggregator", "row"),
    [("weighted-mean", "weighted mean"), ("owa", "OWA"), ("choquet", "Choquet integral")],
)
def test_the_table_of_families_is_that_of_today(aggregator, row):
    page = (DOCS / "methods/distances.md").read_text(encoding="utf-8")
    found = fit(aggregator=aggregator)
    other = fit(aggregator=aggregator, direction="masked-to-original")
    assert found.proven
    assert other.proven
    expected = found.details["tied"]["expected_links"]
    cells = (row, found.linked, f"{expected:g}", found.details["lost"], other.linked)
    assert "| " + " | ".join(str(cell) for cell in cells) + " |" in page


# Of these examples, only so many lines are the same for all of the best parameters that may be found.
SURE_LINES = {0: 2, 4: 1}


def test_the_python_examples_print_what_they_show():
    section = (DOCS / "how-to/python.md").read_text(encoding="utf-8").split("## From Python")[1]
    pairs = re.findall(r"```python\n([^`]*)```\n\n```\n([^`]*)```", section)
    assert len(pairs) == 5
    names = {"__name__": "example"}
    for at, (source, shown) in enumerate(pairs):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(source, "python.md", "exec"), names)
        printed, expected = out.getvalue().splitlines(), shown.splitlines()
        sure = SURE_LINES.get(at, len(expected))
        assert printed[:sure] == expected[:sure]
        assert len(printed) == len(expected)


def test_the_example_of_a_token_ends_its_run():
    section = (DOCS / "how-to/python.md").read_text(encoding="utf-8").split("## Stopping a run")[1]
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(re.findall(r"```python\n([^`]*)```", section)[0], "python.md", "exec"), names)
    assert (names["result"].status, names["result"].limit) == ("interrupted", "user")


# The pages of the linkers print what they show


LINES = r"((?:(?!```).*\n)+)"
EXAMPLE = re.compile(rf"^```python\n{LINES}```\n+```\n{LINES}```$", re.MULTILINE)
SHOWN = re.compile(rf"^```\n\$ ({COMMAND} link .*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OF_LINKERS = ("linkers", "probabilistic", "no-common-attributes")


def said(name: str) -> str:
    return (DOCS / "methods" / f"{name}.md").read_text(encoding="utf-8")


def run_python(source: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, "example", "exec"), {"__name__": "example"})
    return out.getvalue()


def run_command(line: str) -> None:
    assert main(shlex.split(line.removeprefix(COMMAND))) == 0


@pytest.fixture
def linked(tmp_path, monkeypatch, capsys):
    """The files that `linkers.md` makes first, by its own words."""
    monkeypatch.chdir(tmp_path)
    text = said("linkers").split("## To try it")[1].split("How to read it")[0]
    run_python(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1])
    run_command(re.search(rf"^{COMMAND} mask .*$", text, re.MULTILINE)[0])
    registers = said("probabilistic").split("### An example")[1]
    run_python(re.search(r"```python\n(.*?)```", registers, re.DOTALL)[1])
    run_python(re.search(r"```python\n([^`]*unnumbered.csv[^`]*)```", registers)[1])
    capsys.readouterr()


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize("name", OF_LINKERS)
def test_commands_print_what_is_shown(name, capsys):
    found = SHOWN.findall(said(name))
    assert found
    for command, shown in found:
        run_command(command)
        assert capsys.readouterr().out == shown


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize("name", ["linkers", "probabilistic", "no-common-attributes"])
def test_python_prints_what_is_shown(name):
    found = EXAMPLE.findall(said(name))
    assert found
    for source, shown in found:
        assert run_python(source) == shown


@pytest.mark.usefixtures("linked")
def test_the_linker_of_the_page_works():
    """The code under "How to add a linker", as it stands there."""
    source = (
        (DOCS / "how-to/extend.md")
        .read_text(encoding="utf-8")
        .split("## How to add a linker")[1]
        .split("```python\n")[1]
        .split("```")[0]
    )
    printed = run_python(
        "from linkrisk import link\n"
        "from linkrisk.solver.linkage.linker import LearnedLinker, Linker\n"
        + source
        + "print(link('means.csv', 'masked.csv', method=Euclid()).linked)\n"
    )
    assert int(printed) > 5  # one by chance
