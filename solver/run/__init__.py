"""What every run has: clock, memory, interruption, progress, errors, results, compiling ahead.

May import nothing else of `linkrisk.solver`.
"""
