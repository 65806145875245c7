"""One file per command of `python -m solver`: its arguments and what it prints.

Each has `add_parser(subparsers)` and `run(arguments) -> int`; the work itself lives in the rooms below.
"""
