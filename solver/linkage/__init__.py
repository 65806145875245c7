"""Link records: all linkers, and the evaluator, which alone decides which records are linked.

May import `formulations`, `datasets.microdata.schema`, `solver.schemas.intervals` and `solver.run.errors`.
"""
