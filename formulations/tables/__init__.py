"""Tables as cells and relations: what an attacker can find out, and the program of cell suppression.

Plain arrays only. What solves these programs is in `solver.tables`.
"""
