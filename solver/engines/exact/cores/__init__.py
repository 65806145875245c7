"""Cores whatever the domain: blocks that no parameters link together, with multipliers that prove it."""
