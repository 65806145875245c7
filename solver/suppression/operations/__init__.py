"""Functions on key variables: `unsafe`, `suppress`, and their results."""
