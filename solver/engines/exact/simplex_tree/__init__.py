"""Branch and bound on simplices of the parameter space, for domains that are a simplex of few dimensions."""
