"""Functions of linkage: `link`, `find_links`, `evaluate`."""
