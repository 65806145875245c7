"""The JSON of every kind of result, of toy files, each with the options that add keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from fit_runs import frames
from small_files import TABLE, batch, write_batch_files
from small_tables import write_table_files

import linkrisk
from linkrisk.solver.commands.program import main

Json = dict[str, Any]

WEIGHTED = {"attributes": [{"name": "w", "role": "weight"}, {"name": "s", "role": "stratum"}]}
PEOPLE = pd.DataFrame(
    [("A", "x", 1.0), ("A", "x", 2.0), ("A", "y", 1.0), ("B", "x", 3.0), ("B", "x", 1.0), ("B", "y", 4.0)]
    * 2,
    columns=["town", "trade", "w"],
)
FIRMS = pd.DataFrame(
    {"region": list("NNNSSSSN") * 3, "size": list("aabbabab") * 3, "sales": np.arange(24.0) ** 2 + 1}
)


def _surveyed() -> tuple[pd.DataFrame, pd.DataFrame]:
    original, masked = frames(3)
    more = {"w": [1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0], "s": list("nnnssss"), "c": list("xyxyxyx")}
    return original.assign(**more), masked.assign(**more)


def _categories() -> list[pd.DataFrame]:
    return [one.drop(columns=["w", "s"]) for one in _surveyed()]


def _fits() -> Iterator[Any]:
    yield linkrisk.fit(*frames(1, twins=True), aggregator="choquet", certificate=True)
    yield linkrisk.fit(*frames(1), aggregator="weighted-mean,owa", ties="share", work_limit=1.0)
    yield linkrisk.fit(
        *_surveyed(), schema=WEIGHTED, aggregator="weighted-mean", engine="milp", attributes=["A", "B"]
    )
    yield linkrisk.fit(*_categories(), aggregator="weighted-mean", nominal=["c"], masking=["pram change=0.2"])
    yield linkrisk.fit(*frames(1, n=60), aggregator="weighted-mean,owa", sample=20)


def _evaluations() -> Iterator[Any]:
    for pair, more in ((frames(1), {"one_to_one": True}), (_surveyed(), {"schema": WEIGHTED})):
        yield linkrisk.evaluate(
            *pair,
            parameters={
                "aggregator": "weighted-mean",
                "parameters": {"weights": {"A": 0.5, "B": 0.5, "C": 0.0}},
            },
            attributes=["A", "B", "C"],
            **more,
        )


def _links() -> Iterator[Any]:
    for method in ("dbrl", "prl", "random"):
        yield linkrisk.link(*frames(1), method=method, one_to_one="hungarian")
    original, masked = frames(1)
    yield linkrisk.link(original[["A", "B"]], masked[["C"]], method="bayes", training=frames(2, n=40)[0])
    yield linkrisk.link(*_categories(), method="prl", nominal=["c"], parameters={"passes": ("c",)})
    yield linkrisk.evaluate(*frames(1), parameters=linkrisk.link(*frames(2), method="prl").to_dict())
    yield linkrisk.find_links(*_categories(), nominal=["c"], parameters={"passes": ("c",)})
    yield linkrisk.compare(*frames(1), aggregator="weighted-mean", backends=["exact", "highs"])


def _risks() -> Iterator[Any]:
    original, masked = _surveyed()
    schema = {
        "attributes": [*WEIGHTED["attributes"], {"name": "c", "role": "confidential", "scale": "nominal"}]
    }
    yield linkrisk.risk(original, masked, schema=schema, aggregator="weighted-mean,owa")
    yield linkrisk.risk(*frames(1, n=12), aggregator="owa", measures=["held-out", "uniqueness"])


def _reports() -> Iterator[Any]:
    made = linkrisk.report(*frames(1), aggregator="owa", measures="worst-case,uniqueness")
    yield made
    yield made.risk


def _sweeps() -> Iterator[Any]:
    yield linkrisk.sweep(
        frames(1, n=12)[0],
        ["noise percent=50", "microaggregation k=100"],
        aggregator="owa",
        measures="worst-case,information-loss",
        workers=1,
        work_limit=1.0,
    )


def _verifications() -> Iterator[Any]:
    pair = frames(1)
    yield linkrisk.verify(linkrisk.fit(*pair, aggregator="owa", certificate=True), *pair)
    weighted = _surveyed()
    made = linkrisk.fit(*weighted, schema=WEIGHTED, aggregator="owa", certificate=True, attributes=["A", "B"])
    yield linkrisk.verify(made, *weighted, schema=WEIGHTED)
    exact = linkrisk.suppress_table(**write_table_files(Path()), exact=True)
    exact.write_internal("i.jj")
    exact.write_certificate("proof.json")
    yield linkrisk.verify("proof.json", tables="i.jj")


def _maskings() -> Iterator[Any]:
    yield linkrisk.mask(
        frames(1)[0], ["noise percent=5 attributes=A", "rounding base=1 attributes=B"], seed=1
    )


def _suppressions() -> Iterator[Any]:
    yield linkrisk.suppress(PEOPLE, keys=["town", "trade"], k=3)
    yield linkrisk.suppress(PEOPLE, keys=["town", "trade"], tables=[["town"], ["town", "trade"]], threshold=3)
    yield linkrisk.unsafe(PEOPLE, keys=["town", "trade"], k=3)


def _suppressed() -> Iterator[Any]:
    files = write_table_files(Path())
    yield linkrisk.suppress_table(**files, exact=True)
    made = linkrisk.make_table(FIRMS, by=["region", "size"], response="sales", rules=["p=20"])
    yield made
    made.write("c.csv", "r.csv", "k.csv")
    yield linkrisk.suppress_table("c.csv", "r.csv", contributors="k.csv", insiders="contributors")
    result = linkrisk.suppress_table(**files, method="modular")
    yield result
    result.write_internal("i.jj")
    yield linkrisk.audit_table(tables="i.jj")


def _changed() -> Iterator[Any]:
    files = write_table_files(Path())
    yield linkrisk.round_table(**files, base=5)
    yield linkrisk.adjust_table(**files)
    yield linkrisk.perturb_counts(FIRMS, by=["region", "size"], most=2, variance=1.0)
    yield linkrisk.perturb_sums(
        FIRMS, by=["region", "size"], response="sales", share=0.1, noise="most=10,variance=3"
    )
    yield linkrisk.compare_table(**files, backends=["exact", "highs"])
    yield linkrisk.recode_table(FIRMS, by=["region", "size"], response="sales", rules=["p=20"])


def _steps() -> Iterator[Any]:
    write_batch_files()
    yield linkrisk.run_batch(batch(TABLE + '<SUPPRESS> OPT(1,5)\n<WRITETABLE> (1,1,,"safe.csv")\n'))
    PEOPLE.to_csv("people.csv", index=False)
    linkrisk.mask("people.csv", "pram change=0.2 attributes=town", seed=1)
    Path("steps.toml").write_text(
        '[input]\nfile = "people.csv"\n\n[[step]]\ncommand = "suppress"\nkeys = ["town", "trade"]\nk = 3\n'
    )
    yield linkrisk.run_protocol("steps.toml", "safe.csv")
    yield linkrisk.describe(_surveyed()[0])
    yield linkrisk.describe(PEOPLE)


def _written() -> Iterator[Any]:
    """Records and answers that commands write beside their results, and what they print of public data."""
    PEOPLE.assign(name=[f"n{at}" for at in range(len(PEOPLE))]).to_csv("people.csv", index=False)
    for words in (
        "mask --method noise+percent=5+attributes=w --output m.csv --record r.json",
        "tables make --by town --response w --rule p=20 --cells c.csv --relations e.csv --record t.json",
        "suppress --keys town,trade --k 3 --output s.csv --write-answer a.json",
    ):
        command = [word.replace("+", " ") for word in words.split()]
        assert main([*command, "--input", "people.csv"]) == 0
    for name in ("r", "t", "a"):
        yield json.loads(Path(f"{name}.json").read_text(encoding="utf-8"))
    for asked in (["list"], ["show", "wdbc"]):
        with redirect_stdout(StringIO()) as printed:
            main(["datasets", *asked, "--json"])
        yield json.loads(printed.getvalue())


EVERY: tuple[Callable[[], Iterator[Any]], ...] = (
    *(_fits, _evaluations, _links, _risks, _reports, _sweeps, _verifications, _maskings, _suppressions),
    *(_suppressed, _changed, _steps, _written),
)


def as_read(result: Any) -> Json:
    """The JSON of a result as whoever reads the file has it."""
    found: Json = result if isinstance(result, dict) else json.loads(result.to_json())
    return found
