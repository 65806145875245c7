"""What is missing in a question about a table, or cannot be: said before anything is started."""

from __future__ import annotations

from collections import Counter

from linkrisk.solver.app.table_question import AUDIT, EVERYBODY, LISTED, VERIFY, TableQuestion
from linkrisk.solver.run.errors import UsageError


def check(question: TableQuestion) -> None:
    """Refuse a question of which something is missing.

    Raises
    ------
    UsageError, FormulationError
        With what is missing, or which rule is none.
    """
    if question.task == VERIFY and not question.proof:
        raise UsageError("choose the certificate that is to be checked")
    if not (question.cells or question.microdata):
        alone = question.task in (AUDIT, VERIFY)
        raise UsageError("choose a file of cells" if alone else "choose a file of cells, or one of microdata")
    if question.microdata:
        _check_making(question)
    _check_several(question)
    if question.task != VERIFY:
        _check_attackers(question)


def _check_several(question: TableQuestion) -> None:
    """Linked tables, and other releases."""
    for what, pairs in (("table", question.further), ("release", question.also)):
        lonely = next((relations for cells, relations in pairs if relations and not cells), None)
        if lonely is not None:
            raise UsageError(f"choose the file of cells of the {what} that {lonely} belongs to")
    twice = [name for name, times in Counter(cells for cells, _ in question.ready).items() if times > 1]
    if twice:
        raise UsageError(f"the file {twice[0]} is chosen twice: choose another table to be linked, or none")
    if question.task == AUDIT and question.certified and question.also:
        raise UsageError("a certificate is about one table: leave the other releases out, or the certificate")


def _check_attackers(question: TableQuestion) -> None:
    if question.insiders == LISTED and not question.listed:
        raise UsageError("choose the file of insiders, or other attackers")
    known = question.microdata or question.contributors
    if not known and (question.insiders == EVERYBODY or question.coalitions):
        raise UsageError("who attacks knows what it contributed: choose the file of contributions")


def _check_making(question: TableQuestion) -> None:
    from linkrisk.formulations.tables.primary_rules import RequestRule
    from linkrisk.solver.tables.operations.rules import primary_rule

    if not question.by:
        raise UsageError("a table of microdata needs explanatory variables: choose one or more")
    if not question.rules and not question.manual:
        raise UsageError("a table of microdata needs a rule, such as p=10: write at least one")
    known = [primary_rule(rule) for rule in question.rules]
    asks = any(isinstance(rule, RequestRule) for rule in known)
    if asks and not question.request:
        raise UsageError("the request rule needs a column: choose who asked for protection")
    if question.request and not asks:
        raise UsageError("only the request rule looks at who asked for protection: write it, or choose none")
    if question.cost == "given" and not question.cost_column and not question.manual:
        raise UsageError("the cost of a cell is in a column: choose that of the microdata, or another cost")
