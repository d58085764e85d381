"""Where a tensor is moved before, or behind, a place in the code."""
