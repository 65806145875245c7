"""Frequencies of key variables: records that share them, and what follows of that."""
