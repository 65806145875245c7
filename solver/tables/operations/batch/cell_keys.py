"""CKM of a batch of tau-ARGUS: noise by cell keys as its metadata describes it, for counts or sums."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_files import find_file
from linkrisk.datasets.tables.argus.batch_commands import CellKeys, Specified
from linkrisk.formulations.errors import FormulationError
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.operations.batch.safety_rules import safety_rules
from linkrisk.solver.tables.operations.batch.sources import BatchSource
from linkrisk.solver.tables.operations.batch.tables import columns_of
from linkrisk.solver.tables.operations.noisy import NoisyTable
from linkrisk.solver.tables.operations.perturb_counts import perturb_counts
from linkrisk.solver.tables.operations.perturb_sums import perturb_sums

_SCALES = {"T": "largest", "M": "mean", "D": "range", "V": "sum"}
_SCALED = "T(n), M, D or V"
_CALL = re.compile(r"([A-Za-z])\s*(?:\(([^()]*)\))?\s*")


def noisy_table(source: BatchSource | None, spec: Specified, step: CellKeys, where: str) -> NoisyTable:
    """The table with noise.

    Raises
    ------
    UsageError, DataError
        If there are no records or record keys, or it is not said what the noise is like.
    """
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
    """What `perturb_sums` is asked for."""
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
    """F(least, share, flex point, power, factors), or N(share, factors)."""

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
    """A letter and the numbers behind it."""
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
    """How many digits of cell keys are turned round, as the program does; None where that is not said."""
    said = int(source.variables[keys].words.get("decimals", "0"))
    return said or None


def _extra(spec: Specified, step: CellKeys, where: str) -> dict[str, Any]:
    """The extra noise of cells that rules say are sensitive."""
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
    """The perturbation table that metadata names."""
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
