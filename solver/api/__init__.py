"""What one can do, as functions: `fit`, `evaluate`, `compare`, `link`, `verify`, `mask`.

May import every room of `linkrisk.solver` but the commands and the report.
"""
