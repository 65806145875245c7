"""Run `python -m linkrisk`, and the program `linkrisk`."""

import gc
import sys

_MANY = 50_000
"""Objects between two looks for cycles: to import libraries makes many that stay."""


def start() -> None:
    """Run the program; Ctrl-C ends it in one line from its first import on."""
    gc.set_threshold(_MANY)
    try:
        from linkrisk.solver.commands.early_interrupt import hear_between_imports

        hear_between_imports()
        from linkrisk.solver.commands.program import run_program

        run_program()
    except KeyboardInterrupt:
        sys.exit("interrupted")


if __name__ == "__main__":
    start()
