"""Methods of protection in a batch of tau-ARGUS, by the operations of this package."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_metadata import find_file
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.tables.argus.apriori import with_apriori
from linkrisk.datasets.tables.argus.batch_commands import KEYS, Apriori, CellKeys, Specified, Suppress
from linkrisk.datasets.tables.argus.ready_tables import RESPONDENTS
from linkrisk.datasets.tables.linking import keys_of, link, refuse_beside
from linkrisk.datasets.tables.stored_table import StoredTable
from linkrisk.errors import LinkriskError
from linkrisk.formulations.errors import FormulationError
from linkrisk.solver.options.table_protection import OPTIMAL
from linkrisk.solver.options.tables import TABLE_SECONDS
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.progress import Reporter
from linkrisk.solver.tables.operations.adjust_and_round import adjust_table, round_table
from linkrisk.solver.tables.operations.attacked_table import NOBODY, SINGLETONS
from linkrisk.solver.tables.operations.batch.tables import (
    BatchSource,
    BatchTable,
    columns_of,
    manual_share,
    safety_rules,
)
from linkrisk.solver.tables.operations.perturb import NoisyTable, perturb_counts, perturb_sums
from linkrisk.solver.tables.operations.suppress_and_audit import suppress_table
from linkrisk.solver.tables.suppression.large_tables import HEURISTIC, MODULAR

_SCALES = {"T": "largest", "M": "mean", "D": "range", "V": "sum"}
_SCALED = "T(n), M, D or V"
_CALL = re.compile(r"([A-Za-z])\s*(?:\(([^()]*)\))?\s*")


def noisy_table(source: BatchSource | None, spec: Specified, step: CellKeys, where: str) -> NoisyTable:
    """Add noise by cell keys to a table, as its metadata describes it."""
    if source is None:
        raise UsageError(f"{where}: CKM sums keys of records; cells have none, open microdata")
    keys = source.of_kind("recordkey")
    if keys is None:
        raise DataError(f"{where}: CKM needs record keys, but no variable is <RECORDKEY>")
    if safety_rules(spec, where)[1]:
        raise DataError(f"{where}: CKM is not of holdings; leave the rules of holdings out")
    by = [source.named(name, where) for name in spec.by]
    shared: dict[str, Any] = {
        "hierarchies": {name: source.trees[name] for name in by},
        "weight": columns_of(source, spec, where).get("weight"),
        "record_key": keys,
    }
    try:
        if spec.response is None:
            design = step.noise or _beside(source, keys, "pfile", where)
            return perturb_counts(source.frame, by, design=design, **shared)
        return perturb_sums(source.frame, by, **_of_sums(source, spec, step, keys, where), **shared)
    except (UsageError, FormulationError) as error:
        raise DataError(f"{where}: {str(error).removeprefix(f'{where}: ')}", option=error.option) from error


def _of_sums(source: BatchSource, spec: Specified, step: CellKeys, keys: str, where: str) -> dict[str, Any]:
    """Return the options of `perturb_sums`."""
    assert spec.response is not None
    response = source.named(spec.response, where)
    words = source.variables[response].words
    kind, numbers = _call(words.get("ckm", ""), where, response, "CKM", _SCALED)
    if kind not in _SCALES:
        raise _not_said("CKM", words["ckm"], where, response, _SCALED)
    width = int(numbers[0]) if numbers else 1
    apart = _yes(words, "separation")
    return {
        "response": response,
        "noise": step.noise or _beside(source, keys, "pfile_cont", where),
        "small": (step.small or _beside(source, keys, "pfile_sep", where)) if apart else None,
        "scale": _SCALES[kind],
        "zeros": _yes(words, "includezeros"),
        "same_key": False,
        "turn_digits": _digits(source, keys),
        "decimals": int(words["decimals"]) if "decimals" in words else None,
        **vars(_scaling(words.get("scaling", ""), width, where, response)),
        **_extra(spec, step, where),
    }


@dataclass(frozen=True)
class _Scaling:
    """Scaling of noise: F(least, share, flex point, power, factors), or N(share, factors)."""

    share: float
    factors: tuple[float, ...]
    least: float | None = None
    flex_point: float | None = None
    power: float = 3.0


def _scaling(text: str, width: int, where: str, response: str) -> _Scaling:
    behind = f", and {width - 1} more for the next contributions" if width > 1 else ""
    shapes = f"F(S0,S1,X,Q) or N(S1){behind}"
    kind, numbers = _call(text, where, response, "SCALING", shapes)
    needed = {"F": 4, "N": 1}.get(kind, 0)
    if needed == 0 or len(numbers) != needed + width - 1:
        raise _not_said("SCALING", text, where, response, shapes)
    factors = (1.0, *numbers[needed:])
    if kind == "N":
        return _Scaling(numbers[0], factors)
    return _Scaling(numbers[1], factors, numbers[0], numbers[2], numbers[3])


def _call(text: str, where: str, response: str, word: str, shapes: str) -> tuple[str, list[float]]:
    """Parse a letter and the numbers after it."""
    match = _CALL.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        numbers = [float(one) for one in (match.group(2) or "").split(",") if one.strip()]
    except ValueError:
        raise _not_said(word, text, where, response, shapes) from None
    return match.group(1).upper(), numbers


def _not_said(word: str, text: str, where: str, response: str, shapes: str) -> DataError:
    is_now = f"is {text}" if text else "is missing"
    return DataError(f"{where}: <{word}> of {response!r} {is_now}; its metadata says {shapes}")


def _yes(words: dict[str, str], word: str) -> bool:
    return words.get(word, "").strip().upper() == "Y"


def _digits(source: BatchSource, keys: str) -> int | None:
    """Return how many digits of cell keys are reversed, as in tau-ARGUS; None without metadata."""
    said = int(source.variables[keys].words.get("decimals", "0"))
    return said or None


def _extra(spec: Specified, step: CellKeys, where: str) -> dict[str, Any]:
    """Return the extra noise of cells that are sensitive by rules."""
    if step.extra == 0:
        return {}
    own, _ = safety_rules(spec, where)
    if not own or spec.shadow not in (None, spec.response) or any(one.name == "REQ" for one in own):
        raise DataError(
            f"{where}: the extra noise of CKM is of cells that P, NK, FREQ or ZERO say are sensitive by the "
            "response itself; give such a rule"
        )
    return {"extra": step.extra, "rules": [one.rule for one in own]}


def _beside(source: BatchSource, keys: str, word: str, where: str) -> Path:
    """Find the perturbation table named by metadata."""
    name = source.variables[keys].words.get(word, "")
    if not name:
        keyword = word.upper()
        raise DataError(
            f"{where}: CKM needs a perturbation table; name it here, or by <{keyword}> of {keys!r}"
        )
    found = find_file(source.opened.metadata.parent, re.split(r"[\\/]", name)[-1])
    if found is None:
        raise DataError(f"{where}: there is no file {name!r} beside {source.opened.metadata.name}")
    return found


_MINUTE = 60.0
_ROUNDING_MINUTES = 10.0


@dataclass
class Search:
    """Limits of the methods, and notes on deviations from the batch."""

    time_limit: float | None = None  # seconds for each, instead of those of the batch
    cancel: Cancel | None = None
    on_progress: Reporter | None = None
    said: list[str] = field(default_factory=list)  # deviations from the batch

    def seconds(self, minutes: float | None) -> float:
        """Return the time limit of a method, given in minutes by the batch."""
        if self.time_limit is not None:
            return self.time_limit
        return TABLE_SECONDS if not minutes else minutes * _MINUTE


def with_apriori_file(table: BatchTable, step: Apriori) -> None:
    """Apply an a-priori file."""
    table.stored = with_apriori(
        table.stored,
        step.file,
        separator=step.separator,
        skip_unknown=step.skip_unknown,
        expand=step.expand,
        manual=manual_share(table.spec),
    )
    table.known = True


def with_cell_keys(table: BatchTable, step: CellKeys, search: Search, where: str) -> None:
    """Add noise by cell keys."""
    refuse_beside(table.stored, "noise")
    table.noisy = noisy_table(table.source, table.spec, step, where)
    table.method = KEYS
    if table.known:
        search.said.append(f"{where}, {KEYS}: what <APRIORI> says of cells is left out")
    if table.spec.response is not None and table.noisy.details["digits"] is None:
        why = "<DECIMALS> of the record keys is not said, so that bits are mixed and no digits turned round"
        search.said.append(f"{where}, {KEYS}: {why}")


def protect(tables: Sequence[BatchTable], step: Suppress, search: Search, where: str) -> None:
    """Protect a table, or all linked tables together; an error names the line."""
    chosen = [tables[number - 1] for number in step.tables]
    try:
        _BY_METHOD[step.method](chosen, step, search, where)
    except LinkriskError as error:
        raise type(error)(f"{where}, {step.method}: {error}", option=error.option) from error
    for table in chosen:
        table.method = step.method


def _suppress(tables: Sequence[BatchTable], step: Suppress, search: Search, where: str) -> None:
    method, instead = _SUPPRESSION[step.method]
    if instead:
        search.said.append(f"{where}, {step.method}: {instead}")
    minutes = step.numbers[0] if step.numbers and step.method in ("OPT", "MOD") else None
    counted = all(RESPONDENTS in table.stored.cells for table in tables)
    singletons = _against_singletons(step, counted, search, where)
    totals = {tree.variable: tree.codes[0] for table in tables for tree in table.stored.trees}
    linked = len(tables) > 1
    whole = link([table.stored for table in tables], totals) if linked else tables[0].stored
    result = suppress_table(
        whole,
        method=method,
        cost="given",
        insiders=SINGLETONS if singletons else NOBODY,
        as_far_as_possible=singletons,
        time_limit=search.seconds(minutes),
        cancel=search.cancel,
        on_progress=search.on_progress,
    )
    for table in tables:
        table.result = result
        table.stored = _of_linked(table.stored, result.table, totals) if linked else result.table


def _against_singletons(step: Suppress, counted: bool, search: Search, where: str) -> bool:
    """Tell whether single respondents attack, too; other options of the numbers are ignored."""
    at, checks, left = _NUMBERS[step.method]
    asked = any(step.numbers[at : at + checks])
    if asked and not counted:
        why = "no variable is <FREQUENCY>, so that nobody is seen to be alone in a cell"
        search.said.append(f"{where}, {step.method}: {why}")
    elif asked and step.method == "MOD" and any(step.numbers[3:4]):
        search.said.append(f"{where}, MOD: groups of few respondents are left out, only single ones count")
    if any(step.numbers[at + checks :]):
        search.said.append(f"{where}, {step.method}: {left}")
    return asked and counted


def _of_linked(table: StoredTable, whole: StoredTable, totals: Mapping[str, str]) -> StoredTable:
    """Return a table with the statuses and intervals of its cells in linked ones."""
    number = {key: at for at, key in enumerate(whole.codes.itertuples(index=False, name=None))}
    place = [number[key] for key in keys_of(table, whole.by, totals)]
    taken = {name: whole.cells[name].to_numpy()[place] for name in ("status", "low", "high")}
    return replace(table, status=whole.status[place], cells=with_columns(table.cells, taken))


def _round(tables: Sequence[BatchTable], step: Suppress, search: Search, where: str) -> None:
    numbers = step.numbers
    if not numbers or numbers[0] != int(numbers[0]):
        raise DataError("it needs a base in whole numbers: RND(TABLE, BASE)")
    if len(numbers) > 3:
        search.said.append(f"{where}, RND: partitions, the stopping rule and costs are left out")
    minutes = numbers[2] if len(numbers) > 2 else _ROUNDING_MINUTES
    tables[0].changed = round_table(
        tables[0].stored,
        base=int(numbers[0]),
        relaxed=len(numbers) > 1 and numbers[1] > 0,
        time_limit=search.seconds(minutes),
        cancel=search.cancel,
        on_progress=search.on_progress,
    )


def _adjust(tables: Sequence[BatchTable], step: Suppress, search: Search, where: str) -> None:
    if step.numbers:
        search.said.append(f"{where}, CTA: its numbers are left out")
    tables[0].changed = adjust_table(
        tables[0].stored,
        time_limit=search.seconds(None),
        cancel=search.cancel,
        on_progress=search.on_progress,
    )


_SUPPRESSION = {
    "OPT": (OPTIMAL, ""),
    "MOD": (MODULAR, ""),
    "GH": (HEURISTIC, "a heuristic of our own instead of hypercubes, repaired over all relations"),
    "NET": (OPTIMAL, "the optimum is searched for instead of network flows"),
}
"""The method of `suppress_table`, and a note where it differs."""

_NUMBERS = {
    "OPT": (1, 0, "numbers behind the minutes are left out"),
    "MOD": (1, 3, "the scaling of costs and bounds of margins are left out"),
    "GH": (2, 1, "numbers behind that of singletons are left out"),
    "NET": (0, 0, "its numbers are left out"),
}
"""Position and number of the parameters about singletons, and a note on those after them."""

_BY_METHOD: dict[str, Callable[[Sequence[BatchTable], Suppress, Search, str], None]] = {
    "OPT": _suppress,
    "MOD": _suppress,
    "GH": _suppress,
    "NET": _suppress,
    "RND": _round,
    "CTA": _adjust,
}
