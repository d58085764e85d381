"""Shared memory, copies and shapes."""
