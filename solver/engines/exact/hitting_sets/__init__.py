"""Implicit hitting sets: every core loses a block, so the lightest set that hits all cores is lost."""
