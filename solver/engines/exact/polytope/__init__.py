"""Domains that are polytopes: the widest margin, and cores with proofs."""
