"""Link two files of drawn persons with Splink on DuckDB, for `benchmark_passes.py` to show beside ours.

    python scripts/splink_passes.py FIRST.csv SECOND.csv OUTPUT.json

Needs `pip install splink` and nothing of this project, so that it runs in an environment of its own. The
pairs are those of the same three passes, compared in the same levels as far as Splink has them; probabilities
are estimated as its guide recommends. Linked are pairs that are at least as likely as not and the best of
both their records, which is Splink's way to one-to-one links.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

TEXTS = ("given_name", "surname", "address_1", "address_2", "suburb")
DIGITS = ("postcode", "date_of_birth")
PASSES = (
    ("date_of_birth",),
    ("postcode", "substr(given_name, 1, 2)"),
    ("substr(suburb, 1, 4)", "substr(surname, 1, 2)"),
)
SURE = (("given_name", "surname", "date_of_birth"), ("surname", "address_1", "postcode"))
"""Rules that hardly any two persons fulfil by chance, and about `FULFILLED` of the matches do."""

FULFILLED = 0.55
RANDOM_PAIRS = 1e7
LINKED = """
    with found as (select *,
        row_number() over (partition by rec_id_l order by match_weight desc, rec_id_r) as first,
        row_number() over (partition by rec_id_r order by match_weight desc, rec_id_l) as second
        from {table} where match_probability >= 0.5)
    select count(*), count(*) filter (where rec_id_l = rec_id_r) from found where first = 1 and second = 1
"""


def main() -> None:
    """Link two files and write times and counts."""
    first, second, output = sys.argv[1:]
    import duckdb
    import splink
    import splink.comparison_library as library
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    begin = time.perf_counter()
    comparisons = [library.JaroWinklerAtThresholds(name, [0.92, 0.8]) for name in TEXTS]
    comparisons += [library.LevenshteinAtThresholds(name, [1]) for name in DIGITS]
    comparisons += [library.ExactMatch(name) for name in ("street_number", "state")]
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=[block_on(*keys) for keys in PASSES],
        unique_id_column_name="rec_id",
        retain_intermediate_calculation_columns=False,
        retain_matching_columns=False,
    )
    connection = duckdb.connect()
    for name, file in (("first", first), ("second", second)):
        connection.execute(
            f"create table {name} as select * from read_csv(?, all_varchar = true, nullstr = '')", [file]
        )
    database = DuckDBAPI(connection)
    tables = [database.register(name) for name in ("first", "second")]
    linker = Linker(tables, settings, log_level=None)
    training = linker.training
    training.estimate_probability_two_random_records_match([block_on(*keys) for keys in SURE], FULFILLED)
    training.estimate_u_using_random_sampling(max_pairs=RANDOM_PAIRS, seed=1)
    training.estimate_parameters_using_expectation_maximisation(block_on("date_of_birth"))
    training.estimate_parameters_using_expectation_maximisation(block_on("postcode", "surname"))
    trained = time.perf_counter()
    found = linker.inference.predict(threshold_match_probability=0.1)
    linked, right = connection.execute(LINKED.format(table=found.physical_name)).fetchall()[0]
    records = connection.execute("select count(*) from first").fetchall()[0][0]
    answer = {
        "version": splink.__version__,
        "duckdb": duckdb.__version__,
        "train_seconds": trained - begin,
        "seconds": time.perf_counter() - begin,
        "processor_seconds": time.process_time(),
        "linked": linked,
        "precision": right / max(1, linked),
        "recall": right / records,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }
    Path(output).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
