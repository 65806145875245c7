"""Which candidate is the right one, as probabilities: of intruders who know the masking, and of attacks."""
