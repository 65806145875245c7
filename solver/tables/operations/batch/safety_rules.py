"""Safety rules of a batch of tau-ARGUS as primary rules: those of respondents, and those of holdings."""

from __future__ import annotations

from dataclasses import dataclass

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.tables.argus.batch_commands import Rule, Specified
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.primary_rules import PrimaryRule
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.operations.rules import primary_rule

_OF_HOLDINGS = {"P": 2, "NK": 2, "FREQ": 1, "REQ": 1}
"""From which one on a rule of a kind is of holdings, not of respondents."""


@dataclass(frozen=True)
class SafetyRule:
    """A rule of a batch, by its name there."""

    name: str
    rule: PrimaryRule


def safety_rules(spec: Specified, where: str) -> tuple[list[SafetyRule], list[SafetyRule]]:
    """The rules of respondents and those of holdings; one of zeros says nothing.

    Raises
    ------
    DataError, UsageError, FormulationError
        If a number does not fit; the message names the line.
    """
    own: list[SafetyRule] = []
    held: list[SafetyRule] = []
    seen: dict[str, int] = {}
    for rule in spec.rules:
        at = seen[rule.name] = seen.get(rule.name, -1) + 1
        text = _spelled(rule, where)
        if text is not None:
            of_holdings = at >= _OF_HOLDINGS.get(rule.name, 99)
            (held if of_holdings else own).append(SafetyRule(rule.name, _made(text, where)))
    return own, held


def _made(text: str, where: str) -> PrimaryRule:
    try:
        return primary_rule(text)
    except (FormulationError, UsageError) as error:
        raise type(error)(f"{where}: {error}", option=error.option) from None


def width_of(rules: list[SafetyRule]) -> int:
    """How many of the largest contributions rules look at."""
    return max((one.rule.width for one in rules), default=0)


def _spelled(rule: Rule, where: str) -> str | None:
    numbers = rule.numbers
    if numbers[0] == 0 and rule.name != "ZERO" and not (rule.name == "REQ" and numbers[2]):
        return None
    if rule.name == "P":
        prior = numbers[1] if len(numbers) == 3 else 100.0
        intruders = numbers[-1] if len(numbers) > 1 else 1.0
        if intruders != int(intruders):
            raise DataError(f"{where}: P has {intruders:g} intruders, which is no whole number")
        return f"p={numbers[0]:g},q={prior:g},m={int(intruders)}"
    word = {"NK": "nk", "FREQ": "frequency", "ZERO": "zero", "REQ": "request"}[rule.name]
    return f"{word}={','.join(f'{one:g}' for one in numbers)}"
