"""One module for each operation: the groups that it is made of, and what it has of its own."""
