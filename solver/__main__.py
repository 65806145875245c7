"""Run `python -m solver`."""

from linkrisk.solver.commands.program import run_program

if __name__ == "__main__":
    run_program()
