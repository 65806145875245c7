"""The exact engine: attack and upper bound by branch and bound on simplices and by hitting sets of cores."""
