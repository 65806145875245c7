"""Linear and integer programs of attackers, and the audit, which shares nothing with the search."""
