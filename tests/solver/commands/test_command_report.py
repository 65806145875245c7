"""`python -m solver report`: what it writes, what it refuses, and that nothing is written by halves."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from cli_runs import PAIR, check_golden, check_refusals, contents, refuse, run
from report_cases import rows

from linkrisk import verify
from linkrisk.errors import spelled_by
from linkrisk.solver.commands.program import main
from linkrisk.solver.options.command_line import flag
from linkrisk.solver.report.page import document_of
from linkrisk.solver.run.result import dump_json

pytestmark = pytest.mark.usefixtures("survey_folder", "still_time")

SMALL = ["--aggregator", "weighted-mean", "--measures", "worst-case,simple-attacks,changes"]
MADE = ["report", *PAIR, *SMALL, "--output", "r.html", "--json", "r.json"]


def page_text(name):
    page = re.sub('<span class="whole">(.*?)</span>', r"\1", Path(name).read_text(encoding="utf-8"))
    return re.sub(r"[\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]", " ", page)


def test_page_json_and_certificate(capsys):
    printed = run(capsys, *MADE, "--certificate", "proof.json")
    content = json.loads(Path("r.json").read_bytes())
    said = f"{content['headline']['verdict']}\n{content['headline']['worst']}\n"
    assert printed == f"{said}wrote r.html\nwrote r.json\nwrote proof.json\n"
    assert content["headline"]["verdict"] in page_text("r.html")
    making = next(one for one in content["sections"] if one["name"] == "making")
    names = {row[0]: row[2] for row in rows(making, "The files, to the byte")}
    for role in ("original", "masked"):
        assert names[role] == hashlib.sha256(Path(f"{role}.csv").read_bytes()).hexdigest()
    (told,) = rows(making, "Certificates, checked by code that shares nothing with the search")
    (kept,) = json.loads(Path("proof.json").read_bytes())["certificates"]
    text = json.dumps(kept["certificate"]) + "\n"
    assert told[1] == hashlib.sha256(text.encode()).hexdigest()
    assert told[2] is True
    assert verify(kept["fit"], "original.csv", "masked.csv", certificate=kept["certificate"])


def test_the_page_can_be_made_again_from_every_json(capsys):
    run(capsys, *MADE)
    run(capsys, "report", "--saved", "r.json", "--output", "again.html")
    assert Path("again.html").read_bytes() == Path("r.html").read_bytes()
    run(capsys, "fit", *PAIR, "--json", "fit.json", "--report", "fit.html")
    for name in ("fit",):
        run(capsys, "report", "--saved", f"{name}.json", "--json", "again.json")
        again, own = (
            json.loads(Path("again.json").read_bytes()),
            json.loads(Path(f"{name}.json").read_bytes()),
        )
        with spelled_by(flag):
            expected = document_of(own).to_dict()
        assert {**again, "made": ""} == json.loads(dump_json({**expected, "made": ""}))
        verdict = expected["headline"]["verdict"]
        assert verdict in page_text(f"{name}.html")


def test_the_json_is_that_of_the_golden_file(capsys):
    run(capsys, *MADE)
    content = json.loads(Path("r.json").read_bytes())
    check_golden("report-json", dump_json(_without_machine(content)))


def _without_machine(content, name=""):
    """Without what a clock, a version or a chart's own definition says; numbers to six digits."""
    if isinstance(content, dict):
        if content.get("caption") == "Versions" or name == "spec":
            return "..."
        if content.get("words", "").startswith(("Time taken", "Phase")):
            return "..."
        return {key: _without_machine(value, key) for key, value in content.items()}
    if isinstance(content, list):
        return [_without_machine(value, name) for value in content]
    if isinstance(content, float):
        return float(f"{content:.6g}")
    hidden = name in ("made", "linkrisk")
    return (
        "..."
        if hidden
        else re.sub(r"\b[0-9a-f]{64}\b", "...", content)
        if isinstance(content, str)
        else content
    )


def test_what_is_refused(capsys):
    asked = ([*PAIR], ["--saved", "fit.json", *PAIR, "--output", "r.html"])
    check_refusals(capsys, "report", (["report", *one] for one in asked))


def test_nothing_is_written_where_the_page_cannot_be_made(monkeypatch, capsys):
    def fail(_):
        raise RuntimeError("no page")

    monkeypatch.setattr("linkrisk.solver.documents.page.render_page", fail)
    before = contents()
    assert main([*MADE, "--certificate", "proof.json"]) == 1
    assert contents() == before
    assert capsys.readouterr().err == "error: no page\n"


def test_an_interrupt_while_certifying_costs_no_report(monkeypatch, capsys):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("linkrisk.solver.report.operations.report.verify", stop)
    run(capsys, *MADE)
    assert "stopped before it was checked" in Path("r.json").read_text(encoding="utf-8")


def test_outside_readers(capsys):
    run(capsys, *MADE, "--audience", "external")
    text = Path("r.json").read_text(encoding="utf-8")
    assert json.loads(text)["audience"] == "external"
    assert not [
        name for name in ("original.csv", "income", "python -m solver", "sha256", "seed") if name in text
    ]
    message = (
        "r.json: the report was made for external readers, and stays that: make it from the JSON of risk "
        "instead"
    )
    refuse(capsys, message, "report", "--saved", "r.json", "--audience", "internal", "--output", "x.html")
