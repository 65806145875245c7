"""Primal heuristics: good parameters fast, from which every engine starts, and what they are scored with."""
