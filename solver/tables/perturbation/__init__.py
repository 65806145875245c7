"""Protection that changes values instead of suppressing them."""
