"""What stands behind measures of attacks: trials, curves, ranges of parameters, calibrated weights."""
