"""The application: fit, compare, evaluate and mask, as `python -m solver` and as functions.

May import `formulations` and `datasets`; neither may import this.
"""
