"""Batches of tau-ARGUS: `run` executes the commands; the other files have tables, steps and outputs."""
