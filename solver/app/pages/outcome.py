"""What a run has found: its report, its files, and the commands that do the same again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from nicegui import ui

from linkrisk.solver.app.downloads import commands_text
from linkrisk.solver.app.pages import layout, sweep_map
from linkrisk.solver.app.run_folder import (
    CERTIFICATE,
    CONTRIBUTORS,
    INTERNAL,
    INTERNAL_STEM,
    OUTPUT,
    OUTSIDE,
    PUBLISHED_STEM,
    RECORD,
    REPORT,
    RESULT,
    VERIFICATION,
    Run,
    spelled,
)
from linkrisk.solver.app.run_folder import State as RunState
from linkrisk.solver.app.state import State
from linkrisk.solver.app.table_steps import CELLS, MADE, PROVEN, RELATIONS, proven_files, verifying

WORDS = {
    RESULT: "the result as JSON",
    REPORT: "the report, one page that needs no network",
    CERTIFICATE: "the certificate: proves to others what was found",
    PROVEN: "all cells and relations in one file, for the check of the certificate: for the house",
    VERIFICATION: "what the check of the certificate said",
    INTERNAL: "all cells with status and interval: for the house",
    OUTSIDE: "the report for readers outside",
    CELLS: "the cells of the table, as they were made: for the house",
    MADE: "the rules of the table: for the house, keep them secret",
    RELATIONS: "the relations between the cells",
    CONTRIBUTORS: "what each respondent contributed to each cell: for the house",
    RECORD: "how the file was masked, with the seed: keep it secret, it undoes the masking",
}


OF_TABLES = {
    PUBLISHED_STEM: "the table as it may be published",
    INTERNAL_STEM: "all cells in another format: for the house",
}
"""Files of tables by how their names begin, whatever their format."""


def show(state: State, run: Run) -> None:
    """All of it."""
    files, command = run.files(), run.command
    failed = run.state is RunState.FAILED and not run.result
    if failed:
        _again(command, run)
    if command["kind"] in ("mask", "suppress"):
        _after_masking(run, files)
    if command["kind"] == "sweep" and run.result:
        sweep_map.show(state, run)
    if VERIFICATION in files:
        layout.text("h2", "Verification of the certificate")
        layout.text("pre", run.text(VERIFICATION), "code").props("tabindex=0")
    if CERTIFICATE in files and command["kind"] == "tables":
        _for_strangers(run)
    if REPORT in files:
        layout.text("h2", "Report")
        ui.element("iframe").props(
            f'src="/report/{run.name}" title="Report" sandbox="allow-scripts allow-downloads allow-modals"'
        ).classes("report")
        ui.link("Open the report alone", f"/report/{run.name}", new_tab=True)
    layout.text("h2", "Files")
    _files(run, [name for name in files if name != OUTPUT], command.get("inputs", {}).get("schema"))
    ui.link("All as one zip, with the commands", f"/zip/{quote(run.name)}").mark("zip")
    layout.text("h2", "The same again")
    layout.text("p", "In the project folder these commands do the same:", "quiet small")
    layout.code(commands_text(run) if len(run.lines) > 1 else "\n".join(run.lines))
    if not failed:
        _again(command, run)


def _files(run: Run, files: list[str], schema: str | None) -> None:
    """Its files one by one, where there are any."""
    if not (files or schema):
        return
    with layout.table(("File", "What it is")):
        for name in files:
            target = layout.download_address(f"runs/{run.name}/{name}")
            layout.row((partial(ui.link, name, target), _words(name)))
        if schema:
            layout.row((lambda: ui.link(schema, layout.download_address(schema)), "the schema"))


def _words(name: str) -> str:
    """What a file is."""
    if name in WORDS:
        return WORDS[name]
    begin = name.rpartition(".")[0]
    return OF_TABLES.get(begin, "the masked file" if "-masked" in name else "")


def _for_strangers(run: Run) -> None:
    """How somebody else checks the certificate of a table."""
    beside = bool(isinstance(run.result, Mapping) and run.result.get("respondents"))
    files = proven_files(beside=beside)
    layout.text("h2", "For whoever checks it")
    with layout.text("p", ""):
        layout.text("span", "With these files in a folder, and linkrisk, anybody can check the proof: ")
        for at, name in enumerate((CERTIFICATE, *files)):
            layout.text("span", " and " if at else "")
            ui.link(name, layout.download_address(f"runs/{run.name}/{name}"))
    layout.code(spelled(verifying(beside=beside)))
    layout.text(
        "p",
        "The check takes fractions, needs no optimiser, and shares no code with the search. It is about "
        f"outsiders. {files[0]} holds the values of all cells: give it only to those who may see them.",
        "quiet small",
    )


def _again(command: Mapping[str, Any], run: Run) -> None:
    """The way to a page where all that was asked is chosen already."""
    if command["kind"] == "tables":
        ui.link("Ask again with other settings", layout.address("/tables", again=run.name))
    elif command["kind"] in ("unsafe", "suppress"):
        asked = {"name": command["inputs"]["original"], "task": command["kind"]}
        ui.link("Ask again with other settings", layout.address("/suppress", **asked))
    elif command["kind"] != "mask":
        pair = {
            what: name for what, name in command.get("inputs", {}).items() if what in ("original", "masked")
        }
        ui.link("Ask again with other settings", layout.address("/new", kind=command["kind"], **pair))


def _after_masking(run: Run, files: list[str]) -> None:
    masked = next((name for name in files if "-masked" in name), None)
    if masked is None:
        return
    address = layout.address(
        "/new", original=run.command["inputs"]["original"], masked=f"runs/{run.name}/{masked}"
    )
    layout.button("Check this pair", lambda: ui.navigate.to(address))
