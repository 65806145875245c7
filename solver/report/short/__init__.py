"""What a terminal and a notebook show of each result, made from its JSON alone."""
