"""Tensors that operations have saved for the backward pass, and what changes them before it."""
