"""What attackers find out: their programs for the search, and the audit, which shares nothing with it."""
