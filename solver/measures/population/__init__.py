"""Models of the population behind a sample: log-linear cells, misclassified keys."""
