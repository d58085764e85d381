"""The project that a file is in: its root, its files, and what they say. Here alone other files are read.

Nothing outside of the root is read, links that lead out of it included, and nothing is imported.
"""
