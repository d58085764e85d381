"""Where a tensor is moved before, or behind, a place in the code, and what stays behind when a module is moved."""
