"""Protocols: which steps made a safe file, with which parameters and seeds; `run` does them again."""
