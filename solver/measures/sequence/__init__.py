"""Mathematics of several releases of one file."""
