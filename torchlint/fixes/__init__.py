"""Fixes: changes of libcst nodes, and the smallest edits of the text that make them."""
