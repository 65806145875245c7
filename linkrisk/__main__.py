"""Run `python -m linkrisk`, and the program `linkrisk`."""

import sys


def start() -> None:
    """Run the program; Ctrl-C ends it in one line from its first import on."""
    try:
        from linkrisk.solver.commands.early_interrupt import hear_between_imports

        hear_between_imports()
        from linkrisk.solver.commands.program import run_program

        run_program()
    except KeyboardInterrupt:
        sys.exit("interrupted")


if __name__ == "__main__":
    start()
