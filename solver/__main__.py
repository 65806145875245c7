"""Run `python -m solver`."""

from solver.cli import run_program

if __name__ == "__main__":
    run_program()
