"""Protocols: which steps made a safe file, in which order, with which parameters and seeds."""
