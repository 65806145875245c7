"""Link febrl4 with Splink on DuckDB, for `benchmark_linkers.py` to show beside ours.

    python scripts/splink_febrl4.py FEBRL4A.csv FEBRL4B.csv OUTPUT.json

Needs `pip install splink` and nothing of this project, so that it runs in an environment of its own. The
same comparisons as ours, in Splink's terms; probabilities are estimated and pairs blocked as its guide does.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

TEXTS = ("given_name", "surname", "address_1", "address_2", "suburb")
DIGITS = ("postcode", "date_of_birth", "soc_sec_id")
RULES = (
    ("given_name", "surname"),
    ("date_of_birth",),
    ("soc_sec_id",),
    ("surname", "postcode"),
    ("address_1",),
)
BLOCKS = ("given_name", "surname", "date_of_birth", "soc_sec_id", "address_1", "postcode")


def main() -> None:
    """Link two files and write times and pairs."""
    first, second, output = sys.argv[1:]
    import duckdb
    import splink
    import splink.comparison_library as library
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    begin = time.perf_counter()
    comparisons = [library.JaroWinklerAtThresholds(name, [0.92, 0.85]) for name in TEXTS]
    comparisons += [library.LevenshteinAtThresholds(name, [1, 2]) for name in DIGITS]
    comparisons += [library.ExactMatch(name) for name in ("street_number", "state")]
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=[block_on(name) for name in BLOCKS],
        unique_id_column_name="row",
    )
    connection = duckdb.connect()
    for name, file in (("first", first), ("second", second)):
        connection.execute(
            f"create table {name} as select row_number() over () - 1 as row, * exclude (rec_id) "
            "from read_csv(?, all_varchar = true)",
            [file],
        )
    database = DuckDBAPI(connection)
    tables = [database.register(name) for name in ("first", "second")]
    linker = Linker(tables, settings, log_level=None)
    training = linker.training
    training.estimate_probability_two_random_records_match([block_on(*rule) for rule in RULES], recall=0.9)
    training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    training.estimate_parameters_using_expectation_maximisation(block_on("date_of_birth"))
    training.estimate_parameters_using_expectation_maximisation(block_on("postcode"))
    trained = time.perf_counter()
    pairs = linker.inference.predict(threshold_match_probability=0.01).as_dict()
    answer = {
        "version": splink.__version__,
        "train_seconds": trained - begin,
        "predict_seconds": time.perf_counter() - trained,
        "query": pairs["row_l"],
        "candidate": pairs["row_r"],
        "weight": pairs["match_weight"],
        "probability": pairs["match_probability"],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }
    Path(output).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
