"""Recount: k-anonymity of the file after suppression, a missing value being a category of its own."""
