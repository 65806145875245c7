"""How it was made: all that was asked, with what it was found, and of which file."""

from __future__ import annotations

from collections.abc import Iterator

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Number, Numbers, Section
from linkrisk.solver.documents.formats import count, duration
from linkrisk.solver.report.content.suppression.words import PROBLEMS, Json, several
from linkrisk.solver.report.content.wording import joined, sentence
from linkrisk.solver.report.content.wording import table as table_of

_COSTS = {
    "one": "one for each value",
    "entropy": "entropy of the variable for each value",
    "priority": "priority of the variable for each value",
}


def how_it_was_made(given: Json) -> Section:
    """Everything that is needed to make it again."""
    lead = "Everything that is needed to make this again."
    blocks: list[Block] = [
        Numbers("What was asked", tuple(_asked(given))),
        Numbers("How it was found", tuple(_found(given))),
    ]
    columns = [("name", "Input", Of.TEXT), ("sha256", "SHA-256", Of.TEXT)]
    rows = [[given["name"], given["sha256"] or "no file"]]
    blocks.append(table_of("", columns, rows))
    return Section("making", "How it was made", lead, tuple(blocks))


def _asked(given: Json) -> Iterator[Number]:
    yield Number("Problem", sentence(PROBLEMS[given["problem"]]))
    keys = [one["name"] for one in given["before_and_after"]["variables"]]
    yield Number("Key variables", joined(keys, most=len(keys)))
    yield Number("Unsafe", _unsafe(given))
    yield Number("Missing values of the input", f"{given['missing']}: {given['missing_means']}")
    yield Number("Cost", _COSTS[given["cost_of"]])
    if given["cost_of"] == "priority":
        found = given["before_and_after"]["variables"]
        yield Number("Priorities", ", ".join(f"{one['name']} {one['cost']:g}" for one in found))
    yield Number("Untouched", joined(given["untouched"]) or "none")
    ghosts = [f"{ghost} with {name}" for name, them in given["ghosts"].items() for ghost in them]
    yield Number("Ghosts", joined(ghosts) or "none")
    shared = f"{given['household']}; its key variables: {joined(given['household_keys'])}"
    yield Number("Household", "none" if given["household"] is None else shared)
    yield Number("Sampling weight", given["weight"] or "none")


def _unsafe(given: Json) -> str:
    """What is unsafe, in words."""
    if given["k"] is not None:
        whom = "of the population" if given["weight"] else "records"
        return f"fewer than k = {given['k']} {whom} with the same values of all key variables"
    if given["risk"] is not None:
        return f"more individual risk than {given['risk']:g}, of the values of all key variables"
    tables, limits = given["tables"], sorted({one["threshold"] for one in given["tables"]})
    often = joined([count(limit) for limit in limits])
    what = " in the population" if given["weight"] else ""
    largest = max(len(one["variables"]) for one in tables)
    return (
        f"what occurs no more often{what} than {often}{', by table' if len(limits) > 1 else ''}, in "
        f"{several(len(tables), 'table')} of up to {several(largest, 'key variable')}"
    )


def _found(given: Json) -> Iterator[Number]:
    yield Number("Values suppressed", count(given["cells"]))
    yield Number("Cost", count(round(given["cost"], 6)))
    if not given["answer_given"]:
        yield Number("No other answer costs less than", count(round(given["bound"], 6)))
    yield Number("Proof", sentence(given["proof"]))
    ended = {"time": ", the time was over", "user": ", it was stopped"}.get(given["limit"] or "", "")
    yield Number("Status", given["status"] + ended)
    if given["problem"] != "cover":
        yield Number("Backend", given["backend"])
    without = "cover leaves nothing to chance" if given["problem"] == "cover" else ""
    yield Number("Seed", str(given["seed"]), meaning=without)
    limit = given["time_limit"]
    yield Number("Time limit", "none" if limit is None else duration(limit))
    yield Number("Time taken", duration(given["seconds"]))
    yield Number("Version", f"linkrisk {given['linkrisk']}")
