"""Forms are made of declared options: whatever a command can be asked has a field, and becomes its words."""

from __future__ import annotations

from pathlib import Path

import pytest
from application import COMMANDS, Shown

from linkrisk.solver.app.steps import Step, fields_of
from linkrisk.solver.linkage.parameters import PARAMETERS

pytest.importorskip("nicegui")

BY_HAND = {
    "sweep": {"folder"},
    "mask": {"data", "method"},
    "unsafe": {"data", "hierarchies"},
    "suppress": {"data", "hierarchies"},
    "tables make": {"by", "hierarchies"},
    "tables suppress": {"cells", "relations", "tables", "hierarchies", "totals"},
    "tables audit": {"cells", "relations", "tables", "hierarchies", "totals", "also"},
    "verify": {"cells", "relations", "tables", "hierarchies", "totals"},
}
"""What pages ask in ways of their own, or say themselves."""

OF_PAIRS = {"original", "masked", "certificate", "attributes", "id", "row_by_row", "schema", "drop_constant"}
"""What `verify` can be asked of fits, whose certificates are checked by the runs that make them."""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_with_a_label_has_one_field(command: str, tmp_path: Path) -> None:
    shown = Shown(command, tmp_path)
    asked = fields_of(command).keys() - BY_HAND.get(command, set())
    asked -= OF_PAIRS if command == "verify" else set()
    assert len(asked) > 5
    for name in asked:
        assert shown.marks.count(name) == 1, name


def test_values_of_every_kind_become_words(tmp_path: Path) -> None:
    shown = Shown("risk", tmp_path)
    for name, value in {
        "tolerated": 2.5,
        "seed": 7,
        "time_limit": 0,
        "drop_constant": True,
        "ties": "share",
        "measures": ["worst-case", "suda"],
        "masking": "noise percent=5\n\nrounding base=2 ",
    }.items():
        shown.field(name).set_value(value)
    assert shown.command.startswith(
        "python -m solver risk --original data/original.csv --masked data/masked.csv --drop-constant "
        "--measures worst-case,suda --tolerated 0.025 --masking 'noise percent=5' "
        "--masking 'rounding base=2' "
        "--ties share --time-limit none --seed 7 --json "
    )
    for name, usual in (("tolerated", None), ("seed", 0), ("measures", []), ("drop_constant", False)):
        shown.field(name).set_value(usual)
    shown.field("ties").set_value("")
    assert "--json" in shown.command
    assert not {"--tolerated", "--seed", "--measures", "--drop-constant", "--ties"} & {*shown.command.split()}


def test_settings_of_a_linker_are_asked_for_and_become_words(tmp_path: Path) -> None:
    shown = Shown("link", tmp_path)
    assert {*PARAMETERS["prl"].__dataclass_fields__} <= {*shown.marks}
    for name, value in {
        "compare": "age=within:2\nincome=equal",
        "blocking": ["age"],
        "estimate_share": True,
        "prior": "2",
    }.items():
        shown.field(name).set_value(value)
    assert shown.command.startswith(
        "python -m solver link --method prl --original data/original.csv --masked data/masked.csv "
    )
    said = "--compare age=within:2 --compare income=equal --blocking age --estimate-share --prior 2"
    assert said in shown.command
    shown.field("match_share").set_value("much")
    assert shown.command == "It is shown when nothing is missing."
    assert "'match share (P)' must be a finite number, not 'much'." in shown.texts
    shown.field("method").set_value("dbrl")
    assert "standardisation" in shown.marks
    assert "passes" not in shown.marks
    assert not {"--compare", "--prior"} & {*shown.command.split()}
    shown.field("standardisation").set_value("pooled")
    assert "--standardisation pooled" in shown.command


def test_a_command_is_read_back() -> None:
    values = {"data": "a.csv", "keys": ["A", "b,c"], "tables": {("A", "B"): 2.0}, "time_limit": None}
    step = Step("suppress", values)
    assert Step.read([*step.argv, "--gone", "x"]) == step
