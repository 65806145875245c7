"""The actions of `python -m solver tables`, a file for each.

They may import what commands may import.
"""
