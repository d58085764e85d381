"""Autograd: silent wrong gradients, cut graphs, leaks."""
