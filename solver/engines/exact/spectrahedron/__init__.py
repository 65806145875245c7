"""Domains of positive semidefinite matrices: the widest margin, and cores with proofs."""
