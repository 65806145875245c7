"""States tables as cells and relations: attackers' programs, suppression, rounding, adjustment and noise.

It has plain arrays only; solvers are in `solver.tables`.
"""
