"""The hunt for wrong bounds: nasty files, what is certainly reached in them, and the checks of every result.

The tests run some of it, and `scripts/hunt.py` as much as it is given time for.
"""
