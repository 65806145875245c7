"""Persistent linear programs: rows, columns, costs and bounds change, and the basis is kept between solves.

Import the contract from `base`, and a program by name from `registry`.
"""
