"""Batches of tau-ARGUS: `run` goes through the commands; its tables, its steps, what it writes."""
