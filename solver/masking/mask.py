"""`mask`: apply masking methods to a table, and record how it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from linkrisk.datasets.masking.base import CategoricalMethod, MaskingMethod, new_seed, random_generator
from linkrisk.datasets.masking.registry import make_method, masking_method
from linkrisk.datasets.masking.release import (
    Release,
    release_of,
    sha256,
    steps_as_json,
    version,
    write_record,
)
from linkrisk.datasets.masking.sequence import (
    NOTHING,
    Step,
    counted_as_written,
    household_level,
    masked_in_order,
    masks_households,
    planned,
    seed_of_step,
)
from linkrisk.datasets.microdata.codebooks import codebook_files
from linkrisk.datasets.microdata.column_descriptions import may_be_codes
from linkrisk.datasets.microdata.formats.registry import with_suffix_of, writable_format
from linkrisk.datasets.microdata.names import shown_names, with_columns
from linkrisk.datasets.microdata.recoding_files import codes_become
from linkrisk.datasets.microdata.released_files import carried, labels_of_recoded, occurring_only
from linkrisk.datasets.microdata.roles import CATEGORICAL, NAMES_RECORDS, Role
from linkrisk.datasets.microdata.schema import Attribute, Schema
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.datasets.microdata.strict_json import headed
from linkrisk.datasets.microdata.writing import together, write_all
from linkrisk.datasets.pairs.cells import cell_codes
from linkrisk.errors import called
from linkrisk.solver.compiling.parts import MASKING, compile_once
from linkrisk.solver.inputs.source import Source, check_targets, read_source
from linkrisk.solver.options.masking import MaskOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.result import Result


def columns_of(
    source: Source,
    written: pd.DataFrame,
    steps: Sequence[Step],
    kept: Mapping[str, str],
    dropped: Sequence[str],
) -> dict[str, Any]:
    """Fields of the result about columns: masked, unchanged, as they are, and left alone by methods."""
    masked, frame = {name for step in steps for name in step.attributes}, source.plain
    left: dict[str, str] = {}
    if any(step.chosen for step in steps):
        schemas = [step.method.schema for step in steps if step.method.schema is not None]
        known = source.schema(schemas[0] if schemas else None).attributes
        left = {each.name: word for each in known if (word := _left_as(each, frame))} | dict(kept)
        left = {
            name: left[name] for name in frame.columns if name in left and name not in (*masked, *dropped)
        }
    lost = {name: int((written[name].isna() & frame[name].notna()).sum()) for name in frame.columns}
    return {
        "masked": tuple(name for name in frame.columns if name in masked),
        "unchanged": tuple(
            name
            for name in frame.columns
            if name in masked and cell_codes(frame[name], written[name]).in_place
        ),
        "as_is": tuple(name for name in frame.columns if name not in (*masked, *dropped)),
        "left_alone": left,
        "withheld": {name: count for name, count in lost.items() if count},
        "perhaps_codes": tuple(
            name
            for step in steps
            if step.chosen and not isinstance(step.method, CategoricalMethod)
            for name in step.attributes
            if may_be_codes(name, frame[name])
        ),
    }


_LEFT_AS = {**dict.fromkeys(NAMES_RECORDS, "id"), Role.WEIGHT: "weight", Role.STRATUM: "stratum"}
"""What columns are left alone as, by their roles."""


def _left_as(attribute: Attribute, frame: pd.DataFrame) -> str | None:
    """The kind of column that methods leave alone; None if it is none."""
    codes = attribute.scale in CATEGORICAL and pd.api.types.is_numeric_dtype(frame[attribute.name].dtype)
    if attribute.role is Role.IGNORED and frame[attribute.name].nunique(dropna=False) < 2:
        return "constant"
    return _LEFT_AS.get(attribute.role or Role.KEY) or ("categories" if codes else None)


_TELL_ORDER = (Role.RECORD_ID, Role.HOUSEHOLD)
"""What undoes a random order, where it is as it was."""


@dataclass(frozen=True, eq=False)
class MaskingResult(Result):
    """A masked table and the record of its masking.

    Attributes
    ----------
    table : DataFrame
        The masked table as it is released, n rows: all columns of the original that are not dropped.
    steps : tuple of Step
        The methods in the order in which they were applied, with the attributes that each masked.
    seed : int or None
        Seed of the random choices, None where there were none. Whoever has it can undo the
        masking, so it is not shown where the result is printed.
    masked, unchanged, as_is : tuple of str
        Columns that were masked, those of them without a single changed value, and all others.
    left_alone : mapping of str to str
        Columns that were not masked because of what they are: ``id``, ``weight`` or ``stratum``, and
        ``categories`` where numbers are codes.
    withheld : mapping of str to int
        How many values of a column are missing only since masking.
    perhaps_codes : tuple of str
        Columns masked as numbers by default that hold few different whole numbers.
    source : Source
        The original table, with all that its file says of it.
    strata : tuple of str
        Columns by which records were masked apart.
    release : Release
        Columns that were dropped or numbered anew, and the order of the records.
    schema : Schema
        The roles of all columns, declared or recognised.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "rank-swapping", parameters={"percent": 20.0}, seed=1)
    >>> masked.masked[0], masked.table.shape
    ('sepal_length', (15, 4))
    """

    kind: ClassVar[str] = "masking"

    in_place: pd.DataFrame = field(repr=False)
    steps: tuple[Step, ...]
    seed: int | None = field(repr=False)
    masked: tuple[str, ...]
    unchanged: tuple[str, ...]
    as_is: tuple[str, ...]
    left_alone: Mapping[str, str]
    withheld: Mapping[str, int]
    perhaps_codes: tuple[str, ...]
    source: Source = field(repr=False)
    release: Release
    schema: Schema = field(repr=False)
    strata: tuple[str, ...] = ()

    @cached_property
    def table(self) -> pd.DataFrame:
        """The masked table as it is released."""
        return self.release.of(self.in_place)

    @property
    def original(self) -> pd.DataFrame:
        """The original table."""
        return self.source.stored.frame

    @property
    def in_words(self) -> list[str]:
        """What was done, a line each."""
        return [one.method.describe(self.original) for one in self.steps]

    @property
    def recodings(self) -> dict[str, dict[str, str]]:
        """New codes by old code of each column that only deterministic methods recoded."""
        recoded = [
            step
            for step in self.steps
            if isinstance(step.method, CategoricalMethod) and not step.method.chance
        ]
        others = {name for step in self.steps if step not in recoded for name in step.attributes}
        names = [name for name in self.masked if name not in (*others, *self.unchanged)]
        return (
            codes_become(
                self.source.known, with_columns(self.source.known, dict(self.in_place[names].items())), names
            )
            if names
            else {}
        )

    @property
    def labels(self) -> dict[str, dict[str, str]]:
        """Labels of the new codes of each recoded column, of the method or made of those of its codes."""
        found, known = {}, self.source.labels(self.masked, self.schema)
        for name, becomes in self.recodings.items():
            said: dict[str, str] = {}
            for step in self.steps:
                if isinstance(step.method, CategoricalMethod) and name in step.attributes:
                    said |= step.method.new_labels(name)
            found[name] = labels_of_recoded(becomes, known.get(name, {}).get("codes", {}), said)
        return {name: labels for name, labels in found.items() if labels}

    @cached_property
    def split(self) -> dict[str, str]:
        """Columns with one value in each household before masking and several since."""
        before = household_level(self.source.plain, self._household, self.masked)
        after = household_level(self.in_place, self._household, before)
        return {name: str(self._household) for name in before if name not in after}

    @cached_property
    def once(self) -> dict[str, str]:
        """Columns masked once for each household, with the column of its number."""
        found = (
            name
            for step in self.steps
            if masks_households(step.method, tuple(step.attributes), self.source.plain, self._household)
            for name in step.attributes
        )
        return {name: str(self._household) for name in found if name not in self.split}

    @property
    def _household(self) -> str | None:
        return next(iter(self.schema.select(role=Role.HOUSEHOLD)), None)

    def _left_in(self, *roles: Role) -> list[str]:
        """Columns of these roles that are released as they are."""
        found = [name for role in roles for name in self.schema.select(role=role)]
        return [name for name in found if name in self.as_is and name not in self.release.renumbered]

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on how the file of the original table was read."""
        return self.source.stored.remarks

    def losses(self, output: str | Path) -> tuple[str, ...]:
        """Losses of a file of this name, such as labels, a sentence each."""
        return self.source.losses(with_suffix_of(str(output), self.source.name))

    def to_frame(self) -> pd.DataFrame:
        """The masked table."""
        return self.table

    def content(self) -> dict[str, Any]:
        """The secret record: how the table was made, with the seed."""
        return {
            "linkrisk": version(),
            "name": self.source.name,
            "records": len(self.table),
            "columns": len(self.original.columns),
            "methods": [
                {**step, "said": made.method.describe(self.original)}
                for step, made in zip(steps_as_json(self.steps), self.steps, strict=True)
            ],
            **({"strata": list(self.strata)} if self.strata else {}),
            # As text: few programs read whole numbers of so many digits.
            "seed": None if self.seed is None else str(self.seed),
            "masked": list(self.masked),
            "unchanged": list(self.unchanged),
            "as_is": list(self.as_is),
            "left_alone": dict(self.left_alone),
            "withheld": dict(self.withheld),
            **({"once_per_household": self.once} if self.once else {}),
            **({"several_per_household": self.split} if self.split else {}),
            **({"perhaps_codes": list(self.perhaps_codes)} if self.perhaps_codes else {}),
            "identifiers": self._left_in(Role.IDENTIFIER),
            **self.release.to_dict(),
            **({} if self.release.order is None else {"order_told_by": self._left_in(*_TELL_ORDER)}),
            **({"labels": self.labels} if self.labels else {}),
        }

    def write(
        self,
        output: str | Path,
        record: str | Path | None = None,
        *,
        codebook: str | Path | None = None,
        methods: Sequence[str] = (),
    ) -> None:
        """Write the masked table and, where asked for, the record of it: both or none.

        Parameters
        ----------
        output : str or Path
            File, in the format that its suffix says; without a suffix in that of the original file. Labels
            and missing codes are carried over as far as they still hold. Columns that are not masked are
            taken letter by letter from a text file to a text file: codes such as 007 stay 007.
        record : str or Path, optional
            JSON file to keep, for its owner's eyes only (mode 0600).
        codebook : str or Path, optional
            A codebook of it, as DDI (``.xml``): columns, labels, statistics of what is released.
        methods : sequence of str
            What the codebook says was done, such as `in_words`, which tells an intruder, too; nothing by
            default.

        Raises
        ------
        UsageError, DataError
            If one would overwrite another file, or cannot be written.
        """
        output = with_suffix_of(str(output), self.source.name)
        check_targets(self.source.name, output, record)
        new = dict.fromkeys(self.recodings, NOTHING) | self.labels
        masked = carried(self.source.stored, self.in_place, self.masked, new)
        others = [name for name in self.in_place.columns if name not in self.masked]
        written = self.release.stored(self.source.as_written(masked, others, output))
        files = writable_format(output).write(written, Path(output))
        if codebook is not None:
            declared = next((one.method.schema for one in self.steps if one.method.schema is not None), None)
            released = self.release.stored(masked)
            files |= codebook_files(codebook, released, output, declared, methods)
        if record is None:
            write_all(files)
            return
        described = self.content()
        names = {
            "input": {"name": self.source.name, "sha256": self.source.sha256},
            "output": {"name": output, "sha256": sha256(files[Path(output)])},
        }
        with together():  # the record first: a masked file whose seed is lost cannot be made again
            write_record(record, headed(self.kind, {**names, **described}))
            write_all(files)

    def __repr__(self) -> str:
        size = f"{len(self.table)} records"
        methods = ", ".join(f"{step.method.name} of {shown_names(step.attributes)}" for step in self.steps)
        return f"MaskingResult({self.source.name}, {size}: {methods})"


@taking(MaskOptions)
def mask(asked: MaskOptions) -> MaskingResult:
    """Mask a table. Columns that are not masked stay as they are, and so do the rows unless shuffled.

    Parameters
    ----------
    {options}

    Returns
    -------
    MaskingResult

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError
        If there is no such method, or it does not fit the table.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "microaggregation", parameters={"k": 3})
    >>> masked.masked
    ('sepal_length', 'sepal_width', 'petal_length', 'petal_width')
    >>> int(masked.table.groupby(list(masked.table)).size().min())
    3
    """
    declared = {} if asked.schema is None else {"schema": schema_of(asked.schema)}
    methods = methods_of(asked.method, {**declared, **(asked.parameters or {})})
    source = read_source(asked.data, methods, asked.id)
    if asked.on_read is not None:
        asked.on_read(source)
    return mask_source(source, methods, asked)


def mask_source(source: Source, methods: Sequence[MaskingMethod], asked: MaskOptions) -> MaskingResult:
    """Mask a table that has been read; see `mask`."""
    used, frame = new_seed() if asked.seed is None else asked.seed, source.known
    kept = {name: what for name, what in ((asked.weight, "weight"), (asked.id, "id")) if name is not None}
    steps = planned(methods, frame, kept, source=source.name, guessed=source.schema)
    declared = next((step.method.schema for step in steps if step.method.schema is not None), None)
    known = source.schema(declared)
    household = next(iter(known.select(role=Role.HOUSEHOLD)), None)
    release = release_of(
        frame,
        {name: step.method.name for step in steps for name in step.attributes},
        identifiers=[name for name in _identifiers(declared) if name not in kept],
        household=household,
        drop=asked.drop,
        renumber=asked.renumber,
        shuffle=random_generator(seed_of_step(used, len(steps))) if asked.shuffle else None,
        source=source.name,
    )
    compile_once(MASKING, asked.on_progress)
    names = {name for step in steps for name in step.attributes}
    made = masked_in_order(
        steps, frame, used, source=source.name, strata=asked.strata, written=source.plain, household=household
    )
    suppressed = {name: made[name] for name in counted_as_written(steps)}  # codes, too, where that is best
    masked = occurring_only(with_columns(source.with_codes(made, names), suppressed), names)
    return MaskingResult(
        in_place=masked,
        steps=steps,
        seed=used if asked.shuffle or any(step.method.chance for step in steps) else None,
        release=release,
        schema=known,
        **columns_of(source, masked, steps, kept, release.dropped),
        source=source,
        strata=tuple(asked.strata),
    )


def _identifiers(declared: Schema | None) -> Sequence[str]:
    """The direct identifiers of a schema."""
    return () if declared is None else declared.select(role=Role.IDENTIFIER)


def methods_of(
    method: str | MaskingMethod | Sequence[str | MaskingMethod], parameters: Mapping[str, Any]
) -> list[MaskingMethod]:
    """Make the methods; parameters belong to a single method given by name, but a schema to all."""
    given = [method] if isinstance(method, str | MaskingMethod) else list(method)
    if not given:
        raise UsageError("no masking method is given; give at least one")
    first = given[0]
    if len(given) == 1 and isinstance(first, str) and len(first.split()) == 1:
        return [make_method(first, parameters)]
    schema = parameters.get("schema")
    others = [name for name in parameters if name != "schema"]
    if others:
        name = others[0]
        text = f"{first.split()[0] if isinstance(first, str) else first.name} {name}=..."
        said = f"{called(name)} does not say which method it is for; write it into the method, as "
        raise UsageError(said + called("method", text), option=name)
    return [
        masking_method(item, schema) if isinstance(item, str) else _with_schema(item, schema)
        for item in given
    ]


def _with_schema(method: MaskingMethod, schema: Schema | None) -> MaskingMethod:
    """Give a method the schema, unless it has one of its own."""
    known: Any = method
    return method if schema is None or method.schema is not None else replace(known, schema=schema)
