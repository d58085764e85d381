"""Modules and the training loop."""
