"""What one can do with key variables, as functions: `unsafe` and `suppress`, and their results."""
