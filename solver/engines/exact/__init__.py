"""The exact engine: attacks and bounds by branch and bound on simplices and by implicit hitting sets."""
