"""Link two files with Splink on DuckDB, by an interpreter that has it, to show beside ours.

    python scripts/benchmarks/splink_runs.py {febrl4,passes} FIRST.csv SECOND.csv OUTPUT.json

Needs `pip install splink` and nothing of this project, so that it runs in an environment of its own. The same
comparisons as ours, in Splink's terms; probabilities are estimated and pairs blocked as its guide does. Of
`passes` the pairs are those of the same three passes; linked are pairs that are at least as likely as not and
the best of both their records, which is Splink's way to one-to-one links.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TEXTS = ("given_name", "surname", "address_1", "address_2", "suburb")
OTHERS = ("street_number", "state")

SETTINGS: dict[str, dict[str, Any]] = {
    "febrl4": {
        "texts": [0.92, 0.85],
        "digits": {"postcode": [1, 2], "date_of_birth": [1, 2], "soc_sec_id": [1, 2]},
        "sure": ["given_name,surname", "date_of_birth", "soc_sec_id", "surname,postcode", "address_1"],
        "fulfilled": 0.9,
        "random_pairs": 1e6,
        "blocks": ["given_name", "surname", "date_of_birth", "soc_sec_id", "address_1", "postcode"],
        "learned": ["date_of_birth", "postcode"],
        "threshold": 0.01,
    },
    "passes": {
        "texts": [0.92, 0.8],
        "digits": {"postcode": [1], "date_of_birth": [1]},
        "sure": ["given_name,surname,date_of_birth", "surname,address_1,postcode"],
        "fulfilled": 0.55,
        "random_pairs": 1e7,
        "blocks": ["date_of_birth", "postcode,given_name[:2]", "suburb[:4],surname[:2]"],
        "learned": ["date_of_birth", "postcode,surname"],
        "threshold": 0.1,
    },
}
"""Levels of similarity; rules that hardly any two persons fulfil by chance, and how many matches do."""

LINKED = """
    with found as (select *,
        row_number() over (partition by rec_id_l order by match_weight desc, rec_id_r) as first,
        row_number() over (partition by rec_id_r order by match_weight desc, rec_id_l) as second
        from {table} where match_probability >= 0.5)
    select count(*), count(*) filter (where rec_id_l = rec_id_r) from found where first = 1 and second = 1
"""


def by_splink(python: str, which: str, files: Sequence[Path], output: Path) -> dict[str, Any]:
    """What this script writes when that interpreter runs it."""
    # A path to this project would let the other interpreter find our packages in place of its own.
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, __file__, which, *map(str, files), str(output)]
    subprocess.run(command, check=True, capture_output=True, text=True, env=clean)
    answer: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
    return answer


def rule(text: str) -> list[str]:
    """The columns of a rule in SQL: `surname[:2]` are its first two letters."""
    return [re.sub(r"(\w+)\[:(\d)\]", r"substr(\1, 1, \2)", one) for one in text.split(",")]


def main() -> None:
    """Link two files; write times and pairs, or times and counts."""
    which, first, second, output = sys.argv[1:]
    import duckdb
    import splink
    import splink.comparison_library as library
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    begin, how = time.perf_counter(), SETTINGS[which]
    comparisons = [library.JaroWinklerAtThresholds(name, how["texts"]) for name in TEXTS]
    comparisons += [library.LevenshteinAtThresholds(name, levels) for name, levels in how["digits"].items()]
    comparisons += [library.ExactMatch(name) for name in OTHERS]
    key = "row" if which == "febrl4" else "rec_id"
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=[block_on(*rule(one)) for one in how["blocks"]],
        unique_id_column_name=key,
        retain_intermediate_calculation_columns=False,
        retain_matching_columns=False,
    )
    connection = duckdb.connect()
    columns = "row_number() over () - 1 as row, * exclude (rec_id)" if which == "febrl4" else "*"
    for name, file in (("first", first), ("second", second)):
        connection.execute(
            f"create table {name} as select {columns} from read_csv(?, all_varchar = true, nullstr = '')",
            [file],
        )
    database = DuckDBAPI(connection)
    linker = Linker([database.register(name) for name in ("first", "second")], settings, log_level=None)
    training = linker.training
    training.estimate_probability_two_random_records_match(
        [block_on(*rule(one)) for one in how["sure"]], recall=how["fulfilled"]
    )
    training.estimate_u_using_random_sampling(max_pairs=how["random_pairs"], seed=1)
    for one in how["learned"]:
        training.estimate_parameters_using_expectation_maximisation(block_on(*rule(one)))
    trained = time.perf_counter()
    found = linker.inference.predict(threshold_match_probability=how["threshold"])
    answer = {"version": splink.__version__, "duckdb": duckdb.__version__, "train_seconds": trained - begin}
    if which == "febrl4":
        pairs = found.as_dict()
        answer["predict_seconds"] = time.perf_counter() - trained
        answer |= {"query": pairs["row_l"], "candidate": pairs["row_r"]}
        answer |= {name: pairs[f"match_{name}"] for name in ("weight", "probability")}
    else:
        linked, right = connection.execute(LINKED.format(table=found.physical_name)).fetchall()[0]
        records = connection.execute("select count(*) from first").fetchall()[0][0]
        answer |= {"seconds": time.perf_counter() - begin, "processor_seconds": time.process_time()}
        answer |= {"linked": linked, "precision": right / max(1, linked), "recall": right / records}
    answer["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    Path(output).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
