"""One module for each action of `tables`."""
