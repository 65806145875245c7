"""Builds the report of a protected table from its JSON, for internal and external readers."""
