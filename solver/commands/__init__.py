"""One file per command of `python -m solver`: its arguments and what it prints.

Each has `add_arguments(parser)` and `run(arguments) -> int`; the work is done by the public function.
Whatever needs numpy is imported by `run`, so that a help text is there at once.
"""
