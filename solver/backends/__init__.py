"""Connect MILP optimisers by one interface: one file each, imported only when used.

May be imported by engines, fit and cli; imports `formulations.programs`, `solver.run` and, lazily,
optimisers.
"""
