"""What becomes of gradients: which change in place makes them wrong, what cuts them off, where none will ever be."""
