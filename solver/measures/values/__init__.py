"""Original values beside released ones: losses, intervals, guesses."""
