"""Whose methods the classes of a file run, through those that they derive from."""
