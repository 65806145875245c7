"""Optimisers behind one contract: one small file each, imported only when used.

May be imported by engines, fit and cli; imports `linkrisk.formulations.programs`, `linkrisk.solver.run.clock`, `linkrisk.solver.run.errors` and,
lazily, optimisers.
"""
