"""What one can do with linkers, as functions: `link`, `find_links`, `evaluate`."""
